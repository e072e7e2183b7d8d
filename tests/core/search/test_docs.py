"""The page that describes the search draws it as it is."""

from pathlib import Path

import pytest

from beaker.core.search.points import FULL
from beaker.core.search.state import PHASES, STAGES

PAGE = (Path(__file__).parents[3] / "docs" / "optimization.md").read_text(encoding="utf-8")
EDGES = [(one, after) for table in (PHASES, STAGES) for one, after in table.items() if after]


@pytest.mark.parametrize("one, after", EDGES)
def test_docs__draw_every_move_of_the_tables(one: str, after: tuple[str, ...]) -> None:
    """Each line of a drawing is a line of a table."""
    assert f"    {one} -> {', '.join(after)}\n" in PAGE


def test_docs__state_the_points_of_a_score() -> None:
    """The grid that scores are compared on is the one that is documented."""
    assert f"1 / {FULL:,}" in PAGE
