"""What a row model is made of: its fields, and the closed list of types a field may have.

Shared by the conversion of rows and by their JSON Schema, so both know the same types.
"""

import dataclasses
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, NewType, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import attrs
import typing_extensions
from typing_extensions import ReadOnly, is_typeddict

from beaker.core.strict_json import JsonObject, JsonValue
from beaker.core.values import value

LISTS = (list, Sequence)
"""Origins that are read from a JSON list and stay a `list`."""

MAPPINGS = (dict, Mapping)
"""Origins that are read from a JSON object and stay a `dict`."""

_ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))


@value
class RowField:
    """One field of a model class: the key it is read from, its type, and its default when it has one."""

    name: str
    type: Any
    required: bool
    default: Any = None
    has_default: bool = False


def is_model(cls: Any) -> bool:
    """Whether `cls` is a dataclass, an attrs class or a `TypedDict`."""
    return isinstance(cls, type) and (attrs.has(cls) or dataclasses.is_dataclass(cls) or is_typeddict(cls))


def model_fields(cls: Any) -> tuple[RowField, ...]:
    """The fields of a model class that a row fills, in order. `TypeError` when an annotation cannot be resolved."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise TypeError(f"the annotations of {cls.__name__} cannot be resolved: {error}") from error
    if is_typeddict(cls):
        return tuple(_typed_dict_field(cls, name, hint) for name, hint in hints.items())
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


def bare(hint: Any) -> Any:
    """`hint` without what changes nothing for a row: `Annotated` notes, type aliases, `NewType`, `object` for `Any`.

    `TypeError` for an annotation that constrains values and for a recursive alias.
    """
    seen: list[Any] = []
    while True:
        if hint is object or hint is JsonValue:
            return Any
        if hint is JsonObject:
            return dict[str, Any]
        if hint is None:
            return type(None)
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            if constraints := [note for note in notes if type(note).__module__.split(".")[0] in _CONSTRAINTS]:
                raise TypeError(f"{constraints[0]!r} constrains values, which needs a pydantic row model; {_LATER}")
        elif isinstance(hint, _ALIASES):
            if hint in seen or isinstance(hint.__value__, str):
                raise TypeError(f"{hint} is a recursive alias; use a dataclass or JsonValue")
            seen.append(hint)
            hint = hint.__value__
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        else:
            return hint


_CONSTRAINTS = {"annotated_types", "pydantic"}
_LATER = (
    "this version reads rows as dataclasses, attrs classes, TypedDicts and dicts, with the types of docs/row-models.md"
)


def union_members(hint: Any) -> tuple[Any, ...]:
    """The members of a union, `()` when `hint` is none."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


def is_enum(hint: Any) -> bool:
    """Whether `hint` is an enumeration."""
    return isinstance(hint, type) and issubclass(hint, Enum)


def is_literal(hint: Any) -> bool:
    """Whether `hint` is a `Literal`."""
    return get_origin(hint) is Literal


def is_pydantic(hint: Any) -> bool:
    """Whether pydantic owns this type. Pydantic itself is not imported."""
    if "pydantic" not in sys.modules or not isinstance(hint, type):
        return False
    return hasattr(hint, "__pydantic_core_schema__") or hasattr(hint, "__get_pydantic_core_schema__")


def refused(hint: Any) -> TypeError:
    """Why a type is not on the list."""
    if is_pydantic(hint):
        return TypeError(f"{shown(hint)} is a pydantic type; {_LATER}")
    if isinstance(hint, str):
        return TypeError(f"{hint!r} is a string, not a type")
    return TypeError(
        f"{shown(hint)} is not a type that a row can be read as; {_LATER}, with the field types listed there"
    )


def shown(hint: Any) -> str:
    """A type as it reads in a message."""
    if hint is type(None):
        return "None"
    if isinstance(hint, type) and not get_args(hint):
        return hint.__name__
    return repr(hint).replace("typing.", "").replace("collections.abc.", "")
