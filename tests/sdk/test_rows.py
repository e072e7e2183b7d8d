"""Row adapters: which models there are, how values are converted, what faults say, and the JSON Schema."""

import dataclasses
import enum
import json
import subprocess
import sys
from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
)
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import ReadOnly, TypeAliasType

from beaker.core.strict_json import JsonObject, JsonValue
from beaker.sdk.rows import InvalidRow, RowAdapter, row_adapter

T = TypeVar("T")


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Plain(enum.Enum):
    A = "a"
    NOTHING = None


class Asking(enum.Enum):
    RED = "red"

    @classmethod
    def _missing_(cls, value: object) -> "Asking | None":
        return cls.RED if str(value).strip().lower() == "red" else None


class Point(NamedTuple):
    x: int
    y: int = 0


Recursive = TypeAliasType("Recursive", "int | list[Recursive]")


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1
    parts: "list[Line]" = dataclasses.field(default_factory=list)


@attrs.define
class Vendor:
    name: str
    since: date | None = None
    _code: int = 0
    seen: int = attrs.field(init=False, default=7)


class Total(TypedDict, total=False):
    amount: Required[Decimal]
    currency: Annotated[str, "a note"]
    tax: ReadOnly[float]


class Postponed(TypedDict):
    a: "int"
    b: "NotRequired[int]"


@dataclasses.dataclass
class Card:
    kind: Literal["card"]
    number: int


@dataclasses.dataclass
class Cash:
    kind: Literal["cash"]
    note: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Invoice:
    id: str
    total: Total
    lines: list[Line]
    vendor: Vendor
    payment: Card | Cash
    colour: Colour = Colour.RED
    constant: int = dataclasses.field(default=3, init=False)


INVOICE: dict[str, Any] = {
    "id": "i1",
    "total": {"amount": "1.50", "tax": 2, "unknown": 1},
    "lines": [{"sku": "a", "parts": [{"sku": "b", "count": "2"}]}],
    "vendor": {"name": "v", "since": "2024-01-31"},
    "payment": {"kind": "cash", "note": "n"},
    "unknown": True,
}


def reads(hint: Any) -> RowAdapter[Any]:
    """An adapter of rows with the one field `f` of that type."""
    return row_adapter(dataclasses.make_dataclass("Made", [("f", hint)]))


def read(hint: Any, value: Any) -> Any:
    return reads(hint).validate_python({"f": value}).f


def faults(adapter: RowAdapter[Any], row: Any) -> list[str]:
    with pytest.raises(InvalidRow) as caught:
        adapter.validate_python(row)
    assert str(caught.value) == "; ".join(map(str, caught.value.faults))
    return [str(fault) for fault in caught.value.faults]


def test_row__nested_models__are_read_as_their_classes() -> None:
    """Dataclasses, attrs classes and typed dicts nest and recur; unknown keys are ignored; defaults fill in."""
    assert row_adapter(Invoice).validate_python(INVOICE) == Invoice(
        id="i1",
        total={"amount": Decimal("1.50"), "tax": 2.0},
        lines=[Line("a", 1, [Line("b", 2)])],
        vendor=Vendor("v", date(2024, 1, 31)),
        payment=Cash("cash", "n"),
    )


def test_row__every_fault__is_named_with_its_path() -> None:
    """All faults of a row are found in one go."""
    row = json.loads(json.dumps(INVOICE))
    del row["id"]
    row["total"] = {"amount": True}
    row["lines"][0]["parts"][0]["count"] = "two"
    row["lines"].append(3)
    row["vendor"] = {"name": None, "since": "2024-02-31"}
    row["payment"]["note"] = 5
    row["colour"] = "green"
    assert faults(row_adapter(Invoice), row) == [
        "id: is missing",
        "total.amount: expected a decimal number, found true",
        "lines[0].parts[0].count: expected an integer, found the string 'two'",
        "lines[1]: expected an object, found the number 3",
        "vendor.name: expected a string, found null",
        "vendor.since: expected a date like 2024-01-31, found the string '2024-02-31'",
        "payment.note: expected a string, found the number 5",
        "colour: expected one of 'red', 'blue', found the string 'green'",
    ]


@pytest.mark.parametrize("row", [None, [], "x", 3, [("id", 1)]])
def test_row__no_object__is_refused(row: Any) -> None:
    """A row is a JSON object whatever the model is."""
    for model in (Invoice, dict, Total):
        assert "a row must be an object" in faults(row_adapter(model), row)[0]


@pytest.mark.parametrize("model", [dict, dict[str, Any], Mapping[str, Any], Annotated[dict[str, Any], "n"], JsonObject])
@given(row=st.dictionaries(st.text(), st.none() | st.integers() | st.lists(st.text())))
def test_row__dict_model__gives_the_row(model: Any, row: dict[str, Any]) -> None:
    """A `dict` model takes every object as it is, in a dict of its own."""
    made = row_adapter(model).validate_python(row)
    assert made == row
    assert type(made) is dict
    assert made is not row


def test_row__dict_of_a_type__converts_values_and_keys() -> None:
    """Values and keys of a mapping are converted; faults name the key; keys that fall together are refused."""
    adapter = row_adapter(dict[int, list[date]])
    assert adapter.validate_python({"1": ["2024-01-31"]}) == {1: [date(2024, 1, 31)]}
    assert faults(adapter, {"x": [], "1": ["no", 1]}) == [
        "x: expected an integer, found the string 'x'",
        "1[0]: expected a date like 2024-01-31, found the string 'no'",
        "1[1]: expected a date like 2024-01-31, found the number 1",
    ]
    assert faults(adapter, {"x": []}) == ["x: expected an integer, found the string 'x'"]
    assert faults(adapter, {"1": [], "01": []}) == ["01: is the same key as one before it, once it is read"]


def test_row__typed_dict__keeps_to_its_keys() -> None:
    """Required and optional keys are told apart, also when annotations are postponed; others are dropped."""
    assert row_adapter(Postponed).validate_python({"a": 1, "z": 2}) == {"a": 1}
    assert faults(row_adapter(Postponed), {"b": "x"}) == [
        "a: is missing",
        "b: expected an integer, found the string 'x'",
    ]


UTC_MOMENT = datetime(2024, 1, 31, 8, 30, tzinfo=UTC)
TABLE: list[tuple[Any, Any, Any]] = [
    (str, "", ""),
    (int, 5, 5),
    (int, 5.0, 5),
    (int, " +5 ", 5),
    (int, "5.00", 5),
    (int, "1_000", 1000),
    (int, True, 1),
    (int, 10**30, 10**30),
    (float, 5, 5.0),
    (float, "1.5e3", 1500.0),
    (float, ".5", 0.5),
    (float, True, 1.0),
    (bool, False, False),
    (bool, 1, True),
    (bool, 0.0, False),
    (bool, "Yes", True),
    (bool, "off", False),
    (type(None), None, None),
    (Decimal, 1, Decimal(1)),
    (Decimal, 0.1, Decimal("0.1")),
    (Decimal, "1.10", Decimal("1.10")),
    (UUID, "12345678-1234-5678-1234-567812345678", UUID(int=0x12345678123456781234567812345678)),
    (date, "2024-01-31", date(2024, 1, 31)),
    (date, "2024-01-31T00:00:00", date(2024, 1, 31)),
    (datetime, "2024-01-31T08:30:00Z", UTC_MOMENT),
    (datetime, "2024-01-31 08:30+00:00", UTC_MOMENT),
    (datetime, "2024-01-31t08:30:00.000000z", UTC_MOMENT),
    (datetime, "2024-01-31", datetime(2024, 1, 31)),
    (datetime, 1_706_689_800, UTC_MOMENT),
    (datetime, 1_706_689_800_000, UTC_MOMENT),
    (datetime, -0.5, datetime(1969, 12, 31, 23, 59, 59, 500_000, UTC)),
    (date, 86_400.0, date(1970, 1, 2)),
    (time, "08:30", time(8, 30)),
    (time, "00:00:00", time()),
    (time, 60.5, time(0, 1, 0, 500_000, UTC)),
    (Colour, "red", Colour.RED),
    (Annotated[Colour, "n"], "red", Colour.RED),
    (Size, 2, Size.LARGE),
    (Size, "1", Size.SMALL),
    (Size, True, Size.SMALL),
    (Asking, "Red ", Asking.RED),
    (Literal[Colour.RED, 3], "red", Colour.RED),
    (Literal[1], 1.0, 1),
    (Plain, None, Plain.NOTHING),
    (Literal["a", 1], 1, 1),
    (list[int], ["1", 2], [1, 2]),
    (list, [1, "a"], [1, "a"]),
    (MutableSequence[int], ["1"], [1]),
    (Sequence[int], [1], [1]),
    (set[int], [1, "1"], {1}),
    (frozenset[str], ["a"], frozenset({"a"})),
    (AbstractSet[int], [1], frozenset({1})),
    (MutableSet[int], [1], {1}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[int, ...], ["1"], (1,)),
    (tuple, [1, "a"], (1, "a")),
    (tuple[()], [], ()),
    (dict[str, float], {"a": 1}, {"a": 1.0}),
    (Mapping[UUID, int], {}, {}),
    (MutableMapping[str, int], {"a": "1"}, {"a": 1}),
    (dict, {"a": [1]}, {"a": [1]}),
    (Point, [1], Point(1)),
    (Point, {"y": "2", "x": 1.0}, Point(1, 2)),
    (Any, [1, {"a": None}], [1, {"a": None}]),
    (object, 3, 3),
    (JsonValue, [1], [1]),
    (JsonObject, {"a": [1]}, {"a": [1]}),
    (NewType("Id", int), "3", 3),
    (TypeAliasType("Alias", list[int]), ["1"], [1]),
    (Recursive, [[], [["1"]], 2], [[], [[1]], 2]),
    (Optional[int], None, None),  # noqa: UP045  # the old spelling is one customers write
    (int | None, "3", 3),
    (int | str, "5", "5"),
    (int | str, 5, 5),
    (bool | float, 1, 1.0),
    (float | str, 5, 5.0),
    (int | bool, True, True),
    (int | float, True, 1),
    (date | str, "2024-01-31", date(2024, 1, 31)),
    (str | date, "2024-01-31", "2024-01-31"),
    (str | UUID, "12345678-1234-5678-1234-567812345678", UUID(int=0x12345678123456781234567812345678)),
    (Decimal | float, 1.5, 1.5),
    (Colour | str, "red", "red"),
    (date | int, "2024-01-31", date(2024, 1, 31)),
    (list[int] | list[str], ["1"], ["1"]),
    (Card | Cash, {"kind": "card", "number": "5"}, Card("card", 5)),
    (Line | Vendor | None, {"sku": "a", "name": "b", "count": 2}, Line("a", 2)),
    (Line | Vendor | None, {"sku": "a", "name": "b", "since": None}, Vendor("b")),
]


@pytest.mark.parametrize("hint,value,expected", TABLE, ids=[f"{row[0]}-{row[1]!r}" for row in TABLE])
def test_field__value_in_the_table__is_converted(hint: Any, value: Any, expected: Any) -> None:
    """The table of conversions, value and type."""
    made = read(hint, value)
    assert made == expected
    assert type(made) is type(expected)


REFUSED: list[tuple[Any, Any, str]] = [
    (str, 5, "a string"),
    (str, None, "a string"),
    (int, 5.5, "an integer"),
    (int, "", "an integer"),
    (int, "0x10", "an integer"),
    (int, "1" * 5000, "an integer"),
    (int, [], "an integer"),
    (float, "nan", "a finite number"),
    (float, "inf", "a finite number"),
    (float, "1e999", "too large"),
    (float, 10**400, "too large"),
    (float, None, "a finite number"),
    (bool, 2, "true or false"),
    (bool, "maybe", "true or false"),
    (type(None), 0, "null"),
    (Decimal, "Infinity", "a decimal number"),
    (Decimal, "x", "a decimal number"),
    (UUID, "123", "a UUID"),
    (UUID, 5, "a UUID"),
    (date, "2024-1-31", "a date"),
    (date, "20240131", "a date"),
    (date, "2024-01-31T08:30:00", "a date"),
    (date, 5, "a date"),
    (date, True, "a date"),
    (date, "0", "a date"),
    (datetime, 1e300, "a date and time"),
    (datetime, "20240131", "a date and time"),
    (time, 86_400, "a time"),
    (time, -1, "a time"),
    (datetime, "2024-01-31T25:00:00", "a date and time"),
    (datetime, "yesterday", "a date and time"),
    (time, "8:30", "a time"),
    (time, "25:00", "a time"),
    (Colour, "Red", "one of 'red', 'blue'"),
    (Colour, ["red"], "one of"),
    (Size, "3", "one of 1, 2"),
    (Asking, "green", "'green' is not a valid Asking"),
    (Plain, True, "one of 'a', None"),
    (Literal["a"], "b", "expected 'a'"),
    (Literal[1], True, "expected 1"),
    (Literal[1], 1.5, "expected 1"),
    (int, 1e300, "an integer"),
    (UUID, "1234567812345678-12345678-12345678-", "a UUID"),
    (list[int], "12", "a list"),
    (list[int], {"a": 1}, "a list"),
    (set[int], 3, "a list"),
    (set[Any], [[1]], "can stand in a set"),
    (tuple[int, str], [1], "a list of 2, found one of 1"),
    (dict[str, int], [["a", 1]], "an object"),
    (Line, "x", "an object"),
    (int | None, "x", "an integer"),
    (int | list[str], "x", "int or list[str]"),
    (Card | Cash, {"kind": "card"}, "f.number: is missing"),
    (Card | Cash, {"kind": "cheque"}, "expected Card or Cash, found an object whose 'kind' is none of 'card', 'cash'"),
    (Card | Cash, {}, "expected Card or Cash, found an object without 'kind'"),
    (Card | list[int], [1, "x"], "f[1]: expected an integer"),
    (Point, [], "expected a list of 1 to 2, found one of 0"),
    (Point, {"x": 1, "z": 1}, "f.z: is not a known key"),
    (Point, {}, "f.x: is missing"),
    (Point, 5, "an object or a list"),
    (Card | int, {"kind": "card", "number": "x"}, "f.number: expected an integer"),
]


@pytest.mark.parametrize("hint,value,words", REFUSED, ids=[f"{row[0]}-{row[1]!r:.20}" for row in REFUSED])
def test_field__value_outside_the_table__is_refused(hint: Any, value: Any, words: str) -> None:
    """What is not in the table is a fault that says what was expected."""
    (fault,) = faults(reads(hint), {"f": value})
    assert fault.startswith("f")
    assert words in fault


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)


@given(scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=3), scalars, max_size=3))
def test_field__any_json__is_read_or_refused_and_reading_again_changes_nothing(value: Any) -> None:
    """No JSON value breaks a reader, and what was read as JSON's own type is read as itself."""
    for hint in (str, int, float, bool, list[int], dict[str, float], int | str | None, set[str], date | float):
        try:
            made = read(hint, value)
        except InvalidRow:
            continue
        if isinstance(made, bool | int | float | str | list | dict | None):
            assert read(hint, made) == made


class Unresolved:
    name: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # the point of the test


@dataclasses.dataclass
class UnresolvedRow:
    name: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # the point of the test


@dataclasses.dataclass
class Boxed(Generic[T]):
    item: T


@dataclasses.dataclass
class WithInit:
    size: dataclasses.InitVar[int]


class Constraint:
    __module__ = "annotated_types"


Endless = TypeAliasType("Endless", "Endless")
Lost = TypeAliasType("Lost", "list[Nowhere]")  # type: ignore[name-defined]  # noqa: F821  # the point of the test


@pytest.mark.parametrize(
    "model,words",
    [
        (int, "must be a type that an object can be read as, since a row is one, not int"),
        (list[int], "not list[int]"),
        (Colour, "not Colour"),
        (int | None, "not int | None"),
        (Unresolved, "Unresolved is not a type that a row can be read as"),
        (Line("a"), "Line(sku='a'"),
        ("Line", "'Line' is a string, not a type"),
        (UnresolvedRow, "row_model: the annotations of UnresolvedRow cannot be resolved"),
        (WithInit, "row_model: WithInit.size is an InitVar"),
        (Boxed, "row_model.item: ~T is not a type that a row can be read as"),
        (dict[str, bytes], "row_model{}: bytes is not a type"),
        (dict[bytes, str], "row_model{key}: bytes is not a type"),
    ],
)
def test_adapter__other_models__are_refused_with_the_reason(model: Any, words: str) -> None:
    """A model that rows cannot be read as is refused when the adapter is made, with the place."""
    with pytest.raises(TypeError) as caught:
        row_adapter(model)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "hint,words",
    [
        (bytes, "bytes is not a type"),
        (Unresolved, "Unresolved is not a type"),
        (list[complex], "row_model.f[]: complex is not a type"),
        (tuple[int, bytes], "row_model.f[1]: bytes"),
        (int | bytes, "row_model.f: bytes"),
        (Endless, "the alias Endless stands for nothing but itself"),
        (Lost, "the alias Lost cannot be resolved"),
        (Literal[b"x"], "no JSON value equals"),
        (enum.Enum("Empty", {}), "has no choice"),
    ],
)
def test_adapter__other_field_types__are_refused_with_their_place(hint: Any, words: str) -> None:
    """The closed list of field types holds at every depth."""
    with pytest.raises(TypeError, match=r"^row_model\.f") as caught:
        reads(hint)
    assert words in str(caught.value)


def test_adapter__notes_that_constrain__need_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a note demands is never left out in silence: without pydantic nobody here would check it."""
    monkeypatch.delitem(sys.modules, "pydantic", raising=False)
    with pytest.raises(TypeError, match=r"^row_model\.f\[\]: .*constrains values, which only pydantic checks"):
        reads(list[Annotated[int, Constraint()]])


def test_adapter__standard_types__load_neither_pydantic_nor_msgspec_for_an_integration() -> None:
    """pydantic is loaded by the customer's own module or not at all; msgspec when the first row is read as text."""
    code = """
import dataclasses, sys
from typing import Annotated
from beaker.sdk.rows import row_adapter

@dataclasses.dataclass
class Row:
    a: Annotated[int, "note"]

adapter = row_adapter(Row)
assert adapter.validate_python({"a": 1}) == Row(1)
assert "msgspec" not in sys.modules
assert adapter.validate_json(b'{"a": 1}') == Row(1)
assert "pydantic" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_validate_json__is_strict_json_and_then_the_model() -> None:
    """A document is read once, strictly; what is not JSON is a fault of the row."""
    adapter = row_adapter(Line)
    assert adapter.validate_json(b'\xef\xbb\xbf{"sku": "a"}') == Line("a")
    for text in ('{"sku": "a", "sku": "b"}', '{"sku": NaN}', "{", b"\xff"):
        with pytest.raises(InvalidRow, match="the row"):
            adapter.validate_json(text)


DECIMAL = r"^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$"


def test_json_schema__describes_the_model() -> None:
    """Nested models stand under `$defs`; required keys, defaults, choices and formats are told."""
    schema = row_adapter(Invoice).json_schema()
    assert json.loads(json.dumps(schema)) == {
        "title": "Invoice",
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "total": {"$ref": "#/$defs/Total"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
            "vendor": {"$ref": "#/$defs/Vendor"},
            "payment": {"anyOf": [{"$ref": "#/$defs/Card"}, {"$ref": "#/$defs/Cash"}]},
            "colour": {"enum": ["red", "blue"], "default": "red"},
        },
        "required": ["id", "total", "lines", "vendor", "payment"],
        "$defs": {
            "Total": {
                "title": "Total",
                "type": "object",
                "properties": {
                    "amount": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": DECIMAL}]},
                    "currency": {"type": "string"},
                    "tax": {"type": "number"},
                },
                "required": ["amount"],
            },
            "Line": {
                "title": "Line",
                "type": "object",
                "properties": {
                    "sku": {"type": "string"},
                    "count": {"type": "integer", "default": 1},
                    "parts": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                },
                "required": ["sku"],
            },
            "Vendor": {
                "title": "Vendor",
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
                    "_code": {"type": "integer", "default": 0},
                },
                "required": ["name"],
            },
            "Card": {
                "title": "Card",
                "type": "object",
                "properties": {"kind": {"const": "card"}, "number": {"type": "integer"}},
                "required": ["kind", "number"],
            },
            "Cash": {
                "title": "Cash",
                "type": "object",
                "properties": {"kind": {"const": "cash"}, "note": {"type": "string"}},
                "required": ["kind", "note"],
            },
        },
    }


def test_json_schema__recursive_model__refers_to_itself() -> None:
    """A model that contains itself stays under `$defs`, and two classes of one name are told apart."""
    schema = row_adapter(Line).json_schema()
    assert schema["$ref"] == "#/$defs/Line"
    assert schema["$defs"]["Line"]["properties"]["parts"]["items"] == {"$ref": "#/$defs/Line"}
    one, two = (dataclasses.make_dataclass("Same", [(name, int)]) for name in "ab")
    both = row_adapter(dataclasses.make_dataclass("Both", [("one", one), ("two", two)])).json_schema()
    assert set(both["$defs"]) == {"Same", "Same_2"}


@pytest.mark.parametrize(
    "hint,schema",
    [
        (Any, {}),
        (dict, {"type": "object"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int], {"type": "array", "prefixItems": [{"type": "integer"}], "minItems": 1, "maxItems": 1}),
        (None, {"type": "null"}),
        (datetime, {"type": "string", "format": "date-time"}),
    ],
)
def test_json_schema__of_a_field(hint: Any, schema: dict[str, Any]) -> None:
    """Each kind of field has its schema."""
    assert reads(hint).json_schema()["properties"]["f"] == schema


def test_json_schema__default_outside_json__is_not_told() -> None:
    """A default that JSON cannot say is left out; one from a factory has no value to tell."""
    made = dataclasses.make_dataclass(
        "Made", [("f", date, date(2024, 1, 31)), ("g", list, dataclasses.field(default_factory=list))]
    )
    schema = row_adapter(made).json_schema()
    assert schema["properties"] == {"f": {"type": "string", "format": "date"}, "g": {"type": "array", "items": {}}}
    assert "required" not in schema


@dataclasses.dataclass
class Judging:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


def test_row__models_own_check__is_a_fault_of_its_place() -> None:
    """What the customer's own class refuses is told like any other fault."""
    assert faults(row_adapter(Judging), {"low": 2, "high": 1}) == ["low is above high"]
    assert faults(reads(list[Judging]), {"f": [{"low": 2, "high": 1}]}) == ["f[0]: low is above high"]


@attrs.define
class Asserting:
    a: int = attrs.field(converter=lambda value: {1: 1}[value])

    def __attrs_post_init__(self) -> None:
        raise AssertionError


def test_row__error_of_the_models_own_code__is_told_by_its_name() -> None:
    """An exception that no check raises is named, and a KeyError of the customer's is no missing field."""
    assert faults(row_adapter(Asserting), {"a": 1}) == ["AssertionError"]
    assert faults(reads(list[Asserting]), {"f": [{"a": 2}]}) == ["f[0]: KeyError: 2"]


def test_row__many_faults__are_all_kept_and_some_told() -> None:
    """The message of the error stays short; the error has everything."""
    with pytest.raises(InvalidRow) as caught:
        reads(list[int]).validate_python({"f": ["x"] * 100})
    assert len(caught.value.faults) == 100
    assert str(caught.value).endswith("f[19]: expected an integer, found the string 'x'; and 80 more")


@dataclasses.dataclass
class Leaf:
    kind: Literal["leaf"]
    size: int


@dataclasses.dataclass
class Branch:
    kind: Literal["branch"]
    left: "Branch | Leaf"
    right: "Branch | Leaf | list[Branch | Leaf]"


def test_row__deep_unions__cost_no_more_than_their_size() -> None:
    """Classes told apart by a `Literal` are read once at any depth, with and without a fault at the bottom."""
    adapter = row_adapter(Branch)
    for size, wrong in ((1, []), ("x", ["expected an integer, found the string 'x'"])):
        row: dict[str, Any] = {"kind": "leaf", "size": size}
        for _ in range(60):
            row = {"kind": "branch", "left": row, "right": {"kind": "leaf", "size": 1}}
        if wrong:
            (fault,) = faults(adapter, row)
            assert fault == f"{'.'.join(['left'] * 60)}.size: {wrong[0]}"
        else:
            assert isinstance(adapter.validate_python(row), Branch)


def test_row__order_of_a_union__is_kept_beside_its_reverse() -> None:
    """Python says that `date | str` equals `str | date`; for a row they differ, also in one model."""
    hints = [date | str, str | date, list[date | str], list[str | date], Literal[1], Literal[True]]
    model = dataclasses.make_dataclass("Made", [(f"f{number}", hint) for number, hint in enumerate(hints)])
    text, day = "2024-01-31", date(2024, 1, 31)
    made = row_adapter(model).validate_python({"f0": text, "f1": text, "f2": [text], "f3": [text], "f4": 1, "f5": True})
    assert dataclasses.astuple(made) == (day, text, [day], [text], 1, True)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement came with Python 3.12")
def test_row__type_statement__is_an_alias() -> None:
    """`type X = ...` is read as what it stands for, may contain itself, and is refused when it cannot be resolved."""
    names: dict[str, Any] = {}
    exec("type Tree = int | list[Tree]\ntype Lost = list[Nowhere]\ntype Box[T] = list[T]", names)
    assert read(names["Tree"], [["1"], 2]) == [[1], 2]
    assert reads(names["Tree"]).json_schema()["$defs"]["Tree"]["anyOf"][1]["items"] == {"$ref": "#/$defs/Tree"}
    for hint, words in ((names["Lost"], "the alias Lost cannot be resolved"), (names["Box"][int], "is not a type")):
        with pytest.raises(TypeError, match=words):
            reads(hint)


@dataclasses.dataclass
class Named:
    cl: int
    converter: str = "c"

    def __post_init__(self) -> None:
        if self.cl > 9:
            raise ValueError("cl is too large")


@attrs.define
class Private:
    converter: int
    _cl: int = 0


def test_row__field_named_like_an_argument_of_cattrs__is_read() -> None:
    """The names of fields are the customer's."""
    assert row_adapter(Named).validate_python({"cl": "1", "unknown": 1}) == Named(1)
    assert faults(row_adapter(Named), {"converter": 1}) == [
        "cl: is missing",
        "converter: expected a string, found the number 1",
    ]
    assert faults(reads(Named), {"f": {"cl": 10}}) == ["f: cl is too large"]
    assert row_adapter(Private).validate_python({"converter": 1, "_cl": 2}) == Private(1, 2)


def _nested(levels: int) -> Any:
    row: Any = []
    for _ in range(levels):
        row = [row]
    return row


@pytest.mark.parametrize(
    "item, said",
    [
        (float("inf"), "must be a finite number"),
        (float("nan"), "must be a finite number"),
        ({1}, "not set"),
        ((1, 2), "not tuple"),
        (b"x", "not bytes"),
        ({1: 2}, "key"),
        ("\ud800", "lone surrogate"),
        (_nested(300), "nested deeper than 200"),
        (_nested(50_000), "nested deeper than 200"),
    ],
)
@pytest.mark.parametrize("model", [dict, dict[str, Any], Mapping[str, object]])
def test_validate_python__what_no_json_says__is_refused(model: Any, item: Any, said: str) -> None:
    """A row is strict JSON however it comes, also where the model takes anything."""
    with pytest.raises(InvalidRow, match=said):
        row_adapter(model).validate_python({"id": 1, "x": item})
