"""The adapter of a row model: reads rows as the model, and describes them as JSON Schema.

Two kinds answer to the one port: pydantic reads what it owns, cattrs everything else.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from cattrs.errors import BaseValidationError
from returns.pipeline import is_successful

from beaker.core.strict_json import json_value, parse
from beaker.sdk.row_conversion import RowReader
from beaker.sdk.row_faults import InvalidRow, RowFault, row_faults
from beaker.sdk.row_schemas import Schema, row_schema
from beaker.sdk.row_types import bare, is_pydantic

__all__ = ["InvalidRow", "RowAdapter", "RowFault", "StandardRowAdapter", "row_adapter"]

RowT = TypeVar("RowT")
RowT_co = TypeVar("RowT_co", covariant=True)


class RowAdapter(Protocol[RowT_co]):
    """Reads JSON rows as a row model."""

    def validate_python(self, row: object) -> RowT_co:
        """`row`, decoded JSON, as the row model. Raises `InvalidRow`, a `ValueError`, with every fault in it.

        What is read as what is the table of `docs/row-models.md`.
        """
        ...

    def validate_json(self, text: str | bytes) -> RowT_co:
        """One JSON document as the row model. Raises as `validate_python`, and `InvalidRow` for what is not JSON."""
        ...

    def json_schema(self) -> Schema:
        """The JSON Schema (draft 2020-12) of one row."""
        ...


class StandardRowAdapter(Generic[RowT]):
    """Reads rows as standard types: dataclasses, attrs classes, `TypedDict` and the others; made by `row_adapter`."""

    def __init__(self, model: Any, schema: Schema) -> None:
        self.model = model
        self._schema = schema

    def validate_python(self, row: object) -> RowT:
        """As `RowAdapter.validate_python`. Keys that a class does not know are ignored."""
        if not isinstance(row, dict):
            raise InvalidRow((RowFault("", f"a row must be an object, not {type(row).__name__}"),))
        try:
            checked = json_value(row, "the row")
        except (TypeError, ValueError) as error:
            raise InvalidRow((RowFault("", str(error)),)) from error
        return self._read_decoded(checked)

    def _read_decoded(self, row: object) -> RowT:
        """Strict JSON as the row model."""
        if not isinstance(row, dict):
            raise InvalidRow((RowFault("", f"a row must be an object, not {type(row).__name__}"),))
        try:
            read: RowT = self._read(row, self.model)
        except (BaseValidationError, TypeError, ValueError) as error:
            raise InvalidRow(row_faults(error)) from error
        return read

    def validate_json(self, text: str | bytes) -> RowT:
        """As `RowAdapter.validate_json`. With msgspec installed it decodes bytes, straight into the model where it can;
        what it refuses is judged as without it."""
        if isinstance(text, bytes):
            if self._decode is not None and (read := self._decode(text)) is not None:
                return read
            if self._parse is not None and (row := self._parse(text)) is not None:
                return self._read_decoded(row)
        parsed = parse(text, "the row")
        if not is_successful(parsed):
            raise InvalidRow((RowFault("", str(parsed.failure())),))
        return self._read_decoded(parsed.unwrap())

    def json_schema(self) -> Schema:
        """As `RowAdapter.json_schema`."""
        return self._schema

    @cached_property
    def _read(self) -> Callable[[Any, Any], Any]:
        return RowReader().hook(self.model)

    @cached_property
    def _decode(self) -> Callable[[bytes], RowT | None] | None:
        from beaker.sdk.row_speed import fast_decoder

        return fast_decoder(self.model)

    @cached_property
    def _parse(self) -> Callable[[bytes], dict[str, Any] | None] | None:
        from beaker.sdk.row_speed import strict_decoder

        return strict_decoder()


def row_adapter(model: Any, label: str = "row_model") -> RowAdapter[Any]:
    """The adapter of `model`: a model of pydantic's, or one of the standard types in `docs/row-models.md`.

    Raises `TypeError`, with the place below `label`, for a model that no JSON object can be read as, and for a field
    type that rows cannot be read as.
    """
    schema = row_schema(model, label)
    plain = bare(model)
    if is_pydantic(plain):
        from beaker.sdk.row_pydantic import PydanticRowAdapter

        return PydanticRowAdapter(model, schema, label)
    return StandardRowAdapter(model, schema)
