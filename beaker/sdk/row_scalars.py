"""How single JSON values become single Python values: the table of `docs/row-models.md`.

Each reader takes a value and how willing it is, and returns the Python value or raises `ValueError` saying what was
expected. `EXACT` takes only the type itself, `STRICT` also what JSON has no type for (a date in a string), `LAX` also
what plainly means the same (`"5"` for 5). Unions ask in that order.
"""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from typing import Any, TypeVar
from uuid import UUID

from beaker.core.convert import json_name


class Willing(IntEnum):
    """How far a reader goes to accept a value."""

    EXACT = 0
    STRICT = 1
    LAX = 2


T = TypeVar("T")

Reader = Callable[[Any, Willing], Any]

_INTEGER = re.compile(r"[+-]?\d+(_\d+)*(\.0*)?\Z")
_NUMBER = re.compile(r"[+-]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_TIME = r"\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|z|[+-]\d{2}:?\d{2})?"
_TIME_OF_DAY = re.compile(_TIME + r"\Z")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([Tt _]" + _TIME + r")?\Z")
_TRUE = {"1", "on", "t", "true", "y", "yes"}
_FALSE = {"0", "off", "f", "false", "n", "no"}


def fault(wanted: str, value: object) -> ValueError:
    """`expected ..., found ...`."""
    return ValueError(f"expected {wanted}, found {json_name(value)}")


def _string(value: Any, willing: Willing) -> str:
    if isinstance(value, str):
        return value
    raise fault("a string", value)


def _integer(value: Any, willing: Willing) -> int:
    if type(value) is int:
        return value
    if willing is Willing.LAX:
        if isinstance(value, bool | int):
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and len(value) <= 4000 and _INTEGER.match(stripped := value.strip()):
            return int(stripped.partition(".")[0])
    raise fault("an integer", value)


def _float(value: Any, willing: Willing) -> float:
    if isinstance(value, float) and math.isfinite(value):
        return value
    if willing >= Willing.STRICT and isinstance(value, int) and not isinstance(value, bool):
        return _finite(value)
    if willing is Willing.LAX:
        if isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and _NUMBER.match(stripped := value.strip()):
            return _finite(stripped)
    raise fault("a finite number", value)


def _finite(value: int | str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("expected a finite number, found one too large")
    return number


def _boolean(value: Any, willing: Willing) -> bool:
    if isinstance(value, bool):
        return value
    if willing is Willing.LAX:
        if isinstance(value, int | float) and value in (0, 1):
            return bool(value)
        if isinstance(value, str) and (word := value.lower()) in _TRUE | _FALSE:
            return word in _TRUE
    raise fault("true or false", value)


def _null(value: Any, willing: Willing) -> None:
    if value is not None:
        raise fault("null", value)


def _decimal(value: Any, willing: Willing) -> Decimal:
    if willing >= Willing.STRICT and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = Decimal(str(value).strip())
        except InvalidOperation:
            number = Decimal("NaN")
        if number.is_finite():
            return number
    raise fault("a decimal number", value)


def _uuid(value: Any, willing: Willing) -> UUID:
    if willing >= Willing.STRICT and isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            pass
    raise fault("a UUID", value)


def _date(value: Any, willing: Willing) -> date:
    if willing >= Willing.STRICT and isinstance(value, str):
        if _DATE.match(value) and (day := _parsed(date.fromisoformat, value)):
            return day
        # A date-time at midnight is that day.
        if willing is Willing.LAX and _DATE_TIME.match(value):
            moment = _parsed(datetime.fromisoformat, _with_t(value))
            if moment and moment.time() == time():
                return moment.date()
    raise fault("a date like 2024-01-31", value)


def _datetime(value: Any, willing: Willing) -> datetime:
    if willing >= Willing.STRICT and isinstance(value, str) and _DATE_TIME.match(value):
        has_time = len(value) > 10
        if (has_time or willing is Willing.LAX) and (moment := _parsed(datetime.fromisoformat, _with_t(value))):
            return moment
    raise fault("a date and time like 2024-01-31T08:30:00Z", value)


def _time(value: Any, willing: Willing) -> time:
    if willing >= Willing.STRICT and isinstance(value, str) and _TIME_OF_DAY.match(value):
        moment = _parsed(time.fromisoformat, value)
        if moment is not None:
            return moment
    raise fault("a time like 08:30:00", value)


def _with_t(value: str) -> str:
    return f"{value[:10]}T{value[11:]}" if len(value) > 10 else value


def _parsed(read: Callable[[str], T], value: str) -> T | None:
    """`None` when there is no such day or time."""
    try:
        return read(value.upper())
    except ValueError:
        return None


SCALARS: dict[Any, Reader] = {
    str: _string,
    int: _integer,
    float: _float,
    bool: _boolean,
    type(None): _null,
    Decimal: _decimal,
    UUID: _uuid,
    date: _date,
    datetime: _datetime,
    time: _time,
}
"""The readers, by type."""

SCALAR_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Decimal: {"anyOf": [{"type": "number"}, {"type": "string"}]},
    UUID: {"type": "string", "format": "uuid"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
    time: {"type": "string", "format": "time"},
}
"""The same types in JSON Schema."""
