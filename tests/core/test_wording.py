"""Counts with their noun, and sentences that say the same."""

import pytest

from beaker.core.problems import Problem
from beaker.core.wording import alike, counted, unsaid


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), ("1", "1 row"), ("1.5", "1.5 rows"), (None, "None rows")],
)
def test_counted__one__is_singular(count: object, said: str) -> None:
    """One thing is one thing; anything else is several."""
    assert counted(count, "row") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("row 12 has 3.5, not 4", "row # has #, not #"),
        ("'a' and \"b\" and `c`, not d", "… and … and …, not d"),
        ("  first line\nsecond 1", "first line"),
        ("", ""),
    ],
)
def test_alike__numbers_and_quoted_names__are_left_out(text: str, said: str) -> None:
    """What differs between texts that say the same is no part of what they say."""
    assert alike(text) == said


def test_unsaid__what_was_said__is_not_said_again() -> None:
    """Told apart by code and message alone, in order, and nothing twice."""
    a, a_elsewhere, b, other = (
        Problem("BK107", "a"),
        Problem("BK107", "a", "f:1", "h"),
        Problem("BK107", "b"),
        Problem("BK108", "a"),
    )
    assert unsaid([a_elsewhere, b, other, b], [a]) == (b, other)
    assert unsaid([a, a_elsewhere], []) == (a,)
    assert unsaid([], [a]) == ()
