"""Whether a case that failed is tried again, and when.

Tried again is what may pass: a case that asked for it, and a failure that is the machine's rather than the case's. All
else would fail once more, and cost as much once more.
"""

INFRASTRUCTURE = "infrastructure"
"""The kind of a failure that is the machine's: no process could be started, or somebody else killed it."""

PASSING_KINDS = frozenset({"retryable", INFRASTRUCTURE})
"""Kinds of case errors that may be gone at the next attempt."""

FIRST_WAIT, LONGEST_WAIT = 0.25, 8.0
"""Seconds before the first further attempt, doubled for each after it, and at most."""

_SIGKILL = -9


def wait_before_retry(kind: str | None, *, attempt: int, retry_limit: int) -> float | None:
    """Seconds until attempt `attempt` + 1 (the first one is 1); `None` when what came of this one counts.

    `kind` is that of the error, `None` without one. A further attempt is allowed `retry_limit` times.
    """
    if kind not in PASSING_KINDS or attempt > retry_limit:
        return None
    return min(FIRST_WAIT * 2.0 ** min(attempt - 1, 64), LONGEST_WAIT)


def crash_kind(status: int | None, *, passing: bool) -> str:
    """The kind of the error of a case whose process is gone.

    `status` is how it ended, as `subprocess` tells it, `None` when that is unknown; `passing` says that the system
    could not do what it was asked for want of something that comes back. Nothing but SIGKILL from outside ends a
    process without a word: an operator's, or the kernel's when the machine has no memory left.
    """
    return INFRASTRUCTURE if passing or status == _SIGKILL else "crashed"
