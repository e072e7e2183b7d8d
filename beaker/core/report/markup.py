"""HTML as values: text becomes markup only by being escaped, so that nothing a customer or a proposer wrote can act."""

from collections.abc import Iterable
from typing import TypeAlias

from beaker.core.text import visible

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Markup(str):
    """HTML that is safe as it is."""

    __slots__ = ()


Part: TypeAlias = "str | Markup | None | Iterable[Part]"
"""What an element may hold: text (escaped), markup, nothing, or several of these."""


def escaped(text: str) -> Markup:
    """`text` as markup: control characters and direction overrides made visible, and nothing in it is a tag."""
    return Markup(visible(text).translate(_ESCAPES))


def element(tag: str, *children: Part, **attributes: str | float | bool | None) -> Markup:
    """An element. `class_` stands for `class`, `aria_label` for `aria-label`; an attribute that is `None` or false is
    left out, one that is true stands alone, a number is written with at most two decimals."""
    return Markup(f"<{tag}{''.join(map(_attribute, attributes.items()))}>{joined(children)}</{tag}>")


def joined(part: Part) -> Markup:
    """The parts as one piece of markup."""
    if part is None:
        return Markup("")
    if isinstance(part, str):
        return part if isinstance(part, Markup) else escaped(part)
    return Markup("".join(map(joined, part)))


def percent(share: float) -> str:
    """A share of the width or height, for geometry that has to fit any screen."""
    return f"{_plain(share * 100)}%"


def _attribute(item: tuple[str, str | float | bool | None]) -> str:
    name, given = item[0].rstrip("_").replace("_", "-"), item[1]
    if given is None or given is False:
        return ""
    if given is True:
        return f" {name}"
    return f' {name}="{escaped(given if isinstance(given, str) else _plain(given))}"'


def _plain(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
