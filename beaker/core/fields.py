"""Rules for the fields of authoring values, beside those of `core.text`: labelled converters, tuples, scores, counts.

Each rule takes a value and the label of its field and returns the stored form, or raises `TypeError` for a wrong type
and `ValueError` for a wrong value.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from beaker.core.strict_json import MAX_INT
from beaker.core.text import encodable, plain, shown, text

T = TypeVar("T")


def labelled(rule: Callable[[Any, str], T], label: str) -> Callable[[Any], T]:
    """`rule` with its label filled in, as an attrs converter."""
    return lambda value: rule(value, label)


def tuple_of(kind: type[T]) -> Callable[[Any, str], tuple[T, ...]]:
    """A rule: any iterable of `kind` becomes a tuple; a wrong member or something that is not iterable: `TypeError`."""

    def rule(value: Any, label: str) -> tuple[T, ...]:
        if not isinstance(value, Iterable):
            raise TypeError(f"{label} must be an iterable of {kind.__name__}, not {type(value).__name__}")
        members = tuple(value)
        for index, member in enumerate(members):
            if not isinstance(member, kind):
                raise TypeError(f"{label}[{index}] must be a {kind.__name__}, not {type(member).__name__}")
        return members

    return rule


def score_value(value: object, label: str) -> float:
    """A score as `float`: `int` or `float` (not `bool`), finite, in [0, 1]."""
    number = plain(value)
    if type(number) is not int and type(number) is not float:
        raise TypeError(f"{label} must be a number, not {type(value).__name__}")
    score = float(number)
    if not 0.0 <= score <= 1.0:  # NaN is not either
        raise ValueError(f"{label} must be a finite number in [0, 1], not {shown(number)}")
    return score


def count(value: object, label: str) -> int:
    """A whole number of things, 0 or more, not a `bool`; else `ValueError`."""
    number = plain(value)
    if type(number) is not int or not 0 <= number <= MAX_INT:
        raise ValueError(f"{label} must be a whole number, 0 or more, not {shown(value)}")
    return number


def truth(value: object, label: str) -> bool:
    """A `bool` and nothing that merely acts like one; else `TypeError`."""
    if not isinstance(value, bool):
        raise TypeError(f"{label} must be True or False, not {type(value).__name__}")
    return value


def optional_str(value: object, label: str) -> str | None:
    """`None` or a `str`, kept as it is; else `TypeError`. `ValueError` for a lone surrogate."""
    if value is None:
        return None
    given = plain(value)
    if type(given) is not str:
        raise TypeError(f"{label} must be a string or None, not {type(value).__name__}")
    return encodable(given, label)


def named(rule: Callable[[Any, str], T], what: str) -> Callable[[Any, str], dict[str, T]]:
    """A rule for mappings from names to values, each kept by `rule`; `what` says what a name names ("field").

    Names are stripped, non-empty and unique after stripping. A name that is not a string is `TypeError`; something
    without `.items()` is `AttributeError`.
    """

    def check(value: Any, label: str) -> dict[str, T]:
        if not hasattr(value, "items"):
            raise AttributeError(f"{label} must be a mapping from {what} names, not {type(value).__name__}")
        kept: dict[str, T] = {}
        for name, item in value.items():
            if not issubclass(type(name), str):
                raise TypeError(f"{label}: a {what} name must be a string, not {type(name).__name__}")
            stripped = text(name, f"{label}: a {what} name")
            if stripped in kept:
                raise ValueError(f"{label}: the {what} name {stripped!r} stands twice after trimming blanks")
            kept[stripped] = rule(item, f"{label}[{stripped!r}]")
        return kept

    return check
