"""Row models that pydantic owns: whole models, and its types inside models of other kinds."""

import dataclasses
import json
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Optional, Protocol, Union
from uuid import UUID

import attrs
import pytest
from typing_extensions import TypeAliasType, TypedDict

from beaker.sdk.row_types import is_pydantic
from beaker.sdk.rows import InvalidRow, RowAdapter, row_adapter

pydantic = pytest.importorskip("pydantic")
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, RootModel, TypeAdapter  # noqa: E402
from pydantic.dataclasses import dataclass as pydantic_dataclass  # noqa: E402


class Colour(Enum):
    RED = "red"


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    id: UUID
    day: date
    colour: Colour = Colour.RED


class Item(BaseModel):
    sku: str
    count: int = Field(gt=0)


class Card(BaseModel):
    kind: Literal["card"]
    number: int


class Cash(BaseModel):
    kind: Literal["cash"]
    items: list[Item]


class Invoice(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str = Field(alias="theId")
    items: list[Item]
    payment: Annotated[Card | Cash, Field(discriminator="kind")]
    other: Card | Cash | int | None = None

    @pydantic.field_validator("id")
    @classmethod
    def check(cls, value: str) -> str:
        if value == "bad":
            raise ValueError("bad id")
        return value


class Node(BaseModel):
    value: int
    children: "list[Node]" = []


@pydantic_dataclass
class Owned:
    a: int
    b: Annotated[int, Field(gt=3)] = 5


@dataclasses.dataclass
class FieldDefaults:
    a: int = Field(gt=0)
    b: int = Field(default=3)


class Configured(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # as pydantic documents it
    a: int


@dataclasses.dataclass
class Mixed:
    items: list[Item]
    above: Annotated[int, Field(gt=3)] = 4
    json: JsonValue = None
    when: AwareDatetime | None = None
    payment: Card | Cash | None = None
    node: Node | None = None
    either: Card | str | None = None


@dataclasses.dataclass
class Line:
    sku: str
    note: str
    count: int = 1


@attrs.define
class Attrs:
    items: dict[str, Item]


ID = "12345678-1234-5678-1234-567812345678"
INVOICE: dict[str, Any] = {"theId": "i", "items": [], "payment": {"kind": "card", "number": "5"}}


def faults(adapter: RowAdapter[Any], row: Any) -> list[str]:
    with pytest.raises(InvalidRow) as caught:
        adapter.validate_python(row)
    if isinstance(row, dict):
        with pytest.raises(InvalidRow) as again:
            adapter.validate_json(json.dumps(row).encode())
        assert again.value.faults == caught.value.faults
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "model,row,expected",
    [
        (Strict, {"id": ID, "day": "2024-01-31", "colour": "red"}, Strict(id=UUID(ID), day=date(2024, 1, 31))),
        (Invoice, INVOICE, Invoice(theId="i", items=[], payment=Card(kind="card", number=5))),
        (RootModel[dict[str, int]], {"a": "1"}, RootModel[dict[str, int]]({"a": 1})),
        (TypeAliasType("Payment", Card | Cash), {"kind": "card", "number": 1}, Card(kind="card", number=1)),
        (TypeAliasType("Late", "Card | Cash"), {"kind": "card", "number": 1}, Card(kind="card", number=1)),
        (Card | Cash, {"kind": "cash", "items": []}, Cash(kind="cash", items=[])),
        (Optional[Card], {"kind": "card", "number": 1}, Card(kind="card", number=1)),  # noqa: UP045
        (Card | dict[str, int], {"a": 1}, {"a": 1}),
        (Union[Any, Card], {"kind": "card", "number": 1}, {"kind": "card", "number": 1}),  # noqa: UP007
        (Union[Card, Any], {"kind": "card", "number": 1}, Card(kind="card", number=1)),  # noqa: UP007
        (Item | Line, {"sku": "a", "count": 1, "note": "n"}, Line("a", "n", 1)),
        (Owned, {"a": "1"}, Owned(1, 5)),
        (FieldDefaults, {"a": 1}, FieldDefaults(1, 3)),
        (Configured, {"a": "1"}, {"a": 1}),
        (Attrs, {"items": {"x": {"sku": "a", "count": 1}}}, Attrs({"x": Item(sku="a", count=1)})),
        (
            Mixed,
            {
                "items": [{"sku": "a", "count": "1"}],
                "json": [1],
                "payment": {"kind": "cash", "items": []},
                "either": "x",
            },
            Mixed([Item(sku="a", count=1)], 4, [1], None, Cash(kind="cash", items=[]), None, "x"),
        ),
        (Mixed, {"items": [], "either": {"kind": "card", "number": 1}}, Mixed([], either=Card(kind="card", number=1))),
    ],
)
def test_row__of_pydantic__is_read_in_json_mode(model: Any, row: dict[str, Any], expected: Any) -> None:
    """Strict models read what JSON writes as a string; pydantic's types nest in classes of other kinds."""
    adapter = row_adapter(model)
    text = json.dumps(row)
    for made in (adapter.validate_python(row), adapter.validate_json(text), adapter.validate_json(text.encode())):
        assert made == expected
        assert type(made) is type(expected)
    assert adapter.validate_json(b"\xef\xbb\xbf" + text.encode()) == expected
    assert adapter.validate_json("\ufeff" + text) == expected


def test_row__every_fault_of_pydantic__is_named_with_its_path() -> None:
    """All faults come with the keys of the row alone, without the members of unions that pydantic names."""
    row = {
        "theId": "bad",
        "items": [{"sku": "a", "count": 0}, {"count": "x"}],
        "payment": {"kind": "cash", "items": [{"sku": 1, "count": 2}]},
        "other": {"kind": "card", "number": "q"},
        "unknown": 1,
    }
    assert faults(row_adapter(Invoice), row) == [
        "theId: Value error, bad id",
        "items[0].count: Input should be greater than 0",
        "items[1].sku: Field required",
        "items[1].count: Input should be a valid integer, unable to parse string as an integer",
        "payment.items[0].sku: Input should be a valid string",
        "other.number: Input should be a valid integer, unable to parse string as an integer",
        "other.kind: Input should be 'cash'",
        "other.items: Field required",
        "other: Input should be a valid integer",
        "unknown: Extra inputs are not permitted",
    ]


def test_row__faults_of_pydantic_inside__have_the_whole_path() -> None:
    """A fault inside a type of pydantic's is told at its place in the row."""
    row = {"items": [{"sku": "a", "count": 0}, {"count": 1}], "above": 1, "when": "2024-01-31T00:00:00", "node": {}}
    assert faults(row_adapter(Mixed), row) == [
        "items[0].count: Input should be greater than 0",
        "items[1].sku: Field required",
        "above: Input should be greater than 3",
        "when: Input should have timezone info",
        "node.value: Field required",
    ]
    assert faults(row_adapter(Mixed), {"items": [], "payment": {"kind": "card"}}) == [
        "payment.number: Field required",
        "payment.kind: Input should be 'cash'",
        "payment.items: Field required",
    ]
    assert faults(row_adapter(Attrs), {"items": {"x": {"sku": "a"}}}) == ["items.x.count: Field required"]


@pytest.mark.parametrize("row", [None, [], "x", 3])
def test_row__no_object__is_refused(row: Any) -> None:
    """A row is a JSON object whatever the model is."""
    adapter = row_adapter(Strict)
    assert "a row must be an object" in faults(adapter, row)[0]
    with pytest.raises(InvalidRow, match="a row must be an object"):
        adapter.validate_json(json.dumps(row))


@pytest.mark.parametrize(
    "text", ['{"value": 1, "value": 1}', '{"value": NaN}', '{"value": 1,}', "", b'{"value": "\xff"}']
)
def test_validate_json__of_pydantic__is_strict_json_first(text: str | bytes) -> None:
    """pydantic's own reader would take a key twice, or NaN; a row does not."""
    with pytest.raises(InvalidRow, match="the row"):
        row_adapter(Node).validate_json(text)


def test_validate_python__of_pydantic__takes_json_only() -> None:
    """What is no JSON is refused with its place, not handed to pydantic."""
    assert faults_of_python(row_adapter(Node), {"value": {1, 2}}) == [
        "the row.value must be JSON (null, bool, number, string, list or dict), not set"
    ]


def faults_of_python(adapter: RowAdapter[Any], row: Any) -> list[str]:
    with pytest.raises(InvalidRow) as caught:
        adapter.validate_python(row)
    return [str(fault) for fault in caught.value.faults]


class WithCallable(BaseModel):
    call: Callable[[], int]


class Arbitrary:
    pass


class WithArbitrary(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    thing: Arbitrary


class Unresolved(BaseModel):
    thing: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # the point of the test


class Shape(Protocol):
    a: int


@pytest.mark.parametrize(
    "model,words",
    [
        (RootModel[list[int]], "row_model must be a type that an object can be read as"),
        (RootModel[int], "row_model must be a type that an object can be read as"),
        (WithCallable, "row_model: pydantic refuses it: Cannot generate a JsonSchema"),
        (WithArbitrary, "row_model: pydantic refuses it: Cannot generate a JsonSchema"),
        (Unresolved, "row_model: pydantic refuses it"),
        (Shape, "not a type that a row can be read as"),
        (TypeAdapter(int), "not a type that a row can be read as"),
        (Node(value=1), "not a type that a row can be read as"),
        ({"type": "object"}, "not a type that a row can be read as"),
    ],
)
def test_adapter__what_pydantic_cannot_do__is_refused_with_its_reason(model: Any, words: str) -> None:
    """A model without a validator or without a JSON Schema is refused when the adapter is made."""
    with pytest.raises(TypeError) as caught:
        row_adapter(model)
    assert words in str(caught.value)
    assert "errors.pydantic.dev" not in str(caught.value)


@pytest.mark.parametrize("model", [Strict, Invoice, Owned, Card | Cash, RootModel[dict[str, int]]])
def test_json_schema__of_pydantic__is_its_own(model: Any) -> None:
    """Validation mode, with aliases."""
    schema = row_adapter(model).json_schema()
    assert schema == TypeAdapter(model).json_schema()


def test_json_schema__pydantic_inside__keeps_its_definitions_apart() -> None:
    """Definitions of one name from different types do not fall together, and references follow them."""
    schema = row_adapter(Mixed).json_schema()
    definitions = schema["$defs"]
    assert schema["properties"]["items"]["items"] == {"$ref": "#/$defs/Item"}
    assert schema["properties"]["above"] == {"exclusiveMinimum": 3, "type": "integer", "default": 4}
    assert schema["properties"]["node"]["anyOf"][0] == {"$ref": "#/$defs/Node"}
    assert definitions["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert definitions["Cash"]["properties"]["items"]["items"] == {"$ref": "#/$defs/Item_2"}
    assert definitions["Item_2"] == definitions["Item"]
    recursive = row_adapter(Node).json_schema()
    assert recursive == TypeAdapter(Node).json_schema()


def test_is_pydantic__standard_types__are_not_its_own() -> None:
    """A class stays ours although pydantic has looked at it."""
    TypeAdapter(Mixed)
    for hint in (Mixed, Attrs, dict[str, Item], list[int], int | str, int | Item, Annotated[int, "note"]):
        assert not is_pydantic(hint)
