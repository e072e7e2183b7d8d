"""Recording what the OpenAI Agents SDK does, by its own tracing: models, tools, agents, handoffs, guardrails.

with openai_agents.registered(runtime.trace):
    result = await Runner.run(agent, question)
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from beaker.sdk.trace import Trace, TraceOperation
from beaker.tracing.context import current_trace
from beaker.tracing.following import Ended, Following, amend

DISABLED_VARIABLE = "OPENAI_AGENTS_DISABLE_TRACING"

_OPENAI_HOSTS = (".openai.com", ".azure.com")
_SHOWN = ("tools", "handoffs", "output_type")
_BODIES = frozenset({"input", "output", "name", "type", "usage"})


@contextmanager
def registered(trace: Trace, *, existing: Sequence[Any] | None = None) -> Iterator[list[Any]]:
    """Have what the SDK does inside the block recorded with `trace`. Gives `existing` and the processor that records.

    Without `existing` the SDK keeps the processors it has; with it these are the ones it has inside the block. What
    runs elsewhere at the same time, under another active trace, is left to that one. `RuntimeError` when the SDK is
    not installed or its tracing is disabled.
    """
    if not trace.enabled:
        yield [*(existing or ())]
        return
    provider = _provider()
    made = Processor(trace)
    before = _processors(provider)
    if existing is None:
        provider.register_processor(made)
    else:
        provider.set_processors([*existing, made])
    try:
        yield [*(existing or ()), made]
    finally:
        made.shutdown()
        kept = before if existing is not None else _processors(provider)
        if kept is not None:
            provider.set_processors([one for one in kept if one is not made])


def instrument(trace: Trace, *, existing: Sequence[Any] | None = None) -> list[Any]:
    """`existing` and a processor that records with `trace`, for `agents.set_trace_processors`; `existing` alone when
    nothing records. `RuntimeError` when the tracing of the SDK is disabled."""
    if not trace.enabled:
        return [*(existing or ())]
    _refuse_disabled()
    return [*(existing or ()), Processor(trace)]


def wait() -> bool:
    """Everything is recorded as it happens, so there is nothing to wait for."""
    return True


async def flush() -> bool:
    """Everything is recorded as it happens, so there is nothing to wait for."""
    return True


class Processor:
    """What the SDK tells of its traces and spans. An SDK trace belongs to the trace that is active when it starts."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._following = Following()
        self._claimed: set[str] = set()
        self._calls: dict[str, list[str]] = {}  # tool -> ids of calls that models asked for, oldest first

    def on_trace_start(self, trace: Any) -> None:
        """A run of the SDK begins."""
        active = current_trace()
        if active is self._trace or not active.enabled:
            self._claimed.add(trace.trace_id)

    def on_trace_end(self, trace: Any) -> None:
        """A run of the SDK ended."""
        self._claimed.discard(trace.trace_id)

    def on_span_start(self, span: Any) -> None:
        """A step begins."""
        if span.trace_id in self._claimed:
            self._following.begin(span.span_id, self._operation(span.span_data), parent=span.parent_id)

    def on_span_end(self, span: Any) -> None:
        """A step ended; only now it is known whole."""
        operation = self._following.find(span.span_id)
        if operation is None:
            return
        data = span.span_data
        error = _error(span)
        match data.type:
            case "generation":
                _end_generation(operation, data)
                self._ask(data.output)
            case "response":
                self._end_response(operation, data)
            case "function":
                amend(operation, given=_parsed(data.input))
                _output(operation, _parsed(data.output))
            case "mcp_tools":
                _output(operation, data.result)
            case "agent":
                pass  # all was known when it began
            case "handoff":
                self._hand_off(data)
            case "guardrail":
                if getattr(data, "triggered", False) and error is None:
                    error = Ended("the guardrail was triggered")
            case _:
                _end_other(operation, data)
        self._following.end(span.span_id, error)

    def shutdown(self, timeout: float | None = None) -> None:
        """End what is still open, and record nothing more."""
        self._claimed.clear()
        self._following.end_all("it was not ended")

    def force_flush(self) -> None:
        """Everything is recorded already."""

    def _operation(self, data: Any) -> TraceOperation:
        match data.type:
            case "generation":
                settings = data.model_config if isinstance(data.model_config, dict) else {}
                host = urlsplit(str(settings.get("base_url") or "")).hostname
                call = self._trace.model_call(
                    operation="chat",
                    provider=_provider_name(host),
                    model=data.model or "",
                    input_messages=data.input,
                    server_address=host,
                )
            case "response":
                call = self._trace.model_call(operation="chat", provider="openai", model="", input_messages=None)
            case "function":
                waiting = self._calls.get(data.name, [])
                call_id = waiting.pop(0) if waiting else None
                call = self._trace.tool_call(data.name, arguments=_parsed(data.input), call_id=call_id)
            case "mcp_tools":
                call = self._trace.tool_call("mcp.list_tools", arguments={"server": data.server})
            case "agent":
                shown = {f"beaker.agent.{name}": getattr(data, name, None) for name in _SHOWN}
                told = {key: _text(value) for key, value in shown.items() if value}
                call = self._trace.stage(data.name, attributes=told)
            case kind:
                call = self._trace.stage(str(getattr(data, "name", None) or kind))
        return call

    def _end_response(self, operation: TraceOperation, data: Any) -> None:
        response = data.response
        if data.input is not None or response is not None:
            amend(operation, given=data.input, model=getattr(response, "model", None))
        if response is not None:
            operation.output(response)
            for name in ("id", "model"):
                value = getattr(response, name, None)
                if isinstance(value, str):
                    operation.attribute(f"gen_ai.response.{name}", value)
            effort = getattr(getattr(response, "reasoning", None), "effort", None)
            if isinstance(effort, str):
                operation.attribute("gen_ai.request.reasoning_effort", effort)
            self._ask(getattr(response, "output", None))

    def _ask(self, output: Any) -> None:
        """Remember which calls of tools a model asks for, so that the calls get their ids."""
        for item in output if isinstance(output, list | tuple) else ():
            for asked in (item, *(_field(item, "tool_calls") or ())):
                function = _field(asked, "function") or asked
                name, call_id = _field(function, "name"), _field(asked, "call_id") or _field(asked, "id")
                if _field(asked, "type") in ("function_call", "function") and isinstance(name, str) and call_id:
                    self._calls.setdefault(name, []).append(str(call_id))

    def _hand_off(self, data: Any) -> None:
        target = data.to_agent or ""
        self._trace.handoff(target, target, from_stage=data.from_agent, to_stage=data.to_agent)


def _end_generation(operation: TraceOperation, data: Any) -> None:
    if data.input is not None or data.model:
        amend(operation, given=data.input, model=data.model or None)
    _output(operation, data.output)
    usage = data.usage if isinstance(data.usage, dict) else {}
    counts = {
        key: usage[key] for key in ("input_tokens", "output_tokens", "total_tokens") if usage.get(key) is not None
    }
    if counts:
        operation.usage(**counts)


def _end_other(operation: TraceOperation, data: Any) -> None:
    """A step of another kind: what it says of itself, bodies of sound apart."""
    if not str(data.type).startswith(("speech", "transcription")):
        _output(operation, getattr(data, "output", None))
    fields = {name: value for name, value in vars(data).items() if name not in _BODIES and value is not None}
    for name, value in fields.items():
        if isinstance(value, str | int | float | bool):
            operation.attribute(f"beaker.{name}", value)


def _output(operation: TraceOperation, value: Any) -> None:
    if value is not None:
        operation.output(value)


def _error(span: Any) -> Ended | None:
    error = span.error
    return None if not error else Ended(str(_field(error, "message") or error))


def _parsed(text: Any) -> Any:
    """Arguments and results as values, where they travel as JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _provider_name(host: str | None) -> str:
    named = host or ""
    return "openai" if not named or f".{named}".endswith(_OPENAI_HOSTS) else named


def _refuse_disabled() -> None:
    if os.environ.get(DISABLED_VARIABLE, "").lower() in ("1", "true"):
        raise RuntimeError(
            f"the tracing of the OpenAI Agents SDK is disabled ({DISABLED_VARIABLE}), so nothing is recorded"
        )


def _provider() -> Any:
    _refuse_disabled()
    try:
        from agents.tracing import get_trace_provider  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise RuntimeError("the OpenAI Agents SDK (openai-agents) is not installed") from None
    return get_trace_provider()


def _processors(provider: Any) -> list[Any] | None:
    """The processors that the SDK has, which it offers no way to ask for; `None` where it keeps them elsewhere."""
    found = getattr(getattr(provider, "_multi_processor", None), "_processors", None)
    return [*found] if isinstance(found, list | tuple) else None
