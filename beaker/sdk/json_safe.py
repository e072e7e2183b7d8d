"""Making strict JSON out of whatever application code holds: for outputs, contexts and traces."""

import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from typing import Any, TypeAlias
from uuid import UUID

from beaker.core.strict_json import MAX_DEPTH, MAX_INT
from beaker.core.text import FOREIGN, class_name, visible
from beaker.core.traces import LONGEST

_AS_TEXT = (Decimal, UUID, PurePath)
_SETS = (set, frozenset)
_DATES = (datetime, date, time)
_BYTES = (bytes, bytearray, memoryview)

MOST_CONVERSIONS = 4
"""How often in a row `model_dump` or `to_dict` may give another object: a mock does so without end."""

OMITTED = {"omitted": True}
"""Stands for what found no room."""


def to_json_safe(value: Any) -> Any:
    """`value` as strict JSON: what `Case`, `CaseResult` and `json.dumps(allow_nan=False)` take. Never raises.

    JSON stays as it is, in new lists and dicts. Dates and times become ISO 8601, decimals, UUIDs and paths their text,
    enums their value, bytes `{"encoding": "base64", "content": ...}`, non-finite numbers their name as text, integers
    of more than 4,300 digits their hexadecimal text. Keys become text. Objects with `model_dump` or `to_dict`,
    dataclasses, attrs classes and named tuples become objects, sets sorted lists. Anything else, what fails while it
    is looked at, a cycle, and what lies 200 levels deep become `{"type", "repr"}`.
    """
    return _converted(value, (), [math.inf])


def to_json_within(value: Any, characters: int) -> tuple[Any, bool]:
    """As `to_json_safe`, but no further than about `characters` of it, and whether that is all; never raises."""
    room: _Room = [characters]
    plain = _converted(value, (), room)
    return plain, room[0] > 0


_Room: TypeAlias = list[float]
"""One number: the characters that may still come."""


def _converted(value: Any, above: tuple[int, ...], room: _Room) -> Any:
    if room[0] <= 0:
        return OMITTED
    room[0] -= 4
    # Whatever is asked of a value may run code of the application, its class included.
    try:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, Enum):
            known = id(value) in above
            return _described(value, room) if known else _converted(value.value, (*above, id(value)), room)
        if isinstance(value, str):
            return _text(value, room)
        if isinstance(value, int):
            whole = int.__int__(value)
            return whole if -MAX_INT <= whole <= MAX_INT else _text(hex(whole), room)
        if isinstance(value, float):
            number = float.__float__(value)
            return number if math.isfinite(number) else repr(number)
        if isinstance(value, _BYTES):
            return {"encoding": "base64", "content": _text(b64encode(bytes(value)).decode("ascii"), room)}
        if isinstance(value, _DATES):
            return _text(value.isoformat(), room)
        if isinstance(value, timedelta):
            return float.__float__(value.total_seconds())
        if isinstance(value, _AS_TEXT):
            return _text(str(value), room)
        if id(value) in above or len(above) >= MAX_DEPTH - 2:
            return _described(value, room)
        return _structure(value, (*above, id(value)), room)
    except FOREIGN:
        return _described(value, room)


def _structure(value: Any, above: tuple[int, ...], room: _Room) -> Any:
    for _ in range(MOST_CONVERSIONS):
        if isinstance(value, Mapping):
            return _object(value.items(), above, room)
        if isinstance(value, tuple) and (names := getattr(value, "_fields", None)) is not None:
            return _object(zip(names, value, strict=True), above, room)
        if isinstance(value, list | tuple):
            return _list(value, above, room)
        if isinstance(value, _SETS):
            return _list(_ordered(value), above, room)
        if isinstance(value, type):
            break
        if (convert := _conversion(value)) is None:
            names = _names_of_fields(value)
            if names is None:
                break
            return _object(((name, getattr(value, name)) for name in names), above, room)
        value = convert()
        if _conversion(value) is None or isinstance(value, Mapping | list | tuple):
            return _converted(value, above, room)
    return _described(value, room)


def _conversion(value: Any) -> Callable[[], Any] | None:
    for name, options in (("model_dump", {"mode": "json"}), ("to_dict", {})):
        convert = getattr(value, name, None)
        if callable(convert):
            return partial(convert, **options)
    return None


def _names_of_fields(value: Any) -> list[str] | None:
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    attributes = getattr(type(value), "__attrs_attrs__", None)
    return None if attributes is None else [field.name for field in attributes]


def _object(items: Iterable[tuple[Any, Any]], above: tuple[int, ...], room: _Room) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in items:
        if room[0] <= 0:
            return {**made, **OMITTED}
        name = _key(key, room)
        made[name] = _converted(item, above, room)
    return made


def _list(items: Iterable[Any], above: tuple[int, ...], room: _Room) -> list[Any]:
    made: list[Any] = []
    for item in items:
        made.append(_converted(item, above, room))
        if room[0] <= 0:
            break
    return made


def _key(key: Any, room: _Room) -> str:
    plain = _converted(key, (), room)
    return plain if isinstance(plain, str) else str(plain)


def _ordered(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except FOREIGN:
        return sorted(items, key=_repr)


def _text(value: str, room: _Room) -> str:
    exact = str.__str__(value)
    room[0] -= min(len(exact), LONGEST)
    if exact.isascii():
        return exact
    try:
        exact.encode()
    except UnicodeEncodeError:
        return exact.encode("utf-8", "backslashreplace").decode()
    return exact


def _described(value: Any, room: _Room) -> dict[str, str]:
    return {"type": _text(class_name(value, module=True), room), "repr": _text(visible(_repr(value)), room)}


def _repr(value: Any) -> str:
    try:
        return str.__str__(repr(value))
    except FOREIGN as error:
        return f"<its text cannot be shown: {class_name(error)}>"
