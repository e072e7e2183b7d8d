"""The wire of an OpenAI-compatible chat endpoint: the body of a request, the reading of an answer and of a refusal."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.reflection.settings import Reflection
from beaker.core.retry import RetryPolicy
from beaker.core.strict_json import JsonObject
from beaker.core.usage import ModelUsage, infer_usage
from beaker.core.values import value

CODE = "BK561"
"""The code of an endpoint that does not answer as one."""

POLICY = RetryPolicy(
    attempts=6, first_wait=1.0, longest_wait=30.0, budget=300.0, passing=frozenset({408, 429, 500, 502, 503, 504, 529})
)
"""How patiently a model is asked. Asking twice costs a little and changes nothing; 529 is said by overloaded ones."""

LimitName: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
"""What an endpoint calls the bound of an answer."""

Refusal: TypeAlias = Literal["context", "limit name", "other"]
"""Why a request was refused: it has too many tokens; the bound of the answer is called otherwise; anything else."""


@value
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@value
class ChatAnswer:
    """What a model said. `cut_off` tells that it was not done when its room was used up."""

    text: str
    cut_off: bool
    usage: ModelUsage


def chat_body(
    settings: Reflection, messages: Sequence[Message], *, answer_tokens: int, limit_name: LimitName
) -> JsonObject:
    """The body of `POST {base_url}/chat/completions`."""
    body: JsonObject = {
        "model": settings.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        limit_name: answer_tokens,
    }
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    return body


def read_chat(body: bytes, settings: Reflection) -> Result[ChatAnswer, Problem]:
    """The answer in the body of a 200; BK561 for anything that is none."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return Failure(Problem(CODE, "the endpoint answered with something that is no JSON", hint=_BASE_URL_HINT))
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return Failure(Problem(CODE, "the endpoint's answer has no `choices`", hint=_BASE_URL_HINT))
    message = choices[0].get("message")
    text = _text(message.get("content") if isinstance(message, Mapping) else choices[0].get("text"))
    counts = infer_usage(data)
    usage = (
        ModelUsage(settings.counted_as, 0, 0, uncounted=1)
        if counts is None
        else ModelUsage(settings.counted_as, counts.input_tokens, counts.output_tokens, reported_usd=counts.cost_usd)
    )
    return Success(ChatAnswer(text, choices[0].get("finish_reason") in ("length", "max_tokens"), usage))


def read_refusal(status: int, body: bytes) -> tuple[Refusal, str]:
    """Why a request was refused with `status`, and what the endpoint says about it, in one line."""
    said = " ".join(_said(body).split())[:300]
    if status in (400, 413, 422):
        if re.search(r"max_completion_tokens", said):
            return "limit name", said
        if re.search(r"context|too (?:long|large|many tokens)|maximum.{0,40}(?:length|tokens)", said, re.IGNORECASE):
            return "context", said
    return "other", said


def smaller(prompt_tokens: int, body: bytes) -> int:
    """How many tokens the next prompt may have by our count, when one of `prompt_tokens` was too long: half of it, or
    what follows from the numbers that the endpoint gave.
    """
    try:
        error = json.loads(body)["error"]
        counted, context = error["n_prompt_tokens"], error["n_ctx"]
        if type(counted) is int and type(context) is int and 0 < context < counted:
            # Room for an answer is left as well.
            return prompt_tokens * context * 2 // (counted * 3)
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    return prompt_tokens // 2


_BASE_URL_HINT = "reflection.base_url is what /chat/completions is appended to, as in https://api.openai.com/v1"


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _said(body: bytes) -> str:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
    error = data.get("error", data) if isinstance(data, Mapping) else data
    message = error.get("message", error.get("detail")) if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else json.dumps(error)
