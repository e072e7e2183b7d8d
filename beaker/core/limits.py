"""How much a rollout process may take, and the words for a case that took more."""

from collections.abc import Mapping
from typing import Any, Literal

from beaker.core.options import Rule, number, whole_number
from beaker.core.values import value

MIB = 1 << 20
"""Bytes of a MiB, in which sizes are set."""

LARGEST_RESULT = 64
"""MiB that a result may have at most, because a message of a process may not have more."""

PLACE = "harness_optimization.limits"
"""Where the limits are set."""


@value
class Limits:
    """What each rollout process may take; sizes in MiB, `None` where there is no limit.

    `memory_mb` is the memory that it may have for itself, `file_mb` the size of the largest file that it may write,
    `result_mb` the size of a result as JSON: one that is larger goes without its context, and fails when its output
    alone is. The cases of one candidate, those of TRAIN and of TEST each for themselves, may take `candidate_seconds`
    together.
    """

    memory_mb: int | None = None
    file_mb: int = 4096
    result_mb: int = LARGEST_RESULT
    candidate_seconds: float | None = None


DEFAULT_LIMITS = Limits()
"""Those of a process for which none are set."""

LIMIT_RULES: Mapping[str, Rule] = {
    "memory_mb": whole_number(64, 1 << 40),
    "file_mb": whole_number(1, 1 << 40),
    "result_mb": whole_number(1, LARGEST_RESULT),
    "candidate_seconds": number("a number of seconds above 0", lambda found: found > 0),
}
"""What may be given for each of them."""

Met = Literal["memory_mb", "file_mb"]
"""A limit that the system holds a process to."""


def limits_of(values: Mapping[str, Any]) -> Limits:
    """The limits of options that obey `LIMIT_RULES`."""
    return Limits(**values)


def met_limit(message: str, met: Met | None, limits: Limits) -> str:
    """What a failed case says: `message`, and which limit it met where it met one that is set."""
    if met == "memory_mb" and limits.memory_mb is not None:
        return f"{message}; a process may have {limits.memory_mb} MiB of memory ({PLACE}.memory_mb)"
    if met == "file_mb":
        return f"{message}; a file may have {limits.file_mb} MiB ({PLACE}.file_mb)"
    return message


def killed_in_memory(message: str, status: int | None, limits: Limits) -> str:
    """What a case says whose process ended: `message`, and the limit of memory where that may be why.

    `status` is how the process ended as `subprocess` tells it, below 0 a signal: what cannot get memory often aborts.
    """
    if limits.memory_mb is None or status is None or status >= 0:
        return message
    return f"{message}; it could have {limits.memory_mb} MiB of memory ({PLACE}.memory_mb), which may have been too few"


def result_bytes(limits: Limits) -> int:
    """Bytes that a result may have."""
    return limits.result_mb * MIB


def large_output(size: int, limits: Limits) -> str:
    """What a case says whose output alone, `size` bytes as JSON, is too large to be handed over."""
    return (
        f"the output of run_case is too large: {size} bytes as JSON, where {result_bytes(limits)} are allowed "
        f"({PLACE}.result_mb)"
    )


def candidate_is_late(taken_ms: float, limits: Limits) -> str | None:
    """What a case says that is not run any more, since those before it took `taken_ms` milliseconds; `None` when it may
    be run."""
    limit = limits.candidate_seconds
    if limit is None or taken_ms < limit * 1000:
        return None
    return (
        f"not run: the cases before it took {taken_ms / 1000:.1f} s together, and those of one candidate may take "
        f"{limit:g} s ({PLACE}.candidate_seconds)"
    )
