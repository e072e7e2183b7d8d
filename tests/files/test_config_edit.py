"""Laws of adding an integration to a configuration: what stood there stays byte for byte, and is read as before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.config import parse_config
from beaker.files.config_edit import EntryKeys, new_config, with_integration
from beaker.files.yaml_tree import parse_yaml

KEYS: EntryKeys = {"entrypoint": "m:i", "source_dir": ".", "required_env": [], "agent_key": "7"}


def added(text: str, integration_id: str = "new", *, make_default: bool = False) -> str:
    return with_integration(text.encode(), "f", integration_id, KEYS, make_default=make_default).unwrap().decode()


def ids(text: str) -> list[str]:
    return sorted(parse_config(parse_yaml(text.encode(), "f").unwrap(), "f").unwrap().integrations)


ENTRY = '{0}new:\n{0}{0}entrypoint: m:i\n{0}{0}source_dir: .\n{0}{0}required_env: []\n{0}{0}agent_key: "7"\n'


@pytest.mark.parametrize("indent", ["  ", "    ", " "])
def test_with_integration__block__grows_at_its_end_with_its_own_indent(indent: str) -> None:
    """Comments, blank lines, order and the keys behind it stay as they are."""
    before = f"# head\napi: local\n\nintegrations: # here\n{indent}old:   # kept\n{indent}{indent}entrypoint: a:b\n"
    after = "\n# about the next key\nconfig_defaults: {max_concurrency: 2}  # tail\n"
    assert added(before + after) == before + ENTRY.format(indent) + after


@pytest.mark.parametrize("text", ["", "# only a comment\n", "api: local", "api: local\n\n"])
def test_with_integration__no_entry_yet__is_appended(text: str) -> None:
    """A file without integrations gets the key at its end, after a line end that was missing."""
    made = added(text, make_default=True)
    start = text if not text or text.endswith("\n") else f"{text}\n"
    assert made == start + "integrations:\n" + ENTRY.format("  ") + "default_integration: new\n"


def test_with_integration__default_that_says_nothing__is_left() -> None:
    """A key that stands there is its owner's, also when it is empty."""
    text = "default_integration:\n"
    assert added(text, make_default=True) == f"{text}integrations:\n{ENTRY.format('  ')}"


def test_with_integration__crlf_and_bom__are_kept() -> None:
    """Line ends are the file's own, and so is the mark at its beginning."""
    before = "\ufeffintegrations:\r\n  old:\r\n    entrypoint: a:b\r\n"
    made = added(before)
    assert made.startswith(before)
    assert made.count("\n") == made.count("\r\n")
    assert ids(made) == ["new", "old"]


@pytest.mark.parametrize(
    "text",
    [
        "integrations:\n  new: {entrypoint: 'a:b'}\n",
        "x-one: &x {old: {entrypoint: 'a:b'}}\nintegrations: *x\n",
        "integrations: &x\n  old: {entrypoint: 'a:b'}\nx-two: *x\n",
        "integrations: text\n",
        "[]\n",
    ],
)
def test_with_integration__cannot_be_edited_safely__is_refused_with_the_lines(text: str) -> None:
    """Nothing is guessed: the lines to be added by hand are told."""
    problem = with_integration(text.encode(), "f", "new", KEYS, make_default=False).failure()
    assert problem.code == "BK123"
    assert "entrypoint: m:i" in problem.hint


@pytest.mark.parametrize("name", ["no", "7", "true", "1.10", "null", "0x1f", "plain_name", "a.b-c"])
def test_with_integration__any_id__is_read_back_as_this_text(name: str) -> None:
    """Words that YAML reads as something else are quoted."""
    assert ids(added("integrations:\n  old:\n    entrypoint: a:b\n", name)) == sorted(["old", name])
    assert ids(new_config(name, KEYS)) == [name]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_new_config__any_agent_key__is_read_back(key: str) -> None:
    """Whatever text a value is, it is written so that it is read as that text."""
    text = new_config("i", {**KEYS, "agent_key": key})
    entry = parse_config(parse_yaml(text.encode(), "f").unwrap(), "f").unwrap().integrations["i"]
    assert (entry.agent_key or "") == key.strip()
    assert entry.entrypoint == "m:i"
