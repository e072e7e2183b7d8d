"""The extra `speed`: rows decoded by msgspec come to the same as rows that go the long way."""

import dataclasses
import functools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeAliasType, TypedDict

from beaker.core.strict_json import MAX_DEPTH, JsonValue, parse
from beaker.sdk.row_speed import fast_decoder, strict_decoder
from beaker.sdk.rows import InvalidRow, row_adapter

pytest.importorskip("msgspec")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Line:
    id: str
    count: int = 1
    lines: "list[Line]" = dataclasses.field(default_factory=list)


@attrs.define
class Vendor:
    id: str
    _code: int = attrs.field(default=0, validator=attrs.validators.lt(2))
    when: date | None = None


class Total(TypedDict):
    id: Annotated[int, "a note"]
    weight: NotRequired[float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: str
    count: int | str | None = None
    weight: float = 0.0
    flag: bool = False
    any: Any = None
    lines: Sequence[Line] = ()
    tags: set[str] | None = None
    numbers: frozenset[int] = frozenset()
    vendor: Vendor | None = None
    total: Total | None = None
    colour: Colour = Colour.RED
    size: Size | None = None
    kind: Literal["a", 1, None] = None
    key: UUID | None = None
    when: date | None = None
    at: datetime | None = None
    clock: time | None = None
    place: tuple[int, str] | None = None
    scores: dict[str, float] = dataclasses.field(default_factory=dict)
    more: Mapping[str, list[int | float]] = dataclasses.field(default_factory=dict)
    line: Line | int | None = None

    def __post_init__(self) -> None:
        if self.id == "bad":
            raise KeyError("bad")


NAMES = [field.name for field in dataclasses.fields(Row)]
names = st.sampled_from([json.dumps(name) for name in [*NAMES, "sku", "_code", ""]]) | st.sampled_from(
    ['"\\u0069d"', '"i\\u0064"', '":"', '"a\\":"', '"lin\\/es"']
)
SINGLE = """null true false 0 1 -0 -0.0 1.0 2 1.5 1e2 1e400 -1e-400 123456789012345678901 NaN Infinity -Infinity 01
"a" "red" "" "bad" "1" "\\u0061" "\\ud83d\\ude00" "\\ud800" "\\n\\"\\\\" "\x7f" "\u00e9" ":" "\\":" "{"
"2024-01-31" "2024-01-31T08:30:00Z" "2024-01-31T08:30:00.1234567+01:00" "2024-01-31T23:59:59.9999999"
"2024-01-31T08:30" "08:30:00" "08:30:00.1234567" "12345678-1234-5678-1234-567812345678"
"12345678123456781234567812345678" """
single = st.sampled_from([*SINGLE.split(), '"a\tb"'])
blank = st.sampled_from(["", "", " ", "\t", "\n", "\x0c"])


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.builds(
        lambda before, name, between, item: f"{before}{name}{between}:{item}", blank, names, blank, inner
    )
    return st.lists(member, max_size=5).map(lambda members: "{" + ",".join(members) + "}")


def lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")


values = st.recursive(single, lambda inner: lists(inner) | objects(inner), max_leaves=8)
texts = st.builds(lambda id, rest: f'{{"id": {id}{", " if rest != "{}" else ""}{rest[1:]}', single, objects(values))


adapter = functools.cache(row_adapter)


def answer(model: Any, text: str | bytes) -> Any:
    try:
        return adapter(model).validate_json(text)
    except InvalidRow as error:
        return error.faults


def exactly(made: Any) -> Any:
    """A form in which types, the order of keys and time zones count as well."""
    if isinstance(made, Row | Line | Vendor | Undecoded):
        names = (
            [field.name for field in dataclasses.fields(made)]
            if not isinstance(made, Vendor)
            else ["id", "_code", "when"]
        )
        return type(made), [exactly(getattr(made, name)) for name in names]
    if isinstance(made, dict):
        return type(made), [(key, exactly(item)) for key, item in made.items()]
    if isinstance(made, list | tuple):
        return type(made), [exactly(item) for item in made]
    return type(made), repr(sorted(made) if isinstance(made, set | frozenset) else made)


@pytest.mark.parametrize("model", [Row, Line, Vendor, Total])
@given(text=texts)
def test_row__decoded_by_msgspec__is_the_row_of_the_long_way(model: Any, text: str) -> None:
    """Only bytes take the short way, so text shows what the long one says, faults and their order included."""
    assert exactly(answer(model, text.encode("utf-8"))) == exactly(answer(model, text))


@dataclasses.dataclass
class Undecoded:
    id: JsonValue
    any: JsonValue = None
    lines: "list[Undecoded] | JsonValue" = None


@given(texts | values)
def test_text__decoded_by_msgspec__is_strict_and_the_same(text: str) -> None:
    """What msgspec does not check, keys that stand twice and depth, is checked here; and its values are Python's."""
    decode = strict_decoder()
    assert decode is not None
    made = decode(text.encode())
    if made is not None:
        assert exactly(made) == exactly(parse(text).unwrap())
    assert exactly(answer(Undecoded, text.encode())) == exactly(answer(Undecoded, text))


ROW: dict[str, Any] = {
    "id": "a", "count": 5, "weight": 1, "flag": True, "any": {"x": [1, None]}, "tags": ["b"], "colour": "blue",
    "lines": [{"id": "1"}, {"id": "2", "lines": [{"id": "3\n"}]}], "vendor": {"id": "v", "_code": 1},
    "total": {"id": 3}, "size": 2, "kind": 1, "key": "12345678-1234-5678-1234-567812345678", "when": "2024-01-31",
    "place": [1, "x"], "at": "2024-01-31T08:30:00.25+01:00", "clock": "08:30:00", "scores": {"a": 1},
    "more": {"b": [1, 2.5]}, "line": 3,
}  # fmt: skip


def test_row__in_plain_spelling__takes_the_short_way() -> None:
    """The extra does something: it decodes an ordinary row, escapes and repeated names included."""
    decode = fast_decoder(Row)
    assert decode is not None
    assert exactly(decode(json.dumps(ROW).encode())) == exactly(row_adapter(Row).validate_python(ROW))


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a", "id": "a"}',
        '{"id": "a", "\\u0069d": "a"}',
        '{"id": "a", "any": {"x": [{"y": 1, "y": 1}]}}',
        '{"id": "a", "unknown": {"y": 1, "y": 1}}',
        '{"id": "a", "any": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}",
        '{"id": "a", "at": "2024-01-31T08:30:00.1234567Z"}',
        '{"id": "a", "count": 5.0, "weight": "1"}',
        '{"id": "bad"}',
        '{"id": "a", "id": "b", "any": "\\u0022:"}',
        '{"id": "a", "unknown": 1e400}',
        '{"id": "a", "unknown": 1' + "0" * 400 + ".5}",
        '{"id": "a", "unknown": "\\ud800"}',
        '\ufeff{"id": "a"}',
    ],
)
def test_row__that_needs_a_judge__goes_the_long_way(text: str) -> None:
    """Not strict, not as the table says, or refused by the model's own check: msgspec does not decide it."""
    decode = fast_decoder(Row)
    assert decode is not None
    assert decode(text.encode()) is None
    assert exactly(answer(Row, text.encode())) == exactly(answer(Row, text))


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
@pytest.mark.parametrize("model", [dict, Line, Row])
def test_row__nested_far_too_deep__is_refused_as_without_the_extra(model: Any, depth: int) -> None:
    """However deep: what ends msgspec's own descent is no answer."""
    for text in ('{"id": "a", "x": ' + "[" * depth + "]" * depth + "}", '{"lines": [' * depth + "]}" * depth):
        with pytest.raises(InvalidRow, match="nested deeper than 200"):
            row_adapter(model).validate_json(text.encode())


def test_row__that_is_not_utf_8_under_an_unknown_key__is_refused() -> None:
    """msgspec skips what a model does not know without looking at its characters."""
    text = b'{"id": "a", "unknown": "\xff"}'
    decode = fast_decoder(Row)
    assert decode is not None
    assert decode(text) is None
    with pytest.raises(InvalidRow, match="not UTF-8"):
        row_adapter(Row).validate_json(text)


def test_row__of_many_brackets__is_still_fast() -> None:
    """Depth is measured where many brackets leave it open."""
    decode = fast_decoder(Line)
    row = {"id": "a", "lines": [{"id": str(number)} for number in range(300)]}
    assert decode is not None
    assert decode(json.dumps(row).encode()) == row_adapter(Line).validate_python(row)


class Pair(NamedTuple):
    a: int


@dataclasses.dataclass
class OwnInit:
    a: int

    def __init__(self, a: int) -> None:
        self.a = a + 1


@dataclasses.dataclass
class OwnNew:
    a: int

    def __new__(cls, a: int) -> "OwnNew":
        return super().__new__(cls)


@dataclasses.dataclass
class OwnSetting:
    a: int

    def __setattr__(self, name: str, value: int) -> None:
        object.__setattr__(self, name, value + 1)


@attrs.frozen(cache_hash=True)
class CachedHash:
    a: int


@attrs.frozen
class Frozen:
    a: int = attrs.field(validator=attrs.validators.lt(5))


@attrs.define
class Converting:
    a: int = attrs.field(converter=lambda value: value + 1)


@attrs.define
class Dependent:
    a: int
    b: int = attrs.field(default=attrs.Factory(lambda self: self.a, takes_self=True))


@dataclasses.dataclass
class NoInit:
    a: int
    b: int = dataclasses.field(default=1, init=False)


class Mixed(Enum):
    A = "a"
    B = 1


class Answering(Enum):
    @classmethod
    def _missing_(cls, value: object) -> "Answering":
        return next(iter(cls))


class Asking(Answering):
    A = "a"


Alias = TypeAliasType("Alias", "list[int]")
Recursive = TypeAliasType("Recursive", "list[Recursive]")


@pytest.mark.parametrize(
    "hint",
    [
        Decimal, Pair, OwnInit, OwnNew, OwnSetting, CachedHash,
        Converting, Dependent, NoInit, Mixed, Asking, Alias, Recursive, JsonValue,
        Line | Vendor, Line | dict[str, int], date | str, Colour | int, Literal["a"] | int, Literal[True],
        dict[int, str], list[Decimal] | None, int | object, Sequence[Decimal], tuple[int, Decimal],
    ],
)  # fmt: skip
def test_model__with_a_type_that_msgspec_reads_otherwise__is_left_to_the_long_way(hint: Any) -> None:
    """Such a type anywhere in a model leaves the whole model to cattrs."""
    model = dataclasses.make_dataclass("Made", [("f", hint)])
    assert fast_decoder(model) is None
    assert row_adapter(model).validate_json is not None


@pytest.mark.parametrize("model", [Row, Line, Vendor, Total, Frozen])
def test_model__that_is_made_as_its_class_makes_it__is_decoded(model: Any) -> None:
    """What dataclasses and attrs generate is no reason to go the long way."""
    assert fast_decoder(model) is not None


@pytest.mark.parametrize("model", [dict, dict[str, int], Line | Vendor, Pair, Any])
def test_model__that_is_no_class__is_left_to_the_long_way(model: Any) -> None:
    """Only classes gain from being decoded directly."""
    assert fast_decoder(model) is None


def test_row__without_msgspec__is_read_all_the_same() -> None:
    """The extra is one: nothing here needs it."""
    code = """
import dataclasses, sys
sys.modules["msgspec"] = None
from beaker.sdk.rows import InvalidRow, row_adapter

@dataclasses.dataclass
class Row:
    a: int

adapter = row_adapter(Row)
assert adapter.validate_json(b'{"a": "1"}') == Row(1)
try:
    adapter.validate_json(b'{"a": 1, "a": 1}')
except InvalidRow:
    sys.exit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3
