"""Making a call again: the tables, and laws of patience."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.api import ApiProblem, Response, read_refusal
from beaker.core.problems import Problem
from beaker.core.retry import (
    ONCE,
    PASSING_STATUSES,
    Again,
    RetryPolicy,
    RetryQuota,
    Stop,
    Trouble,
    asked_seconds,
    back_off,
    decide,
    may_repeat,
    passes,
    retry_after_seconds,
    trouble_in,
    watch_policy,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "retry.json").read_text("utf-8"))
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

SECONDS = st.floats(0, 1000)
DRAWS = st.floats(0, 1, exclude_max=True)
POLICIES = st.builds(
    RetryPolicy,
    attempts=st.none() | st.integers(1, 10),
    first_wait=SECONDS,
    longest_wait=SECONDS,
    budget=SECONDS,
)
TROUBLES = st.builds(
    Trouble,
    st.just(0) | st.sampled_from(sorted(PASSING_STATUSES)) | st.integers(100, 599),
    st.sampled_from(["", "soon"]) | st.integers(0, 500).map(str),
)


def decided(policy: RetryPolicy = RetryPolicy(), **given_facts: Any) -> Again | Stop:  # noqa: B008  # a value
    """A decision about a repeatable first attempt that got no answer, but for what is given."""
    facts = {"repeatable": True, "attempt": 1, "elapsed": 0.0, "draw": 0.5, **given_facts}
    trouble = Trouble(facts.pop("status", 0), facts.pop("retry_after", ""))
    quota = RetryQuota(facts.pop("left")) if "left" in facts else None
    return decide(policy, facts.pop("trouble", trouble), now=NOW, quota=quota, **facts)


@pytest.mark.parametrize("facts, expected", VECTORS["decisions"])
def test_decide__decision_table__as_listed(facts: dict[str, Any], expected: Any) -> None:
    """Each situation gives the listed wait, or the listed reason to stop."""
    decision = decided(**facts)
    if isinstance(expected, str):
        assert decision == Stop(expected)  # type: ignore[arg-type]
    else:
        assert isinstance(decision, Again)
        assert decision.wait == pytest.approx(expected[1])


@pytest.mark.parametrize("header, seconds", VECTORS["retry_after"])
def test_retry_after_seconds__vector__as_listed(header: str, seconds: float | None) -> None:
    """A number of seconds or one of the three date formats; anything else says nothing."""
    assert retry_after_seconds(header, now=NOW) == seconds


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)), st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1))
)
def test_retry_after_seconds__any_date__is_the_time_until_then(date: datetime, now: datetime) -> None:
    """A date as the standard library writes it is read back to the second, and never lies before now."""
    then, current = date.replace(microsecond=0, tzinfo=UTC), now.replace(tzinfo=UTC)
    asked = retry_after_seconds(format_datetime(then, usegmt=True), now=current)
    assert asked == max(0.0, (then - current).total_seconds())


@given(st.text() | st.text(st.sampled_from("0123456789, :-GMTJanThu")), st.datetimes(timezones=st.just(UTC)))
def test_retry_after_seconds__any_text__is_seconds_or_nothing(header: str, now: datetime) -> None:
    """The reading is total and never negative."""
    asked = retry_after_seconds(header, now=now)
    assert asked is None or asked >= 0


@pytest.mark.parametrize("method, keyed, expected", VECTORS["may_repeat"])
def test_may_repeat__decision_table__as_listed(method: str, keyed: bool, expected: bool) -> None:
    """Idempotent methods, and whatever carries a key."""
    assert may_repeat(method, keyed=keyed) == expected


@given(POLICIES, TROUBLES, st.booleans(), st.integers(1, 100), st.floats(-10, 2000), DRAWS, st.integers(0, 100))
def test_decide__again__keeps_every_limit(
    policy: RetryPolicy, trouble: Trouble, repeatable: bool, attempt: int, elapsed: float, draw: float, left: int
) -> None:
    """A repetition is allowed, paid for, starts within the budget, and comes no sooner than the place asked."""
    decision = decided(
        policy, trouble=trouble, repeatable=repeatable, attempt=attempt, elapsed=elapsed, draw=draw, left=left
    )
    if isinstance(decision, Again):
        assert repeatable
        assert passes(trouble, policy)
        assert policy.attempts is None or attempt < policy.attempts
        assert max(0.0, elapsed) + decision.wait <= policy.budget * (1 + 1e-9)
        assert decision.wait >= (retry_after_seconds(trouble.retry_after, now=NOW) or 0.0)
        assert 0 <= decision.quota.left == left - decision.quota.cost


@given(POLICIES, TROUBLES, DRAWS)
def test_decide__any_trouble_without_end__ends(policy: RetryPolicy, trouble: Trouble, draw: float) -> None:
    """Whatever a place answers, a call that is repeated as decided ends: by attempts, by time or by quota."""
    elapsed, quota = 0.0, RetryQuota()
    for attempt in range(1, 100):
        decision = decided(policy, trouble=trouble, attempt=attempt, elapsed=elapsed, draw=draw, left=quota.left)
        if isinstance(decision, Stop):
            return
        elapsed, quota = elapsed + decision.wait, decision.quota
    pytest.fail("it never ended")


@given(POLICIES, st.integers(1, 2000), DRAWS)
def test_back_off__wait__lies_below_a_doubling_bound(policy: RetryPolicy, attempt: int, draw: float) -> None:
    """Full jitter: a share `draw` of a length that doubles up to the longest wait."""
    wait = back_off(policy, attempt, draw=draw)
    whole = back_off(policy, attempt, draw=1.0)
    assert 0 <= wait <= whole <= policy.longest_wait
    assert whole == min(policy.longest_wait, policy.first_wait * 2 ** min(attempt - 1, 64))
    assert back_off(policy, attempt + 1, draw=draw) >= wait


@given(st.lists(st.booleans()))
def test_quota__any_history__stays_between_nothing_and_full(spending: list[bool]) -> None:
    """Repetitions take from it while it lasts, answered calls fill it up again, never beyond its capacity."""
    quota = RetryQuota()
    for spend in spending:
        if not spend:
            quota = quota.earned()
        elif quota.affords:
            quota = quota.spent()
        assert 0 <= quota.left <= quota.capacity


@given(POLICIES, TROUBLES)
def test_once__never_repeats(policy: RetryPolicy, trouble: Trouble) -> None:
    """The policy of whoever repeats alone stops at the first attempt."""
    assert isinstance(decided(ONCE, trouble=trouble), Stop)


def test_trouble_in__problem__has_status_and_header_or_is_none() -> None:
    """An answer's status and header count; a call never made, or answered with nonsense, has no trouble that passes."""
    refusal = read_refusal(Response(status=503, headers={"retry-after": "7", "date": "d"}, body=b""))
    assert trouble_in(refusal) == Trouble(503, "7", "d")
    assert trouble_in(read_refusal(Response(status=404))) == Trouble(404)
    assert trouble_in(ApiProblem("BK803", "no answer")) == Trouble()
    assert trouble_in(ApiProblem("BK804", "no JSON")) is None
    assert trouble_in(Problem("BK801", "takes no such argument")) is None


def test_retry_after_seconds__other_time_zone__is_the_same_moment() -> None:
    """`now` may be in any time zone."""
    elsewhere = NOW.astimezone(tz=None) - timedelta(seconds=5)
    assert retry_after_seconds("Thu, 01 Jan 2026 12:00:00 GMT", now=elsewhere) == 5


@pytest.mark.parametrize(
    "retry_after, date, seconds",
    [
        ("", "", 0),
        ("20", "Thu, 01 Jan 2026 18:00:00 GMT", 20),
        ("Thu, 01 Jan 2026 12:00:10 GMT", "", 10),
        ("Thu, 01 Jan 2026 12:00:10 GMT", "soon", 10),
        ("Thu, 01 Jan 2026 18:00:10 GMT", " Thu, 01 Jan 2026 18:00:00 GMT ", 10),
        ("Thu, 01 Jan 2026 06:00:10 GMT", "Thu, 01 Jan 2026 06:00:00 GMT", 10),
        ("Thu, 01 Jan 2026 17:00:00 GMT", "Thu, 01 Jan 2026 18:00:00 GMT", 0),
    ],
)
def test_asked_seconds__clocks_that_differ__are_no_wait(retry_after: str, date: str, seconds: float) -> None:
    """A date is meant by the clock of whoever wrote it, which the answer shows; a number needs none."""
    trouble = Trouble(503, retry_after, date)
    assert asked_seconds(trouble, now=NOW) == seconds
    decision = decided(trouble=trouble, draw=0.0)
    assert isinstance(decision, Again)
    assert decision.wait == seconds


@pytest.mark.parametrize("interval, first", [(0.0, 1.0), (1.0, 1.0), (15.0, 15.0)])
def test_watch_policy__patience__is_longer_with_whoever_answered(interval: float, first: float) -> None:
    """No count of attempts, the waits of a watch, and every status that a service may get over."""
    known, unknown = (watch_policy(interval, answered=answered) for answered in (True, False))
    assert (known.budget, unknown.budget) == (900, 30)
    assert (known.attempts, known.first_wait, known.longest_wait) == (None, first, 60)
    assert unknown.passing == {429, *range(500, 600)}
