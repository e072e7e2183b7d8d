"""Waiting for what somebody does elsewhere: how long, and through which trouble.

Time comes as readings of a clock (seconds) that may jump: a machine whose lid was closed wakes up hours later, and
clocks are set while programs run. Counted is the time in which somebody could be waited for: each step at least the
pause that it had, and not much more than a call takes.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from beaker.core.problems import Problem
from beaker.core.retry import NO_ANSWER, retry_after_seconds, trouble_in
from beaker.core.values import value

LONGEST_CALL = 60.0
"""Seconds that a step may count beyond its pause; whatever took longer was no call, but a machine asleep."""


LONGEST_PAUSE = 60.0
"""Seconds that a service in trouble is left alone at most, however long it asks for: its clock may be wrong, and
somebody is waited for."""


@value
class Answered:
    """The call was answered with this JSON object; the clock then read `at`."""

    answer: Mapping[str, Any]
    at: float


@value
class CallFailed:
    """The call was refused, or not answered; the clock then read `at`."""

    problem: Problem
    at: float


@value
class Waited:
    """The wait is over; the clock reads `at`."""

    at: float


WaitingEvent: TypeAlias = Answered | CallFailed | Waited


@value
class Wait:
    """Let `seconds` pass."""

    seconds: float


@value(kw_only=True)
class Patience:
    """How long somebody is waited for: at most `limit` seconds, of which `spent` are over.

    `read` is what the clock showed last, `None` before the first reading; `pause` the wait that runs since then.
    """

    limit: float
    spent: float = 0.0
    read: float | None = None
    pause: float = 0.0

    def at(self, now: float) -> "Patience":
        """After a reading of the clock."""
        passed = 0.0 if self.read is None else now - self.read
        counted = min(max(passed, self.pause), self.pause + LONGEST_CALL)
        return replace(self, spent=self.spent + counted, read=now, pause=0.0)

    def pausing(self, interval: float, problem: Problem | None = None) -> "Patience":
        """Before the next call: a pause of `interval` seconds, longer where the trouble that was met says so (up to
        `LONGEST_PAUSE`), and no longer than there is time left."""
        asked = 0.0
        if problem is not None and (trouble := trouble_in(problem)) is not None:
            asked = retry_after_seconds(trouble.retry_after, now=_instant(self.read)) or 0.0
        return replace(self, pause=min(max(interval, min(asked, LONGEST_PAUSE)), self.left))

    @property
    def left(self) -> float:
        """Seconds that are left, 0 when the time is up."""
        return max(0.0, self.limit - self.spent)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.spent >= self.limit


def passes_by(problem: Problem) -> bool:
    """Whether a call that is repeated anyway may go on after this: no answer, too many requests, a service that has
    trouble of its own. What it does not offer at all (501) will not come."""
    trouble = trouble_in(problem)
    return trouble is not None and (
        trouble.status in (NO_ANSWER, 429) or (trouble.status >= 500 and trouble.status != 501)
    )


def _instant(read: float | None) -> datetime:
    try:
        return datetime.fromtimestamp(read or 0.0, UTC)
    except (OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(0.0, UTC)
