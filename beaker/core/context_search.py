"""Looking for words in texts, for evidence of why a field came out as it did: which words, which texts, which lines."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beaker.core.text import FOREIGN

MIN_TERM = 3
"""Characters that a word has at least to be looked for."""

MAX_TERMS = 12
MAX_SNIPPETS = 8

_ITEM_NAMES = ("name", "filename")


def search_terms(field: str, expected: Any, known: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """What to look for: the expected value, for a list its elements, as words and as a whole.

    Where that gives nothing that is long enough, the terms `known` for the field, else the field's name with blanks.
    """
    elements = expected if isinstance(expected, list | tuple) else [expected]
    found = [term for element in elements for term in _tokens(element)]
    if not found:
        found = [str(term) for term in known.get(field, ())] or [field.replace("_", " ").replace(".", " ")]
    return tuple(dict.fromkeys(term.casefold() for term in found if term.strip()))[:MAX_TERMS]


def _tokens(element: Any) -> list[str]:
    if element is None or isinstance(element, bool):
        return []
    text = str(element).strip()
    words = (word.strip(".,;:!?()[]{}\"'") for word in text.split())
    return [token for token in (text, *words) if len(token) >= MIN_TERM]


def context_texts(context: Mapping[str, Any], keys: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """The texts of a case's context with where each is from: its key, or `key:name` for an item of a list.

    Strings are texts; mappings are one as JSON; of a list every string is one, and of every mapping its `content`, or
    else its JSON, under its `name` or `filename`. `keys` says which keys count, `None` all of them.
    """
    for key in context if keys is None else keys:
        held = context.get(key)
        if isinstance(held, list | tuple):
            for index, item in enumerate(held):
                yield from _item(f"{key}", index, item)
        elif isinstance(held, str):
            yield str(key), held
        elif isinstance(held, Mapping):
            yield str(key), _as_json(held)


def _item(key: str, index: int, item: Any) -> Iterator[tuple[str, str]]:
    if isinstance(item, str):
        yield f"{key}:{index}", item
    elif isinstance(item, Mapping):
        name = next((str(item[one]) for one in _ITEM_NAMES if item.get(one)), str(index))
        content = item.get("content")
        yield f"{key}:{name}", content if isinstance(content, str) else _as_json(item)


def _as_json(held: Mapping[Any, Any]) -> str:
    try:
        return json.dumps(dict(held), indent=1, ensure_ascii=False, default=str)
    except FOREIGN:
        return ""


def snippets(texts: Iterable[tuple[str, str]], terms: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """At most `MAX_SNIPPETS` places where a term stands, ignoring case: where from, the line with its neighbours, and
    the line's number from 1.
    """
    left = MAX_SNIPPETS
    for source, text in texts:
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if left and any(term in line.casefold() for term in terms):
                left -= 1
                yield source, _snippet(lines, number), number + 1


def _snippet(lines: Sequence[str], number: int) -> str:
    shown = []
    for at in range(max(number - 1, 0), min(number + 2, len(lines))):
        shown.append(f"{'MATCH' if at == number else 'CONTEXT'}: {lines[at].strip()}")
    return "\n".join(shown)
