"""Making strict JSON out of whatever application code holds: for outputs, contexts and traces."""

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from beaker.core.strict_json import MAX_DEPTH
from beaker.core.text import visible

_AS_TEXT = (Decimal, UUID, PurePath)
_SETS = (set, frozenset)


def to_json_safe(value: Any) -> Any:
    """`value` as strict JSON: what `Case`, `CaseResult` and `json.dumps(allow_nan=False)` take. Never raises.

    JSON stays as it is, in new lists and dicts. Dates and times become ISO 8601, decimals, UUIDs and paths their text,
    enums their value, bytes `{"encoding": "base64", "content": ...}`, non-finite numbers their name as text. Keys
    become text. Objects with `model_dump` or `to_dict`, dataclasses, attrs classes and named tuples become objects,
    sets sorted lists. Anything else, a cycle, and what lies 200 levels deep become `{"type", "repr"}`.
    """
    return _converted(value, ())


def _converted(value: Any, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _converted(value.value, above)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return {"encoding": "base64", "content": b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, _AS_TEXT):
        return _text(str(value))
    if id(value) in above or len(above) >= MAX_DEPTH - 2:
        return _described(value)
    try:
        return _structure(value, (*above, id(value)))
    except Exception:  # a property, a conversion or an iterator of the application
        return _described(value)


def _structure(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping):
        return _object(value, above)
    if isinstance(value, list):
        return [_converted(item, above) for item in value]
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        if names is not None:
            return _object(dict(zip(names, value, strict=True)), above)
        return [_converted(item, above) for item in value]
    if isinstance(value, _SETS):
        return [_converted(item, above) for item in _ordered(value)]
    if not isinstance(value, type):
        for name, options in (("model_dump", {"mode": "json"}), ("to_dict", {})):
            convert = getattr(value, name, None)
            if callable(convert):
                return _converted(convert(**options), above)
        if is_dataclass(value):
            return _object({field.name: getattr(value, field.name) for field in fields(value)}, above)
        if (attributes := getattr(type(value), "__attrs_attrs__", None)) is not None:
            return _object({field.name: getattr(value, field.name) for field in attributes}, above)
    return _described(value)


def _object(items: Mapping[Any, Any], above: tuple[int, ...]) -> dict[str, Any]:
    return {_key(key): _converted(item, above) for key, item in items.items()}


def _key(key: Any) -> str:
    plain = _converted(key, ())
    return plain if isinstance(plain, str) else str(plain)


def _ordered(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        return str(value).encode("utf-8", "backslashreplace").decode()
    return str.__str__(value)


def _described(value: Any) -> dict[str, str]:
    kind = type(value)
    try:
        shown = repr(value)
    except Exception as error:
        shown = f"<its text cannot be shown: {type(error).__name__}>"
    return {"type": f"{kind.__module__}.{kind.__qualname__}", "repr": visible(shown)}
