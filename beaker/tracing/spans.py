"""Entered operations, and which of them lies within which: decided by the context they are entered in."""

from contextvars import ContextVar, Token
from typing import Any

from beaker.core.usage import TokenCounts

_OPEN: ContextVar["Span | None"] = ContextVar("beaker_open_operation", default=None)


class Span:
    """One entered operation. `place` is its place in its list, `None` when that is full."""

    __slots__ = (
        "attributes", "began", "counts", "ended", "events", "explicit", "fields", "inferred", "kind", "later", "model",
        "n", "outer", "place", "recorder", "token",
    )  # fmt: skip

    def __init__(self, recorder: object, kind: str, model: str | None) -> None:
        self.recorder = recorder
        self.kind = kind
        self.model = model
        self.n = 0
        self.place: int | None = None
        self.outer: Span | None = None
        self.token: Token[Span | None] | None = None
        self.began = 0.0
        self.ended = False
        self.fields: dict[str, Any] = {}  # what was not sent yet
        self.inferred: TokenCounts | None = None
        self.counts: TokenCounts | None = None
        self.explicit = False
        self.later: dict[str, str] = {}
        self.attributes: dict[str, Any] | None = None
        self.events: list[Any] | None = None

    def nest(self) -> "Span | None":
        """Make it the innermost one of this context; the innermost open one of its own recorder until then."""
        around = _OPEN.get()
        while around is not None and around.ended:
            around = around.outer
        self.outer = parent = around
        while parent is not None and (parent.recorder is not self.recorder or parent.ended):
            parent = parent.outer
        self.token = _OPEN.set(self)
        return parent

    def unnest(self) -> None:
        """Let the one around it be the innermost again."""
        token, self.token = self.token, None
        if token is not None:
            try:
                _OPEN.reset(token)
            except ValueError:  # it was entered in another context, which skips it as one that has ended
                pass
