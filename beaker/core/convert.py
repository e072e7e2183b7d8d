"""Our values to JSON and back, in one converter, for records we store and send.

The JSON form of a value is its `asdict` shape. Reading is strict: unknown keys, missing keys and other JSON types than
the field's are faults, all of them reported with their JSON path. (`int` fields refuse `true` and `1.0`; `float`
fields take integers.) Files that users write have their own rules in `core.config`.
"""

import collections.abc
from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import (
    BaseValidationError,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
)
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Problems

T = TypeVar("T")


def to_json(value: object) -> Any:
    """The JSON form of a value of ours: attrs values become dicts, tuples lists; JSON stays as it is."""
    return converter().unstructure(value)


def from_json(data: object, cls: type[T], *, code: str, label: str = "$") -> Result[T, Problems]:
    """Read `data`, decoded JSON, as `cls`. Every fault becomes a `Problem` with `code` and its path below `label`."""
    try:
        return Success(converter().structure(data, cls))
    except BaseValidationError as error:
        return Failure(tuple(Problem(code, message, where) for where, message in faults(error, label)))
    except (TypeError, ValueError, KeyError) as error:
        return Failure((Problem(code, _message(error), label),))


@cache
def converter() -> cattrs.Converter:
    """The one converter. Parts that add a type of their own register a hook for it here, next to the type."""
    made = cattrs.Converter(forbid_extra_keys=True, unstruct_collection_overrides={tuple: list})
    for scalar in (bool, int, str):
        made.register_structure_hook(scalar, _exactly)
    made.register_structure_hook(float, _number)
    made.register_structure_hook_factory(_is_choice, _chooser)
    opened: set[Any] = set()
    made.register_structure_hook_factory(
        lambda cls: get_origin(cls) in _CONTAINERS and cls not in opened,
        lambda cls: _container_reader(cls, made, opened),
    )
    made.register_structure_hook_factory(attrs.has, lambda cls: _reader(cls, made))
    made.register_unstructure_hook_factory(attrs.has, lambda cls: _writer(cls, made))
    return made


def _reader(cls: type[Any], made: cattrs.Converter) -> Any:
    read = make_dict_structure_fn(cls, made, _cattrs_forbid_extra_keys=True)

    def read_object(value: Any, expected: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, found {json_name(value)}")
        return read(value, expected)

    return read_object


def _container_reader(cls: Any, made: cattrs.Converter, opened: set[Any]) -> Any:
    """cattrs' own reader of a list or mapping behind a look at the JSON type: it would take a string for a list."""
    opened.add(cls)
    try:
        read = made.get_structure_hook(cls, cache_result=False)
    finally:
        opened.discard(cls)
    types, name = _CONTAINERS[get_origin(cls)]

    def read_container(value: Any, expected: Any) -> Any:
        if not isinstance(value, types):
            raise TypeError(f"expected {name}, found {json_name(value)}")
        return read(value, expected)

    return read_container


def _writer(cls: type[Any], made: cattrs.Converter) -> Any:
    return make_dict_unstructure_fn(cls, made, _cattrs_include_init_false=True)


def _exactly(value: object, expected: type[Any]) -> Any:
    if type(value) is not expected:
        raise TypeError(f"expected {_NAMES[expected]}, found {json_name(value)}")
    return value


def _number(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {json_name(value)}")
    return float(value)


def _is_choice(cls: Any) -> bool:
    """A Literal, or a union of Literals and plain JSON scalars."""
    if get_origin(cls) is Literal:
        return True
    return get_origin(cls) in (Union, UnionType) and all(
        member in _NAMES or get_origin(member) is Literal for member in get_args(cls)
    )


def _chooser(cls: Any) -> Any:
    members = (cls,) if get_origin(cls) is Literal else get_args(cls)
    literals = [option for member in members if get_origin(member) is Literal for option in get_args(member)]
    types = [member for member in members if member in _NAMES]
    wanted = " or ".join([*(repr(option) for option in literals), *(_NAMES[kind] for kind in types)])

    def choose(value: object, _: object) -> Any:
        if type(value) in types or any(type(value) is type(option) and value == option for option in literals):
            return value
        if float in types and type(value) is int:
            return float(value)
        raise TypeError(f"expected {wanted}, found {json_name(value)}")

    return choose


_CONTAINERS: dict[Any, tuple[tuple[type[Any], ...], str]] = {
    tuple: ((list, tuple), "a list"),
    list: ((list, tuple), "a list"),
    collections.abc.Sequence: ((list, tuple), "a list"),
    dict: ((dict,), "an object"),
    collections.abc.Mapping: ((dict,), "an object"),
}

_NAMES: dict[type[Any], str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    NoneType: "null",
}


def json_name(value: object) -> str:
    """What a JSON value is called in a message about it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the string {value!r}" if len(value) <= 40 else "a string"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__


def faults(error: BaseException, path: str) -> Iterator[tuple[str, str]]:
    """Every fault inside an error of cattrs, as (its JSON path below `path`, what is wrong)."""
    match error:
        case ClassValidationError() | IterableValidationError():
            with_notes, without = error.group_exceptions()
            for inner, note in with_notes:
                key = note.name if hasattr(note, "name") else note.index
                yield from faults(inner, f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}")
            for inner in without:
                yield from faults(inner, path)
        case ForbiddenExtraKeysError():
            for key in sorted(error.extra_fields):
                yield f"{path}.{key}", "is not a known key"
        case _:
            yield path, _message(error)


def _message(error: BaseException) -> str:
    return "is missing" if isinstance(error, KeyError) else str(error)
