"""Counts with their noun, for sentences, and which sentences say the same of different things."""

import re

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def counted(count: object, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def alike(text: str) -> str:
    """The first line of `text` without its numbers and quoted names: equal for texts that say the same of others."""
    return _NUMBER.sub("#", _QUOTED.sub("…", text.strip().partition("\n")[0]))
