"""Specifiers of PEP 440: a table, laws, and agreement with the reference implementation."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from returns.pipeline import is_successful

from beaker.core.version_specifiers import MAX_CHARACTERS, parse_specifiers

FILE = Path(__file__).parents[1] / "vectors" / "version_specifiers.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text("utf-8"))

RELEASES = st.lists(st.integers(0, 14), min_size=1, max_size=4).map(tuple)
NUMBERS = st.sampled_from(["", "0", "1", "2"])
SUFFIXES = st.one_of(
    st.just(""),
    st.tuples(st.sampled_from(["a", "b", "rc", "c", "alpha", "beta", "pre", "preview", ".a", "-rc", "_b."]), NUMBERS),
    st.tuples(st.sampled_from([".post", "-post", "-", "rev", ".r", "post."]), NUMBERS),
    st.tuples(st.sampled_from([".dev", "dev", "-dev-", "rc1.dev", ".post1.dev", "a.post2.dev"]), NUMBERS),
    st.tuples(st.sampled_from(["+local", "+1.2-x", ".*", "rc1+ubuntu.1", ".*.1"])),
).map("".join)
VERSIONS = st.builds(
    lambda head, epoch, release, suffix: f"{head}{epoch}{'.'.join(map(str, release))}{suffix}",
    st.sampled_from(["", "", "", "v", "V", " "]),
    st.sampled_from(["", "", "", "0!", "1!"]),
    RELEASES,
    SUFFIXES,
)
OPERATORS = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "~=", "===", "", "=", "=>"])
CLAUSES = st.builds("".join, st.tuples(OPERATORS, VERSIONS))
TEXTS = st.lists(CLAUSES | st.sampled_from(["", " "]), max_size=3).map(",".join)


def accepts(text: str, release: tuple[int, ...]) -> bool | None:
    """Whether the specifier takes the release; `None` when it is refused."""
    parsed = parse_specifiers(text)
    return parsed.unwrap().accept(release) if is_successful(parsed) else None


@pytest.mark.parametrize("text, release, expected", VECTORS["accepts"])
def test_accept__vector__as_listed(text: str, release: list[int], expected: bool | None) -> None:
    """Each specifier takes the release, does not, or is refused."""
    assert accepts(text, tuple(release)) == expected


@given(TEXTS, RELEASES)
@example("==3.12.10+local", (3, 12, 10))
@example("===V3", (3,))
@example("~=3.12.post1", (3, 12))
def test_accept__any_specifier__agrees_with_the_reference(text: str, release: tuple[int, ...]) -> None:
    """The reference implementation refuses the same texts and takes the same releases."""
    try:
        expected = SpecifierSet(text).contains(".".join(map(str, release)))
    except InvalidSpecifier:
        expected = None
    assert accepts(text, release) == expected


@given(st.text())
def test_parse_specifiers__any_text__is_read_or_named(text: str) -> None:
    """The reading is total; a refusal has one code."""
    parsed = parse_specifiers(text, "pyproject.toml")
    if not is_successful(parsed):
        assert (parsed.failure().code, parsed.failure().where) == ("BK142", "pyproject.toml")


@given(st.lists(CLAUSES, max_size=4), RELEASES)
def test_accept__several_clauses__is_all_of_them_in_any_order(clauses: list[str], release: tuple[int, ...]) -> None:
    """A comma means and: the whole takes what every part takes."""
    each = [accepts(clause, release) for clause in clauses]
    whole = None if None in each else all(each)
    assert accepts(",".join(clauses), release) == accepts(" , ".join(reversed(clauses)), release) == whole


@given(CLAUSES, RELEASES)
def test_accept__zeros_at_the_end__mean_nothing(clause: str, release: tuple[int, ...]) -> None:
    """3.12 and 3.12.0 are one release, except to `===`, which compares text."""
    if "===" not in clause:
        assert accepts(clause, release) == accepts(clause, (*release, 0))


def test_parse_specifiers__endless_number__is_refused() -> None:
    """A number too long to be a version is refused before anything reads it."""
    assert not is_successful(parse_specifiers(">=" + "9" * MAX_CHARACTERS))
    assert is_successful(parse_specifiers(">=" + "9" * (MAX_CHARACTERS - 2)))
