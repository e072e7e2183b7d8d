# ruff: noqa: UP007  # an alias has no `|` on 3.11, nor has a type made at run time
"""Rows read as standard types beside pydantic's lax mode for JSON: what is accepted, and as what.

Types and rows are generated and both readers are asked. `DIFFERENCES` is every known difference; `docs/row-models.md`
lists the same.
"""

import dataclasses
import enum
import json
import math
import re
import typing
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, Optional, Union
from uuid import UUID

import attrs
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st
from typing_extensions import TypeAliasType, TypedDict

from beaker.core.strict_json import JsonValue
from beaker.sdk.rows import InvalidRow, row_adapter

pydantic = pytest.importorskip("pydantic")


class Colour(enum.StrEnum):
    RED = "red"
    ONE = "1"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Level(float, enum.Enum):
    LOW = 0.5
    HIGH = 1.0


class Plain(enum.Enum):
    TEXT = "a"
    NUMBER = 1
    NOTHING = None


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1


@dataclasses.dataclass
class Vendor:
    name: str
    since: str = "x"
    count: int = 0


@dataclasses.dataclass
class Seller:
    name: str
    count: str = "0"


@dataclasses.dataclass
class Optional_:
    count: int = 0


@dataclasses.dataclass
class Card:
    kind: Literal["card"]
    number: int


@dataclasses.dataclass
class Cash:
    kind: Literal["cash"]
    number: int
    inner: "Card | Cash | None" = None


@dataclasses.dataclass
class Tree:
    name: str
    children: "list[Tree]" = dataclasses.field(default_factory=list)
    other: "Tree | Card | int | None" = None


class Total(TypedDict):
    count: int
    sku: NotRequired[str]


class Loose(TypedDict, total=False):
    count: int
    name: str


class Point(NamedTuple):
    count: int
    name: str = "q"


Nested = TypeAliasType("Nested", "int | list[Nested] | dict[str, Nested]")

MODELS: list[Any] = [Line, Vendor, Seller, Optional_, Card, Cash, Tree, Total, Loose, Point]
SCALARS: list[Any] = [str, int, float, bool, None, Decimal, UUID, date, datetime, time]
CHOICES: list[Any] = [Colour, Size, Level, Plain, Literal["a", 1], Literal["red"], Literal[Size.SMALL], Literal[2]]
KEYS: list[Any] = [str, int, date, UUID, Colour, float]


def unions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, min_size=2, max_size=3).map(lambda members: Union[tuple(members)])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda item: list[item]),
        inner.map(lambda item: Sequence[item]),
        inner.map(lambda item: tuple[item, ...]),
        st.lists(inner, max_size=3).map(lambda items: tuple[tuple(items)]),
        st.builds(lambda key, item: dict[key, item], st.sampled_from(KEYS), inner),
        inner.map(lambda item: Mapping[str, item]),
        inner.map(lambda item: Optional[item]),  # noqa: UP045  # an alias has no `|` on 3.11
        unions(inner),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda items: dataclasses.make_dataclass("Made", [(f"f{n}", item) for n, item in enumerate(items)])
        ),
    )


plain = st.sampled_from([*SCALARS, *CHOICES])
leaves = st.sampled_from([*SCALARS, *CHOICES, *MODELS, Any, JsonValue, list, dict, Nested]) | st.builds(
    lambda kind, item: kind[item], st.sampled_from([set, frozenset]), plain
)
hints = leaves | unions(leaves) | st.recursive(leaves, containers, max_leaves=4)

INTEGERS = st.integers(-3, 3) | st.sampled_from([10, 86_400, 1_706_659_200, 1_706_689_800, 10**15, 10**30])
FLOATS = st.sampled_from([0.0, 1.0, 0.5, 1.5, -2.0, 86_400.0, 1_706_689_800.25, 1e17, 1e300])
TEXTS = st.sampled_from(
    [
        "",
        "a",
        "x",
        "red",
        "card",
        "cash",
        "true",
        "No",
        "0",
        "1",
        "-1",
        "+5",
        " 5 ",
        "5.0",
        "5.00",
        "5.",
        ".5",
        "1.5",
        "1_000",
        "1e3",
        "-0",
        "01",
        "2",
        "1.10",
        "2024-01-31",
        "2024-02-30",
        "2024-01-31T00:00:00",
        "2024-01-31T08:30:00Z",
        "2024-01-31 08:30+05:30",
        "2024-01-31T08:30:00.1234567",
        "2024-01-31T24:00:00",
        "08:30",
        "08:30:00.25",
        "08:30:00+01:00",
        "8:30",
        "12345678-1234-5678-1234-567812345678",
        "12345678123456781234567812345678",
    ]
)
NAMES = st.sampled_from(
    ["sku", "count", "name", "since", "kind", "number", "children", "other", "inner", "f0", "f1", "f2"]
)
scalars = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=4), max_leaves=6
)


def fields(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls) if isinstance(cls, type) else {}


def meant(hint: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """JSON that is mostly of the type, so that both readers get far."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in MODELS or dataclasses.is_dataclass(hint):
        if depth > 2:
            return anything
        known = {name: meant(item, depth + 1) | scalars for name, item in fields(hint).items()}
        for name in {"kind"} & known.keys():
            known[name] = st.sampled_from(["card", "cash"])
        required = {name: known[name] for name in list(known)[:1]}
        optional = {name: item for name, item in known.items() if name not in required}
        return st.fixed_dictionaries(required, optional={**optional, "unknown": scalars})
    if origin is Union:
        return st.one_of([meant(member, depth) for member in arguments])
    if origin in (list, Sequence, set, frozenset):
        return st.lists(meant(arguments[0], depth + 1), max_size=3)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return st.lists(meant(arguments[0], depth + 1), max_size=3)
        return st.tuples(*(meant(item, depth + 1) for item in arguments)).map(list)
    if origin in (dict, Mapping):
        return st.dictionaries(TEXTS, meant(arguments[1], depth + 1), max_size=2)
    if hint is Nested:
        return st.recursive(
            st.integers(0, 3), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2)
        )
    return scalars


REFUSED = object()


def ours(hint: Any, value: Any) -> Any:
    try:
        return row_adapter(dataclasses.make_dataclass("Row", [("f", hint)])).validate_python({"f": value}).f
    except InvalidRow:
        return REFUSED


def theirs(hint: Any, value: Any) -> Any:
    try:
        return pydantic.TypeAdapter(hint).validate_json(json.dumps(value))
    except pydantic.ValidationError:
        return REFUSED


def plainly(made: Any) -> Any:
    """A form that compares types as well as values, and moments by what they say."""
    if isinstance(made, datetime | time):
        return type(made), made.replace(tzinfo=None), made.utcoffset()
    if isinstance(made, set | frozenset):
        return type(made), frozenset(plainly(item) for item in made)
    if isinstance(made, tuple | list):
        return type(made), tuple(plainly(item) for item in made)
    if isinstance(made, dict):
        return dict, frozenset((plainly(key), plainly(item)) for key, item in made.items())
    if dataclasses.is_dataclass(made) or attrs.has(type(made)):
        return type(made), tuple((name, plainly(getattr(made, name))) for name in fields(type(made)))
    return type(made), made


def parts(hint: Any) -> set[Any]:
    """Every type that stands in a type."""
    inner = [*typing.get_args(hint)] if typing.get_origin(hint) is not Literal else []
    inner += fields(hint).values() if dataclasses.is_dataclass(hint) and hint not in MODELS else []
    return {hint, *(part for item in inner for part in parts(item))}


def atoms(value: Any) -> list[Any]:
    """Every key and every single value in a JSON value."""
    if isinstance(value, list):
        return [atom for item in value for atom in atoms(item)]
    if isinstance(value, dict):
        return [*value, *(atom for item in value.values() for atom in atoms(item))]
    return [value]


def is_outside(hint: Any, value: Any) -> bool:
    """Whether one of the `DIFFERENCES` could show."""
    types, values = parts(hint), atoms(value)
    if types & {date, datetime} and any(isinstance(atom, str) and NUMERIC.match(atom) for atom in values):
        return True
    if types & {Plain, Literal["a", 1], Literal[Size.SMALL]} and any(atom is True for atom in values):
        return True
    return any(typing.get_origin(part) in (dict, Mapping) for part in types) and len({*values} & {"5.0", "5.00"}) > 1


NUMERIC = re.compile(r" *[+-]?[0-9.][0-9._e]* *\Z")


STAMPED = datetime(2024, 1, 31, 8, 30, tzinfo=timezone(timedelta(hours=-1)))
PAGES = Path(__file__).parents[2] / "docs"

DIFFERENCES: list[tuple[str, Any, Any, Any, Any]] = [
    # what, type, JSON, ours, pydantic's
    ("a float is finite", float, "nan", "refused", "nan"),
    ("a float is finite", float, "inf", "refused", math.inf),
    ("a float is finite", float, "1e999", "refused", math.inf),
    ("a float is finite", float, 10**400, "refused", math.inf),
    ("a time stamp is a number", datetime, "20240131", "refused", datetime(1970, 8, 23, 6, 15, 31, tzinfo=UTC)),
    ("a time stamp is a number", date, "86400", "refused", date(1970, 1, 2)),
    ("true is not the choice 1", Literal[1], True, "refused", 1),
    ("true is not the choice 1", Plain, True, "refused", Plain.NUMBER),
    ("1 is not the choice true", Literal[True], 1, "refused", True),
    ("keys stay apart", dict[int, int], {"1": 1, "01": 2}, "refused", {1: 2}),
    ("the sign is plain ASCII", datetime, "2024-01-31T08:30:00\u221201:00", "refused", STAMPED),
    ("digits are those written", Decimal, 5.0, "5.0", "5"),
    ("digits are those written", Decimal, 1e30, "1E+30", "1" + "0" * 30),
]


@pytest.mark.parametrize("what,hint,value,mine,other", DIFFERENCES, ids=lambda part: f"{part!s:.20}")
def test_known_difference__is_one(what: str, hint: Any, value: Any, mine: Any, other: Any) -> None:
    """Each known difference is there, so that the list never says too much; the page tells each."""
    found = ours(hint, value)
    assert (str(found) if isinstance(found, Decimal) else "refused" if found is REFUSED else found) == mine
    pydantics = theirs(hint, value)
    assert (str(pydantics) if isinstance(pydantics, Decimal) or pydantics != pydantics else pydantics) == other
    assert what in (PAGES / "row-models.md").read_text(encoding="utf-8")


UNIONS: list[tuple[Any, list[Any]]] = [
    (Union[date, str], ["2024-01-31", "2024-01-31T00:00:00", "x"]),
    (Union[str, date], ["2024-01-31"]),
    (Union[datetime, str], ["2024-01-31", "2024-01-31T00:00:00"]),
    (Union[datetime, date], ["2024-01-31", "2024-01-31T00:00:00", 86_400]),
    (Union[date, datetime], ["2024-01-31", "2024-01-31T00:00:00", 86_400, 5]),
    (Union[str, UUID], ["12345678-1234-5678-1234-567812345678"]),
    (Union[time, float], [5, 5.5, "08:30"]),
    (Union[int, Decimal], [5, "5", 5.0, 5.5]),
    (Union[Decimal, float], [1.5, 1, "1.5"]),
    (Union[bool, int], [1, True, 2, "1", "on"]),
    (Union[float, bool], [1, True, "true"]),
    (Union[Colour, str], ["red", "x"]),
    (Union[Plain, str], ["a"]),
    (Union[Plain, int], [1]),
    (Union[Size, float], [1]),
    (Union[Size, int], ["1", 3]),
    (Union[Literal["red"], Colour], ["red", "1"]),
    (Union[float, Literal[1]], [1, 1.0]),
    (Union[Any, UUID], ["12345678-1234-5678-1234-567812345678", "x"]),
    (Union[Any, Optional_], [{}, {"count": 1}]),
    (Union[Optional_, Any], [{}, {"count": 1}]),
    (Union[Optional_, dict], [{}, {"count": 1}]),
    (Union[set[int], JsonValue], [[], [1]]),
    (Union[frozenset[str], JsonValue], [[], ["a"]]),
    (Union[Optional_, JsonValue], [{}, {"count": 1}, [{}]]),
    (Union[set[int], list[int]], [[1, 1], ["1"]]),
    (Union[tuple[int, ...], Sequence[int]], [[1], ["1"]]),
    (Union[list[int], list[str]], [["1"], [1], []]),
    (Union[dict[str, int], dict[str, str]], [{"a": "1"}, {}]),
    (Union[Point, dict[str, int]], [{"count": 1}]),
    (Union[Point, list[int]], [[1]]),
    (Union[Line, Vendor], [{"sku": "a", "name": "b", "since": "q"}, {"sku": "a", "name": "b", "count": "2"}]),
    (Union[Vendor, Seller], [{"name": "a", "count": "1"}, {"name": "a", "count": 1}]),
    (Union[Seller, Vendor], [{"name": "a", "count": 1}, {"name": "a", "since": "b"}]),
    (Union[Total, Loose], [{"count": 1}, {"count": 1, "name": "a"}, {"count": "1"}, {}]),
    (Union[Total, Line], [{"count": 1, "sku": "x"}]),
    (Union[list[Line], list[Vendor]], [[{"sku": "a", "name": "n", "count": 1, "since": "b"}], []]),
    (Union[dict[str, Line], dict[str, Vendor]], [{"x": {"sku": "a", "name": "n", "count": 1, "since": "b"}}]),
    (Union[Card, Cash], [{"kind": "cash", "number": 1}, {"kind": "x", "number": 1}, {"number": 1}]),
    (Union[Cash, Card], [{"kind": "cash", "number": 1, "inner": {"kind": "card", "number": "1"}}]),
    # A union inside a union hands on what it came to.
    (Union[tuple[float | bool, ...], Any], [[1]]),
    (Union[list[int | date], list[str]], [["5"], ["2024-01-31"]]),
    (Union[list[Line | Seller], list[Vendor]], [[{"name": "a", "since": "b"}], [{"name": "a", "count": "1"}]]),
    (Union[dict[str, int | None], dict[str, str]], [{"a": "5"}, {"a": None}]),
]


@pytest.mark.parametrize("hint,values", UNIONS, ids=lambda part: f"{part!s:.40}")
def test_union__member_is_chosen_as_pydantic_does(hint: Any, values: list[Any]) -> None:
    """More fields, then the nearer type, then the first."""
    for value in values:
        assert plainly(ours(hint, value)) == plainly(theirs(hint, value)), value


@given(st.data())
def test_any_union__is_judged_as_pydantic_does(data: st.DataObject) -> None:
    """The same for generated unions, of containers and of unions too."""
    hint = data.draw(unions(leaves | containers(leaves)), label="hint")
    value = data.draw(meant(hint), label="value")
    assume(not is_outside(hint, value))
    assert plainly(ours(hint, value)) == plainly(theirs(hint, value))


@given(st.data())
def test_attrs_class__reads_as_the_dataclass_of_the_same_fields(data: st.DataObject) -> None:
    """pydantic knows no attrs classes; the dataclass that is compared with it stands for them."""
    typed = leaves.map(lambda hint: type(None) if hint is None else hint)  # None says "no type" to attrs
    inner = data.draw(st.lists(typed, min_size=1, max_size=3), label="fields")
    names = [f"f{number}" for number in range(len(inner))]
    plain = dataclasses.make_dataclass("Plain", [*zip(names, inner, strict=True)])
    twin = attrs.make_class("Twin", {name: attrs.field(type=hint) for name, hint in zip(names, inner, strict=True)})
    row = data.draw(meant(plain) | anything, label="row")
    answers = []
    for model in (plain, twin):
        try:
            made = row_adapter(model).validate_python(row)
            answers.append([plainly(getattr(made, name)) for name in names])
        except InvalidRow as error:
            answers.append([*error.faults])
    assert answers[0] == answers[1]


@given(st.data())
def test_any_type_and_row__are_judged_as_pydantic_does(data: st.DataObject) -> None:
    """Accepted or refused alike, and the same value."""
    hint = data.draw(hints, label="hint")
    value = data.draw(meant(hint) | anything, label="value")
    assume(not is_outside(hint, value))
    mine, other = ours(hint, value), theirs(hint, value)
    note(f"ours {mine!r}, pydantic's {other!r}")
    assert plainly(mine) == plainly(other)
