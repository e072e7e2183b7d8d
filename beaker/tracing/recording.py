"""The trace that records, as `run_case` sees it: the same signatures as the inert one (`sdk.trace`)."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from beaker.sdk.trace import ArtifactRef, Scalar
from beaker.tracing.recorder import Recorder, label
from beaker.tracing.spans import Span


class RecordingOperation:
    """An operation of a `RecordingTrace`; entering it again records another one."""

    __slots__ = ("_attributes", "_field", "_given", "_kind", "_model", "_named", "_recorder", "_spans")

    def __init__(
        self,
        recorder: Recorder,
        kind: str,
        named: dict[str, Any],
        *,
        field: str,
        given: Any,
        model: str | None = None,
        attributes: Mapping[str, Scalar] | None = None,
    ) -> None:
        self._recorder = recorder
        self._kind = kind
        self._named = named
        self._field = field
        self._given = given
        self._model = model
        self._attributes = attributes
        self._spans: list[Span] = []

    def output(self, value: Any) -> None:
        """See `TraceOperation.output`."""
        if self._spans:
            self._recorder.output(self._spans[-1], value)

    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        total_tokens: int | None = None,
        cached_input_tokens: int | None = None,
        cache_write_input_tokens: int | None = None,
    ) -> None:
        """See `TraceOperation.usage`. What is no count is left out and warned of."""
        if self._spans:
            given = {
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "total_tokens": total_tokens,
                "cached_input_tokens": cached_input_tokens,
                "cache_write_input_tokens": cache_write_input_tokens,
            }
            self._recorder.usage(self._spans[-1], given)

    def attribute(self, key: str, value: Scalar) -> None:
        """See `TraceOperation.attribute`."""
        if self._spans:
            self._recorder.attribute(self._spans[-1], key, value)

    def event(self, name: str, attributes: Mapping[str, Scalar] | None = None) -> None:
        """See `TraceOperation.event`."""
        if self._spans:
            self._recorder.event(self._spans[-1], name, attributes)

    def amend(self, *, given: Any = None, provider: str | None = None, model: str | None = None, **named: str) -> None:
        """State what the operation was given, unless that is known, or how it is named, after it was entered."""
        if not self._spans:
            return
        if self._given is None:
            self._given = given
        else:
            given = None
        said = {"provider": provider, "model": model, **named}
        fields = {key: label(text) for key, text in said.items() if text is not None}
        self._named = {**self._named, **fields}
        if self._kind == "model_calls":
            self._model = full_name(self._named["provider"], self._named["model"])
        self._recorder.amend(self._spans[-1], fields, self._model, self._field, given)

    def __enter__(self) -> Self:
        span = self._recorder.enter(self._kind, self._model, self._named, self._field, self._given)
        if span is not None:
            self._spans.append(span)
            self._recorder.attributes(span, self._attributes)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        if self._spans:
            self._recorder.leave(self._spans.pop(), error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self.__exit__(kind, error, traceback)


class RecordingTrace:
    """A trace that records; see `Trace`."""

    __slots__ = ("_recorder", "adapters")

    enabled: bool = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.adapters: dict[object, Any] = {}
        """What adapters keep for this trace."""

    @property
    def recorder(self) -> Recorder:
        """What it records with."""
        return self._recorder

    def stage(
        self, name: str, *, inputs: Any = None, attributes: Mapping[str, Scalar] | None = None
    ) -> RecordingOperation:
        """See `Trace.stage`."""
        return RecordingOperation(
            self._recorder, "stages", {"name": label(name)}, field="inputs", given=inputs, attributes=attributes
        )

    def model_call(
        self, *, operation: str, provider: str, model: str, input_messages: Any, server_address: str | None = None
    ) -> RecordingOperation:
        """See `Trace.model_call`."""
        named = {"operation": label(operation), "provider": label(provider), "model": label(model)}
        if server_address is not None:
            named["server_address"] = label(server_address)
        return RecordingOperation(
            self._recorder,
            "model_calls",
            named,
            field="input",
            given=input_messages,
            model=full_name(named["provider"], named["model"]),
        )

    def tool_call(self, name: str, *, arguments: Any, call_id: str | None = None) -> RecordingOperation:
        """See `Trace.tool_call`."""
        named = {"name": label(name), **({} if call_id is None else {"call_id": label(call_id)})}
        return RecordingOperation(self._recorder, "tool_calls", named, field="arguments", given=arguments)

    def handoff(self, name: str, value: Any, *, from_stage: str | None = None, to_stage: str | None = None) -> None:
        """See `Trace.handoff`."""
        self._recorder.handoff(name, value, from_stage, to_stage)

    def artifact(
        self, name: str, content: Any, *, media_type: str, filename: str | None = None, required: bool = False
    ) -> ArtifactRef | None:
        """See `Trace.artifact`; content above 16 KiB is noted by its size and digest, and not kept."""
        return self._recorder.artifact(name, content, media_type, filename, required)

    def evidence(self, name: str, content: Any) -> None:
        """See `Trace.evidence`; what cannot be kept is warned of in the trace."""
        self._recorder.evidence(name, content)


def full_name(provider: str, model: str) -> str | None:
    """The name that prices go by: `provider:model`, one of them when only that is known, else `None`."""
    if provider and model and not model.startswith(f"{provider}:"):
        return f"{provider}:{model}"
    return model or provider or None
