"""Telling whether what customer code raised may be the doing of other customer code in the same process."""

import errno
from collections.abc import Iterator

_ERRNOS = frozenset({errno.EBADF, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Closed descriptors; descriptors and memory that others hold."""

_SAYINGS = (
    "loop is closed", "different loop", "different event loop", "no running event loop", "after shutdown",
    "Executor shutdown", "new thread", "closed file", "has been detached", "file descriptor",
)  # fmt: skip
"""What the standard library says of an event loop, an executor, a stream or a descriptor that is not what it was."""

_MOST = 100


def shows_damage(error: BaseException) -> bool:
    """Whether an exception, one it came from, or one that it groups shows that the process is damaged.

    It need not be: code can break its own things. But the process is not to be trusted with anything else.
    """
    try:
        return any(map(_is_sign, related(error)))
    except BaseException:  # customers' exceptions can do anything when they are looked at
        return False


def _is_sign(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    if isinstance(error, RuntimeError | ValueError):
        said = str(error)
        return any(saying in said for saying in _SAYINGS)
    return isinstance(error, MemoryError)


def related(error: BaseException) -> Iterator[BaseException]:
    """An exception, those it came from, and those it groups, each once."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
