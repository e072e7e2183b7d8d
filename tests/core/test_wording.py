"""Counts with their noun, and sentences that say the same."""

import pytest

from beaker.core.wording import alike, counted


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
