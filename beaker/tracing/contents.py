"""What an application says to a trace, as the JSON that is kept: bounded, and each text once.

A text of `LONG` characters or more that stood earlier in the trace becomes `{"same_as": <JSON pointer>}`, and a
conversation that begins like an earlier one names it and holds only what is new. Content beyond `BUDGET` is left out.
"""

from collections.abc import Callable
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

from beaker.core.strict_json import dumps
from beaker.core.text import FOREIGN
from beaker.core.traces import LONGEST
from beaker.sdk.json_safe import OMITTED, to_json_safe, to_json_within

LONG = 128
"""Characters from which on a text is worth a pointer."""

BUDGET = 512 * 1024
"""Characters of content that one trace keeps."""

DEEPEST = 64
"""Levels of nesting that are kept."""

Cut = Callable[[str], str]
"""Shortens a text of more than `LONGEST` characters."""


_Pointer: TypeAlias = "str | tuple[_Pointer, str | int]"
"""A place: a JSON pointer, or a place and a step from there. Most are never written out."""


class Contents:
    """The content of one trace. One thread at a time uses it."""

    def __init__(self, cut: Cut, *, budget: int = BUDGET) -> None:
        self._cut = cut
        self._budget = self._left = budget
        self._texts: dict[str, str] = {}  # a text and the pointer to where it stands
        self._beginnings: dict[bytes, tuple[int, int]] = {}  # messages, as a hash, and the call that began with so many
        self.cut = False
        """Whether anything was left out or shortened."""

    def keep(self, value: Any, pointer: str, *, later: dict[str, str] | None = None) -> Any:
        """`value` as the JSON that is to stand at `pointer`.

        Its long texts may be pointed at from now on, or are added to `later` for `settle`, when the value may still be
        replaced by another.
        """
        return self._kept(value, pointer, self._texts if later is None else later, 0)

    def settle(self, later: dict[str, str]) -> None:
        """Let texts that were kept for later be pointed at."""
        for text, pointer in later.items():
            self._texts.setdefault(text, pointer)

    def conversation(self, messages: Any, call: int) -> Any:
        """The input of model call number `call`, as the JSON that is to stand at `/model_calls/<call>/input`."""
        pointer = f"/model_calls/{call}/input"
        if not issubclass(type(messages), list | tuple) or self._left <= 0:
            return self.keep(messages, pointer)
        known, shared = self._begin(messages, call)
        if not shared:
            return self.keep(messages, pointer)
        then = self.keep(messages[shared:], f"{pointer}/then")
        return {"same_as": f"/model_calls/{known}/input", "first": shared, "then": then}

    def _begin(self, messages: list[Any] | tuple[Any, ...], call: int) -> tuple[int, int]:
        """The earlier call whose input begins with the most of these messages, and how many; note this one.

        No more of them are looked at than a trace could ever keep.
        """
        running = blake2b(digest_size=16)
        known, shared = -1, 0
        new: dict[bytes, tuple[int, int]] = {}
        left = 6 * self._budget  # a character can take six bytes
        for count, message in enumerate(islice(messages, self._budget // _MESSAGE + 1), start=1):
            encoded = _encoded(message, self._budget)
            running.update(encoded)
            left -= min(len(encoded), LONGEST)
            if left < 0:
                break
            mark = running.digest()
            if not new and (found := self._beginnings.get(mark)) is not None:
                known, shared = found
            else:
                new[mark] = call, count
        self._beginnings.update(new)
        return known, shared

    def _kept(self, value: Any, pointer: _Pointer, texts: dict[str, str], depth: int) -> Any:
        kind = type(value)
        if self._left <= 0 or depth > DEEPEST:
            self.cut = True
            self._left -= 16
            return OMITTED
        if kind is str:
            if len(value) < LONG and value.isascii():
                self._left -= len(value) + 4
                return value
            return self._text(value, pointer, texts)
        if value is None or kind is bool or (kind is int and -(2**63) <= value < 2**64):
            self._left -= 8
            return value
        if kind is dict:
            return self._object(value, pointer, texts, depth)
        if kind is list or kind is tuple:
            return self._list(value, pointer, texts, depth)
        if kind is int:  # other readers of JSON lose its digits, and Python may refuse to write them
            return self._text(hex(value), pointer, texts)
        plain, whole = to_json_within(value, self._left)
        self.cut = self.cut or not whole
        if type(plain) is float:
            self._left -= 8
            return plain
        return self._kept(plain, pointer, texts, depth + 1)

    def _object(self, value: dict[Any, Any], pointer: _Pointer, texts: dict[str, str], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        self._left -= 4
        for key, item in list(islice(value.items(), self._left // 4 + 2)):  # no more can find room
            if self._left <= 0:
                self.cut = True
                return {**kept, **OMITTED}
            if type(key) is not str or not key.isascii():
                (key,) = to_json_within({key: None}, self._left)[0]
            if len(key) > LONGEST:
                key, self.cut = self._cut(key), True
            self._left -= min(len(key), LONGEST) + 4
            kept[key] = self._kept(item, (pointer, key), texts, depth + 1)
        return kept

    def _list(
        self, value: list[Any] | tuple[Any, ...], pointer: _Pointer, texts: dict[str, str], depth: int
    ) -> list[Any]:
        kept: list[Any] = []
        self._left -= 4
        for place, item in enumerate(list(islice(value, self._left // 4 + 2))):
            if self._left <= 0:
                self.cut = True
                return [*kept, OMITTED]
            kept.append(self._kept(item, (pointer, place), texts, depth + 1))
        return kept

    def _text(self, text: str, pointer: _Pointer, texts: dict[str, str]) -> Any:
        if not text.isascii():
            text = to_json_safe(text)  # without lone surrogates
        known = self._texts.get(text) if len(text) >= LONG else None
        if known is not None:
            self._left -= len(known)
            return {"same_as": known}
        self._left -= min(len(text), LONGEST) + 4
        if len(text) >= LONG:
            texts.setdefault(text, _written(pointer))
        if len(text) <= LONGEST:
            return text
        self.cut = True
        return self._cut(text)


_MESSAGE = 16
"""Characters that the shortest message takes, nearly."""


def _encoded(message: Any, characters: int) -> bytes:
    """A message as bytes to compare by."""
    try:
        return dumps(message).encode("ascii") + b"\n"
    except FOREIGN:
        return dumps(to_json_within(message, characters)[0]).encode("ascii") + b"\n"


def _written(pointer: _Pointer) -> str:
    """A place as a JSON pointer (RFC 6901)."""
    steps: list[str] = []
    while not isinstance(pointer, str):
        pointer, step = pointer
        steps.append(f"/{step}" if isinstance(step, int) else f"/{step.replace('~', '~0').replace('/', '~1')}")
    return pointer + "".join(reversed(steps))
