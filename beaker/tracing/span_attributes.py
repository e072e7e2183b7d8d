"""Spans of OpenTelemetry as operations of a trace: what their attributes, named by the GenAI conventions, say."""

import json
from collections.abc import Mapping
from typing import Any

from beaker.sdk.trace import Trace, TraceOperation
from beaker.tracing.following import amend

Attributes = Mapping[str, Any]

MODEL_OPERATIONS = frozenset({"chat", "text_completion", "generate_content", "embeddings"})
"""Operations of the conventions that a model is asked for."""

_PROVIDERS = ("gen_ai.provider.name", "gen_ai.system")
_INPUT_TOKENS = ("gen_ai.usage.input_tokens",)
_OUTPUT_TOKENS = ("gen_ai.usage.output_tokens",)
_CACHED = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.details.cache_read_tokens")
_WRITTEN = ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.details.cache_write_tokens")
_KEPT = ("gen_ai.response.id", "gen_ai.response.model", "gen_ai.request.reasoning_effort", "gen_ai.agent.name")


def operation_of(trace: Trace, name: str, attributes: Attributes) -> TraceOperation:
    """The operation for a span that begins: a call of a tool where it names one, a call of a model where it names an
    operation that models are asked for, else a stage."""
    asked = _text(attributes, "gen_ai.operation.name")
    tool = _text(attributes, "gen_ai.tool.name")
    if tool:
        call_id = _text(attributes, "gen_ai.tool.call.id") or None
        return trace.tool_call(tool, arguments=_arguments(attributes), call_id=call_id)
    if asked in MODEL_OPERATIONS:
        return trace.model_call(
            operation=asked,
            provider=_text(attributes, *_PROVIDERS),
            model=_text(attributes, "gen_ai.request.model"),
            input_messages=_messages(attributes),
            server_address=_text(attributes, "server.address") or None,
        )
    return trace.stage(name)


def state_end(operation: TraceOperation, attributes: Attributes) -> None:
    """State of an operation what the attributes of its span say in the end."""
    if _text(attributes, "gen_ai.tool.name"):
        amend(operation, given=_arguments(attributes))
        result = _parsed(_first(attributes, "gen_ai.tool.call.result", "tool_response"))
    else:
        amend(operation, given=_messages(attributes))
        if _text(attributes, "gen_ai.operation.name") in MODEL_OPERATIONS:
            named = {"provider": _PROVIDERS, "model": ("gen_ai.request.model", "gen_ai.response.model")}
            amend(operation, **{key: _text(attributes, *names) or None for key, names in named.items()})
        result = _parsed(_first(attributes, "gen_ai.output.messages", "output.value", "final_result"))
    if result is not None:
        operation.output(result)
    counts = {
        "input_tokens": _first(attributes, *_INPUT_TOKENS),
        "output_tokens": _first(attributes, *_OUTPUT_TOKENS),
        "cached_input_tokens": _first(attributes, *_CACHED),
        "cache_write_input_tokens": _first(attributes, *_WRITTEN),
    }
    stated = {key: count for key, count in counts.items() if isinstance(count, int)}
    if "input_tokens" in stated or "output_tokens" in stated:
        operation.usage(**stated)
    for key in _KEPT:
        if key in attributes:
            operation.attribute(key, attributes[key])


def _messages(attributes: Attributes) -> Any:
    given = _parsed(_first(attributes, "gen_ai.input.messages", "input.value"))
    instructions = _parsed(_first(attributes, "gen_ai.system_instructions"))
    if instructions is None or not isinstance(given, list):
        return given
    return [{"role": "system", "parts": instructions}, *given]


def _arguments(attributes: Attributes) -> Any:
    return _parsed(_first(attributes, "gen_ai.tool.call.arguments", "tool_arguments", "input.value"))


def _first(attributes: Attributes, *names: str) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _text(attributes: Attributes, *names: str) -> str:
    found = _first(attributes, *names)
    return found if isinstance(found, str) else ""


def _parsed(value: Any) -> Any:
    """A value that travels as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
