"""Making JSON of anything: it never raises, what comes out is strict JSON, and JSON stays what it is."""

import dataclasses
import json
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker import CaseResult
from beaker.sdk.utils import extract_field_from_object, to_json_safe

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary() | st.decimals()
    | st.datetimes() | st.dates() | st.times() | st.timedeltas() | st.uuids() | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.frozensets(st.integers() | st.text(), max_size=3)
    | st.dictionaries(st.integers() | st.text() | st.tuples(st.integers()), inner, max_size=3),
    max_leaves=15,
)  # fmt: skip


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    y: Any


@attrs.frozen
class Size:
    _wide: int


class Model:
    def model_dump(self, *, mode):
        return {"mode": mode, "when": date(2024, 1, 31)}


class Convertible:
    def to_dict(self):
        return {"a": {1, 2}}


class Unwilling:
    def to_dict(self):
        raise ValueError("not now")

    def __repr__(self):
        raise RuntimeError("never")


Pair = namedtuple("Pair", "first second")


@given(JSON)
def test_to_json_safe__json__stays_as_it_is(value):
    """What is JSON already is copied, and converting twice changes nothing."""
    made = to_json_safe(value)
    assert json.dumps(made) == json.dumps(value)
    if isinstance(value, list | dict) and value:
        assert made is not value


@given(ANYTHING)
def test_to_json_safe__anything__is_a_case_result(value):
    """Whatever goes in, strict JSON comes out, once and for all."""
    made = to_json_safe(value)
    assert CaseResult(made).output == made
    assert to_json_safe(made) == made


@pytest.mark.parametrize(
    "value, made",
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (b"hi", {"encoding": "base64", "content": "aGk="}),
        (bytearray(b"hi"), {"encoding": "base64", "content": "aGk="}),
        (memoryview(b"hi"), {"encoding": "base64", "content": "aGk="}),
        (datetime(2024, 1, 31, 8, 30, tzinfo=UTC), "2024-01-31T08:30:00+00:00"),
        (time(8, 30), "08:30:00"),
        (timedelta(minutes=1.5), 90.0),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        ({Level.HIGH: 1, None: 3, (1, 2): 4, "a": 5}, {"3": 1, "None": 3, "[1, 2]": 4, "a": 5}),
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({1, "a"}), ["a", 1]),
        (Pair(1, {2}), {"first": 1, "second": [2]}),
        (Point(1, Size(2)), {"x": 1, "y": {"_wide": 2}}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Model(), {"mode": "json", "when": "2024-01-31"}),
        (Convertible(), {"a": [1, 2]}),
        ("\ud800x", "\\ud800x"),
        (int, {"type": "builtins.type", "repr": "<class 'int'>"}),
        (1j, {"type": "builtins.complex", "repr": "1j"}),
    ],
)  # fmt: skip
def test_to_json_safe__other_types__as_documented(value, made):
    """Each kind has one form."""
    assert to_json_safe(value) == made
    assert to_json_safe([value]) == [made]


def test_to_json_safe__what_cannot_be_converted__is_described():
    """A conversion that fails, a cycle and great depth are written down as what they are."""
    assert to_json_safe(Unwilling()) == {
        "type": f"{__name__}.Unwilling",
        "repr": "<its text cannot be shown: RuntimeError>",
    }
    cycle: list[Any] = [1]
    cycle.append(cycle)
    assert to_json_safe(cycle) == [1, {"type": "builtins.list", "repr": "[1, [...]]"}]
    shared = {"a": 1}
    assert to_json_safe([shared, shared]) == [shared, shared]
    deep: Any = 0
    for _ in range(1000):
        deep = {"a": deep}
    CaseResult(to_json_safe(deep))


def test_utils__also_has_the_field_reader():
    """What people import from here is there."""
    assert extract_field_from_object({"a": {"b": 1}}, "a.b") == 1
    assert isinstance(Path("x"), Path)
