"""Row models that pydantic owns, read by pydantic in its JSON mode.

Loaded only for such a model, which exists only where the customer's own module imported pydantic. JSON mode means that
a strict model still reads what JSON writes as a string: dates, UUIDs, enumerations.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cattrs.errors import IterableValidationError, IterableValidationNote
from returns.pipeline import is_successful

from beaker.core.strict_json import dumps, json_value, parse
from beaker.sdk.row_faults import InvalidRow, RowFault
from beaker.sdk.row_scalars import Exactness
from beaker.sdk.row_types import shown
from beaker.sdk.row_unions import note, note_fields

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import ErrorDetails

RowT = TypeVar("RowT")
T = TypeVar("T")

Schema = dict[str, Any]


class PydanticRowAdapter(Generic[RowT]):
    """Reads rows as a model of pydantic's; made by `beaker.sdk.rows.row_adapter`."""

    def __init__(self, model: Any, schema: Schema, label: str) -> None:
        self.model = model
        self._schema = schema
        self._adapter: TypeAdapter[RowT] = pydantic_adapter(model, label)

    def validate_python(self, row: object) -> RowT:
        """`row`, decoded JSON, as the row model. Raises `InvalidRow`, a `ValueError`, with every fault in it."""
        if not isinstance(row, dict):
            raise InvalidRow((RowFault("", f"a row must be an object, not {type(row).__name__}"),))
        try:
            text = dumps(json_value(row, "the row"))
        except (TypeError, ValueError) as error:
            raise InvalidRow((RowFault("", str(error)),)) from error
        return self._read(text, row)

    def validate_json(self, text: str | bytes) -> RowT:
        """One JSON document as the row model. Raises as `validate_python`, and `InvalidRow` for what is not JSON."""
        if self._parse is not None and isinstance(text, bytes) and (decoded := self._parse(text)) is not None:
            return self._read(text, decoded)
        parsed = parse(text, "the row")
        if not is_successful(parsed):
            raise InvalidRow((RowFault("", str(parsed.failure())),))
        row = parsed.unwrap()
        if not isinstance(row, dict):
            raise InvalidRow((RowFault("", f"a row must be an object, not {type(row).__name__}"),))
        return self._read(text.removeprefix("\ufeff" if isinstance(text, str) else b"\xef\xbb\xbf"), row)  # type: ignore[arg-type]  # both of one type

    def json_schema(self) -> Schema:
        """The JSON Schema (draft 2020-12) of one row, as pydantic describes it."""
        return self._schema

    @cached_property
    def _parse(self) -> Callable[[bytes], dict[str, Any] | None] | None:
        from beaker.sdk.row_speed import strict_decoder

        return strict_decoder()

    def _read(self, text: str | bytes, row: dict[str, Any]) -> RowT:
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            faults = tuple(RowFault(_path(place), what) for place, what in _faults(error, row))
            raise InvalidRow(faults) from error


def pydantic_adapter(model: Any, label: str) -> "TypeAdapter[Any]":
    """pydantic's adapter of a type it owns. `TypeError` with its reason when it can make none."""
    from pydantic import TypeAdapter

    def make() -> "TypeAdapter[Any]":
        return TypeAdapter(model)

    return _told(label, make)


def pydantic_schema(model: Any, label: str) -> Schema:
    """pydantic's JSON Schema of a type it owns, in validation mode and with aliases. `TypeError` when it has none."""
    adapter = pydantic_adapter(model, label)
    return _told(label, adapter.json_schema)


def _told(label: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except Exception as error:  # what pydantic raises for a type it cannot do shares no base class
        said = str(error).split("\n\nFor further information", 1)[0].split("\n\nIf you got this error", 1)[0]
        raise TypeError(f"{label}: pydantic refuses it: {said}") from error


def pydantic_hook(hint: Any) -> Callable[[Any, Any], Any]:
    """A hook of cattrs for a type of pydantic's inside a row model of another kind."""
    from pydantic import ValidationError

    adapter = pydantic_adapter(hint, shown(hint))

    def read(value: Any, _: Any) -> Any:
        try:
            made = adapter.validate_json(dumps(value))
        except ValidationError as error:
            errors = [_placed(ValueError(what), place, hint) for place, what in _faults(error, value)]
            raise IterableValidationError(f"While structuring {shown(hint)}", errors, hint) from error
        note(Exactness.STRICT)
        if isinstance(filled := getattr(made, "model_fields_set", None), set):
            note_fields(len(filled))
        return made

    return read


def _placed(error: Exception, place: Sequence[str | int], hint: Any) -> Exception:
    for number, key in enumerate(reversed(place)):
        if number:
            error = IterableValidationError(f"While structuring {shown(hint)}", [error], hint)
        error.add_note(IterableValidationNote(f"Structuring {shown(hint)} @ index {key!r}", key, hint))
    return error


def _faults(error: "ValidationError", value: Any) -> Iterator[tuple[list[str | int], str]]:
    """Every fault of a `ValidationError`, as its place in `value` and what is wrong."""
    for one in error.errors(include_url=False, include_context=False):
        yield _place(one, value), one["msg"]


def _place(fault: "ErrorDetails", value: Any) -> list[str | int]:
    """The keys and indexes of a fault's place. pydantic's own also names the member of a union it looked into, and
    functions that checked; those are no keys of the row, so they are left out."""
    place: list[str | int] = []
    last = len(fault["loc"]) - 1
    for number, key in enumerate(fault["loc"]):
        is_missing = number == last and fault["type"] == "missing"
        if isinstance(value, dict) and isinstance(key, str) and (key in value or is_missing):
            place.append(key)
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and (key < len(value) or is_missing):
            place.append(key)
            value = value[key] if key < len(value) else None
    return place


def _path(place: Sequence[str | int]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")
