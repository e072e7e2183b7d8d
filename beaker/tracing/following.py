"""Operations that an adapter opens and closes by the ids of a framework, whatever context its calls come in."""

import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, TypeVar

from beaker.sdk.trace import Trace, TraceOperation

T = TypeVar("T")

MAX_OPEN = 10_000
"""Ids that are remembered; a framework that never ends what it begins has no more operations then."""


class Ended(Exception):
    """What a framework said of a step that failed; its text is all that is known."""


class Following:
    """The open operations of one adapter by the ids of its framework. Any thread may call.

    An operation lies within that of its parent; one without a known parent within the operation that is open where it
    begins.
    """

    def __init__(self) -> None:
        self._open: dict[Any, tuple[TraceOperation, Context]] = {}
        self._aliases: dict[Any, Any] = {}
        self._lock = threading.Lock()

    def begin(self, key: Any, operation: TraceOperation, *, parent: Any = None) -> None:
        """Enter an operation as the one of `key`."""
        with self._lock:
            if key in self._open or len(self._open) >= MAX_OPEN:
                return
            around = self._around(parent)
            context = copy_context() if around is None else around.copy()
            self._open[key] = (operation, context)
        context.run(operation.__enter__)

    def pass_on(self, key: Any, parent: Any) -> None:
        """Let what has `key` for a parent lie within `parent`: the step itself is not recorded."""
        with self._lock:
            if parent is not None and len(self._aliases) < MAX_OPEN:
                self._aliases[key] = parent

    def find(self, key: Any) -> TraceOperation | None:
        """The open operation of `key`."""
        with self._lock:
            found = self._open.get(key)
        return None if found is None else found[0]

    def end(self, key: Any, error: BaseException | None = None) -> None:
        """Leave the operation of `key`, with the error that ended it."""
        with self._lock:
            self._aliases.pop(key, None)
            found = self._open.pop(key, None)
        if found is not None:
            operation, context = found
            context.run(operation.__exit__, None if error is None else type(error), error, None)

    def end_all(self, why: str) -> int:
        """Leave what is still open, as failed because of `why`, the last ones first; how many that were."""
        with self._lock:
            left = [*reversed(self._open)]
        for key in left:
            self.end(key, Ended(why))
        return len(left)

    def keys(self) -> list[Any]:
        """The ids that are open."""
        with self._lock:
            return [*self._open]

    def _around(self, parent: Any) -> Context | None:
        seen = set()
        while parent is not None and parent not in self._open and parent not in seen:
            seen.add(parent)
            parent = self._aliases.get(parent)
        found = self._open.get(parent)
        return None if found is None else found[1]


def amend(operation: TraceOperation | None, **more: Any) -> None:
    """State what a framework tells of an operation only after it began (`RecordingOperation.amend`)."""
    amending = getattr(operation, "amend", None)
    if amending is not None:
        amending(**more)


def shared(trace: Trace, key: object, make: Callable[[], T]) -> T:
    """What an adapter keeps for a trace, made once for each `key`; anew each time for a trace that keeps nothing."""
    kept: dict[object, Any] | None = getattr(trace, "adapters", None)
    if kept is None:
        return make()
    if key not in kept:
        kept[key] = make()
    found: T = kept[key]
    return found


def warn(trace: Trace, what: str, why: Exception) -> None:
    """Note in the trace that `what` of the application was not recorded."""
    failed = getattr(getattr(trace, "recorder", None), "failed", None)
    if failed is not None:
        failed(what, why)
