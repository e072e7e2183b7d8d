"""Whether a call that found trouble is made again, and when.

Repeated is only what may be: a call that does no more when it is made twice, and a launch that carries an idempotency
key. The waits grow and are spread over their whole length ("full jitter", AWS Architecture Blog, "Exponential Backoff
And Jitter", 2015), so that many clients of one place do not come back together. A place that says when to come back
(`Retry-After`, RFC 9110 section 10.2.3) is believed. A quota over all calls of a client ends repeating where nearly
everything fails.

Clock and chance come in as arguments: `elapsed` in seconds, `now` with a time zone, `draw` in [0, 1).
"""

import re
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from beaker.core.api import ApiProblem
from beaker.core.problems import Problem
from beaker.core.values import value

IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""RFC 9110 section 9.2.2: made twice, they leave what made once they leave."""

PASSING_STATUSES = frozenset({429, 502, 503, 504})
"""Too many requests, and what a gateway or a service says that will be back: nothing was wrong with the call."""

NO_ANSWER, NO_ANSWER_CODE = 0, "BK803"
"""The status, and the code of the problem, of a call that was not answered in full: not connected, timed out, cut
off."""


@value(kw_only=True)
class RetryPolicy:
    """How patient a client is.

    `attempts` counts the first one, `None` bounds it by time alone. The wait before attempt n + 1 is at most
    `first_wait` doubled n - 1 times, and at most `longest_wait`; `budget` bounds the time from the first attempt to the
    start of the last. All in seconds.
    """

    attempts: int | None = 3
    first_wait: float = 0.5
    longest_wait: float = 20.0
    budget: float = 60.0
    passing: frozenset[int] = PASSING_STATUSES


ONCE = RetryPolicy(attempts=1)
"""The policy of whoever repeats calls itself."""


WATCH_LONGEST_WAIT = 60.0
"""Seconds at most between two looks at a run while the place does not answer."""

WATCH_PATIENCE, WATCH_FIRST_PATIENCE = 900.0, 30.0
"""Seconds after which a place that no longer answers, or never has, is given up by whoever watches a run."""


def watch_policy(interval: float, *, answered: bool) -> RetryPolicy:
    """How long trouble is borne by somebody who looks at a run every `interval` seconds: whoever never answered may not
    exist, whoever did will probably answer again."""
    return RetryPolicy(
        attempts=None,
        first_wait=max(1.0, interval),
        longest_wait=WATCH_LONGEST_WAIT,
        budget=WATCH_PATIENCE if answered else WATCH_FIRST_PATIENCE,
        passing=PASSING_STATUSES | frozenset(range(500, 600)),
    )


@value
class RetryQuota:
    """What a client may still spend on repeating, over all its calls. A token bucket: it never exceeds `capacity`."""

    left: int = 100
    capacity: int = 100
    cost: int = 5

    def spent(self) -> "RetryQuota":
        """After one repetition; only asked when `affords` says so."""
        return RetryQuota(self.left - self.cost, self.capacity, self.cost)

    def earned(self) -> "RetryQuota":
        """After a call that was answered."""
        return RetryQuota(min(self.left + 1, self.capacity), self.capacity, self.cost)

    @property
    def affords(self) -> bool:
        """Whether there is enough for one repetition."""
        return self.left >= self.cost


@value
class Trouble:
    """What came instead of a success: an HTTP status, or `NO_ANSWER`, and the headers `Retry-After` and `Date` as they
    were sent."""

    status: int = NO_ANSWER
    retry_after: str = ""
    date: str = ""


@value
class Again:
    """Make the call again after `wait` seconds; `quota` is what remains then."""

    wait: float
    quota: RetryQuota


@value
class Stop:
    """Take what came as the outcome. Why: the call may not be repeated, the trouble does not pass, or a limit is
    reached: of attempts, of time (also when the place asks for more of it than is left), of the quota."""

    why: Literal["call", "trouble", "attempts", "budget", "quota"]


Decision: TypeAlias = Again | Stop


def trouble_in(problem: Problem) -> Trouble | None:
    """The trouble that a failed call had; `None` for a call that was never made, or was answered with nonsense."""
    if not isinstance(problem, ApiProblem) or (problem.status == NO_ANSWER and problem.code != NO_ANSWER_CODE):
        return None
    return Trouble(problem.status, problem.retry_after, problem.date)


def may_repeat(method: str, *, keyed: bool = False) -> bool:
    """Whether a request may be sent twice: its method is idempotent, or it carries an idempotency key."""
    return keyed or method.upper() in IDEMPOTENT_METHODS


def passes(trouble: Trouble, policy: RetryPolicy) -> bool:
    """Whether the trouble is of the kind that goes away by itself."""
    return trouble.status == NO_ANSWER or trouble.status in policy.passing


def decide(
    policy: RetryPolicy,
    trouble: Trouble,
    *,
    repeatable: bool,
    attempt: int,
    elapsed: float,
    draw: float,
    now: datetime,
    quota: RetryQuota | None = None,
) -> Decision:
    """What to do after attempt number `attempt` (from 1), `elapsed` seconds after the first one began.

    Without a `quota` of its own a call has a full one. Total: negative or absurd times count as 0.
    """
    tokens = RetryQuota() if quota is None else quota
    left = policy.budget - max(0.0, elapsed)
    asked = asked_seconds(trouble, now=now)
    if not repeatable:
        return Stop("call")
    if not passes(trouble, policy):
        return Stop("trouble")
    if policy.attempts is not None and attempt >= policy.attempts:
        return Stop("attempts")
    # Not "at least": where no time is left, an attempt without a wait would be one too many.
    if left <= 0 or asked > left:
        return Stop("budget")
    if not tokens.affords:
        return Stop("quota")
    return Again(min(asked + back_off(policy, attempt, draw=draw), left), tokens.spent())


def back_off(policy: RetryPolicy, attempt: int, *, draw: float) -> float:
    """Seconds to wait after attempt number `attempt`, from none to the whole of a length that doubles every time."""
    # Doubling 64 times exceeds any wait; more would overflow a float in the end.
    whole = min(policy.longest_wait, policy.first_wait * 2.0 ** min(max(attempt, 1) - 1, 64))
    return max(0.0, whole * draw)


def asked_seconds(trouble: Trouble, *, now: datetime) -> float:
    """Seconds that the place asks for, 0 when it does not.

    A date is meant by the place's own clock, which may differ from ours, `now`: it is counted from the answer's date.
    """
    sent = _http_date(trouble.date.strip(), now)
    return retry_after_seconds(trouble.retry_after, now=now if sent is None else sent) or 0.0


def retry_after_seconds(header: str, *, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header asks for, given as a number or as a date; `None` for anything else.

    The three date formats of RFC 9110 section 5.6.7 are read; a date that has passed is 0.
    """
    written = header.strip()
    if _SECONDS.match(written):
        return float(written)
    date = _http_date(written, now)
    return None if date is None else max(0.0, (date - now).total_seconds())


_SECONDS = re.compile(r"[0-9]+\Z")
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"[A-Z][a-z]{{2}}, (?P<day>[0-9]{{2}}) (?P<month>[A-Z][a-z]{{2}}) (?P<year>[0-9]{{4}}) {_TIME} GMT\Z",
        rf"[A-Z][a-z]+, (?P<day>[0-9]{{2}})-(?P<month>[A-Z][a-z]{{2}})-(?P<year>[0-9]{{2}}) {_TIME} GMT\Z",
        rf"[A-Z][a-z]{{2}} (?P<month>[A-Z][a-z]{{2}}) (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})\Z",
    )
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _http_date(written: str, now: datetime) -> datetime | None:
    for pattern in _DATES:
        if (found := pattern.match(written)) is not None and found["month"] in _MONTHS:
            year = int(found["year"])
            if len(found["year"]) == 2:
                # Two digits that would lie more than 50 years ahead mean the century before.
                year += now.year - now.year % 100
                year -= 100 if year > now.year + 50 else 0
            second = int(found["second"])
            try:
                return datetime(
                    year,
                    _MONTHS.index(found["month"]) + 1,
                    int(found["day"]),
                    int(found["hour"]),
                    int(found["minute"]),
                    59 if second == 60 else second,  # a leap second
                    tzinfo=UTC,
                )
            except ValueError:
                return None
    return None
