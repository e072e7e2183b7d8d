"""What a row model is made of: its fields, and the closed list of types a field may have.

Shared by the conversion of rows and by their JSON Schema, so both know the same types.
"""

import collections.abc
import dataclasses
import sys
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Literal, NewType, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import attrs
import typing_extensions
from typing_extensions import ReadOnly, is_typeddict

from beaker.core.strict_json import JsonObject, JsonValue
from beaker.core.values import value

LISTS = (list, collections.abc.Sequence, collections.abc.MutableSequence)
"""Origins that are read from a JSON list and stay a `list`."""

SETS: dict[Any, type] = {
    set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
}
"""Origins that are read from a JSON list into a set, and which one."""

MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
"""Origins that are read from a JSON object and stay a `dict`."""

_ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))

_CONSTRAINTS = {"annotated_types", "pydantic", "pydantic_core", "msgspec"}
"""The packages whose notes in an `Annotated` say which values are good."""


@value
class RowField:
    """One field of a model class: the key it is read from, its type, and its default when it has one."""

    name: str
    type: Any
    required: bool
    default: Any = None
    has_default: bool = False


def is_model(cls: Any) -> bool:
    """Whether `cls` is a dataclass, an attrs class, a `TypedDict` or a `NamedTuple`."""
    return isinstance(cls, type) and (
        attrs.has(cls) or dataclasses.is_dataclass(cls) or is_typeddict(cls) or is_named_tuple(cls)
    )


def is_named_tuple(cls: Any) -> bool:
    """Whether `cls` is a `NamedTuple` class."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_field_defaults")


def model_fields(cls: Any) -> tuple[RowField, ...]:
    """The fields of a model class that a row fills, in order. `TypeError` when an annotation cannot be resolved."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise TypeError(f"the annotations of {cls.__name__} cannot be resolved: {error}") from error
    if is_typeddict(cls):
        return tuple(_typed_dict_field(cls, name, hint) for name, hint in hints.items())
    if is_named_tuple(cls):
        defaults = cls._field_defaults
        return tuple(
            RowField(name, hints.get(name, Any), name not in defaults, defaults.get(name), name in defaults)
            for name in cls._fields
        )
    if attrs.has(cls):
        return tuple(
            RowField(
                attribute.name,
                hints.get(attribute.name, Any),
                attribute.default is attrs.NOTHING,
                *_plain_default(attribute.default),
            )
            for attribute in attrs.fields(cls)
            if attribute.init
        )
    for name, hint in hints.items():
        if isinstance(hint, dataclasses.InitVar):
            raise TypeError(f"{cls.__name__}.{name} is an InitVar, which a row cannot fill")
    return tuple(
        RowField(
            field.name,
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            *_plain_default(field.default),
        )
        for field in dataclasses.fields(cls)
        if field.init
    )


def _plain_default(default: Any) -> tuple[Any, bool]:
    if default is dataclasses.MISSING or default is attrs.NOTHING or isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # Factory is a class at run time
        return None, False
    return default, True


def _typed_dict_field(cls: Any, name: str, hint: Any) -> RowField:
    # Read from the resolved annotation first: with postponed annotations `__required_keys__` knows no NotRequired.
    required = name in cls.__required_keys__
    while (origin := get_origin(hint)) in (Required, NotRequired, ReadOnly):
        required = origin is Required or (origin is ReadOnly and required)
        (hint,) = get_args(hint)
    return RowField(name, hint, required)


def is_alias(hint: Any) -> bool:
    """Whether `hint` is a named type alias, which may contain itself."""
    return isinstance(hint, _ALIASES)


def alias_value(alias: Any) -> Any:
    """What an alias stands for, with names in it resolved where it was made. `TypeError` when they cannot be."""
    try:
        holder = types.SimpleNamespace(__annotations__={"value": alias.__value__})
        names = {**vars(sys.modules.get(alias.__module__, typing)), alias.__name__: alias}
        return get_type_hints(holder, names, include_extras=True)["value"]
    except (NameError, TypeError, AttributeError) as error:
        raise TypeError(f"the alias {alias.__name__} cannot be resolved: {error}") from error


def bare(hint: Any) -> Any:
    """`hint` without what changes nothing for a row: notes of `Annotated`, aliases, `NewType`, `object` for `Any`.

    A type that pydantic owns comes back as it is. `TypeError` for notes that constrain values while nobody who could
    hold them is there, and for an alias of nothing but itself.
    """
    seen: list[Any] = []
    while True:
        if hint is object or hint is JsonValue:
            return Any
        if hint is JsonObject:
            return dict[str, Any]
        if hint is None:
            return type(None)
        if is_pydantic(hint):
            return hint
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            if constraints := [*_constraints(notes)]:
                raise TypeError(f"{constraints[0]!r} constrains values, which only pydantic checks; import it")
        elif is_alias(hint):
            if hint in seen:
                raise TypeError(f"the alias {hint.__name__} stands for nothing but itself")
            seen.append(hint)
            hint = alias_value(hint)
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        else:
            return hint


def _constraints(notes: list[Any]) -> Iterator[Any]:
    for note in notes:
        kind = note if isinstance(note, type) else type(note)
        if kind.__module__.split(".")[0] in _CONSTRAINTS or hasattr(note, "__get_pydantic_core_schema__"):
            yield note


def union_members(hint: Any) -> tuple[Any, ...]:
    """The members of a union, `()` when `hint` is none."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


def is_enum(hint: Any) -> bool:
    """Whether `hint` is an enumeration."""
    return isinstance(hint, type) and issubclass(hint, Enum)


def is_literal(hint: Any) -> bool:
    """Whether `hint` is a `Literal`."""
    return get_origin(hint) is Literal


def literal_value(option: Any) -> Any:
    """The JSON value that a choice of a `Literal` or a member of an enumeration is written as."""
    return option.value if isinstance(option, Enum) else option


def choice_key(json: Any) -> tuple[bool, Any]:
    """What tells choices apart: 1 and 1.0 are one JSON number, `true` is not that number."""
    return type(json) is bool, json


def is_pydantic(hint: Any) -> bool:
    """Whether pydantic owns this type: a model or type of its own, or notes of its kind. It is never imported here."""
    if "pydantic" not in sys.modules:
        return False
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        return any(_constraints(notes)) or is_pydantic(inner)
    if is_alias(hint):
        try:
            value = hint.__value__
        except NameError:  # told by `alias_value`
            return False
        return not isinstance(value, str) and is_pydantic(value)
    members = [member for member in union_members(hint) if member is not type(None)]
    if len(members) > 1:
        return all(map(is_pydantic, members))  # so that pydantic itself chooses among its own
    cls = get_origin(hint) or hint
    if not isinstance(cls, type):
        return False
    if any(hasattr(cls, mark) for mark in _PYDANTIC_MARKS):
        return True
    defaults = (field.default for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()
    return any(type(default).__module__.split(".")[0] == "pydantic" for default in defaults)


_PYDANTIC_MARKS = ("__pydantic_core_schema__", "__get_pydantic_core_schema__", "__pydantic_config__")


def refused(hint: Any) -> TypeError:
    """Why a type is not on the list."""
    if isinstance(hint, str):
        return TypeError(f"{hint!r} is a string, not a type")
    return TypeError(f"{shown(hint)} is not a type that a row can be read as; docs/row-models.md lists those that are")


def shown(hint: Any) -> str:
    """A type as it reads in a message."""
    if hint is type(None):
        return "None"
    if is_alias(hint) or (isinstance(hint, type) and not get_args(hint)):
        return str(hint.__name__)
    return repr(hint).replace("typing.", "").replace("collections.abc.", "")
