"""Waiting for somebody: time that counts, trouble that passes by, clocks that jump."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.api import ApiProblem
from beaker.core.problems import Problem
from beaker.core.waiting import LONGEST_CALL, Patience, passes_by


def after(patience: Patience, *readings: float) -> Patience:
    for now in readings:
        patience = patience.at(now)
    return patience


def test_at__readings__add_up() -> None:
    """The first reading begins the time, every other adds what has passed since."""
    patience = after(Patience(limit=10.0), 100.0, 101.0, 104.5)
    assert (patience.spent, patience.left, patience.over) == (4.5, 5.5, False)
    assert (patience.at(110.0).left, patience.at(110.0).over) == (0.0, True)


def test_at__clock_that_jumps_ahead__counts_no_more_than_a_call() -> None:
    """A machine that slept for a day has waited for as long as a call takes."""
    patience = after(Patience(limit=600.0), 0.0, 86_400.0)
    assert patience.spent == LONGEST_CALL
    asleep = after(Patience(limit=600.0), 0.0).pausing(2.0).at(86_400.0)
    assert asleep.spent == 2.0 + LONGEST_CALL


def test_at__clock_that_is_set_back__counts_the_pause() -> None:
    """Whatever the clock says, a pause took its time, and is counted once."""
    patience = after(Patience(limit=600.0), 86_400.0).pausing(2.0)
    assert patience.pause == 2.0
    back = patience.at(0.0)
    assert (back.spent, back.pause) == (2.0, 0.0)
    assert back.at(1.0).spent == 3.0
    assert back.at(0.0).spent == 2.0


def test_pausing__end_of_the_time__cuts_the_pause() -> None:
    """The last pause ends with the time, so that a last look comes at its end."""
    assert after(Patience(limit=3.0), 0.0, 2.0).pausing(2.0).pause == 1.0
    assert after(Patience(limit=3.0), 0.0, 5.0).pausing(2.0).pause == 0.0


@pytest.mark.parametrize(
    "retry_after, expected",
    [
        ("30", 30.0), ("1", 2.0), ("", 2.0), ("soon", 2.0), ("59", 59.0), ("900", 60.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
    ],
)  # fmt: skip
def test_pausing__service_that_says_when__is_believed(retry_after: str, expected: float) -> None:
    """`Retry-After` in seconds or as a date makes the pause longer, up to a minute, and never longer than the time."""
    busy = ApiProblem("BK805", "slow down", status=429, retry_after=retry_after)
    patience = after(Patience(limit=600.0), 1000.0)
    assert patience.pausing(2.0, busy).pause == expected
    assert patience.pausing(90.0, busy).pause == 90.0
    assert after(Patience(limit=1.0), 1000.0).pausing(2.0, busy).pause == 1.0


def test_pausing__reading_that_is_no_date__is_none() -> None:
    """A clock that shows nonsense does not keep a date from being read."""
    busy = ApiProblem("BK805", "slow down", status=429, retry_after="Thu, 01 Jan 1970 00:00:10 GMT")
    assert after(Patience(limit=600.0), 1e300).pausing(2.0, busy).pause == 10.0
    assert Patience(limit=600.0).pausing(2.0, busy).pause == 10.0
    assert Patience(limit=600.0).pausing(2.0, Problem("BK809", "no")).pause == 2.0


@pytest.mark.parametrize(
    "problem, passes",
    [
        (ApiProblem("BK803", "no answer"), True),
        (ApiProblem("BK804", "nonsense"), False),
        (ApiProblem("BK805", "slow down", status=429), True),
        (ApiProblem("BK808", "oh", status=500), True),
        (ApiProblem("BK808", "not here", status=501), False),
        (ApiProblem("BK808", "later", status=503), True),
        (ApiProblem("BK808", "odd", status=599), True),
        (ApiProblem("BK806", "who?", status=401), False),
        (ApiProblem("BK805", "no", status=403), False),
        (ApiProblem("BK805", "odd", status=499), False),
        (Problem("BK809", "not there"), False),
    ],
)
def test_passes_by__trouble__as_listed(problem: Problem, passes: bool) -> None:
    """What is nobody's decision passes by: no answer, too many requests, a service in trouble."""
    assert passes_by(problem) is passes


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1e4))),
    st.floats(0, 1e4),
)
def test_patience__any_clock__ends_after_as_many_pauses_as_fit(steps: list[tuple[float, float]], limit: float) -> None:
    """Time never goes back; a step counts at least its pause, and at most a call more."""
    patience = Patience(limit=limit)
    for now, interval in steps:
        pausing = patience.pausing(interval)
        assert 0.0 <= pausing.pause <= min(interval, patience.left)
        following = pausing.at(now)
        counted = following.spent - patience.spent
        assert counted >= 0.0
        assert counted <= pausing.pause + LONGEST_CALL + 1e-6
        assert counted >= pausing.pause - 1e-6
        assert following.over == (following.left == 0.0)
        assert math.isfinite(following.spent)
        patience = following
