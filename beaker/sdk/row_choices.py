"""Enumerations and `Literal`: a JSON value that is one of a few."""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any, get_args

from beaker.sdk.row_scalars import fault, integer, number
from beaker.sdk.row_types import choice_key, literal_value


@cache
def enumeration(cls: type[Enum]) -> Callable[[Any, Any], Any]:
    """Reads the value of a member. Members that are whole numbers or floats are read as leniently as those; a class
    with a `_missing_` of its own is asked what it makes of another value."""
    options = [(member.value, member) for member in cls]
    choose = _chooser(options)
    convert = integer if issubclass(cls, int) else number if issubclass(cls, float) else None
    asks = answers_missing(cls)

    def read(value: Any, _: Any) -> Any:
        try:
            return choose(value if convert is None else _converted(convert, value))
        except ValueError:
            if asks:
                return cls(value)
            raise

    return read


def answers_missing(cls: type[Enum]) -> bool:
    """Whether the class has a `_missing_` of its own."""
    return getattr(cls._missing_, "__func__", None) is not Enum._missing_.__func__  # type: ignore[attr-defined]  # a classmethod


def _converted(convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return convert(value)
    except ValueError:
        return value


def literal(hint: Any) -> Callable[[Any, Any], Any]:
    """Reads one of the options; a member of an enumeration is written as its value."""
    choose = _chooser([(literal_value(option), option) for option in get_args(hint)])
    return lambda value, _: choose(value)


def _chooser(options: Iterable[tuple[Any, Any]]) -> Callable[[Any], Any]:
    chosen: dict[tuple[bool, Any], Any] = {}
    for json, option in options:
        chosen.setdefault(choice_key(json), option)
    told = [json for _, json in chosen]
    wanted = "one of " + ", ".join(map(repr, told)) if len(told) > 1 else repr(told[0])

    def choose(value: Any) -> Any:
        if not isinstance(value, list | dict) and (key := choice_key(value)) in chosen:
            return chosen[key]
        raise fault(wanted, value)

    return choose
