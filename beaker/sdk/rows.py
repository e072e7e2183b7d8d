"""The adapter of a row model: reads rows as the model, and describes them as JSON Schema."""

from typing import Any, Generic, TypeVar

from cattrs.errors import BaseValidationError
from returns.pipeline import is_successful

from beaker.core.convert import faults
from beaker.core.strict_json import parse
from beaker.core.values import value
from beaker.sdk.row_conversion import row_converter
from beaker.sdk.row_scalars import Willing
from beaker.sdk.row_schemas import Schema, row_schema

RowT = TypeVar("RowT")


@value
class RowFault:
    """One thing wrong in a row: the path of the field (`lines[2].amount`, empty for the row itself) and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidRow(ValueError):
    """A row that does not match the row model; `faults` holds everything that is wrong with it."""

    def __init__(self, faults: tuple[RowFault, ...]) -> None:
        self.faults = faults
        super().__init__("; ".join(map(str, faults)))


@value
class RowAdapter(Generic[RowT]):
    """Reads decoded JSON rows as `model`; made by `row_adapter`."""

    model: Any
    schema: Schema

    def validate_python(self, row: object) -> RowT:
        """`row`, decoded JSON, as the row model. Raises `InvalidRow`, a `ValueError`, with every fault in it.

        The rules of conversion are the table of `docs/row-models.md`; keys that the model does not know are ignored.
        """
        if not isinstance(row, dict):
            raise InvalidRow((RowFault("", f"a row must be an object, not {type(row).__name__}"),))
        try:
            read: RowT = row_converter(Willing.LAX).structure(row, self.model)
        except BaseValidationError as error:
            raise InvalidRow(tuple(RowFault(path.lstrip("."), what) for path, what in faults(error, ""))) from error
        except (TypeError, ValueError) as error:
            raise InvalidRow((RowFault("", str(error)),)) from error
        return read

    def validate_json(self, text: str | bytes) -> RowT:
        """One JSON document as the row model. Raises as `validate_python`, and `InvalidRow` for what is not JSON."""
        parsed = parse(text, "the row")
        if not is_successful(parsed):
            raise InvalidRow((RowFault("", str(parsed.failure())),))
        return self.validate_python(parsed.unwrap())

    def json_schema(self) -> Schema:
        """The JSON Schema (draft 2020-12) of one row."""
        return self.schema


def row_adapter(model: Any, label: str = "row_model") -> RowAdapter[Any]:
    """The adapter of `model`: a dataclass, an attrs class, a `TypedDict`, `dict` or `dict[str, ...]`.

    Raises `TypeError`, with the place below `label`, for any other model and for a field type that rows cannot be read
    as.
    """
    return RowAdapter(model, row_schema(model, label))
