"""Frozen values: attrs classes that also answer to the `dataclasses` functions.

Customers inspect our values with `attrs` or with `dataclasses`; both work. Only names are decided here, never rules.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

import attrs

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class FrozenInstanceError(attrs.exceptions.FrozenInstanceError, dataclasses.FrozenInstanceError):
    """Raised when a field of a value is assigned or deleted; caught as either library's error."""


class _DataclassFields:
    """Builds `__dataclass_fields__` of an attrs class the first time someone asks for it."""

    def __get__(self, instance: object, owner: type) -> dict[str, dataclasses.Field[Any]]:
        fields: dict[str, dataclasses.Field[Any]] = {}
        for attribute in attrs.fields(owner):
            default: Any = attribute.default
            factory: Any = dataclasses.MISSING
            if default is attrs.NOTHING:
                default = dataclasses.MISSING
            elif isinstance(default, attrs.Factory):  # type: ignore[arg-type]  # Factory is a class at run time
                default, factory = dataclasses.MISSING, default.factory
            field: dataclasses.Field[Any] = dataclasses.field(
                **({"default_factory": factory} if factory is not dataclasses.MISSING else {"default": default}),
                init=attribute.init,
                repr=bool(attribute.repr),
                hash=None,
                compare=bool(attribute.eq),
                kw_only=attribute.kw_only,
            )
            field.name = attribute.name
            field.type = attribute.type
            field._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
            fields[attribute.name] = field
        # Not cached on the class: a subclass would inherit its base's fields.
        return fields


def _refuse_assignment(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError


def _refuse_deletion(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError


@overload
def value(cls: type[T], /) -> type[T]: ...
@overload
def value(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
def value(cls: type[T] | None = None, /, *, kw_only: bool = False) -> type[T] | Callable[[type[T]], type[T]]:
    """Make `cls` a frozen, slotted value compared and hashed by its fields.

    `attrs.fields/evolve/asdict` and `dataclasses.fields/replace/asdict` both work on the result, and assignment
    raises `FrozenInstanceError`, which is an error of either library. A value with a mapping inside is unhashable.
    """

    def decorate(plain: type[T]) -> type[T]:
        made = attrs.frozen(plain, kw_only=kw_only)
        made.__setattr__ = _refuse_assignment  # type: ignore[method-assign]
        made.__delattr__ = _refuse_deletion  # type: ignore[method-assign]
        made.__dataclass_fields__ = _DataclassFields()  # type: ignore[attr-defined]
        return made

    return decorate if cls is None else decorate(cls)


class ReadOnlyDict(dict[K, V]):
    """A `dict` that refuses every change; `|` and `copy()` give plain dicts.

    It stays a real `dict`, so `isinstance` and `json.dumps` treat it as one. Read-only is shallow.
    """

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("this mapping is read-only; make a copy with dict(...) and change that")

    __setitem__ = _refuse
    __delitem__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse
    __ior__ = _refuse

    def copy(self) -> dict[K, V]:
        """A plain, changeable dict with the same items."""
        return dict(self)

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | dict(self)

    def __copy__(self) -> "ReadOnlyDict[K, V]":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "ReadOnlyDict[K, V]":
        from copy import deepcopy

        return ReadOnlyDict({key: deepcopy(item, memo) for key, item in self.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        return (ReadOnlyDict, (dict(self),))


def _filled(cls: type[Any], items: Any = (), /, **named: Any) -> Any:
    made = dict.__new__(cls)
    dict.update(made, items, **named)
    return made


# Filled before `__init__`, so that calling that once more changes nothing; type checkers see it made as a dict is.
ReadOnlyDict.__new__ = staticmethod(_filled)  # type: ignore[method-assign]
ReadOnlyDict.__init__ = object.__init__  # type: ignore[assignment, method-assign]  # as above


def read_only(items: Mapping[K, V] | Iterable[tuple[K, V]]) -> ReadOnlyDict[K, V]:
    """`items` as a `ReadOnlyDict`."""
    return items if isinstance(items, ReadOnlyDict) else ReadOnlyDict(items)
