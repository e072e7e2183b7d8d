"""Figures: what they draw lies where the numbers say, and inside the picture."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.report.charts import bar, interval_chart, pair_bar, score_chart, stacked_bar
from beaker.core.report.reading import candidates

Read = Callable[[str], Any]


def nodes(*rows: tuple[int | None, float | None, float | None]) -> Any:
    """Candidates of (parent, objective, rollouts)."""

    def one(n: int, parent: int | None, score: float | None, rollouts: float | None) -> dict[str, Any]:
        return {
            "id": f"r.{n}",
            "parent_id": None if parent is None else f"r.{parent}",
            "status": "rejected" if score is None else "accepted",
            "reason": "why",
            "rollouts": rollouts,
            "scores": {"train": None if score is None else {"objective": score}},
        }

    return candidates({"candidates": [one(n, *row) for n, row in enumerate(rows)]})


def at(attributes: dict[str, str | None], name: str) -> float:
    return float((attributes[name] or "").rstrip("%"))


def test_score_chart__dots__lie_by_rollouts_and_score(read: Read) -> None:
    """The axis ends with what was spent; the baseline and the subject are named; the best line only steps up."""
    chart = read(
        score_chart(nodes((None, 0.25, 10), (0, None, 20), (0, 0.5, 30), (2, 0.375, 35)), winner="r.2", spent=40)
    )
    dots = chart.all("circle", "dot")
    assert [at(one, "cx") for one in dots] == [25, 75, 87.5]
    assert [one["class"] for one in dots] == ["dot base", "dot best", "dot"]
    assert at(dots[0], "cy") > at(dots[2], "cy") > at(dots[1], "cy")
    assert [at(one, "x1") for one in chart.all("line", "rejected")] == [50]
    steps = [(at(one, "x1"), at(one, "x2")) for one in chart.all("line", "best")]
    assert steps == [(25, 75), (75, 75), (75, 100)]
    assert "#0 0.250" in chart.text
    assert "#2 0.500" in chart.text
    assert "#3 0.375" not in chart.text.replace("#3: 0.375", "")
    assert [one["class"] for one in chart.all("text") if "name" in (one["class"] or "")] == ["name", "name end"]
    assert "rollouts issued" in chart.text
    assert chart.all("svg")[0]["aria-label"] == "3 scored candidates over 40 rollouts"


def test_score_chart__counts_missing__go_by_order(read: Read) -> None:
    """A place that does not count rollouts gets the order of decision; spent rollouts mean nothing then."""
    chart = read(score_chart(nodes((None, 0.5, None), (0, 0.5, 7), (0, 0.5, 9)), winner=None, spent=40))
    assert [at(one, "cx") for one in chart.all("circle", "dot")] == [0, 50, 100]
    assert "candidates in order of decision" in chart.text
    assert [(at(one, "x1"), at(one, "x2")) for one in chart.all("line", "best")] == [(0, 100)]


def test_score_chart__nothing_scored__is_nothing() -> None:
    """No axes without a point."""
    assert score_chart(nodes((None, None, 3)), winner=None, spent=None) == ""
    assert score_chart((), winner=None, spent=None) == ""


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 10**7)), min_size=1, max_size=20))
def test_score_chart__any_scores__stay_inside(rows: list[tuple[float, int]]) -> None:
    """Every mark lies in the picture, however near or far the scores are."""
    chart = score_chart(
        nodes(*((0 if n else None, score, at) for n, (score, at) in enumerate(rows))), winner="r.0", spent=None
    )
    places = [float(found) for found in re.findall(r'"(-?[0-9.]+)%"', chart)]
    assert places
    assert all(0 <= place <= 100 for place in places)
    ticks = re.findall(r'class="tick end">([0-9.]+)<', chart)
    assert 3 <= len(ticks) <= 8
    assert ticks == sorted(set(ticks))
    assert 1 <= chart.count("tick middle") <= 6


@pytest.mark.parametrize(
    "low, center, high, zero, labels, places",
    [
        (-0.1, 0.2, 0.5, True, ["−0.500", "0", "+0.500"], (41.3, 67.39, 93.48)),
        (0.0, 0.01, 0.02, True, ["−0.050", "0", "+0.050"], (50, 58.7, 67.39)),
        (0.2, 0.25, 0.75, False, ["0", "0.500", "1.000"], (20, 25, 75)),
    ],
)
def test_interval_chart__lies_between_its_ends(
    read: Read, low: float, center: float, high: float, zero: bool, labels: list[str], places: tuple[float, ...]
) -> None:
    """A difference is held against 0 in the middle, a score lies between 0 and 1."""
    chart = read(interval_chart(low, center, high, zero=zero))
    (reach,), (dot,) = chart.all("line", "reach"), chart.all("circle")
    assert (at(reach, "x1"), at(dot, "cx"), at(reach, "x2")) == pytest.approx(places, abs=0.01)
    assert chart.texts == labels
    assert len(chart.all("line", "zero")) == zero


def test_pair_bar__one_or_two_scores__are_on_the_line(read: Read) -> None:
    """The way is good when the score rises, bad when it falls, neither when it stays or is alone."""
    ways = [read(pair_bar(before, after)) for before, after in ((0.25, 0.5), (0.5, 0.25), (0.5, 0.5), (None, 0.5))]
    assert [one.all("line", "way")[0]["class"] for one in ways] == ["way good", "way bad", "way", "way"]
    assert [[at(dot, "cx") for dot in one.all("circle")] for one in ways] == [[25, 50], [50, 25], [50, 50], [50]]
    assert [at(one.all("line", "way")[0], "x1") for one in ways] == [25, 50, 50, 0]


def test_bars__have_the_share_and_the_counts(read: Read) -> None:
    """A bar is as wide as its share; an empty part of a stack is left out."""
    assert read(bar(0.5, tone="win")).elements[1] == ("i", {"style": "width:50%"})
    assert read(bar(0.5)).elements[0][1]["class"] == "bar"
    parts = read(stacked_bar([("worse", 0), ("better", 3), ("open", 1)])).all("i")
    assert [(one["class"], one["style"]) for one in parts] == [
        ("part better", "flex-grow:3"),
        ("part open", "flex-grow:1"),
    ]
