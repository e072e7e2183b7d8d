"""Strict JSON: what counts as a JSON value, reading it, and the two ways of writing it.

A value is checked and copied in one linear pass with an explicit stack; the path of a fault is built only when there is
one. Refused: non-finite numbers, integers of more than 4,300 digits, non-string and duplicate keys, lone surrogates,
cycles, nesting deeper than 200.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from typing_extensions import TypeAliasType

from beaker.core.problems import Problem
from beaker.core.text import class_name, plain, shown
from beaker.core.values import ReadOnlyDict

# `import beaker` and one `Case` reach this module, so what only `parse` and `digest` need is imported by them.
if TYPE_CHECKING:
    from returns.result import Result

JsonValue = TypeAliasType("JsonValue", "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]")
JsonObject = TypeAliasType("JsonObject", "dict[str, JsonValue]")

T = TypeVar("T")

MAX_DEPTH = 200

MAX_DIGITS = 4300
"""Decimal digits an integer may have: Python reads and writes no more of them unless it is told to."""

MAX_INT = 10**MAX_DIGITS - 1
_SURELY_SMALL = MAX_INT.bit_length() - 1


def json_value(value: object, label: str) -> Any:
    """A deep copy of `value` in plain lists and dicts.

    `TypeError` for anything that is not JSON (tuples, sets, bytes, models, non-string keys); `ValueError` for
    non-finite numbers, integers of more than 4,300 digits, lone surrogates, cycles and nesting deeper than 200. The
    message carries the path of the fault, rooted at `label`. Of subclasses of `str`, `int` and `float` the plain value
    is kept.
    """
    if issubclass(type(value), _CONTAINERS):
        return _copy(value, label)  # type: ignore[arg-type]  # it is one of them
    exact = plain(value)
    fault = _scalar_fault(exact)
    if fault is not None:
        raise fault[0](f"{label} {fault[1]}")
    return exact


def json_object(value: object, label: str) -> ReadOnlyDict[str, Any]:
    """`dict(value)` checked as `json_value` and stored read-only (metadata, config, context)."""
    try:
        items = dict(value)  # type: ignore[call-overload]  # what is no mapping is refused here
    except (TypeError, ValueError) as error:
        raise TypeError(f"{label} must be a mapping, not {type(value).__name__}") from error
    return ReadOnlyDict(_copy(items, label))


def parse(text: str | bytes, label: str = "JSON") -> "Result[Any, Problem]":
    """Decode one JSON document (UTF-8, a BOM is ignored). Duplicate keys and every rule of `json_value` apply."""
    from returns.result import Failure, Success

    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return Failure(Problem("BK201", f"{label} is not UTF-8: {error.reason} at byte {error.start}"))
    try:
        return Success(json_value(_DECODER.decode(source), label))
    except json.JSONDecodeError as error:
        return Failure(
            Problem("BK202", f"{label} is not valid JSON: {error.msg}", f"line {error.lineno} column {error.colno}")
        )
    except RecursionError:
        return Failure(Problem("BK202", f"{label} is nested deeper than {MAX_DEPTH} levels"))
    except (TypeError, ValueError) as error:
        message = str(error)
        if "int_max_str_digits" in message:  # Python's own words, which advise to change Python
            message = f"{label} holds an integer of more than {MAX_DIGITS} digits"
        return Failure(Problem("BK202", message if message.startswith(label) else f"{label}: {message}"))


def dumps(value: object) -> str:
    """One compact line: separators `,` and `:`, key order kept, non-ASCII escaped, non-finite refused."""
    return _ENCODER.encode(value)


def canonical(value: object) -> bytes:
    """The bytes that are hashed: UTF-8, keys sorted, separators `,` and `:`, non-ASCII unescaped."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def digest(value: object) -> str:
    """SHA-256 of `canonical(value)`, lower-case hexadecimal."""
    from hashlib import sha256

    return sha256(canonical(value)).hexdigest()


def _refuse_constant(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is not a JSON number")


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return made


# `json.dumps` with settings of its own makes a new encoder for every call.
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_pairs)


def _scalar_fault(value: Any) -> tuple[type[Exception], str] | None:
    """What is wrong with a value that is `plain` and not a list or dict, or `None`."""
    kind = type(value)
    if value is None or kind is bool:
        return None
    if kind is int:
        return None if _is_short(value) else (ValueError, f"must be an integer of at most {MAX_DIGITS} digits")
    if kind is str:
        if value.isascii():
            return None
        try:
            value.encode()
        except UnicodeEncodeError:
            return ValueError, "holds a lone surrogate, which has no UTF-8 form"
        return None
    if kind is float:
        return None if math.isfinite(value) else (ValueError, f"must be a finite number, not {value!r}")
    return TypeError, f"must be JSON (null, bool, number, string, list or dict), not {class_name(value)}"


def _is_short(number: Any) -> bool:
    return bool(-MAX_INT <= number <= MAX_INT)


_CONTAINERS = (list, dict)
_SCALARS = {type(None), bool, int, float, str}


def _is_flat(container: list[Any] | dict[Any, Any]) -> bool:
    """Whether a plain list or dict holds nothing but flawless scalars, so that a shallow copy of it will do.

    Most containers do, and asking so takes a fraction of looking at each item. Text outside ASCII says no: whether
    it has a UTF-8 form is asked one by one.
    """
    kind = type(container)
    if kind is dict:
        if not {*map(type, container)} <= {str} or not all(map(str.isascii, container)):
            return False
        items: Any = container.values()  # type: ignore[union-attr]  # it is a dict
    elif kind is list:
        items = container
    else:
        return False
    kinds = {*map(type, items)}
    if not kinds <= _SCALARS:
        return False
    if str in kinds and not all(map(str.isascii, items if len(kinds) == 1 else _only(items, str))):
        return False
    if int in kinds:
        longest: int = max(map(int.bit_length, items if len(kinds) == 1 else _only(items, int)))
        if longest > _SURELY_SMALL:  # it may have too many digits
            return False
    return float not in kinds or all(map(math.isfinite, items if len(kinds) == 1 else _only(items, float)))


def _only(items: Iterable[Any], kind: type[T]) -> Iterator[T]:
    return (item for item in items if type(item) is kind)


def _copy(root: list[Any] | dict[Any, Any], label: str) -> Any:
    if _is_flat(root):
        return root.copy()
    copy: Any = [] if issubclass(type(root), list) else {}
    # One frame per open container: (its copy, an iterator over its items, its identity, the key it hangs at).
    frames: list[tuple[Any, Any, int, Any]] = [(copy, _items(root), id(root), None)]
    open_ids = {id(root)}
    key: Any = None
    while frames:
        target, items, identity, _ = frames[-1]
        is_list = type(target) is list
        for key, item in items:
            if not is_list:
                if type(key) is not str:
                    key, given = plain(key), key
                    if type(key) is not str:
                        _fail(TypeError, f"has a key that is not a string: {shown(given)}", label, frames)
                if not key.isascii() and (fault := _scalar_fault(key)) is not None:
                    _fail(fault[0], f"has a key that {fault[1]}", label, frames)
            kind = type(item)
            if (kind is str and item.isascii()) or (kind is int and _is_short(item)) or kind is bool or item is None:
                pass
            elif issubclass(kind, _CONTAINERS):
                if id(item) in open_ids:
                    _fail(ValueError, "contains itself", label, frames, key)
                if len(frames) >= MAX_DEPTH:
                    _fail(ValueError, f"is nested deeper than {MAX_DEPTH} levels", label, frames, key)
                flat = _is_flat(item)
                child: Any = item.copy() if flat else [] if issubclass(kind, list) else {}
                target.append(child) if is_list else target.__setitem__(key, child)
                if flat:
                    continue
                frames.append((child, _items(item), id(item), key))
                open_ids.add(id(item))
                break
            elif (fault := _scalar_fault(item := plain(item))) is not None:
                _fail(fault[0], fault[1], label, frames, key)
            if is_list:
                target.append(item)
            else:
                target[key] = item
        else:
            frames.pop()
            open_ids.discard(identity)
    return copy


def _items(container: list[Any] | dict[Any, Any]) -> Any:
    return iter(container.items()) if isinstance(container, dict) else enumerate(container)


_NO_KEY = object()


def _fail(
    kind: type[Exception], message: str, label: str, frames: list[tuple[Any, Any, int, Any]], key: Any = _NO_KEY
) -> NoReturn:
    keys = [frame[3] for frame in frames[1:]] + ([] if key is _NO_KEY else [key])
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in keys)
    if len(path) > 200:
        path = f"{path[:97]}...{path[-100:]}"
    raise kind(f"{label}{path} {message}")
