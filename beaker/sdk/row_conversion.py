"""JSON rows to Python values, through cattrs.

Only types that `row_schemas` accepted arrive here. A fault is raised as cattrs raises it, so all faults of a row are
found in one go, each with its path.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, get_origin

import cattrs
from cattrs.errors import AttributeValidationNote, ClassValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from typing_extensions import is_typeddict

from beaker.core.strict_json import JsonValue
from beaker.sdk.row_choices import enumeration, literal
from beaker.sdk.row_containers import list_hook, mapping_hook, tuple_hook
from beaker.sdk.row_scalars import SCALAR_EXACTNESS, SCALARS, Exactness, fault
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    SETS,
    bare,
    is_enum,
    is_literal,
    is_model,
    is_named_tuple,
    is_pydantic,
    model_fields,
    union_members,
)
from beaker.sdk.row_unions import note, note_fields, union_hook

Hook = Callable[[Any, Any], Any]


@cache
def row_converter(*, tracking: bool = False) -> cattrs.Converter:
    """The converter of rows. The `tracking` one notes how near a value is to its type, for the union it stands in."""
    made = cattrs.Converter()
    for kind in SCALARS:
        made.register_structure_hook(kind, _scalar(kind, tracking=tracking))

    def add(applies: Callable[[Any], bool], hook: Callable[[Any], Hook], exactness: Exactness | None = None) -> None:
        if not tracking or exactness is None:
            made.register_structure_hook_factory(applies, hook)
        else:
            made.register_structure_hook_factory(applies, lambda hint: _noting(hook(hint), exactness))

    # The last one registered is asked first.
    add(lambda hint: bare(hint) is Any, lambda _: _as_it_is, Exactness.STRICT)
    add(is_model, lambda hint: _model(hint, made, tracking=tracking))
    add(is_enum, enumeration, Exactness.LAX)
    add(is_literal, literal)
    add(lambda hint: _origin(hint) in MAPPINGS, lambda hint: mapping_hook(hint, made))
    add(lambda hint: _origin(hint) in LISTS, lambda hint: list_hook(hint, made, list))
    add(lambda hint: _origin(hint) in SETS, lambda hint: list_hook(hint, made, SETS[_origin(hint)]), Exactness.STRICT)
    add(lambda hint: _origin(hint) is tuple, lambda hint: tuple_hook(hint, made), Exactness.STRICT)
    add(lambda hint: bool(union_members(hint)), lambda hint: _union(hint, made))
    add(_is_wrapped, lambda hint: _late(bare(hint), made))
    add(is_pydantic, _pydantic)
    if tracking:
        made.register_structure_hook_factory(lambda hint: hint is JsonValue, lambda _: _any_json)
    return made


def _origin(hint: Any) -> Any:
    return get_origin(hint) or hint


def _is_wrapped(hint: Any) -> bool:
    return (plain := bare(hint)) is not hint and plain is not Any


def _scalar(kind: Any, *, tracking: bool) -> Hook:
    read, exactness = SCALARS[kind], SCALAR_EXACTNESS[kind]

    def read_scalar(value: Any, expected: Any) -> Any:
        if expected is kind:
            return read(value)
        # cattrs finds this hook for enumerations too whose members are also strings or numbers.
        cls = bare(expected)
        return enumeration(cls)(value, cls) if is_enum(cls) else read(value)

    def read_tracked(value: Any, expected: Any) -> Any:
        made = read_scalar(value, expected)
        note(Exactness.LAX if is_enum(bare(expected)) else exactness(value))
        return made

    return read_tracked if tracking else read_scalar


def _noting(hook: Hook, exactness: Exactness) -> Hook:
    def read(value: Any, expected: Any) -> Any:
        made = hook(value, expected)
        note(exactness)
        return made

    return read


def _as_it_is(value: Any, _: Any) -> Any:
    return value


def _any_json(value: Any, _: Any) -> Any:
    if _holds_text(value):
        note(Exactness.STRICT)
    return value


def _holds_text(value: Any) -> bool:
    """Whether a string stands in `value`, as every key does: no number, list or constant is as vague as a string."""
    if isinstance(value, list):
        return any(map(_holds_text, value))
    return isinstance(value, str) or (isinstance(value, dict) and bool(value))


def _late(hint: Any, made: cattrs.Converter) -> Hook:
    """The hook of `hint`, found at the first use, so that a type may contain itself."""
    return lambda value, _: made.structure(value, hint)


def _union(hint: Any, made: cattrs.Converter) -> Hook:
    members = union_members(hint)
    others = [member for member in members if bare(member) is not type(None)]
    if len(others) == 1 and len(members) == 2:
        read = _late(others[0], made)
        return lambda value, _: None if value is None else read(value, None)
    return union_hook(members, row_converter(tracking=True).structure)


def _pydantic(hint: Any) -> Hook:
    from beaker.sdk.row_pydantic import pydantic_hook

    return pydantic_hook(hint)


def _model(cls: Any, made: cattrs.Converter, *, tracking: bool) -> Hook:
    if is_named_tuple(cls):
        read = _named_tuple(cls, _fields_reader(cls, made, only_known=True))
        return _noting(read, Exactness.STRICT) if tracking else read
    plain = _fields_reader(cls, made) if is_typeddict(cls) else make_dict_structure_fn(cls, made)
    names = frozenset(field.name for field in model_fields(cls))

    def read_object(value: Any, expected: Any) -> Any:
        if not isinstance(value, dict):
            raise fault("an object", value)
        return plain(value, expected)

    def read_tracked(value: Any, expected: Any) -> Any:
        made = read_object(value, expected)
        if not is_typeddict(cls):
            note(Exactness.STRICT)
        note_fields(len(names & value.keys()))
        return made

    return read_tracked if tracking else read_object


def _named_tuple(cls: Any, read: Hook) -> Hook:
    """Read from an object by name, or from a list by position."""
    fields = model_fields(cls)
    least, most = sum(field.required for field in fields), len(fields)
    wanted = f"a list of {most if least == most else f'{least} to {most}'}"

    def read_named_tuple(value: Any, expected: Any) -> Any:
        if isinstance(value, list):
            if not least <= len(value) <= most:
                raise ValueError(f"expected {wanted}, found one of {len(value)}")
            value = {field.name: entry for field, entry in zip(fields, value, strict=False)}
        elif not isinstance(value, dict):
            raise fault("an object or a list", value)
        return cls(**read(value, expected))

    return read_named_tuple


def _fields_reader(cls: Any, made: cattrs.Converter, *, only_known: bool = False) -> Hook:
    """Reads the fields of `cls` from an object into a dict, in the order of the object."""
    fields = {field.name: (field.type, _late(field.type, made)) for field in model_fields(cls)}
    required = [(field.name, field.type) for field in model_fields(cls) if field.required]

    def read(value: Any, _: Any) -> dict[str, Any]:
        errors: list[Exception] = [_at(KeyError(name), cls, name, hint) for name, hint in required if name not in value]
        items: dict[str, Any] = {}
        for name, entry in value.items():
            if name in fields:
                hint, hook = fields[name]
                try:
                    items[name] = hook(entry, hint)
                except Exception as error:
                    errors.append(_at(error, cls, name, hint))
        if only_known and (unknown := value.keys() - fields.keys()):
            errors.append(ForbiddenExtraKeysError(None, cls, unknown))
        if errors:
            raise ClassValidationError(f"While structuring {cls.__name__}", errors, cls)
        return items

    return read


def _at(error: Exception, cls: Any, name: str, hint: Any) -> Exception:
    error.add_note(AttributeValidationNote(f"Structuring {cls.__name__}.{name}", name, hint))
    return error
