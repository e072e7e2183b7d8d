"""Words of an expected value, found in the context of a case."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.context_search import MAX_SNIPPETS, MAX_TERMS, context_texts, search_terms, snippets

KNOWN = {"total": ("Amount due", " "), "none": ()}


class Unprintable:
    """Fails when it is written as text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "field, expected, terms",
    [
        ("vendor", "Acme Inc", ("acme inc", "acme", "inc")),
        ("vendor", " ACME ", ("acme",)),
        ("vendor", "Xylo", ("xylo",)),
        ("vendor", "(Foo), bar!", ("(foo), bar!", "foo", "bar")),
        ("items", ["apple", ("x", "y"), "no", None], ("apple", "('x', 'y')")),
        ("items", ("pear", "apple", "pear"), ("pear", "apple")),
        ("total", 1234.5, ("1234.5",)),
        ("total", 7, ("amount due",)),
        ("total", None, ("amount due",)),
        ("total", True, ("amount due",)),
        ("none", "", ("none",)),
        ("due_date.day", "ab", ("due date day",)),
        (" ", [], ()),
    ],
)
def test_search_terms__expected_value__else_what_is_known_else_the_name(
    field: str, expected: Any, terms: tuple[str, ...]
) -> None:
    """Whole values and their words of three characters or more, each once and without case."""
    assert search_terms(field, expected, KNOWN) == terms


def test_search_terms__many_words__are_cut() -> None:
    """No more than twelve are looked for, the first ones."""
    words = [f"word{number}" for number in range(20)]
    assert search_terms("f", words, {}) == tuple(words[:12])
    assert MAX_TERMS == 12


def test_context_texts__each_kind__tells_its_place() -> None:
    """Strings, mappings as JSON, and items of lists by name, file name or number; other values are no texts."""
    context = {
        "page": "text",
        "doc": {"ä": 1},
        "files": [{"name": "a", "content": "A"}, {"name": "", "filename": "b"}, {"content": "C"}, "plain", 7],
        "pair": ("x",),
        "number": 3,
        "bad": {"x": Unprintable()},
    }
    assert list(context_texts(context, None)) == [
        ("page", "text"),
        ("doc", '{\n "ä": 1\n}'),
        ("files:a", "A"),
        ("files:b", '{\n "name": "",\n "filename": "b"\n}'),
        ("files:2", "C"),
        ("files:3", "plain"),
        ("pair:0", "x"),
        ("bad", ""),
    ]
    assert list(context_texts(context, ["pair", "page", "absent"])) == [("pair:0", "x"), ("page", "text")]


def test_snippets__line_with_neighbours__marked() -> None:
    """Each match shows the line before and the line after it, as far as there are any."""
    texts = [("a", "one\n  Two \nthree"), ("b", "x"), ("c", "TWO")]
    assert list(snippets(texts, ("two",))) == [
        ("a", "CONTEXT: one\nMATCH: Two\nCONTEXT: three", 2),
        ("c", "MATCH: TWO", 1),
    ]
    assert list(snippets([("a", "1\n2\n3\n4\n5\n6")], ("3",))) == [("a", "CONTEXT: 2\nMATCH: 3\nCONTEXT: 4", 3)]
    assert list(snippets([("a", "1\n2\n3\n4")], ("3", "4"))) == [
        ("a", "CONTEXT: 2\nMATCH: 3\nCONTEXT: 4", 3),
        ("a", "CONTEXT: 3\nMATCH: 4", 4),
    ]


@given(st.lists(st.lists(st.sampled_from(["hit", "miss"]), max_size=12), max_size=4))
def test_snippets__any_texts__give_the_first_matches_up_to_the_limit(texts: list[list[str]]) -> None:
    """Every hit in order, and never more than eight."""
    found = list(snippets([(str(at), "\n".join(lines)) for at, lines in enumerate(texts)], ("hit",)))
    hits = [
        (str(at), number) for at, lines in enumerate(texts) for number, line in enumerate(lines, 1) if line == "hit"
    ]
    assert [(source, line) for source, _, line in found] == hits[:8]
    assert MAX_SNIPPETS == 8
