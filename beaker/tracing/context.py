"""Which trace is active here: found by code that is not handed a runtime."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from beaker.sdk.trace import NOOP_TRACE, Trace

_ACTIVE: ContextVar[Trace] = ContextVar("beaker_active_trace", default=NOOP_TRACE)


def current_trace() -> Trace:
    """The trace of this task or thread's context; the inert one when nothing is active."""
    return _ACTIVE.get()


@contextmanager
def activate_trace(trace: Trace) -> Iterator[Trace]:
    """Make `trace` the one that `current_trace()` finds inside the block. Opens no span and ends none."""
    token = _ACTIVE.set(trace)
    try:
        yield trace
    finally:
        _ACTIVE.reset(token)
