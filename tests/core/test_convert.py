"""Laws of the converter: round trips, and every fault with its path."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.convert import from_json, to_json
from beaker.core.values import value


@value
class Inner:
    count: int
    share: float = 0.5
    flag: bool = False


@value
class Outer:
    name: str
    inners: tuple[Inner, ...] = ()
    extra: dict[str, Any] = attrs.field(factory=dict)
    note: str | None = None


inners = st.builds(Inner, st.integers(), st.floats(0, 1), st.booleans())
outers = st.builds(
    Outer,
    st.text(),
    st.lists(inners).map(tuple),
    st.dictionaries(st.text(), st.one_of(st.none(), st.integers(), st.lists(st.text()))),
    st.none() | st.text(),
)


@given(outers)
def test_convert__round_trip(outer: Outer) -> None:
    """A record read back is the record written."""
    assert from_json(to_json(outer), Outer, code="BK000").unwrap() == outer


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_from_json__any_json__is_value_or_problems(data: Any) -> None:
    """No JSON makes the reader raise."""
    result = from_json(data, Outer, code="BK000")
    assert isinstance(result.value_or(None), Outer) or result.failure()


FAULTS = [
    ([], [("$", "expected an object, found a list")]),
    ({}, [("$.name", "is missing")]),
    ({"name": 1}, [("$.name", "expected a string, found the number 1")]),
    (
        {"name": "n", "inners": [{"count": True}, {"count": 1.0, "x": 1}]},
        [
            ("$.inners[0].count", "expected an integer, found true"),
            ("$.inners[1].count", "expected an integer, found the number 1.0"),
            ("$.inners[1].x", "is not a known key"),
        ],
    ),
    (
        {"name": "n", "inners": [{"count": 1, "share": "x"}]},
        [("$.inners[0].share", "expected a number, found the string 'x'")],
    ),
    ({"name": "n", "inners": [{"count": 1, "share": True}]}, [("$.inners[0].share", "expected a number, found true")]),
    ({"name": None}, [("$.name", "expected a string, found null")]),
    ({"name": "n", "inners": "ab"}, [("$.inners", "expected a list, found the string 'ab'")]),
    ({"name": "n", "inners": {"a": 1}}, [("$.inners", "expected a list, found an object")]),
    ({"name": "n", "extra": []}, [("$.extra", "expected an object, found a list")]),
    ({"name": {}, "note": "x" * 50}, [("$.name", "expected a string, found an object")]),
    (
        {"name": b"n", "extra": (1,)},
        [("$.name", "expected a string, found bytes"), ("$.extra", "expected an object, found a list")],
    ),
]


@pytest.mark.parametrize(("data", "faults"), FAULTS, ids=range(len(FAULTS)))
def test_from_json__faults__are_all_reported_with_their_path(data: Any, faults: list[tuple[str, str]]) -> None:
    """All faults of a record come at once, each at its path."""
    problems = from_json(data, Outer, code="BK000").failure()
    assert [(problem.where, problem.message) for problem in problems] == faults


@value
class Pairs:
    """A value with tuples inside tuples."""

    pairs: tuple[tuple[str, float | None], ...]


def test_to_json__tuples_inside_tuples__become_lists() -> None:
    """What is written is what its JSON text reads back as, at every depth."""
    assert to_json(Pairs((("a", 1.0), ("b", None)))) == {"pairs": [["a", 1.0], ["b", None]]}
