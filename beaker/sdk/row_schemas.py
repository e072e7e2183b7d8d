"""The JSON Schema of a row model, which is also the gate: a type outside the list is refused here, with its place."""

from typing import Any, get_args, get_origin

from beaker.core.strict_json import json_value
from beaker.sdk.row_scalars import SCALAR_SCHEMAS
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    RowField,
    bare,
    is_enum,
    is_literal,
    is_model,
    is_pydantic,
    model_fields,
    refused,
    shown,
    union_members,
)

Schema = dict[str, Any]


def row_schema(model: Any, label: str) -> Schema:
    """The JSON Schema (draft 2020-12) of rows of `model`; nested models stand under `$defs`.

    Raises `TypeError`, with the place below `label`, for a model that is no dataclass, attrs class, `TypedDict` or
    `dict`, and for a field type that rows cannot be read as.
    """
    plain = _at(label, bare, model)
    if is_pydantic(plain):
        raise TypeError(f"{label}: {refused(plain)}")
    if not is_model(plain) and (get_origin(plain) or plain) not in MAPPINGS:
        raise TypeError(
            f"{label} must be a dataclass, an attrs class, a TypedDict or dict, not {shown(plain)}: a row is an object"
        )
    defs: dict[str, tuple[Any, Schema]] = {}
    schema = _schema(plain, label, defs)
    if is_model(plain):
        name = schema["$ref"].rpartition("/")[2]
        if not _refers(schema["$ref"], [made for _, made in defs.values()]):
            schema = defs.pop(name)[1]
    return schema | ({"$defs": {name: made for name, (_, made) in defs.items()}} if defs else {})


def _refers(reference: str, schemas: Any) -> bool:
    match schemas:
        case dict():
            return schemas.get("$ref") == reference or any(_refers(reference, part) for part in schemas.values())
        case list():
            return any(_refers(reference, part) for part in schemas)
        case _:
            return False


def _at(label: str, function: Any, hint: Any) -> Any:
    try:
        return function(hint)
    except TypeError as error:
        raise TypeError(f"{label}: {error}") from error


def _schema(hint: Any, label: str, defs: dict[str, tuple[Any, Schema]]) -> Schema:
    hint = _at(label, bare, hint)
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if hint is Any:
        return {}
    if is_pydantic(hint):
        raise TypeError(f"{label}: {refused(hint)}")
    if is_model(hint):
        return _reference(hint, label, defs)
    if is_enum(hint):
        return _choice([member.value for member in hint], label, hint)
    if is_literal(hint):
        return _choice(list(arguments), label, hint)
    if members := union_members(hint):
        return {"anyOf": [_schema(member, label, defs) for member in members]}
    if _hashable(hint) and hint in SCALAR_SCHEMAS:
        return dict(SCALAR_SCHEMAS[hint])
    if origin in MAPPINGS:
        return _mapping_schema(hint, label, defs)
    if origin in LISTS or origin in (set, frozenset):
        unique = {} if origin in LISTS else {"uniqueItems": True}
        return {"type": "array", "items": _schema((*arguments, Any)[0], f"{label}[]", defs), **unique}
    if origin is tuple:
        return _tuple_schema(hint, label, defs)
    raise TypeError(f"{label}: {refused(hint)}")


def _hashable(hint: Any) -> bool:
    return type(hint).__hash__ is not None


def _reference(cls: Any, label: str, defs: dict[str, tuple[Any, Schema]]) -> Schema:
    for name, (known, _) in defs.items():
        if known is cls:
            return {"$ref": f"#/$defs/{name}"}
    name, number = cls.__name__, 2
    while name in defs:
        name, number = f"{cls.__name__}_{number}", number + 1
    properties: Schema = {}
    schema: Schema = {"title": cls.__name__, "type": "object", "properties": properties}
    defs[name] = (cls, schema)
    fields: tuple[RowField, ...] = _at(label, model_fields, cls)
    for field in fields:
        properties[field.name] = _schema(field.type, f"{label}.{field.name}", defs) | _default(field)
    if required := [field.name for field in fields if field.required]:
        schema["required"] = required
    return {"$ref": f"#/$defs/{name}"}


def _default(field: RowField) -> Schema:
    if not field.has_default:
        return {}
    try:
        return {"default": json_value(field.default, field.name)}
    except (TypeError, ValueError):
        return {}  # a default that JSON cannot say is simply not told


def _choice(options: list[Any], label: str, hint: Any) -> Schema:
    for option in options:
        if option is not None and type(option) not in (bool, int, float, str):
            raise TypeError(f"{label}: {shown(hint)} has the choice {option!r}, which no JSON value equals")
    if not options:
        raise TypeError(f"{label}: {shown(hint)} has no choice")
    return {"const": options[0]} if len(options) == 1 else {"enum": options}


def _mapping_schema(hint: Any, label: str, defs: dict[str, tuple[Any, Schema]]) -> Schema:
    key, item = get_args(hint) or (str, Any)
    # A key is a string in JSON; it must at least be a type that can be read from one.
    _schema(key, f"{label}{{key}}", defs)
    items = _schema(item, f"{label}{{}}", defs)
    return {"type": "object", **({"additionalProperties": items} if items else {})}


def _tuple_schema(hint: Any, label: str, defs: dict[str, tuple[Any, Schema]]) -> Schema:
    items = get_args(hint) or (() if get_origin(hint) is tuple else (Any, ...))
    if len(items) == 2 and items[1] is Ellipsis:
        return {"type": "array", "items": _schema(items[0], f"{label}[]", defs)}
    return {
        "type": "array",
        "prefixItems": [_schema(item, f"{label}[{index}]", defs) for index, item in enumerate(items)],
        "minItems": len(items),
        "maxItems": len(items),
    }
