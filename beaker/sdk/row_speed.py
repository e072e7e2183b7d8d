"""The `speed` extra: msgspec decodes JSON rows straight into the row model.

Only ever a shorter way to the same answer. A model takes it when every type in it is read by msgspec as the table of
`docs/row-models.md` reads it, or refused; a row takes it when its text is strict JSON beyond doubt. Everything else,
and every row that is refused here, goes the long way and is judged there.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable
from datetime import date, datetime, time
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin
from uuid import UUID

import attrs
from typing_extensions import is_typeddict

from beaker.core.strict_json import MAX_DEPTH
from beaker.sdk.row_choices import answers_missing
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
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

T = TypeVar("T")

_PLAIN = {str, int, float, bool, type(None), object}
_TEXTS = {UUID, date, datetime, time}

# A name in an object and its colon, or any other string. A string has no bare quote inside, so matches stay in step.
_KEYS = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"')
# msgspec rounds what does not fit into microseconds; the table cuts it off.
_FINE = re.compile(rb"[.,]\d{7}")


def fast_decoder(model: Any) -> Callable[[bytes], Any] | None:
    """A function that reads one row, or answers `None` for a row it cannot decide on.

    `None` when msgspec is not installed or `model` holds a type that it reads differently.
    """
    msgspec = _msgspec()
    types: set[Any] = set()
    if msgspec is None or not is_model(bare(model)) or not _is_alike(model, types):
        return None
    try:
        decode = msgspec.json.Decoder(model).decode
    except (TypeError, NameError):  # msgspec knows fewer types than we do
        return None
    has_moments = not types.isdisjoint({datetime, time})

    def read(text: bytes) -> Any:
        try:
            made = decode(text)
        except Exception:  # also what the model's own checks raise
            return None
        if _strict(text, msgspec) is None or (has_moments and _FINE.search(text)):
            return None
        return made

    return read


def strict_decoder() -> Callable[[bytes], dict[str, Any] | None] | None:
    """A function that decodes a text, or answers `None` when it is not beyond doubt one object in strict JSON; `None`
    without msgspec."""
    msgspec = _msgspec()
    if msgspec is None:
        return None

    def read(text: bytes) -> dict[str, Any] | None:
        row = _strict(text, msgspec)
        return row if isinstance(row, dict) else None

    return read


@cache
def _msgspec() -> Any:
    try:
        import msgspec
        import msgspec.json
    except ImportError:
        return None
    return msgspec


def _strict(text: bytes, msgspec: Any) -> Any:
    """What a text says, `None` when it is not strict JSON, with what msgspec does not check: no key twice in one
    object, nesting within the limit."""
    try:
        if not text.isascii():
            text.decode()  # older versions of msgspec take any bytes in a string
        value = msgspec.json.decode(text)
        if b"\\u" not in text and text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
            # A key that stands twice is one member of what was decoded, so it is missing when that is written again.
            return value if _colons(text) == _colons(msgspec.json.encode(value)) else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    except (OverflowError, RecursionError):  # an integer that it does not write, nesting that the stack does not take
        return None
    # Keys may be spelled in several ways, or the nesting has to be measured.
    return value if sum(map(bool, _KEYS.findall(text))) == _members(value) else None


def _colons(text: bytes) -> int:
    """Keys, and strings that begin with a colon or hold one after a quote: as many in any spelling of one value that
    has the same escapes."""
    return text.translate(None, b" \t\n\r").count(b'":')


def _members(value: Any) -> int:
    """The members of all objects in `value`; -1 when it is nested too deep."""
    members, depth, level = 0, 0, [value] if isinstance(value, dict | list) else []
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return -1
        below: list[Any] = []
        for container in level:
            members += len(container) if isinstance(container, dict) else 0
            items = container.values() if isinstance(container, dict) else container
            below += [item for item in items if type(item) is dict or type(item) is list]
        level = below
    return members


def _is_alike(hint: Any, seen: set[Any]) -> bool:
    """Whether msgspec reads every value that it takes for `hint` as the table says. `seen` becomes the types in it."""
    if is_alias(hint) or is_pydantic(hint):
        return False
    hint = bare(hint)
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if is_model(hint):
        if hint in seen:
            return True
        seen.add(hint)
        return _is_plain_class(hint) and all(_is_alike(field.type, seen) for field in model_fields(hint))
    if is_enum(hint):
        return _is_plain_enum(hint)
    if is_literal(hint):
        return all(type(option) in (str, int, type(None)) for option in arguments)
    if members := union_members(hint):
        return _is_plain_union(members, seen)
    if hint is Any or origin in _PLAIN or origin in _TEXTS:
        seen.add(origin)
        return True
    if origin in MAPPINGS:
        return not arguments or (bare(arguments[0]) is str and _is_alike(arguments[1], seen))
    if origin in LISTS or origin in (set, frozenset, tuple):
        return all(item is Ellipsis or _is_alike(item, seen) for item in arguments)
    return False


def _is_plain_class(cls: Any) -> bool:
    """Whether making an instance without calling the class comes to the same: msgspec sets the fields itself."""
    if is_typeddict(cls):
        return True
    if is_named_tuple(cls) or type(cls) is not type or any("__new__" in vars(base) for base in cls.__mro__[:-1]):
        return False
    sets = inspect.getattr_static(cls, "__setattr__") is not inspect.getattr_static(object, "__setattr__")
    if not _is_generated(cls, "__init__") or (sets and not _is_generated(cls, "__setattr__")):
        return False
    if attrs.has(cls):
        hashing = getattr(cls.__hash__, "__code__", None)
        if hashing is not None and "_attrs_cached_hash" in hashing.co_names:  # a field besides those that are read
            return False
        return all(
            attribute.init and attribute.converter is None and not getattr(attribute.default, "takes_self", False)
            for attribute in attrs.fields(cls)
        )
    return all(field.init for field in dataclasses.fields(cls))


def _is_generated(cls: Any, name: str) -> bool:
    """Whether dataclasses or attrs made a method, and not the customer."""
    method: Any = inspect.getattr_static(cls, name)
    if not inspect.isfunction(method):
        return False
    file = method.__code__.co_filename
    return file.startswith("<") or Path(file).parent == Path(inspect.getfile(attrs.define)).parent


def _is_plain_enum(cls: type[Enum]) -> bool:
    kinds = {type(member.value) for member in cls}
    return kinds in ({str}, {int}) and not answers_missing(cls)


def _is_plain_union(members: tuple[Any, ...], seen: set[Any]) -> bool:
    """`None` beside one type, or types that the JSON type alone tells apart."""
    others = [bare(member) for member in members if bare(member) is not type(None)]
    if len(others) == 1:
        return _is_alike(others[0], seen)
    containers = [other for other in others if other not in _PLAIN]
    return (
        object not in others
        and len(containers) <= 1
        and all(
            not is_enum(other) and not is_literal(other) and other not in _TEXTS and _is_alike(other, seen)
            for other in containers
        )
    )
