"""Counts with their noun."""

import pytest

from beaker.core.wording import counted


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), ("1", "1 row"), ("1.5", "1.5 rows"), (None, "None rows")],
)
def test_counted__one__is_singular(count: object, said: str) -> None:
    """One thing is one thing; anything else is several."""
    assert counted(count, "row") == said
