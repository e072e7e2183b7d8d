"""Tables of cases and fields, two candidates side by side or one alone."""

from collections.abc import Callable
from typing import Any

from beaker.core.report.case_tables import (
    OPEN_CASES,
    SHOWN_CASES,
    compared_cases,
    field_table,
    listed_cases,
    remark_list,
)
from beaker.core.report.cases import Remark

Read = Callable[[str], Any]
Make = Callable[..., dict[str, Any]]


def test_compared_cases__groups_by_what_changed(read: Read, make_case: Make) -> None:
    """Worse first, changed ones open, each with both scores, the change and what differs."""
    before = {"cases": [make_case("a", 0.5), make_case("b", None), make_case("c", 1.0), make_case("d", 0.5)]}
    after = {"cases": [make_case("a", 0.25), make_case("b", 0.5), make_case("c", 1.0), make_case("d", 0.5)]}
    page = read(compared_cases(before, after, name="Winner"))
    assert ["open" in one for one in page.all("details")] == [True, True, False, False]
    assert [one["class"] for one in page.all("i", "part")] == ["part worse", "part better", "part open", "part solved"]
    for said in ("1 case got worse", "1 case got better", "1 case the same, not solved", "1 case solved by both"):
        assert said in page.text
    assert "a 0.500 0.250 −0.250 kind 0.5 → 0.25" in page.text
    assert "b failed 0.500 +0.500 before: raised: ValueError: no" in page.text
    assert "c 1.000 1.000 0" in page.text
    assert [one["data-name"] for one in page.all("td")][:5] == ["Case", "Baseline", "Winner", "Change", "What differs"]
    assert compared_cases(before, {}, name="Winner") == ""


def test_compared_cases__many__are_closed_and_counted(read: Read, make_case: Make) -> None:
    """A list that is long is not open, and what it leaves out is counted."""
    ids = [f"c{n}" for n in range(SHOWN_CASES + 1)]
    before, after = ({"cases": [make_case(name, score) for name in ids]} for score in (0.5, 1.0))
    page = read(compared_cases(before, after, name="Winner"))
    assert ["open" in one for one in page.all("details")] == [False]
    assert len(page.all("tr")) == SHOWN_CASES + 1
    assert "1 more case not shown here" in page.text
    few = {"cases": before["cases"][:OPEN_CASES]}
    assert "open" in read(compared_cases(few, after, name="Winner")).all("details")[0]
    few = {"cases": before["cases"][: OPEN_CASES + 1]}
    assert "open" not in read(compared_cases(few, after, name="Winner")).all("details")[0]


def test_listed_cases__the_worst_come_first(read: Read, make_case: Make) -> None:
    """Failed ones, then by score; with the time each took."""
    report = {
        "cases": [make_case("good", 1.0), make_case("half", 0.5), make_case("lost", None), make_case("poor", 0.0)]
    }
    page = read(listed_cases(report))
    order = [page.text.index(name) for name in ("lost", "poor", "half", "good")]
    assert order == sorted(order)
    assert "lost failed 12 ms raised: ValueError: no" in page.text
    assert [one["class"] for one in page.all("span", "bar")] == ["bar bad", "bar win", "bar win", "bar win"]
    many = {"cases": [make_case(str(n), 1.0) for n in range(SHOWN_CASES + 2)]}
    assert "2 more cases not shown here" in read(listed_cases(many)).text
    assert listed_cases({}) == ""


def test_field_table__one_or_two_reports__give_their_columns(read: Read) -> None:
    """Beside a baseline: both means and the change, also of a field that only one has."""
    after = {"field_scores": {"kind": {"mean": 0.75}, "new": {"mean": 0.5}, "same": {"mean": 0.5}, "odd": {"mean": 7}}}
    before = {"field_scores": {"kind": {"mean": 0.25}, "same": {"mean": 0.5}}}
    two = read(field_table(before, after, name="Winner"))
    assert two.text == ("Field 0 to 1 Baseline Winner Change kind 0.250 0.750 +0.500 new – 0.500 same 0.500 0.500 0")
    one = read(field_table(None, after, name="Candidate"))
    assert one.text == "Field 0 to 1 Candidate kind 0.750 new 0.500 same 0.500"
    assert field_table(before, {}, name="Winner") == ""


def test_remark_list__tones_are_classes(read: Read) -> None:
    """Nothing to say gives no list."""
    page = read(remark_list([Remark("bad", "<x>"), Remark("", "y")]))
    assert [one.get("class") for one in page.all("li")] == ["bad", None]
    assert page.text == "<x> y"
    assert remark_list([]) == ""
