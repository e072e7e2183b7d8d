"""JSON rows to Python values, through cattrs.

Only types that `row_schemas` accepted arrive here. A fault is raised as cattrs raises it, so all faults of a row are
found in one go, each with its path.
"""

import inspect
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, get_origin

import attrs
import cattrs
from cattrs.errors import AttributeValidationNote, ClassValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override
from typing_extensions import is_typeddict

from beaker.core.strict_json import JsonValue
from beaker.sdk.row_choices import enumeration, literal
from beaker.sdk.row_containers import Hook, HookOf, list_hook, mapping_hook, tuple_hook
from beaker.sdk.row_scalars import SCALAR_EXACTNESS, SCALARS, Exactness, fault
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    SETS,
    bare,
    is_alias,
    is_enum,
    is_literal,
    is_model,
    is_named_tuple,
    is_pydantic,
    model_fields,
    union_members,
)
from beaker.sdk.row_unions import note, note_fields, union_hook


class RowReader:
    """The hooks of the types of one row model. The `tracking` one notes how near a value is to its type.

    cattrs makes the hooks of classes. It keeps hooks by equality of types, and `int | str` equals `str | int`, so which
    type has which hook is kept here, by identity.
    """

    def __init__(self, *, tracking: bool = False) -> None:
        self._tracking = tracking
        self._hooks: dict[int, tuple[Any, Hook]] = {}  # with the type, so that no other takes its identity

    def hook(self, hint: Any) -> Hook:
        """The hook that reads a JSON value as `hint`; called with the value and `hint`."""
        if (known := self._hooks.get(id(hint))) is None:
            # A type that contains itself meets this one while its own is made.
            self._hooks[id(hint)] = (hint, lambda value, expected: self._hooks[id(hint)][1](value, expected))
            known = self._hooks[id(hint)] = (hint, self._make(hint))
        return known[1]

    @cached_property
    def _tracked(self) -> "RowReader":
        return self if self._tracking else RowReader(tracking=True)

    def _make(self, hint: Any) -> Hook:
        if is_pydantic(hint):
            from beaker.sdk.row_pydantic import pydantic_hook

            return pydantic_hook(hint)
        if hint is JsonValue:
            return self._noted(_as_it_is, lambda value: Exactness.STRICT if _holds_text(value) else Exactness.EXACT)
        if is_alias(hint) and bare(hint) is not Any:
            return self._alias(hint)
        hint = bare(hint)
        origin = get_origin(hint) or hint
        if hint is Any:
            return self._noted(_as_it_is, _strict)
        if is_pydantic(hint):
            return self.hook(hint)
        if members := union_members(hint):
            return self._union(members)
        if is_literal(hint):
            return literal(hint)
        if is_enum(hint):
            return self._noted(enumeration(hint), lambda _: Exactness.LAX)
        if is_model(hint):
            return self._model(hint)
        if origin in MAPPINGS:
            return mapping_hook(hint, self.hook)
        if origin in LISTS:
            return list_hook(hint, self.hook, list)
        if origin in SETS:
            return self._noted(list_hook(hint, self.hook, SETS[origin]), _strict)
        if origin is tuple:
            return self._noted(tuple_hook(hint, self.hook), _strict)
        read = SCALARS[hint]
        return self._noted(lambda value, _: read(value), SCALAR_EXACTNESS[hint])

    def _noted(self, hook: Hook, exactness: Callable[[Any], Exactness]) -> Hook:
        def read(value: Any, expected: Any) -> Any:
            made = hook(value, expected)
            note(exactness(value))
            return made

        return read if self._tracking else hook

    def _alias(self, alias: Any) -> Hook:
        found: list[tuple[Any, Hook]] = []  # resolved at the first use: it may contain itself

        def read(value: Any, _: Any) -> Any:
            if not found:
                plain = bare(alias)
                found.append((plain, self.hook(plain)))
            plain, hook = found[0]
            return hook(value, plain)

        return read

    def _union(self, members: tuple[Any, ...]) -> Hook:
        others = [member for member in members if bare(member) is not type(None)]
        if len(others) == 1 and len(members) == 2:
            (other,) = others
            hook = self.hook(other)
            return lambda value, _: None if value is None else hook(value, other)
        return union_hook(members, self._tracked.hook)

    def _model(self, cls: Any) -> Hook:
        if is_named_tuple(cls):
            return self._noted(_named_tuple(cls, _fields_reader(cls, self.hook, only_known=True)), _strict)
        plain = _fields_reader(cls, self.hook) if is_typeddict(cls) else _class_reader(cls, self.hook)
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

        return read_tracked if self._tracking else read_object


def _strict(_: Any) -> Exactness:
    return Exactness.STRICT


def _as_it_is(value: Any, _: Any) -> Any:
    return value


def _holds_text(value: Any) -> bool:
    """Whether a string stands in `value`, as every key does: no number, list or constant is as vague as a string."""
    if isinstance(value, list):
        return any(map(_holds_text, value))
    return isinstance(value, str) or (isinstance(value, dict) and bool(value))


@cache
def _converter() -> cattrs.Converter:
    return cattrs.Converter()


def _class_reader(cls: Any, hook_of: HookOf) -> Hook:
    hooks: dict[str, Any] = {field.name: override(struct_hook=hook_of(field.type)) for field in model_fields(cls)}
    if hooks.keys() & inspect.signature(make_dict_structure_fn).parameters.keys():
        return _constructing(cls, _fields_reader(cls, hook_of))  # cattrs would take a field for an argument of its own
    return make_dict_structure_fn(cls, _converter(), **hooks)


def _constructing(cls: Any, read: Hook) -> Hook:
    names = {field.name: field.alias or field.name for field in attrs.fields(cls)} if attrs.has(cls) else {}

    def read_class(value: Any, expected: Any) -> Any:
        items = read(value, expected)
        try:
            return cls(**{names.get(name, name): item for name, item in items.items()})
        except Exception as error:
            raise ClassValidationError(f"While structuring {cls.__name__}", [error], cls) from error

    return read_class


def _named_tuple(cls: Any, read: Hook) -> Hook:
    """Read from an object by name, or from a list by position."""
    fields = model_fields(cls)
    least, most = sum(field.required for field in fields), len(fields)
    construct = _constructing(cls, read)
    wanted = f"a list of {most if least == most else f'{least} to {most}'}"

    def read_named_tuple(value: Any, expected: Any) -> Any:
        if isinstance(value, list):
            if not least <= len(value) <= most:
                raise ValueError(f"expected {wanted}, found one of {len(value)}")
            value = {field.name: entry for field, entry in zip(fields, value, strict=False)}
        elif not isinstance(value, dict):
            raise fault("an object or a list", value)
        return construct(value, expected)

    return read_named_tuple


def _fields_reader(cls: Any, hook_of: HookOf, *, only_known: bool = False) -> Hook:
    """Reads the fields of `cls` from an object into a dict, in the order of the object."""
    fields = {field.name: (field.type, hook_of(field.type)) for field in model_fields(cls)}
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
