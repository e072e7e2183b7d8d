"""Cases side by side: which got better, and in what."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.report.cases import (
    STANDINGS,
    Remark,
    differences,
    faults,
    pairs,
    sides,
    standing_pairs,
    verdict,
)

Make = Callable[..., dict[str, Any]]


def check(name: str, found: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "verdict": found, "message": None, "group": None, "informational": False, **more}


def told(before: dict[str, Any], after: dict[str, Any]) -> list[Remark]:
    (pair,) = pairs({"cases": [before]}, {"cases": [after]})
    return [*differences(pair)]


@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.none() | st.floats(0, 1))))
def test_pairs__every_case__stands_in_exactly_one_group(objectives: list[tuple[float | None, float | None]]) -> None:
    """Nothing is lost between the groups, and the largest change of each comes first."""
    before, after = ([{"id": str(n), "objective": pair[side]} for n, pair in enumerate(objectives)] for side in (0, 1))
    paired = pairs({"cases": before}, {"cases": after})
    groups = [standing_pairs(paired, standing) for standing in STANDINGS]
    assert sorted(one.id for group in groups for one in group) == sorted(one.id for one in paired)
    assert len(paired) == len(objectives)
    for group in groups:
        changes = [abs(one.change) for one in group]
        assert changes == sorted(changes, reverse=True)


def test_standing__says_how_a_case_changed(make_case: Make) -> None:
    """A failed case counts 0; equal and perfect is solved, equal and less is open."""
    before = {
        "cases": [
            make_case("a", 0.5),
            make_case("b", None),
            make_case("c", 1.0),
            make_case("d", 0.5),
            make_case("e", 0.1),
        ]
    }
    after = {"cases": [make_case("d", 0.5), make_case("a", None), make_case("b", 0.5), make_case("c", 1.0)]}
    paired = pairs(before, after)
    assert [(one.id, one.standing) for one in paired] == [
        ("a", "worse"),
        ("b", "better"),
        ("c", "solved"),
        ("d", "open"),
    ]
    assert [one.change for one in paired] == [-0.5, 0.5, 0.0, 0.0]


def test_differences__fields_and_checks__are_named_with_both_values(make_case: Make) -> None:
    """What changed is good or bad; what is the same and imperfect is said without colour; the rest is left out."""
    before = make_case(
        "a", 0.5, field_scores={"both": 1, "up": 0, "down": 1, "same": 0.5, "gone": 0.2, "odd": "x"},
        checks=[check("polite", "fail"), check("rubric", 0.25), check("fine", "pass"), check("blank", None)],
    )  # fmt: skip
    after = make_case(
        "a", 0.7, field_scores={"both": 1, "up": 1 / 3, "down": 0, "same": 0.5, "new": 0.25},
        checks=[check("polite", "pass", message="thanks", group="tone"), check("polite", "pass", message="thanks"),
                check("rubric", 0.125, message="thin"), check("fine", "pass"), check("blank", "pass"),
                check("extra", "fail", message="no source"), check("aside", "fail", informational=True)],
    )  # fmt: skip
    assert told(before, after) == [
        Remark("bad", "down 1 → 0"),
        Remark("", "new 0.25"),
        Remark("", "same 0.5"),
        Remark("good", "up 0 → 0.333"),
        Remark("good", "polite fail → pass"),
        Remark("bad", "rubric 0.25 → 0.125: thin"),
        Remark("", "extra fail: no source"),
    ]


def test_differences__errors__are_told_once(make_case: Make) -> None:
    """A new error is bad, a gone one good, the same one is said as it is; an answer without words has failed."""
    failed, fine = make_case("a", None), make_case("a", 1.0)
    error = "raised: ValueError: no"
    assert told(fine, failed)[0] == Remark("bad", error)
    assert told(failed, fine)[0] == Remark("good", f"before: {error}")
    assert told(failed, failed) == [Remark("bad", error)]
    other = make_case("a", None, error={"kind": "crashed"})
    assert told(failed, other) == [Remark("", f"before: {error}"), Remark("bad", "crashed")]
    assert sides({"cases": [make_case("a", None, error=None)]})["a"].error == "failed"


def test_faults__one_side__tells_what_is_wrong(make_case: Make) -> None:
    """Errors, imperfect fields, checks that did not pass."""
    side = sides(
        {"cases": [make_case("a", 0.5, checks=[check("polite", "fail", message="rude"), check("ok", "pass")])]}
    )["a"]
    assert [*faults(side)] == [Remark("", "kind 0.5"), Remark("", "polite fail: rude")]
    assert [*faults(sides({"cases": [make_case("a", None)]})["a"])] == [Remark("bad", "raised: ValueError: no")]


@pytest.mark.parametrize(
    "found, read", [("pass", 1.0), ("fail", 0.0), (0.5, 0.5), (7, None), ("maybe", None), (None, None)]
)
def test_verdict__is_a_score_or_nothing(found: Any, read: float | None) -> None:
    """Words and numbers of a check."""
    assert verdict({"verdict": found}) == read
