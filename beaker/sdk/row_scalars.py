"""How single JSON values become single Python values: the table of `docs/row-models.md`.

Each reader takes a value and returns the Python value, or raises `ValueError` saying what was expected. The table is
that of pydantic's lax mode for JSON input; `tests/sdk/test_rows_like_pydantic.py` holds the two side by side.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from typing import Any, TypeVar
from uuid import UUID

from beaker.core.convert import json_name


class Exactness(IntEnum):
    """How near a JSON value is to the type it was read as. A union takes the nearest of its members.

    `EXACT` is the type itself, `STRICT` what JSON has no type of its own for (a date in a string), `LAX` what plainly
    means the same (`"5"` for 5).
    """

    LAX = 0
    STRICT = 1
    EXACT = 2


T = TypeVar("T")

Reader = Callable[[Any], Any]

MILLISECONDS_FROM = 20_000_000_000
"""A time stamp further than this from 0 counts milliseconds, a nearer one seconds."""

_FLOATS_ARE_WHOLE = 2.0**63
"""From here on every float is whole; who wrote it meant a size, no count."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 24 * 60 * 60

_INTEGER = re.compile(r"[+-]?\d+(_\d+)*(\.0+)?\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?\Z", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_TIME = r"\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?"
_TIME_OF_DAY = re.compile(_TIME + r"\Z", re.ASCII)
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([Tt _]" + _TIME + r")?\Z", re.ASCII)
_HYPHENATED = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_UUID = re.compile(rf"({_HYPHENATED}|[0-9a-fA-F]{{32}}|\{{{_HYPHENATED}\}}|urn:uuid:{_HYPHENATED})\Z")
_TRUE = {"1", "on", "t", "true", "y", "yes"}
_FALSE = {"0", "off", "f", "false", "n", "no"}


def fault(wanted: str, value: object) -> ValueError:
    """`expected ..., found ...`."""
    return ValueError(f"expected {wanted}, found {json_name(value)}")


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise fault("a string", value)


def integer(value: Any) -> int:
    """A whole number, also in a string."""
    if type(value) is int:
        return value
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _FLOATS_ARE_WHOLE:
        return int(value)
    if isinstance(value, str) and _INTEGER.match(stripped := value.strip()):
        try:
            return int(stripped.partition(".")[0])
        except ValueError:  # more digits than Python reads
            pass
    raise fault("an integer", value)


def number(value: Any) -> float:
    """A finite number, also in a string."""
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int):
        return _finite(value)
    if isinstance(value, str) and _NUMBER.match(stripped := value.strip()):
        return _finite(stripped)
    raise fault("a finite number", value)


def _finite(value: int | str) -> float:
    try:
        read = float(value)
    except OverflowError:
        read = math.inf
    if not math.isfinite(read):
        raise ValueError("expected a finite number, found one too large")
    return read


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and (word := value.lower()) in _TRUE | _FALSE:
        return word in _TRUE
    raise fault("true or false", value)


def _null(value: Any) -> None:
    if value is not None:
        raise fault("null", value)


def _decimal(value: Any) -> Decimal:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            read = Decimal(str(value).strip())
        except (InvalidOperation, ValueError):  # the second for more digits than Python writes
            read = Decimal("NaN")
        if read.is_finite():
            return read
    raise fault("a decimal number", value)


def _uuid(value: Any) -> UUID:
    if isinstance(value, str) and _UUID.match(value):
        return UUID(value)
    raise fault("a UUID", value)


def _date(value: Any) -> date:
    if isinstance(value, str) and _DATE.match(value) and (day := _parsed(date.fromisoformat, value)):
        return day
    moment = _moment(value)
    if moment and moment.time() == time():  # a moment that is a midnight is that day
        return moment.date()
    raise fault("a date like 2024-01-31", value)


def _datetime(value: Any) -> datetime:
    if moment := _moment(value):
        return moment
    raise fault("a date and time like 2024-01-31T08:30:00Z", value)


def _time(value: Any) -> time:
    if isinstance(value, str):
        if _TIME_OF_DAY.match(value):
            moment = _parsed(time.fromisoformat, value)
            if moment is not None:
                return moment
    elif (stamp := _moment(value)) and 0 <= value < _DAY:
        return stamp.timetz()
    raise fault("a time like 08:30:00", value)


def _moment(value: Any) -> datetime | None:
    """The moment that a text or a Unix time stamp (then in UTC) says; `None` for what is neither, and for a moment
    outside the years 1 to 9999."""
    if isinstance(value, str):
        if not _DATE_TIME.match(value):
            return None
        return _parsed(datetime.fromisoformat, f"{value[:10]}T{value[11:]}" if len(value) > 10 else value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    per_unit = 1_000 if abs(value) > MILLISECONDS_FROM else 1_000_000
    try:
        return _EPOCH + timedelta(microseconds=round(value * per_unit))
    except OverflowError:
        return None


def _parsed(read: Callable[[str], T], value: str) -> T | None:
    """`None` when there is no such day or time."""
    try:
        return read(value.upper())
    except ValueError:
        return None


SCALARS: dict[Any, Reader] = {
    str: _string,
    int: integer,
    float: number,
    bool: _boolean,
    type(None): _null,
    Decimal: _decimal,
    UUID: _uuid,
    date: _date,
    datetime: _datetime,
    time: _time,
}
"""The readers, by type."""

SCALAR_EXACTNESS: dict[Any, Callable[[Any], Exactness]] = {
    str: lambda value: Exactness.STRICT,
    int: lambda value: Exactness.EXACT if type(value) is int else Exactness.LAX,
    float: lambda value: _FLOATS.get(type(value), Exactness.LAX),
    bool: lambda value: Exactness.EXACT if type(value) is bool else Exactness.LAX,
    type(None): lambda value: Exactness.EXACT,
    Decimal: lambda value: Exactness.STRICT,
    UUID: lambda value: Exactness.EXACT,
    date: lambda value: Exactness.STRICT if isinstance(value, str) and len(value) == 10 else Exactness.LAX,
    datetime: lambda value: Exactness.STRICT if isinstance(value, str) and len(value) > 10 else Exactness.LAX,
    time: lambda value: Exactness.STRICT if isinstance(value, str) else Exactness.LAX,
}
"""How near a value that was read is to its type, by type."""

_FLOATS: dict[type, Exactness] = {float: Exactness.EXACT, int: Exactness.STRICT}

SCALAR_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Decimal: {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$"}]},
    UUID: {"type": "string", "format": "uuid"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
    time: {"type": "string", "format": "time"},
}
"""The same types in JSON Schema: the spellings to write, of those that are read."""
