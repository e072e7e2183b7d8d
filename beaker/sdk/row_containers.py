"""Lists, sets, tuples and mappings of a row. Every fault in one is raised together, each at its index or key."""

from collections.abc import Callable
from typing import Any, get_args, get_origin

from cattrs.errors import IterableValidationError, IterableValidationNote

from beaker.sdk.row_scalars import Exactness, fault
from beaker.sdk.row_types import bare, shown
from beaker.sdk.row_unions import note

Hook = Callable[[Any, Any], Any]
HookOf = Callable[[Any], Hook]


def list_hook(hint: Any, hook_of: HookOf, collect: Callable[[list[Any]], Any]) -> Hook:
    """Reads a list whose items are of one type, and `collect`s it."""
    if collect is list and not get_args(hint):
        return _plain_list
    (item,) = get_args(hint) or (Any,)
    hook = hook_of(item)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise fault("a list", value)
        items: list[Any] = []
        errors: list[Exception] = []
        for entry in value:
            try:
                items.append(hook(entry, item))
            except Exception as error:
                errors.append(_at(error, len(items) + len(errors), hint, item))
        if errors:
            raise _faults(errors, hint)
        if collect is list:
            return items
        try:
            return collect(items)
        except TypeError as error:
            raise ValueError(f"expected items that can stand in a set: {error}") from error

    return read


def _plain_list(value: Any, _: Any) -> list[Any]:
    if not isinstance(value, list):
        raise fault("a list", value)
    return list(value)


def tuple_hook(hint: Any, hook_of: HookOf) -> Hook:
    """Reads a list of one type and any length, or of one type per place."""
    items = get_args(hint) or (() if get_origin(hint) is tuple else (Any, ...))
    if len(items) == 2 and items[1] is Ellipsis:
        return list_hook(list[items[0]], hook_of, tuple)  # type: ignore[valid-type]  # a type known at run time only
    hooks = [(item, hook_of(item)) for item in items]

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise fault("a list", value)
        if len(value) != len(hooks):
            raise ValueError(f"expected a list of {len(hooks)}, found one of {len(value)}")
        read_items: list[Any] = []
        errors: list[Exception] = []
        for entry, (item, hook) in zip(value, hooks, strict=True):
            try:
                read_items.append(hook(entry, item))
            except Exception as error:
                errors.append(_at(error, len(read_items) + len(errors), hint, item))
        if errors:
            raise _faults(errors, hint)
        return tuple(read_items)

    return read


def mapping_hook(hint: Any, hook_of: HookOf) -> Hook:
    """Reads an object whose keys are of one type, each from its string, and whose values are of another."""
    if not get_args(hint):
        return _plain_dict
    key, item = get_args(hint)
    read_key, hook = hook_of(key), hook_of(item)
    plain_keys = bare(key) in (str, Any)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise fault("an object", value)
        items: dict[Any, Any] = {}
        errors: list[Exception] = []
        for name, entry in value.items():
            try:
                place = name if plain_keys else read_key(name, key)
            except Exception as error:
                errors.append(_at(error, name, hint, key))
                continue
            try:
                made_item = hook(entry, item)
            except Exception as error:
                errors.append(_at(error, name, hint, item))
                continue
            if place in items:
                errors.append(_at(ValueError("is the same key as one before it, once it is read"), name, hint, key))
            items[place] = made_item
        if errors:
            raise _faults(errors, hint)
        if items:
            note(Exactness.STRICT)  # keys are strings in JSON, whatever they stand for
        return items

    return read


def _plain_dict(value: Any, _: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fault("an object", value)
    if value:
        note(Exactness.STRICT)
    return dict(value)


def _at(error: Exception, key: Any, hint: Any, item: Any) -> Exception:
    error.add_note(IterableValidationNote(f"Structuring {shown(hint)} @ index {key!r}", key, item))
    return error


def _faults(errors: list[Exception], hint: Any) -> Exception:
    return IterableValidationError(f"While structuring {shown(hint)}", errors, hint)
