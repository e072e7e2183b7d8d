"""The trace a hook writes to: its protocol, and the inert trace that is there when nothing records.

Both have the same signatures, so a call that works against one works against the other.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias

from beaker.core.values import value

Scalar: TypeAlias = str | int | float | bool


@value(kw_only=True)
class ArtifactRef:
    """Where content that was too large or too foreign for a trace is kept.

    `name`, `media_type`, `filename` and `required` are what the application said of it; `sha256` (hex) and `size`
    (bytes) are those of the content. `uri` says where it lies, `None` when it is kept nowhere; with `inline` the
    `content` is here. `kind` is `"artifact"` or `"evidence"`.
    """

    name: str
    sha256: str
    media_type: str
    size: int
    filename: str | None = None
    required: bool = False
    uri: str | None = None
    inline: bool = False
    content: Any = None
    kind: Literal["artifact", "evidence"] = "artifact"

    def to_dict(self) -> dict[str, Any]:
        """The stored form: fields without a value are left out, and `kind` when it is `"artifact"`."""
        fields = {
            "name": self.name,
            "sha256": self.sha256,
            "media_type": self.media_type,
            "size": self.size,
            "filename": self.filename,
            "required": self.required,
            "uri": self.uri,
            "inline": self.inline,
            "content": self.content,
            "kind": None if self.kind == "artifact" else self.kind,
        }
        return {name: field for name, field in fields.items() if field is not None}


class TraceOperation(Protocol):
    """One timed step of a case; a synchronous and an asynchronous context manager that never swallows an exception.

    Entering returns the operation. What is called on an operation that was not entered is dropped.
    """

    def output(self, value: Any) -> None:
        """Record what the step gave. A model's response also tells usage, cost and requested tool calls."""

    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        total_tokens: int | None = None,
        cached_input_tokens: int | None = None,
        cache_write_input_tokens: int | None = None,
    ) -> None:
        """Record token counts; they win over what was read from a response. The total defaults to input + output."""

    def attribute(self, key: str, value: Scalar) -> None:
        """Record one attribute."""

    def event(self, name: str, attributes: Mapping[str, Scalar] | None = None) -> None:
        """Record that something happened now."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...


class Trace(Protocol):
    """What `runtime.trace` offers. Always usable; `enabled` says whether anything is recorded."""

    @property
    def enabled(self) -> bool:
        """Whether anything is recorded."""

    def stage(self, name: str, *, inputs: Any = None, attributes: Mapping[str, Scalar] | None = None) -> TraceOperation:
        """A step of the application."""

    def model_call(
        self, *, operation: str, provider: str, model: str, input_messages: Any, server_address: str | None = None
    ) -> TraceOperation:
        """A call of a model; `operation` is what is asked of it (`chat`)."""

    def tool_call(self, name: str, *, arguments: Any, call_id: str | None = None) -> TraceOperation:
        """A call of a tool."""

    def handoff(self, name: str, value: Any, *, from_stage: str | None = None, to_stage: str | None = None) -> None:
        """What one stage hands to another."""

    def artifact(
        self, name: str, content: Any, *, media_type: str, filename: str | None = None, required: bool = False
    ) -> ArtifactRef | None:
        """Keep `content` beside the trace. Never raises: `None` when it could not be kept."""

    def evidence(self, name: str, content: Any) -> None:
        """Keep text or JSON that explains the result, for whoever improves the application."""


class NoopOperation:
    """The operation of the inert trace: one shared object, on which everything is allowed and nothing happens."""

    __slots__ = ()

    def output(self, value: Any) -> None:
        """Nothing."""

    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        total_tokens: int | None = None,
        cached_input_tokens: int | None = None,
        cache_write_input_tokens: int | None = None,
    ) -> None:
        """Nothing."""

    def attribute(self, key: str, value: Scalar) -> None:
        """Nothing."""

    def event(self, name: str, attributes: Mapping[str, Scalar] | None = None) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        return None


_OPERATION = NoopOperation()


class NoopTrace:
    """The inert trace: the signatures of `Trace`, and nothing is recorded. Each is as good as any other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    enabled: bool = False

    def stage(self, name: str, *, inputs: Any = None, attributes: Mapping[str, Scalar] | None = None) -> NoopOperation:
        """The inert operation."""
        return _OPERATION

    def model_call(
        self, *, operation: str, provider: str, model: str, input_messages: Any, server_address: str | None = None
    ) -> NoopOperation:
        """The inert operation."""
        return _OPERATION

    def tool_call(self, name: str, *, arguments: Any, call_id: str | None = None) -> NoopOperation:
        """The inert operation."""
        return _OPERATION

    def handoff(self, name: str, value: Any, *, from_stage: str | None = None, to_stage: str | None = None) -> None:
        """Nothing."""

    def artifact(
        self, name: str, content: Any, *, media_type: str, filename: str | None = None, required: bool = False
    ) -> ArtifactRef | None:
        """`None`: nothing is kept."""

    def evidence(self, name: str, content: Any) -> None:
        """Nothing."""


NOOP_TRACE = NoopTrace()
