"""The JSON Schema of row models beside a validator of JSON Schema: it is valid, and says what the adapter takes."""

import dataclasses
import json
import re
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple, NotRequired
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeAliasType, TypedDict

from beaker import DatasetSchema
from beaker.core.strict_json import JsonValue
from beaker.sdk.rows import InvalidRow, row_adapter

jsonschema = pytest.importorskip("jsonschema")


class Colour(Enum):
    RED = "red"
    ONE = 1


class Point(NamedTuple):
    x: int
    y: str = "q"


class Total(TypedDict):
    amount: Decimal
    currency: NotRequired[Literal["EUR", "USD"]]


@dataclasses.dataclass
class Card:
    kind: Literal["card"]
    number: int


@attrs.define
class Cash:
    kind: Literal["cash"]
    note: str | None = None


Nested = TypeAliasType("Nested", "int | list[Nested] | dict[str, Nested]")


@dataclasses.dataclass
class Row:
    id: str
    payment: Card | Cash
    point: Point
    total: Total
    nested: Nested
    place: tuple[int, str]
    tags: set[str] = dataclasses.field(default_factory=set)
    when: dict[str, date] = dataclasses.field(default_factory=dict)
    children: "list[Row]" = dataclasses.field(default_factory=list)
    colour: Colour = Colour.RED
    json: JsonValue = None
    key: UUID | None = None
    seen: datetime | None = None
    flag: bool = False
    weight: float = 1.0


nested = st.recursive(
    st.integers(), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
)
moments = st.datetimes().map(lambda moment: f"{moment.isoformat()}Z")
payments = st.fixed_dictionaries({"kind": st.just("card"), "number": st.integers()}) | st.fixed_dictionaries(
    {"kind": st.just("cash")}, optional={"note": st.none() | st.text()}
)
required = {
    "id": st.text(),
    "payment": payments,
    "point": st.tuples(st.integers(), st.text()).map(list) | st.fixed_dictionaries({"x": st.integers()}),
    "total": st.fixed_dictionaries({"amount": st.floats(-1e9, 1e9) | st.sampled_from(["1.50", "-.5", " 2 "])}),
    "nested": nested,
    "place": st.tuples(st.integers(), st.text()).map(list),
}
optional: dict[str, st.SearchStrategy[Any]] = {
    "tags": st.lists(st.text(max_size=3), unique=True, max_size=3),
    "when": st.dictionaries(st.text(max_size=2), st.dates().map(str), max_size=2),
    "colour": st.sampled_from(["red", 1]),
    "json": nested | st.none() | st.booleans(),
    "key": st.none() | st.uuids().map(str),
    "seen": st.none() | moments,
    "flag": st.booleans(),
    "weight": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9),
}
rows = st.recursive(
    st.fixed_dictionaries(required, optional=optional),
    lambda inner: st.fixed_dictionaries(required, optional={**optional, "children": st.lists(inner, max_size=2)}),
    max_leaves=3,
)
ADAPTER = row_adapter(Row)
FORMATS = jsonschema.FormatChecker(formats=["uuid"])


@FORMATS.checks("date", raises=ValueError)
def is_date(text: object) -> bool:
    return not isinstance(text, str) or (len(text) == 10 and bool(date.fromisoformat(text)))


@FORMATS.checks("date-time", raises=ValueError)
def is_date_time(text: object) -> bool:
    if not isinstance(text, str):
        return True
    return bool(re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d", text) and datetime.fromisoformat(text))


# Formats are asserted, as a strict reader of the schema would; the validator's own checks need more packages.
SCHEMA = jsonschema.Draft202012Validator(ADAPTER.json_schema(), format_checker=FORMATS)


@given(rows)
def test_schema__row_in_its_plain_spelling__is_valid_and_read(row: dict[str, Any]) -> None:
    """What is written as the schema says is valid by it, and the adapter reads it."""
    SCHEMA.validate(row)
    assert isinstance(ADAPTER.validate_python(row), Row)


wrong = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just([]) | st.just({}) | st.just([1, "x"])


@given(rows, st.sampled_from([*required, *optional, "children"]), wrong)
def test_schema__valid_row__is_always_read(row: dict[str, Any], name: str, value: Any) -> None:
    """The adapter refuses nothing that the schema allows; it reads other spellings besides."""
    row = {**row, name: value}
    if not SCHEMA.is_valid(row):
        return
    ADAPTER.validate_python(row)


@pytest.mark.parametrize("name", [*required])
def test_schema__row_without_a_required_field__is_refused_by_both(name: str) -> None:
    """Required is required."""
    row: dict[str, Any] = {
        "id": "a", "payment": {"kind": "cash"}, "point": [1], "total": {"amount": 1}, "nested": 1, "place": [1, "a"],
    }  # fmt: skip
    SCHEMA.validate(row)
    del row[name]
    assert not SCHEMA.is_valid(row)
    with pytest.raises(InvalidRow, match=f"{name}: is missing"):
        ADAPTER.validate_python(row)


@dataclasses.dataclass
class Everything:
    members: Card | Cash | None
    plain: dict
    items: list
    nothing: None
    empty: tuple[()]
    any_length: tuple[int, ...]
    choice: Literal["a", 1, None, True]
    member: Literal[Colour.RED]
    keys: dict[UUID, list[Total]]


@pytest.mark.parametrize(
    "model",
    [
        Row,
        Card,
        Cash,
        Total,
        Point,
        Everything,
        Card | Cash,
        Card | Cash | None,
        dict,
        dict[str, Point],
        Nested,
        JsonValue,
        Any,
    ],
)
def test_schema__of_every_kind_of_model__is_valid_json_schema(model: Any) -> None:
    """Each schema is JSON, obeys the meta-schema, and every reference in it leads somewhere."""
    schema = row_adapter(model).json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    for reference in references(schema):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"]] if "$ref" in schema else []
        return own + [reference for part in schema.values() for reference in references(part)]
    return [reference for part in schema for reference in references(part)] if isinstance(schema, list) else []


def test_schema__recursive_alias__refers_to_itself() -> None:
    """An alias that contains itself is a definition; another stands where it is used."""
    assert row_adapter(dict[str, Nested]).json_schema() == {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Nested"},
        "$defs": {
            "Nested": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "array", "items": {"$ref": "#/$defs/Nested"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/Nested"}},
                ]
            }
        },
    }
    plain = TypeAliasType("plain", "list[int]")
    assert row_adapter(dict[str, plain]).json_schema() == {  # type: ignore[valid-type]  # made here
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "integer"}},
    }


def test_schema__named_tuple__is_an_object_or_a_list() -> None:
    """By name, where nothing else may stand, or by position."""
    assert row_adapter(Point).json_schema() == {
        "title": "Point",
        "anyOf": [
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "string", "default": "q"}},
                "required": ["x"],
                "additionalProperties": False,
            },
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string", "default": "q"}],
                "minItems": 1,
                "maxItems": 2,
            },
        ],
    }


def test_schema__is_what_a_dataset_schema_takes() -> None:
    """The schema of the row model describes the dataset at its upload."""
    schema = row_adapter(Row).json_schema()
    described = DatasetSchema(schema)
    assert described.to_metadata() == {"format": "jsonl", "schema_version": "v1", "json_schema": schema}
