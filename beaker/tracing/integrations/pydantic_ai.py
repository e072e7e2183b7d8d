"""Recording what agents of Pydantic AI do, through its own instrumentation: models, tools, runs of agents.

    agent = Agent("openai:m", capabilities=pydantic_ai.capabilities(runtime.trace))

Of OpenTelemetry only the API is needed, which Pydantic AI brings. Spans that go elsewhere still go there.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from beaker.sdk.trace import Trace
from beaker.tracing.following import Ended, Following, shared
from beaker.tracing.span_attributes import operation_of, state_end


def capabilities(trace: Trace, *, existing: Any = None) -> list[Any]:
    """The capabilities of an agent (Pydantic AI 2) that record it with `trace`.

    `existing` is what the agent has otherwise: a list of capabilities, of which the first one that instruments records
    here as well, in its place; or settings, or whether it is instrumented. `None` means what `Agent.instrument_all`
    says. When nothing records it is only made a list. `RuntimeError` for Pydantic AI 1, `TypeError` for anything else.
    """
    if isinstance(existing, Sequence) and not isinstance(existing, str):
        if not trace.enabled:
            return list(existing)
        kind = _capability()
        found = next((at for at, one in enumerate(existing) if isinstance(one, kind)), None)
        if found is None:
            return [*existing, kind(settings=instrument(trace))]
        made = copy.copy(existing[found])
        made.settings = _composed(trace, made.settings)
        return [*existing[:found], made, *existing[found + 1 :]]
    if not trace.enabled and existing in (None, False):
        return []
    settings = instrument(trace, existing=existing)
    return [_capability()(**({} if settings is True else {"settings": settings}))]


def instrument(trace: Trace, *, existing: Any = None) -> Any:
    """What an agent is to be given as `instrument` (Pydantic AI 1) so that it is recorded with `trace`.

    `existing` is what it is given otherwise: settings, which keep their say and their spans, or whether it is
    instrumented; `None` means what `Agent.instrument_all` says. As it is when nothing records. `TypeError` for anything
    else.
    """
    if not trace.enabled:
        return existing
    settings = _settings_class()
    chosen = existing
    if existing is None:
        from pydantic_ai import Agent  # type: ignore[import-not-found, unused-ignore]

        chosen = getattr(Agent, "_instrument_default", False)
    if isinstance(chosen, settings):
        return _composed(trace, chosen)
    if not isinstance(chosen, bool):
        raise TypeError(f"existing is a bool or settings of an instrumentation, not {type(chosen).__name__}")
    if chosen:
        return _composed(trace, settings())
    made = settings(include_binary_content=False)
    made.tracer = _tracer(trace, None)
    return made


def _composed(trace: Trace, settings: Any) -> Any:
    """Settings whose spans are recorded as well as sent where they went."""
    made = copy.copy(settings)
    made.tracer = _tracer(trace, settings.tracer)
    return made


def _tracer(trace: Trace, inner: Any) -> Any:
    following = shared(trace, __name__, Following)
    tracer, _ = _classes()
    return tracer(trace, following, inner)


class BridgingTracer:
    """A tracer whose spans are operations of a trace, and spans of `inner` where there is one."""

    def __init__(self, trace: Trace, following: Following, inner: Any) -> None:
        self.trace = trace
        self.following = following
        self.inner = inner

    def start_span(
        self, name: str, context: Any = None, kind: Any = None, attributes: Any = None, *more: Any, **options: Any
    ) -> Any:
        """Begin a span within the one that is current, or that of `context`."""
        from opentelemetry import trace as api  # type: ignore[import-not-found, unused-ignore]

        around = api.get_current_span(context)
        inner = None
        if self.inner is not None:
            own = around.inner if isinstance(around, BridgingSpan) else None
            within = context if own is None else api.set_span_in_context(own, context)
            kinds = {} if kind is None else {"kind": kind}
            inner = self.inner.start_span(name, within, *more, attributes=attributes, **kinds, **options)
        made = _classes()[1](self, name, attributes, inner, around)
        parent = around if isinstance(around, BridgingSpan) else None
        self.following.begin(made, operation_of(self.trace, name, attributes or {}), parent=parent)
        return made

    @contextmanager
    def start_as_current_span(
        self,
        name: str,
        context: Any = None,
        *more: Any,
        record_exception: bool = True,
        set_status_on_exception: bool = True,
        end_on_exit: bool = True,
        **options: Any,
    ) -> Iterator[Any]:
        """Begin a span that is the current one inside the block."""
        from opentelemetry import trace as api  # type: ignore[import-not-found, unused-ignore]

        made = self.start_span(name, context, *more, **options)
        with api.use_span(made, end_on_exit, record_exception, set_status_on_exception):
            yield made


class BridgingSpan:
    """A span of a `BridgingTracer`. Where nothing else records, spans of others within it belong to the one around."""

    def __init__(self, tracer: BridgingTracer, name: str, attributes: Any, inner: Any, around: Any) -> None:
        self.tracer = tracer
        self.inner = inner
        self._around = around
        self._attributes: dict[str, Any] = dict(attributes or {})
        self._error: BaseException | None = None
        self._ended = False

    def end(self, end_time: Any = None) -> None:
        """End it, with what its attributes say now."""
        if self._ended:
            return
        self._ended = True
        operation = self.tracer.following.find(self)
        if operation is not None:
            state_end(operation, self._attributes)
            self.tracer.following.end(self, self._error)
        if self.inner is not None:
            self.inner.end(end_time)

    def get_span_context(self) -> Any:
        """What spans of others within this one go by."""
        return (self._around if self.inner is None else self.inner).get_span_context()

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """State several attributes."""
        self._attributes.update(attributes)
        if self.inner is not None:
            self.inner.set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """State an attribute."""
        self.set_attributes({key: value})

    def add_event(self, name: str, attributes: Any = None, timestamp: Any = None) -> None:
        """State that something happened."""
        operation = self.tracer.following.find(self)
        if operation is not None and name != "exception":
            operation.event(name, attributes)
        if self.inner is not None:
            self.inner.add_event(name, attributes, timestamp)

    def add_link(self, context: Any, attributes: Any = None) -> None:
        """State that another span belongs to it."""
        if self.inner is not None:
            self.inner.add_link(context, attributes)

    def update_name(self, name: str) -> None:
        """Name it anew; its operation keeps the name it began with."""
        if self.inner is not None:
            self.inner.update_name(name)

    def is_recording(self) -> bool:
        """Whether attributes still count."""
        return not self._ended

    def set_status(self, status: Any, description: str | None = None) -> None:
        """State whether it failed."""
        code = getattr(status, "status_code", status)
        if getattr(code, "name", "") == "ERROR" and self._error is None:
            self._error = Ended(description or getattr(status, "description", None) or "the span failed")
        if self.inner is not None:
            self.inner.set_status(status, description)

    def record_exception(
        self, exception: BaseException, attributes: Any = None, timestamp: Any = None, escaped: bool = False
    ) -> None:
        """State what it failed with."""
        if self._error is None or isinstance(self._error, Ended):
            self._error = exception
        if self.inner is not None:
            self.inner.record_exception(exception, attributes, timestamp, escaped)


def _classes() -> tuple[type[BridgingTracer], type[BridgingSpan]]:
    """Tracer and span as classes that OpenTelemetry takes for its own."""
    if not _MADE:
        from opentelemetry import trace as api  # type: ignore[import-not-found, unused-ignore]

        _MADE.append(
            (
                type("BeakerTracer", (BridgingTracer, api.Tracer), {}),
                type("BeakerSpan", (BridgingSpan, api.Span), {}),
            )
        )
    return _MADE[0]


_MADE: list[tuple[type[BridgingTracer], type[BridgingSpan]]] = []


def _settings_class() -> Any:
    try:
        from pydantic_ai.models.instrumented import (  # type: ignore[import-not-found, unused-ignore]
            InstrumentationSettings,
        )
    except ImportError:
        raise RuntimeError("Pydantic AI (pydantic-ai) is not installed") from None
    return InstrumentationSettings


def _capability() -> Any:
    _settings_class()
    try:
        from pydantic_ai.capabilities import Instrumentation  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise RuntimeError("this Pydantic AI has no capabilities: pass instrument=instrument(trace)") from None
    return Instrumentation
