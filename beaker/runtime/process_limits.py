"""Holding this process to its limits, and telling that what customer code raised comes of meeting one."""

import contextlib
import errno
import resource
import sys

from beaker.core.limits import MIB, Limits, Met
from beaker.runtime.damage import related

_MEMORY = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
"""On Linux the heap and private mappings, since 4.7: libraries and address space that is merely kept do not count."""

_RESERVE = 4 * MIB

_kept: list[bytearray] = []
"""Memory that is given up when there is none left, so that this can be told."""


def confine(limits: Limits) -> None:
    """Hold this process, and whatever it starts, to these limits from now on; it cannot raise them itself."""
    _set(resource.RLIMIT_FSIZE, limits.file_mb * MIB)
    if limits.memory_mb is not None:
        _kept.append(bytearray(_RESERVE))
        _set(_MEMORY, limits.memory_mb * MIB)


def give_up_reserve() -> None:
    """Free what was kept for the moment in which no memory is left."""
    _kept.clear()


def limit_met(error: BaseException | None) -> Met | None:
    """The kind of limit that an exception, one it came from, or one that it groups shows to be met."""
    try:
        return next(filter(None, map(_sign, () if error is None else related(error))), None)
    except BaseException:  # customers' exceptions can do anything when they are looked at
        return None


def _sign(error: BaseException) -> Met | None:
    if isinstance(error, MemoryError):
        return "memory_mb"
    if isinstance(error, OSError):
        signs: dict[int | None, Met] = {errno.ENOMEM: "memory_mb", errno.EFBIG: "file_mb"}
        return signs.get(error.errno)
    return None


def _set(kind: int, bound: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses what is below what is used already
        resource.setrlimit(kind, (bound, bound))
