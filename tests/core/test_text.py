"""Laws of the text rules: each is idempotent and refuses what the sheet refuses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core import text as rules

anything = st.one_of(st.none(), st.integers(), st.binary(), st.text(), st.lists(st.text()))
near_paths = st.text(alphabet="ab./\\ :é\u00a0C", max_size=12)
RULES = [rules.text, rules.relative_path, rules.name, rules.sha256_hex, rules.canonical_model]


@pytest.mark.parametrize("rule", RULES)
@given(data=st.one_of(anything, near_paths, st.text(alphabet="0aF", min_size=64, max_size=64)))
def test_rule__total_and_idempotent(rule: Any, data: object) -> None:
    """Every input is either refused with the label in the message, or stored in a form the rule keeps as it is."""
    result = rules.checked(rule, data, "Thing.field", "BK100")
    if is_successful(result):
        stored = result.unwrap()
        assert isinstance(stored, str)
        assert rule(stored, "Thing.field") == stored
    else:
        assert result.failure().message.startswith("Thing.field must")


@pytest.mark.parametrize("rule", [rules.text, rules.relative_path, rules.optional_text])
def test_rule__lone_surrogate__is_refused(rule: Any) -> None:
    """What has no UTF-8 form can be neither stored nor sent, so it is refused where it comes in."""
    with pytest.raises(ValueError, match=r"Case\.id must not hold a lone surrogate"):
        rule("a\ud800", "Case.id")
    assert rule(" é𝄞 ", "Case.id") == "é𝄞"


def fits_path(given_path: str) -> str | None:
    """What the contract stores of a relative path, by its list of refusals; `None` for what it refuses."""
    path = given_path.strip().replace("\\", "/")
    refused = (
        not path
        or (len(path) > 1 and path[0].isascii() and path[0].isalpha() and path[1] == ":")
        or path.startswith("/")
        or path.endswith("/")
        or "//" in path
        or any(part in (".", "..") for part in path.split("/"))
    )
    return None if refused else path


@given(near_paths | st.text(max_size=8))
def test_relative_path__accepts_exactly_what_the_contract_does(given_path: str) -> None:
    """Stored as the contract says, or refused as it says: nothing else is judged."""
    found = rules.checked(rules.relative_path, given_path, "f", "BK100")
    assert (found.unwrap() if is_successful(found) else None) == fits_path(given_path)


@given(st.text("aZ09._-é /\\\n", max_size=6))
def test_name__accepts_exactly_what_the_contract_does(given_name: str) -> None:
    """One component of ASCII letters, digits, dots, underscores and hyphens that starts with a letter or digit."""
    stripped = given_name.strip()
    allowed = all(character.isascii() and (character.isalnum() or character in "._-") for character in stripped)
    fits = bool(stripped) and allowed and stripped[0].isalnum()
    found = rules.checked(rules.name, given_name, "f", "BK100")
    assert (found.unwrap() if is_successful(found) else None) == (stripped if fits else None)


@given(st.text("0aFgG \n", min_size=62, max_size=66) | st.text("0123456789abcdefABCDEF", min_size=63, max_size=65))
def test_sha256_hex__accepts_exactly_what_the_contract_does(digits: str) -> None:
    """64 hexadecimal digits and nothing around them, stored in lower case."""
    fits = len(digits) == 64 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
    found = rules.checked(rules.sha256_hex, digits, "f", "BK100")
    assert (found.unwrap() if is_successful(found) else None) == (digits.lower() if fits else None)


@pytest.mark.parametrize("bad", ["", "  ", "\n", 7, None, b"x", ["x"]])
def test_text__not_a_filled_string__is_refused(bad: object) -> None:
    """Blank and non-string values are `ValueError`."""
    with pytest.raises(ValueError, match="non-empty string"):
        rules.text(bad, "f")


@pytest.mark.parametrize(
    "bad", ["a//b", "./a", "a/", "/a", "..", "a/../b", ".", "C:x", "c:/x", "a:b.md", "//srv/x", "\\\\srv\\x", "a/./b"]
)
def test_relative_path__not_normal__is_refused(bad: str) -> None:
    """Absolute, drive, dotted and empty components are `ValueError`."""
    with pytest.raises(ValueError, match="path"):
        rules.relative_path(bad, "f")


@pytest.mark.parametrize(
    ("given_path", "stored"), [(" src ", "src"), ("a\\b", "a/b"), (".github/x y~*", ".github/x y~*")]
)
def test_relative_path__accepted__is_normalised(given_path: str, stored: str) -> None:
    """Blanks around are dropped, backslashes become slashes, hidden parts and globs stay."""
    assert rules.relative_path(given_path, "f") == stored


@pytest.mark.parametrize("bad", ["_x", "é", "a b", "a/b", "a\\b", "-a", "a\nb"])
def test_name__other_characters__are_refused(bad: str) -> None:
    """A name is one ASCII component."""
    with pytest.raises(ValueError, match="letter or digit"):
        rules.name(bad, "f")
    assert rules.name("kb\n", "f") == "kb"


def test_sha256__exactly_64_hex_digits() -> None:
    """Upper case is lowered; blanks, other lengths and non-strings are refused."""
    assert rules.sha256_hex("A" * 64, "f") == "a" * 64
    for bad in ("a" * 63, "a" * 65, " " + "a" * 64, "g" * 64, None, "a" * 64 + "\n"):
        with pytest.raises(ValueError, match="64 hexadecimal"):
            rules.sha256_hex(bad, "f")
    assert rules.optional_sha256_hex(None, "f") is None
    assert rules.optional_text(None, "f") is None


@pytest.mark.parametrize("bad", ["gpt", "openai:", ":x", "OpenAI:x", " openai:x", "openai:x ", "", None])
def test_canonical_model__not_canonical__is_refused(bad: object) -> None:
    """A provider in lower case, a colon and a model, nothing around."""
    with pytest.raises(ValueError, match="provider:model"):
        rules.canonical_model(bad, "f")
    assert rules.canonical_model("openrouter:a/b:free", "f") == "openrouter:a/b:free"


def test_collision_key__folds_case_and_composition() -> None:
    """Two spellings of one name on a careless file system share a key."""
    assert rules.collision_key("CAFE\u0301.md") == rules.collision_key("caf\u00e9.MD")


def test_checked__gives_value_or_problem() -> None:
    """A raising rule becomes a `Result` with the given code."""
    assert rules.checked(rules.name, "kb", "f", "BK100").unwrap() == "kb"
    assert rules.checked(rules.name, "k b", "f", "BK100").failure().code == "BK100"


@given(st.text())
def test_visible__prints_no_control_characters(value: str) -> None:
    """What is printed has no control characters but newline and tab, and printable text is unchanged."""
    shown = rules.visible(value)
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    if value.isprintable():
        assert shown == value
    line = rules.one_line(value)
    assert line.isprintable()
    assert line == shown or "\n" in value or "\t" in value
