"""Inputs of cases that are objects: they travel as JSON with the name of their class, and are read back as it."""

import sys
from functools import cache, reduce
from importlib import import_module
from typing import Any

from beaker.core.text import FOREIGN
from beaker.sdk.rows import RowAdapter, row_adapter


def class_of_input(value: Any, plain: Any) -> str | None:
    """`module:name` of the class of `value`, when `plain`, its JSON, read as that class equals `value`.

    Classes that rows can be read as will do: dataclasses, attrs classes, named tuples, models of pydantic's. `None` for
    any other, and for a class that cannot be found by its name.
    """
    kind = type(value)
    name = f"{kind.__module__}:{kind.__qualname__}"
    if not isinstance(plain, dict) or isinstance(value, dict) or _found(name) is not kind:
        return None
    try:
        same = bool(_adapter(kind).validate_python(plain) == value)
    except FOREIGN:
        return None
    return name if same else None


def read_input(name: str, plain: Any) -> Any:
    """`plain` as the class that `class_of_input` named. Raises what importing or reading raises."""
    import_module(name.partition(":")[0])
    return _adapter(_found(name)).validate_python(plain)


def _found(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        return reduce(getattr, path.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        return None


@cache
def _adapter(kind: Any) -> RowAdapter[Any]:
    return row_adapter(kind, getattr(kind, "__qualname__", "the input of a case"))
