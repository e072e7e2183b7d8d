"""JSON rows to Python values, through cattrs: one converter for each `Willing`.

Only types that `row_schemas` accepted arrive here. A fault is raised as cattrs raises it, so all faults of a row are
found in one go, each with its path.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, get_args, get_origin

import cattrs
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn
from typing_extensions import is_typeddict

from beaker.sdk.row_scalars import SCALARS, Willing, fault
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    bare,
    is_enum,
    is_literal,
    is_model,
    model_fields,
    shown,
    union_members,
)

Hook = Callable[[Any, Any], Any]
Factory = Callable[[Any], Hook]


@cache
def row_converter(willing: Willing) -> cattrs.Converter:
    """The converter that goes as far as `willing`."""
    made = cattrs.Converter()
    for kind in SCALARS:
        made.register_structure_hook(kind, _scalar(kind, willing))

    def add(applies: Callable[[Any], bool], factory: Callable[[Any, cattrs.Converter], Hook]) -> None:
        made.register_structure_hook_factory(applies, lambda hint: factory(hint, made))

    # The last one registered is asked first.
    add(lambda hint: bare(hint) is Any, lambda hint, _: _as_it_is)
    add(is_model, _model)
    add(is_enum, lambda hint, _: _enumeration(hint))
    add(is_literal, lambda hint, _: _choice([(option, option) for option in get_args(hint)]))
    add(lambda hint: (get_origin(hint) or hint) in MAPPINGS, _mapping)
    add(lambda hint: (get_origin(hint) or hint) in LISTS, lambda hint, made: _list(hint, made, list))
    add(lambda hint: (get_origin(hint) or hint) is set, lambda hint, made: _list(hint, made, set))
    add(lambda hint: (get_origin(hint) or hint) is frozenset, lambda hint, made: _list(hint, made, frozenset))
    add(lambda hint: (get_origin(hint) or hint) is tuple, _tuple)
    add(lambda hint: bool(union_members(hint)), lambda hint, made: _union(hint, made, willing))
    add(_is_wrapped, lambda hint, made: made.get_structure_hook(bare(hint)))
    return made


def _scalar(kind: Any, willing: Willing) -> Hook:
    read = SCALARS[kind]

    def read_scalar(value: Any, expected: Any) -> Any:
        # cattrs finds this hook for enumerations too whose members are also strings or numbers.
        if expected is not kind and is_enum(cls := bare(expected)):
            return _enumeration(cls)(value, cls)
        return read(value, willing)

    return read_scalar


@cache
def _enumeration(cls: Any) -> Hook:
    return _choice([(member.value, member) for member in cls])


def _as_it_is(value: Any, _: Any) -> Any:
    return value


def _is_wrapped(hint: Any) -> bool:
    return bare(hint) is not hint and bare(hint) is not Any


def _model(cls: Any, made: cattrs.Converter) -> Hook:
    read = _typed_dict(cls, made) if is_typeddict(cls) else make_dict_structure_fn(cls, made)

    def read_object(value: Any, expected: Any) -> Any:
        if not isinstance(value, dict):
            raise fault("an object", value)
        return read(value, expected)

    return read_object


def _typed_dict(cls: Any, made: cattrs.Converter) -> Hook:
    fields = [(field.name, field.type, field.required, _late(field.type, made)) for field in model_fields(cls)]

    def read(value: Any, _: Any) -> Any:
        read_fields: dict[str, Any] = {}
        errors: list[Exception] = []
        for name, hint, required, hook in fields:
            try:
                if name in value:
                    read_fields[name] = hook(value[name], hint)
                elif required:
                    raise KeyError(name)
            except Exception as error:
                error.add_note(AttributeValidationNote(f"Structuring {cls.__name__}.{name}", name, hint))
                errors.append(error)
        if errors:
            raise ClassValidationError(f"While structuring {cls.__name__}", errors, cls)
        return read_fields

    return read


def _late(hint: Any, made: cattrs.Converter) -> Hook:
    """The hook of `hint`, found at the first use, so that a model may contain itself."""
    return lambda value, _: made.structure(value, hint)


def _choice(options: Iterable[tuple[Any, Any]]) -> Hook:
    # Keyed by type as well: 1, 1.0 and True are different choices.
    chosen = {(type(key), key): option for key, option in options}
    wanted = "one of " + ", ".join(repr(key) for _, key in chosen) if len(chosen) > 1 else repr(next(iter(chosen))[1])

    def read(value: Any, _: Any) -> Any:
        if isinstance(value, str | int | float | None) and (type(value), value) in chosen:
            return chosen[type(value), value]
        raise fault(wanted, value)

    return read


def _list(hint: Any, made: cattrs.Converter, collect: Callable[[list[Any]], Any]) -> Hook:
    (item,) = get_args(hint) or (Any,)
    hook = made.get_structure_hook(item)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise fault("a list", value)
        read_items = _each(((index, entry, item, hook) for index, entry in enumerate(value)), hint)
        try:
            return collect([entry for _, entry in read_items])
        except TypeError as error:
            raise ValueError(f"expected items that can stand in a set: {error}") from error

    return read


def _tuple(hint: Any, made: cattrs.Converter) -> Hook:
    items = get_args(hint) or (() if get_origin(hint) is tuple else (Any, ...))
    if len(items) == 2 and items[1] is Ellipsis:
        return _list(list[items[0]], made, tuple)  # type: ignore[valid-type]  # a type known at run time only
    hooks = [(item, made.get_structure_hook(item)) for item in items]

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise fault("a list", value)
        if len(value) != len(hooks):
            raise ValueError(f"expected a list of {len(hooks)}, found one of {len(value)}")
        entries = zip(value, hooks, strict=True)
        read_items = _each(((index, entry, item, hook) for index, (entry, (item, hook)) in enumerate(entries)), hint)
        return tuple(entry for _, entry in read_items)

    return read


def _mapping(hint: Any, made: cattrs.Converter) -> Hook:
    key, item = get_args(hint) or (str, Any)
    read_key, hook = made.get_structure_hook(key), made.get_structure_hook(item)
    plain_keys, plain_items = bare(key) in (str, Any), bare(item) is Any

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise fault("an object", value)
        if plain_keys and plain_items:
            return dict(value)
        items = dict(_each(((name, entry, item, hook) for name, entry in value.items()), hint))
        if plain_keys:
            return items
        names = _each(((name, name, key, read_key) for name in value), hint)
        read_items = {made_key: items[name] for name, made_key in names}
        if len(read_items) < len(names):
            raise ValueError("two keys are the same once they are read")
        return read_items

    return read


def _each(entries: Iterable[tuple[Any, Any, Any, Hook]], container: Any) -> list[tuple[Any, Any]]:
    """Convert (key, value, type, hook) one by one; every fault is raised together, each at its key."""
    read: list[tuple[Any, Any]] = []
    errors: list[Exception] = []
    for key, entry, hint, hook in entries:
        try:
            read.append((key, hook(entry, hint)))
        except Exception as error:
            error.add_note(IterableValidationNote(f"Structuring {shown(container)} @ index {key!r}", key, hint))
            errors.append(error)
    if errors:
        raise IterableValidationError(f"While structuring {shown(container)}", errors, container)
    return read


def _union(hint: Any, made: cattrs.Converter, willing: Willing) -> Hook:
    members = union_members(hint)
    others = tuple(member for member in members if bare(member) is not type(None))
    if len(others) == 1 and len(members) == 2:
        return _optional(others[0], made)
    levels = [row_converter(level) if level is not willing else made for level in Willing if level <= willing]

    def read(value: Any, _: Any) -> Any:
        for level in levels:
            if matches := list(_matches(value, members, level)):
                return max(matches, key=lambda match: match[0])[1]
        member = _meant(value, members)
        if member is None:
            raise fault(" or ".join(shown(bare(member)) for member in members), value)
        return made.structure(value, member)

    return read


def _optional(hint: Any, made: cattrs.Converter) -> Hook:
    hook = made.get_structure_hook(hint)
    return lambda value, _: None if value is None else hook(value, hint)


def _matches(value: Any, members: Iterable[Any], converter: cattrs.Converter) -> Iterable[tuple[int, Any]]:
    """What each member makes of `value`, with the number of its fields that `value` fills."""
    for member in members:
        try:
            read = converter.structure(value, member)
        except (BaseValidationError, ValueError, TypeError, KeyError):
            continue
        yield _filled(value, member), read


def _filled(value: Any, member: Any) -> int:
    cls = bare(member)
    return sum(field.name in value for field in model_fields(cls)) if is_model(cls) else 0


def _meant(value: Any, members: Iterable[Any]) -> Any:
    """The one member whose faults say most about `value`: the only model, or the only one whose literals agree."""
    if not isinstance(value, dict):
        return None
    models = [member for member in members if is_model(bare(member))]
    tagged = [member for member in models if _literals_agree(value, bare(member))]
    return next((found[0] for found in (tagged, models) if len(found) == 1), None)


def _literals_agree(value: Mapping[str, Any], cls: Any) -> bool:
    tags = [field for field in model_fields(cls) if is_literal(bare(field.type))]
    return bool(tags) and all(value.get(field.name) in get_args(bare(field.type)) for field in tags)
