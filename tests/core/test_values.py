"""Laws of frozen values and read-only mappings."""

import copy
import dataclasses
import json
import pickle
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.values import FrozenInstanceError, ReadOnlyDict, read_only, value


@value
class Point:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()
    extra: dict[str, Any] = attrs.field(factory=dict)


@value
class Named(Point):
    name: str = "n"


points = st.builds(
    Point,
    x=st.integers(),
    y=st.integers(),
    tags=st.lists(st.text()).map(tuple),
    extra=st.dictionaries(st.text(), st.integers()),
)


@given(points)
def test_value__copies_and_pickles_equal(point: Point) -> None:
    """Copying, pickling and rebuilding from its fields give an equal value."""
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert Point(**{field.name: getattr(point, field.name) for field in dataclasses.fields(point)}) == point


@given(points, st.integers())
def test_value__attrs_and_dataclasses_agree(point: Point, x: int) -> None:
    """`replace`/`evolve` and both `asdict` give the same answers."""
    assert dataclasses.replace(point, x=x) == attrs.evolve(point, x=x)
    assert dataclasses.asdict(point) == {**attrs.asdict(point), "tags": point.tags}
    assert [field.name for field in dataclasses.fields(Named)] == [field.name for field in attrs.fields(Named)]


def test_value__assignment__is_an_error_of_either_library() -> None:
    """Assigning or deleting a known or unknown field fails, and either library's error class catches it."""
    point = Point(1)
    for error in (attrs.exceptions.FrozenInstanceError, dataclasses.FrozenInstanceError, FrozenInstanceError):
        with pytest.raises(error):
            point.x = 2  # type: ignore[misc]  # the point of the test
        with pytest.raises(error):
            point.unknown = 2  # type: ignore[attr-defined]  # the point of the test
        with pytest.raises(error):
            del point.x
    assert point == Point(1)


def test_value__mapping_inside__is_unhashable() -> None:
    """A value hashes by its fields, so one that holds a dict does not."""
    with pytest.raises(TypeError):
        hash(Point(1))


def test_value__matches_by_position() -> None:
    """Fields are positional patterns."""
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


CHANGES = [
    lambda d: d.__setitem__("k", 1),
    lambda d: d.__delitem__("a"),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("k", 1),
    lambda d: d.update({"k": 1}),
    lambda d: d.__ior__({"k": 1}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_read_only__any_change__is_refused(change: Any) -> None:
    """Every way of changing a dict raises `TypeError` and changes nothing."""
    mapping = read_only({"a": 1})
    with pytest.raises(TypeError):
        change(mapping)
    assert mapping == {"a": 1}


@given(st.dictionaries(st.text(), st.lists(st.integers())))
def test_read_only__is_a_dict_and_stays_read_only(items: dict[str, list[int]]) -> None:
    """It is a dict to `isinstance` and `json`; copies of it stay read-only, `|` and `copy()` give plain dicts."""
    mapping = read_only(items)
    assert isinstance(mapping, dict)
    assert json.loads(json.dumps(mapping)) == items
    for same in (copy.copy(mapping), copy.deepcopy(mapping), pickle.loads(pickle.dumps(mapping))):
        assert type(same) is ReadOnlyDict
        assert same == items
    assert type(mapping | {}) is dict
    assert type({} | mapping) is dict
    assert type(mapping.copy()) is dict
    assert read_only(mapping) is mapping
