"""Asking a model behind an OpenAI-compatible URL: one question at a time, patiently, within limits."""

import asyncio
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from returns.pipeline import is_successful

import beaker
from beaker.core.problems import Problem, Refused
from beaker.core.reflection.chat import (
    POLICY,
    ChatAnswer,
    LimitName,
    Message,
    chat_body,
    read_chat,
    read_refusal,
)
from beaker.core.reflection.settings import Reflection, is_loopback
from beaker.core.retry import Again, RetryPolicy, Trouble, decide
from beaker.core.strict_json import dumps

CODE = "BK562"
"""The code of an endpoint that gave no answer."""

LARGEST_ANSWER = 16_000_000
"""Bytes of an answer's body; more is no answer."""

CONNECT_SECONDS = 30.0


class TooLong(Exception):
    """The prompt has more tokens than the model's context; `body` is what the endpoint said."""

    def __init__(self, said: str, body: bytes) -> None:
        super().__init__(said)
        self.body = body


class ChatClient:
    """The endpoint of `settings`, asked with `api_key` as its bearer, if there is one; `close` ends its connections.

    Redirects are not followed: the key is for this address. A proxy of the environment is used, but not for this
    machine itself.
    """

    def __init__(self, settings: Reflection, api_key: str | None, *, policy: RetryPolicy = POLICY) -> None:
        # Only a run that reflects pays for this import.
        import httpx

        headers = {"user-agent": f"beaker/{beaker.__version__}", "content-type": "application/json"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key}"
        self._settings = settings
        self._policy = policy
        self._limit_name: LimitName = "max_tokens"
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # who asks bounds the whole
            follow_redirects=False,
            trust_env=not is_loopback(settings.base_url),
        )
        self._errors: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, messages: Sequence[Message], *, answer_tokens: int) -> ChatAnswer:
        """The model's answer. `Refused` (BK561, BK562) when there is none, `TooLong` for a prompt without room."""
        began, attempt = time.monotonic(), 1
        while True:
            status, retry_after, body = await self._post(messages, answer_tokens)
            if status == 200:
                answer = read_chat(body, self._settings)
                if not is_successful(answer):
                    raise Refused(answer.failure())
                return answer.unwrap()
            kind, said = read_refusal(status, body)
            if kind == "context":
                raise TooLong(said, body)
            if kind == "limit name" and self._limit_name == "max_tokens":
                self._limit_name = "max_completion_tokens"
                continue
            decision = decide(
                self._policy,
                Trouble(status, retry_after),
                repeatable=True,  # a question changes nothing
                attempt=attempt,
                elapsed=time.monotonic() - began,
                draw=random.random(),
                now=datetime.now(UTC),
            )
            if not isinstance(decision, Again):
                raise Refused(self._no_answer(status, said, attempt))
            await asyncio.sleep(decision.wait)
            attempt += 1

    async def _post(self, messages: Sequence[Message], answer_tokens: int) -> tuple[int, str, bytes]:
        """Status (0: no answer), `Retry-After` and body."""
        body: Any = chat_body(self._settings, messages, answer_tokens=answer_tokens, limit_name=self._limit_name)
        url = f"{self._settings.base_url}/chat/completions"
        try:
            async with self._http.stream("POST", url, content=dumps(body).encode()) as answer:
                received = bytearray()
                async for piece in answer.aiter_bytes():
                    received += piece
                    if len(received) > LARGEST_ANSWER:
                        raise Refused(Problem(CODE, f"the model's answer is longer than {LARGEST_ANSWER} bytes"))
                return answer.status_code, answer.headers.get("retry-after", ""), bytes(received)
        except self._errors as error:
            return 0, "", (str(error) or type(error).__name__).encode()

    def _no_answer(self, status: int, said: str, attempts: int) -> Problem:
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        if status == 0:
            return Problem(CODE, f"no answer from {self._settings.base_url}{tried}: {said}")
        hint = ""
        if status in (401, 403):
            hint = "look at reflection.api_key_env and the variable that it names"
        elif status in (404, 405):
            hint = "look at reflection.base_url, which /chat/completions is appended to, and reflection.model"
        return Problem(CODE, f"{self._settings.base_url} answered {status}{tried}: {said}", hint=hint)
