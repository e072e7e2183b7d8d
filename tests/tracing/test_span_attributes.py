"""Spans as operations, by their attributes; Pydantic AI told what OpenTelemetry's API tells an adapter."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from beaker.sdk.trace import NOOP_TRACE
from beaker.tracing.integrations import claude_agent_sdk, pydantic_ai
from beaker.tracing.span_attributes import MODEL_OPERATIONS, operation_of, state_end


def recorded(recording: Any, begin: dict[str, Any], end: dict[str, Any]) -> Any:
    """The trace of one span."""
    with operation_of(recording.trace, "the span", begin) as operation:
        state_end(operation, begin | end)
    return recording.made()


@pytest.mark.parametrize("asked", sorted(MODEL_OPERATIONS))
def test_span__of_a_model__is_a_model_call(asked: str, recording: Any) -> None:
    """Names, messages with the instructions in front, answer, usage; what is known at the end only counts too."""
    messages = [{"role": "user", "parts": [{"type": "text", "content": "q"}]}]
    made = recorded(
        recording,
        {"gen_ai.operation.name": asked, "gen_ai.system": "openai", "server.address": "h"},
        {
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps(messages),
            "gen_ai.system_instructions": '["be nice"]',
            "gen_ai.output.messages": '[{"role": "assistant"}]',
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.usage.details.cache_read_tokens": 4,
            "gen_ai.response.model": "m-may",
        },
    )
    (call,) = made["model_calls"]
    assert (call["operation"], call["provider"], call["model"], call["server_address"]) == (asked, "openai", "m", "h")
    assert call["input"] == [{"role": "system", "parts": ["be nice"]}, *messages]
    assert call["output"] == [{"role": "assistant"}]
    assert call["usage"] == {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "cached_input_tokens": 4}
    assert call["attributes"] == {"gen_ai.response.model": "m-may"}
    assert [one["model"] for one in made["usage"]] == ["openai:m"]


def test_span__of_a_tool__is_a_tool_call(recording: Any) -> None:
    """Arguments and result as values where they are JSON; text stays text."""
    made = recorded(
        recording,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c1"},
        {"gen_ai.tool.call.arguments": '{"q": 1}', "gen_ai.tool.call.result": "found it"},
    )
    (call,) = made["tool_calls"]
    assert (call["name"], call["call_id"], call["arguments"], call["output"]) == ("look", "c1", {"q": 1}, "found it")


def test_span__of_anything_else__is_a_stage(recording: Any) -> None:
    """The run of an agent is a stage, though it names a model."""
    made = recorded(
        recording,
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m", "gen_ai.agent.name": "a"},
        {"final_result": "done", "gen_ai.usage.input_tokens": "no number"},
    )
    (stage,) = made["stages"]
    assert (stage["name"], stage["output"], stage["attributes"]) == ("the span", "done", {"gen_ai.agent.name": "a"})
    assert made["model_calls"] == []


class Span:
    """A span of somebody else's."""

    def __init__(self, name: str, within: Any) -> None:
        self.name, self.within, self.told = name, within, []  # type: ignore[var-annotated]

    def get_span_context(self) -> str:
        return f"context of {self.name}"

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.told.append((name, *given))


class Settings:
    """`InstrumentationSettings` of Pydantic AI."""

    def __init__(self, **given: Any) -> None:
        self.given = given
        self.spans: list[Span] = []
        self.tracer: Any = self

    def start_span(self, name: str, context: Any, *more: Any, **options: Any) -> Span:
        self.spans.append(Span(name, context))
        return self.spans[-1]


class Instrumentation:
    """The capability of Pydantic AI that instruments."""

    def __init__(self, settings: Any = "default") -> None:
        self.settings = settings


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pydantic AI and the API of OpenTelemetry, as far as an adapter looks."""
    stack: list[Any] = [Span("outer", None)]

    @contextmanager
    def use_span(span: Any, end: bool, record: bool, status: bool) -> Iterator[Any]:
        stack.append(span)
        try:
            yield span
        except Exception as error:
            if record:
                span.record_exception(error)
            if status:
                span.set_status(SimpleNamespace(name="ERROR"), str(error))
            raise
        finally:
            stack.pop()
            if end:
                span.end()

    api = SimpleNamespace(
        get_current_span=lambda context=None: context or stack[-1],
        set_span_in_context=lambda span, context=None: span,
        use_span=use_span,
        Tracer=type("Tracer", (), {}),
        Span=type("ApiSpan", (), {}),
    )
    named: dict[str, dict[str, Any]] = {
        "opentelemetry": {"trace": api},
        "pydantic_ai": {"Agent": type("Agent", (), {"_instrument_default": False})},
        "pydantic_ai.models": {},
        "pydantic_ai.models.instrumented": {"InstrumentationSettings": Settings},
        "pydantic_ai.capabilities": {"Instrumentation": Instrumentation},
    }
    for name, fields in named.items():
        module = ModuleType(name)
        vars(module).update(fields)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(pydantic_ai, "_MADE", [])
    return SimpleNamespace(api=api, agent=named["pydantic_ai"]["Agent"], stack=stack)


def test_pydantic_ai__spans__nest_and_fail_as_they_are_told(recording: Any, framework: Any) -> None:
    """A run of an agent, a model and a tool in it; what fails is marked once; others see the span around."""
    (capability,) = pydantic_ai.capabilities(recording.trace)
    tracer = capability.settings.tracer
    assert capability.settings.given == {"include_binary_content": False}
    with recording.trace.stage("around"), tracer.start_as_current_span("agent run") as run:
        assert run.get_span_context() == "context of outer"
        chat = tracer.start_span("chat", attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
        chat.set_attribute("gen_ai.usage.input_tokens", 3)
        chat.add_event("exception", {})
        chat.add_event("something", {"a": 1})
        chat.add_link(None)
        chat.update_name("chat m")
        assert chat.is_recording()
        chat.end()
        chat.end()
        assert not chat.is_recording()
        with pytest.raises(KeyError), tracer.start_as_current_span("t", attributes={"gen_ai.tool.name": "look"}):
            raise KeyError("k")
        failed = tracer.start_span("failed")
        failed.set_status(SimpleNamespace(name="OK"))
        failed.set_status(SimpleNamespace(status_code=SimpleNamespace(name="ERROR"), description="rejected"))
        failed.end()
    made = recording.made()
    stages = {one["name"]: one for one in made["stages"]}
    (call,), (tool,) = made["model_calls"], made["tool_calls"]
    assert {one["parent"] for one in (call, tool, stages["failed"])} == {stages["agent run"]["n"]}
    assert stages["agent run"]["parent"] == stages["around"]["n"]
    assert (tool["error"], stages["failed"]["error"]) == ("KeyError: 'k'", "Ended: rejected")
    assert (call["usage"]["input_tokens"], [one["name"] for one in call["events"]]) == (3, ["something"])
    assert "error" not in stages["agent run"]


def test_pydantic_ai__existing_settings__keep_their_spans(recording: Any, framework: Any) -> None:
    """Every span is made in both places, nested in both, and told everything; the settings themselves stay."""
    mine = Settings()
    made = pydantic_ai.instrument(recording.trace, existing=mine)
    assert mine.tracer is mine
    with made.tracer.start_as_current_span("run", kind=1, attributes={"a": 1}) as run:
        inner = made.tracer.start_span("inner")
        assert run.get_span_context() == "context of run"
        for act in ("add_event", "update_name", "add_link", "record_exception", "set_status"):
            getattr(inner, act)("x")
        inner.set_attribute("k", "v")
        inner.end(5)
    outer, below = mine.spans
    assert (outer.within, below.within) == (None, outer)
    assert [one[0] for one in below.told] == [
        "add_event", "update_name", "add_link", "record_exception", "set_status", "set_attributes", "end",
    ]  # fmt: skip
    assert [one["name"] for one in recording.made()["stages"]] == ["run", "inner"]


def test_pydantic_ai__existing__of_every_kind_is_composed(recording: Any, framework: Any) -> None:
    """Lists keep their order, the first instrumentation is copied; the framework's own default counts for `None`."""
    trace, other = recording.trace, object()
    own = Instrumentation(Settings())
    first, composed, last = pydantic_ai.capabilities(trace, existing=[other, own, other])
    assert (first, last, own.settings.tracer) == (other, other, own.settings)
    assert composed is not own
    assert composed.settings.tracer.inner is own.settings
    assert [type(one) for one in pydantic_ai.capabilities(trace, existing=(other,))] == [object, Instrumentation]
    assert pydantic_ai.instrument(trace, existing=False).tracer.inner is None
    assert pydantic_ai.instrument(trace, existing=True).tracer.inner is not None
    framework.agent._instrument_default = own.settings
    assert pydantic_ai.instrument(trace).tracer.inner is own.settings
    for wrong in ("x", 3):
        with pytest.raises(TypeError, match=type(wrong).__name__):
            pydantic_ai.instrument(trace, existing=wrong)


def test_pydantic_ai__inert_trace__changes_nothing(framework: Any) -> None:
    """What was given comes back, as a list where capabilities are asked for."""
    mine = Settings()
    assert pydantic_ai.instrument(NOOP_TRACE, existing=mine) is mine
    assert pydantic_ai.capabilities(NOOP_TRACE, existing=["a"]) == ["a"]
    assert pydantic_ai.capabilities(NOOP_TRACE) == pydantic_ai.capabilities(NOOP_TRACE, existing=False) == []
    (default,) = pydantic_ai.capabilities(NOOP_TRACE, existing=True)
    (given,) = pydantic_ai.capabilities(NOOP_TRACE, existing=mine)
    assert (default.settings, given.settings) == ("default", mine)


def test_pydantic_ai__missing_or_too_old__is_refused(recording: Any, framework: Any, monkeypatch: Any) -> None:
    """Each says what is the matter."""
    monkeypatch.setitem(sys.modules, "pydantic_ai.capabilities", None)
    with pytest.raises(RuntimeError, match="pass instrument="):
        pydantic_ai.capabilities(recording.trace)
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.instrumented", None)
    with pytest.raises(RuntimeError, match="not installed"):
        pydantic_ai.instrument(recording.trace)


def test_claude_agent_sdk__goes_on_unrecorded_and_says_so(recording: Any) -> None:
    """Code that uses the names runs as without them; a trace that records has a warning."""
    with claude_agent_sdk.registered(NOOP_TRACE) as block:
        assert (block.enabled, block.env({"A": "b"}), block.options("o")) == (False, {"A": "b"}, "o")
    with (
        pytest.warns(RuntimeWarning, match="not recorded by this version"),
        claude_agent_sdk.registered(recording.trace, raw_bodies=True) as block,
    ):
        assert (block.env(), block.options()) == ({}, None)
    assert "what the Claude Agent SDK did was not recorded" in recording.made()["warnings"][0]["message"]
