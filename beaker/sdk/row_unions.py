"""Which member of a union a value is read as: the one that takes most of its fields, then the nearest, then the first.

What a member made of a value is noted while it is read (`note`, `note_fields`), by the tracking hooks, which read what
stands inside unions. Each member is asked once, so a union inside a union costs no more than its size.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, get_args, get_origin

from beaker.sdk.row_scalars import Exactness, fault
from beaker.sdk.row_types import (
    LISTS,
    MAPPINGS,
    SETS,
    bare,
    choice_key,
    is_literal,
    is_model,
    is_named_tuple,
    is_pydantic,
    literal_value,
    model_fields,
    shown,
)

Hook = Callable[[Any, Any], Any]


class _Noted(threading.local):
    """What the value that is being read amounts to so far: the least exactness, and the fields it fills."""

    exactness: Exactness = Exactness.EXACT
    fields: int | None = None


_noted = _Noted()


def note(exactness: Exactness) -> None:
    """A part of the value was read no nearer than this."""
    if exactness < _noted.exactness:
        _noted.exactness = exactness


def note_fields(count: int) -> None:
    """The value fills this many more fields of a model."""
    _noted.fields = count + (_noted.fields or 0)


def union_hook(members: tuple[Any, ...], hook_of: Callable[[Any], Hook]) -> Hook:
    """The hook of a union; the hooks of its members note what a value amounts to."""
    choices = [_Choice(member, hook_of) for member in members]

    def read_union(value: Any, _: Any) -> Any:
        outer = _noted.exactness, _noted.fields
        best: tuple[Exactness, int | None, Any] | None = None
        refusals: list[tuple[_Choice, Exception]] = []
        try:
            for choice in choices:
                if not choice.may_be(value):
                    continue
                _noted.exactness, _noted.fields = Exactness.EXACT, None
                try:
                    made = choice.read(value, choice.hint)
                except Exception as error:
                    refusals.append((choice, error))
                    continue
                if _is_better(best):
                    best = _noted.exactness, _noted.fields, made
                if _noted.exactness is Exactness.EXACT and _noted.fields is None:
                    best = Exactness.EXACT, None, made
                    break  # nothing can be nearer
        finally:
            _noted.exactness, _noted.fields = outer
        if best is None:
            raise _refusal(value, choices, refusals)
        exactness, fields, made = best
        note(exactness)
        if fields is not None:
            note_fields(fields)
        return made

    return read_union


def _is_better(best: tuple[Exactness, int | None, Any] | None) -> bool:
    """Whether what is noted now beats `best`: more fields, or as many (or none at all) and nearer."""
    if best is None:
        return True
    exactness, fields, _ = best
    if fields is not None and _noted.fields is not None and fields != _noted.fields:
        return _noted.fields > fields
    return _noted.exactness > exactness


class _Choice:
    """One member of a union."""

    def __init__(self, hint: Any, hook_of: Callable[[Any], Hook]) -> None:
        self.hint = hint
        self._hook_of = hook_of

    # Looked up late: the member may be the class that holds the union.

    @cached_property
    def read(self) -> Hook:
        return self._hook_of(self.hint)

    @cached_property
    def plain(self) -> Any:
        return bare(self.hint)

    @cached_property
    def tags(self) -> Mapping[str, tuple[bool, frozenset[tuple[bool, Any]]]]:
        """The fields of a model that are a `Literal`: whether they must be there, and the keys of their choices."""
        if not is_model(self.plain) or is_pydantic(self.plain):
            return {}
        fields = [(field, bare(field.type)) for field in model_fields(self.plain)]
        return {
            field.name: (field.required, frozenset(choice_key(literal_value(option)) for option in get_args(hint)))
            for field, hint in fields
            if is_literal(hint)
        }

    def may_be(self, value: Any) -> bool:
        """Whether the JSON type and the `Literal` fields of `value` leave it possible; looked at before reading on,
        so that classes told apart by a `Literal` cost one reading, at any depth."""
        if not isinstance(value, dict):
            return True
        for name, (required, keys) in self.tags.items():
            if name not in value:
                if required:
                    return False
            elif isinstance(value[name], list | dict) or choice_key(value[name]) not in keys:
                return False
        return True

    def takes(self, json: type) -> bool:
        """Whether the member is made for JSON objects (`dict`) or lists (`list`)."""
        origin = get_origin(self.plain) or self.plain
        if json is dict:
            return is_model(self.plain) or origin in MAPPINGS or is_pydantic(self.plain)
        return origin in LISTS or origin in SETS or origin is tuple or is_named_tuple(self.plain)


def _refusal(value: Any, choices: list[_Choice], refusals: list[tuple[_Choice, Exception]]) -> Exception:
    """The faults inside the one member that was meant, else that it is none of them."""
    kind = type(value)
    if kind in (dict, list):
        meant = [error for choice, error in refusals if choice.takes(kind)]
        if len(meant) == 1:
            return meant[0]
    wanted = " or ".join(dict.fromkeys(shown(choice.plain) for choice in choices))
    return ValueError(f"{fault(wanted, value)}{''.join(_untold(value, choices))}")


def _untold(value: Any, choices: list[_Choice]) -> Iterator[str]:
    """What the field says that should tell the classes apart, when there is one such field."""
    names = {name for choice in choices for name in choice.tags} if isinstance(value, dict) else set()
    if len(names) == 1:
        (name,) = names
        if name not in value:
            yield f" without {name!r}"
        else:
            options = {key for choice in choices if name in choice.tags for _, key in choice.tags[name][1]}
            yield f" whose {name!r} is none of {', '.join(sorted(map(repr, options)))}"
