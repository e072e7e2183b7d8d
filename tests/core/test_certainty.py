"""Words about intervals that say little."""

from typing import Any

import pytest

from beaker.core.certainty import FEW, doubt, stated_doubt


@pytest.mark.parametrize(
    ("n", "low", "high", "thing", "said"),
    [
        (1, 1.0, 1.0, "pair", "1 pair is too few to tell"),
        (FEW - 1, 0.1, 0.9, "pair", "9 pairs are too few to tell"),
        (2, 0.1, 0.9, "case", "2 cases are too few to tell"),
        (FEW, 0.1, 0.9, "pair", ""),
        (FEW, 1.0, 1.0, "pair", "all 10 pairs differ by the same, so the interval does not show how sure this is"),
        (40, 0.0, 0.0, "case", "all 40 cases score the same, so the interval does not show how sure this is"),
    ],
)
def test_doubt__few_or_all_alike__is_said(n: int, low: float, high: float, thing: str, said: str) -> None:
    """Below ten, or without any spread, an interval says little; otherwise nothing speaks against it."""
    assert doubt(n, low, high, thing=thing) == said
    assert stated_doubt(n, low, high, thing=thing) == said


def test_doubt__nothing_named__is_about_pairs() -> None:
    """A difference is over pairs."""
    assert doubt(3, 0.0, 0.5) == stated_doubt(3, 0, 1) == "3 pairs are too few to tell"


@pytest.mark.parametrize("figures", [(None, 0.0, 1.0), (1, None, 1.0), (1, 0.0, None), ("1", 0.0, 1.0), (1, 0, "1")])
def test_stated_doubt__no_figures__is_none(figures: tuple[Any, Any, Any]) -> None:
    """Answers are shown, not judged."""
    assert stated_doubt(*figures) == ""
