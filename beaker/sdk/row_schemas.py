"""The JSON Schema of a row model, which is also the gate: a type outside the list is refused here, with its place."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

from beaker.core.strict_json import json_value
from beaker.sdk.row_scalars import SCALAR_SCHEMAS
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    SETS,
    RowField,
    alias_value,
    bare,
    is_alias,
    is_enum,
    is_literal,
    is_model,
    is_named_tuple,
    is_pydantic,
    literal_value,
    model_fields,
    refused,
    shown,
    union_members,
)

Schema = dict[str, Any]
T = TypeVar("T")

_REFERENCE = "#/$defs/"


def row_schema(model: Any, label: str) -> Schema:
    """The JSON Schema (draft 2020-12) of rows of `model`; nested models stand under `$defs`.

    Raises `TypeError`, with the place below `label`, for a model that no JSON object can match, and for a field type
    that rows cannot be read as.
    """
    made = _Schemas()
    schema = made.of(model, label)
    if not made.takes_objects(schema):
        raise TypeError(f"{label} must be a type that an object can be read as, since a row is one, not {shown(model)}")
    reference = schema.get("$ref", "")
    if schema.keys() == {"$ref"} and not _refers(reference, [*made.definitions.values()]):
        schema = made.definitions.pop(reference.removeprefix(_REFERENCE))
    return schema | ({"$defs": made.definitions} if made.definitions else {})


class _Schemas:
    """The definitions that the schema of one row model needs, by name."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._names: list[tuple[Any, str]] = []
        self._used: set[str] = set()

    def of(self, hint: Any, label: str) -> Schema:
        """The schema of one type."""
        if is_alias(hint) and not is_pydantic(hint) and _at(label, bare, hint) is not Any:
            return self._alias(hint, label)
        hint = _at(label, bare, hint)
        origin, arguments = get_origin(hint) or hint, get_args(hint)
        if hint is Any:
            return {}
        if is_pydantic(hint):
            return self._pydantic(hint, label)
        if is_model(hint):
            return self._model(hint, label)
        if is_enum(hint):
            return _choice([member.value for member in hint], label, hint)
        if is_literal(hint):
            return _choice([literal_value(option) for option in arguments], label, hint)
        if members := union_members(hint):
            return {"anyOf": [self.of(member, label) for member in members]}
        if _hashable(hint) and hint in SCALAR_SCHEMAS:
            return dict(SCALAR_SCHEMAS[hint])
        if _hashable(origin) and origin in MAPPINGS:
            return self._mapping(arguments, label)
        if _hashable(origin) and (origin in LISTS or origin in SETS):
            unique = {} if origin in LISTS else {"uniqueItems": True}
            return {"type": "array", "items": self.of((*arguments, Any)[0], f"{label}[]"), **unique}
        if origin is tuple:
            return self._tuple(hint, label)
        raise TypeError(f"{label}: {refused(hint)}")

    def takes_objects(self, schema: Any, seen: frozenset[str] = frozenset()) -> bool:
        """Whether some JSON object could match `schema`."""
        if not isinstance(schema, dict):
            return schema is True
        if (reference := schema.get("$ref")) is not None:
            name = reference.removeprefix(_REFERENCE)
            return name not in seen and self.takes_objects(self.definitions[name], seen | {name})
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return any(self.takes_objects(part, seen) for part in schema[word])
        if "const" in schema or "enum" in schema:
            return False
        kinds = schema.get("type", "object")
        return kinds == "object" or (isinstance(kinds, list) and "object" in kinds)

    def _name(self, thing: Any, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.definitions:
            name, number = f"{wanted}_{number}", number + 1
        self.definitions[name] = {}
        self._names.append((thing, name))
        return name

    def _known(self, thing: Any) -> Schema | None:
        for known, name in self._names:
            if known is thing:
                self._used.add(name)
                return {"$ref": f"{_REFERENCE}{name}"}
        return None

    def _alias(self, alias: Any, label: str) -> Schema:
        if (known := self._known(alias)) is not None:
            return known
        name = self._name(alias, alias.__name__)
        schema = self.of(_at(label, alias_value, alias), label)
        if name in self._used:  # it contains itself
            self.definitions[name] = schema
            return {"$ref": f"{_REFERENCE}{name}"}
        del self.definitions[name]
        self._names.remove((alias, name))
        return schema

    def _model(self, cls: Any, label: str) -> Schema:
        if (known := self._known(cls)) is not None:
            return known
        name = self._name(cls, cls.__name__)
        fields: tuple[RowField, ...] = _at(label, model_fields, cls)
        schemas = {field.name: self.of(field.type, f"{label}.{field.name}") | _default(field) for field in fields}
        schema: Schema = {"title": cls.__name__, "type": "object", "properties": schemas}
        required = [field.name for field in fields if field.required]
        if required:
            schema["required"] = required
        if is_named_tuple(cls):
            by_place = {"prefixItems": [*schemas.values()], "minItems": len(required), "maxItems": len(fields)}
            by_name = schema | {"additionalProperties": False}
            schema = {"title": by_name.pop("title"), "anyOf": [by_name, {"type": "array", **by_place}]}
        self.definitions[name] = schema
        return {"$ref": f"{_REFERENCE}{name}"}

    def _pydantic(self, hint: Any, label: str) -> Schema:
        from beaker.sdk.row_pydantic import pydantic_schema

        if (known := self._known(hint)) is not None:
            return known
        schema = pydantic_schema(hint, label)
        inner: Schema = schema.pop("$defs", {})
        names = {f"{_REFERENCE}{old}": f"{_REFERENCE}{self._name(None, old)}" for old in inner}
        for old, definition in inner.items():
            self.definitions[names[f"{_REFERENCE}{old}"].removeprefix(_REFERENCE)] = _renamed(definition, names)
        schema = {key: _renamed(part, names) for key, part in schema.items()}
        if "$ref" in schema:  # it contains itself, and is defined just now
            self._names.append((hint, schema["$ref"].removeprefix(_REFERENCE)))
        if "$ref" in schema or "title" not in schema:
            return schema
        name = self._name(hint, schema["title"])
        self.definitions[name] = schema
        return {"$ref": f"{_REFERENCE}{name}"}

    def _mapping(self, arguments: tuple[Any, ...], label: str) -> Schema:
        key, item = arguments or (str, Any)
        # A key is a string in JSON; it must at least be a type that can be read from one.
        self.of(key, f"{label}{{key}}")
        items = self.of(item, f"{label}{{}}")
        return {"type": "object", **({"additionalProperties": items} if items else {})}

    def _tuple(self, hint: Any, label: str) -> Schema:
        items = get_args(hint) or (() if get_origin(hint) is tuple else (Any, ...))
        if len(items) == 2 and items[1] is Ellipsis:
            return {"type": "array", "items": self.of(items[0], f"{label}[]")}
        return {
            "type": "array",
            **(
                {"prefixItems": [self.of(item, f"{label}[{place}]") for place, item in enumerate(items)]}
                if items
                else {}
            ),
            "minItems": len(items),
            "maxItems": len(items),
        }


def _refers(reference: str, schemas: Any) -> bool:
    match schemas:
        case dict():
            return schemas.get("$ref") == reference or any(_refers(reference, part) for part in schemas.values())
        case list():
            return any(_refers(reference, part) for part in schemas)
        case _:
            return False


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """`schema` with its references, also those in the mapping of a discriminator, under the names they have here."""
    match schema:
        case dict():
            return {key: _renamed(part, names) for key, part in schema.items()}
        case list():
            return [_renamed(part, names) for part in schema]
        case str():
            return names.get(schema, schema)
        case _:
            return schema


def _at(label: str, function: Callable[[Any], T], hint: Any) -> T:
    try:
        return function(hint)
    except TypeError as error:
        raise TypeError(f"{label}: {error}") from error


def _hashable(hint: Any) -> bool:
    return type(hint).__hash__ is not None


def _default(field: RowField) -> Schema:
    if not field.has_default:
        return {}
    try:
        return {"default": json_value(literal_value(field.default), field.name)}
    except (TypeError, ValueError):
        return {}  # a default that JSON cannot say is simply not told


def _choice(options: list[Any], label: str, hint: Any) -> Schema:
    for option in options:
        if option is not None and type(option) not in (bool, int, float, str):
            raise TypeError(f"{label}: {shown(hint)} has the choice {option!r}, which no JSON value equals")
    if not options:
        raise TypeError(f"{label}: {shown(hint)} has no choice")
    return {"const": options[0]} if len(options) == 1 else {"enum": options}
