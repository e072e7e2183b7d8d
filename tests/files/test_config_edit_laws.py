"""Laws of editing a configuration, over files that are hard to edit: only the bytes that were meant become others."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.files.config_edit import (
    AddEntry,
    Edit,
    SetEntryValue,
    SetTopValue,
    add_entry,
    edit_config,
    edit_file,
    set_entry_value,
    set_top_value,
)
from beaker.files.yaml_tree import is_json

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "config_edits.json").read_text("utf-8")
)
TEXTS = [vector["text"] for vector in VECTORS]
EDITS: dict[str, Edit] = {
    "entry": AddEntry("new", {"entrypoint": "m:i", "required_env": ["A"], "agent_key": "7"}),
    "key": SetEntryValue("app", "agent_key", "k1"),
    "default": SetTopValue("default_integration", "app"),
}


def edited(text: str, edit: Edit) -> str | None:
    """What becomes of `text`; `None` when it is refused."""
    made = edit_config(text.encode(), [edit], file="f")
    return made.unwrap().decode() if is_successful(made) else None


def is_insertion(old: str, new: str) -> bool:
    """Whether `new` is `old` with one stretch put in."""
    head = alike(old, new)
    return head + alike(old[head:][::-1], new[head:][::-1]) == len(old)


def alike(left: str, right: str) -> int:
    """How many characters two texts begin alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_edit_config__vector__comes_out_byte_for_byte(vector: dict[str, Any]) -> None:
    """Each edit of each file gives the recorded text, or is refused for the recorded reason with a hint."""
    for name, edit in EDITS.items():
        made = edit_config(vector["text"].encode(), [edit], file="f")
        if isinstance(vector[name], str):
            assert made.unwrap() == vector[name].encode(), name
        else:
            problem = made.failure()
            assert [problem.code, problem.message] == vector[name]["refused"], name
            assert problem.hint or problem.code == "BK101"


def test_vectors__are_many_and_most_can_be_edited() -> None:
    """The corpus stays large, and refusing is the exception in it."""
    answers = [vector[name] for vector in VECTORS for name in EDITS]
    assert len({vector["text"] for vector in VECTORS}) >= 100
    assert sum(isinstance(answer, str) for answer in answers) > 3 * len(answers) // 4


@pytest.mark.parametrize("text", [text for text in TEXTS if "agent_key" not in text and "{" not in text])
def test_edit_config__nothing_there_yet__only_puts_something_in(text: str) -> None:
    """Where a key or an entry is new, no character of the old text goes or moves against another."""
    for edit in EDITS.values():
        made = edited(text, edit)
        if made is not None and "default_integration" not in text:
            assert is_insertion(text, made)


@pytest.mark.parametrize("text", [text for text in TEXTS if is_json(text)])
def test_edit_config__json__stays_json(text: str) -> None:
    """A file that other tools read as JSON can still be read so."""
    for edit in EDITS.values():
        made = edited(text, edit)
        assert made is None or is_json(made)


# --- laws over generated files ---

WORDS = st.text(st.sampled_from("ab:#-'\"{}[],&*!|>%@ .7éκ🔑\\~?="), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n"])
COMMENT = st.sampled_from(["", "  # c", " # agent_key: no", "   # 'q\" {"])
NOISE = st.sampled_from(
    ["", "# integrations:\n", "\n\n", "# app:\n#   agent_key: no\n", "x-a: {agent_key: [1, 'b']}\n"]
)
INNER = st.sampled_from([
    "", "entrypoint: 'm:x'\n", "# agent_key: c\n", "required_env:\n- A\n-   B\n", "extra: |\n  agent_key: d\n\n",
    "config_defaults:\n  extra: {agent_key: e}  # f\n", '"quoted key": "a # b"\n', "x-f: &anchor [g]\nx-h: *anchor\n",
])  # fmt: skip


@st.composite
def values(draw: st.DrawFn) -> str:
    """How a value may be written behind `agent_key:`, blanks and all."""
    text = draw(WORDS.filter(lambda word: word.strip()))
    return draw(
        st.sampled_from(
            [
                "",
                " old",
                "    ~",
                " 'it''s'",
                " " + json.dumps(text, ensure_ascii=False),
                " '" + text.replace("'", "''") + "'",
                " !!str 12",
                " &key old",
                " plain\n            over lines",
            ]
        )
    )


@st.composite
def files_with_a_value(draw: st.DrawFn) -> tuple[str, str, str]:
    """A file as what stands before the value of app's agent_key, that value, and what stands behind it."""
    step, own = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    inner = " " * (step + own)
    above, below = draw(INNER), draw(INNER)
    if below.split(":")[0] == above.split(":")[0]:
        below = ""
    before = draw(NOISE) + f"integrations:{draw(COMMENT)}\n{' ' * step}app:{draw(COMMENT)}\n"
    before += indented(above, inner) + f"{inner}agent_key:"
    value = draw(values())
    after = f"{draw(COMMENT)}\n" + indented(below, inner) + f"{' ' * step}other:\n{inner}agent_key: theirs\n"
    after += draw(NOISE).replace("x-a", "x-b")
    ends = draw(ENDS)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    made = (mark + before, value, after if draw(st.booleans()) else after.rstrip("\n"))
    return tuple(part.replace("\n", ends) for part in made)  # type: ignore[return-value]  # three parts


def indented(text: str, indent: str) -> str:
    """`text` with each of its lines moved in."""
    return "".join(indent + line if line.strip() else line for line in text.splitlines(keepends=True))


def meaning(text: str) -> Any:
    """What a text says by another reader, every word as it is written."""
    return yaml.load(text.removeprefix("\ufeff"), Loader=yaml.BaseLoader)


@given(files_with_a_value(), WORDS.filter(lambda word: word.strip()))
def test_set_entry_value__value_there__becomes_another_between_the_same_bytes(
    parts: tuple[str, str, str], new: str
) -> None:
    """What stands before the value and behind it stays byte for byte, and all else says what it said."""
    before, value, after = parts
    text = before + value + after
    wanted = meaning(text)
    if wanted["integrations"]["app"]["agent_key"].strip() == new.strip() and value.strip() not in ("", "~"):
        assert edited(text, SetEntryValue("app", "agent_key", new)) == text
        return
    made = edited(text, SetEntryValue("app", "agent_key", new))
    assert made is not None
    assert made.startswith(before)
    assert made.endswith(after)
    wanted["integrations"]["app"]["agent_key"] = new
    assert meaning(made) == wanted


@given(files_with_a_value(), st.sampled_from(["other", "third"]))
def test_add_entry_and_keys__whole_file__is_in_the_new_one(parts: tuple[str, str, str], name: str) -> None:
    """An entry more, a key more in an entry, a key more at the top: each is one stretch put in."""
    text = "".join(parts)
    wanted = meaning(text)
    added = edited(text, AddEntry("new", {"entrypoint": "m:i", "required_env": ["A", "no"]}))
    assert added is not None
    assert is_insertion(text, added)
    assert meaning(added) == {
        **wanted,
        "integrations": {**wanted["integrations"], "new": {"entrypoint": "m:i", "required_env": ["A", "no"]}},
    }
    keyed = edited(text, SetEntryValue("other", "source_dir", "a b"))
    assert keyed is not None
    assert is_insertion(text, keyed)
    wanted["integrations"]["other"]["source_dir"] = "a b"
    assert meaning(keyed) == wanted
    topped = edited(keyed, SetTopValue("default_integration", name))
    assert topped is not None
    assert is_insertion(keyed, topped)
    assert meaning(topped) == {**wanted, "default_integration": name}


PIECES = st.sampled_from([*"\n\r\t :#-?&*!|>'\"{}[],%@`a\\\0\x85\u2028", "\n  ", ": ", "---\n", "<<: ", "*a", "&a "])
DAMAGE = st.lists(st.tuples(st.integers(0, 200), PIECES), max_size=4)


@given(st.sampled_from(TEXTS), DAMAGE, st.sampled_from(list(EDITS.values())))
@example("integrations:\n  app: {agent_key: >-\n", [], EDITS["key"])
def test_edit_config__broken_files__are_refused_or_edited_once(
    text: str, damage: list[tuple[int, str]], edit: Edit
) -> None:
    """Whatever the text, nothing is raised; an edit that was made is seen when it is asked for again."""
    for at, piece in damage:
        at %= len(text) + 1
        text = text[:at] + piece + text[at:]
    made = edited(text, edit)
    if made is None:
        return
    again = edit_config(made.encode(), [edit], file="f")
    if isinstance(edit, AddEntry):
        assert "already" in again.failure().message
    else:
        assert again.unwrap() == made.encode()


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["a", "b-c", "no", "7", "x.y"]), unique=True, max_size=4), ENDS)
def test_edit_config__edits_in_turn__are_made_all_or_none(ids: list[str], ends: str) -> None:
    """Entries one after another come out in this order; one edit that cannot be made stops all of them."""
    edits: list[Edit] = [AddEntry(name, {"entrypoint": "m:i"}) for name in ids]
    made = edit_config(f"# head{ends}".encode(), edits, file="f").unwrap().decode()
    assert list((meaning(made) or {}).get("integrations", {})) == ids
    refused = edit_config(
        made.encode(), [SetTopValue("api", "local"), SetEntryValue("gone", "agent_key", "k")], file="f"
    )
    assert refused.failure().code == "BK123"


# --- files ---


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration in a repository, with a mode of its own."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    path = tmp_path / "repo" / ".beaker" / "beaker.yaml"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbfintegrations:\r\n  app: {entrypoint: 'm:x'}  # c\r\n")
    path.chmod(0o640)
    return path


def test_set_entry_value__file__keeps_mode_mark_and_line_ends(config: Path) -> None:
    """The file is replaced with its mode, its byte order mark and its line ends; the same again changes nothing."""
    assert set_entry_value(config, "app", "agent_key", "k 1").unwrap().changed
    expected = b"\xef\xbb\xbfintegrations:\r\n  app: {agent_key: \"k 1\", entrypoint: 'm:x'}  # c\r\n"
    assert config.read_bytes() == expected
    assert config.stat().st_mode & 0o777 == 0o640
    before = config.stat()
    assert not set_entry_value(config, "app", "agent_key", "k 1").unwrap().changed
    assert config.stat().st_mtime_ns == before.st_mtime_ns
    assert set_top_value(config, "default_integration", "app").unwrap().changed
    assert add_entry(config, "b", {"entrypoint": "m:y"}, make_default=True).unwrap().path == config
    assert config.read_bytes().endswith(b"  b:\r\n    entrypoint: m:y\r\ndefault_integration: app\r\n")
    assert os.listdir(config.parent) == ["beaker.yaml"]


def test_set_entry_value__entries_of_specs__are_reached_too(config: Path) -> None:
    """The section says below which key the entry stands; `spec` is an entry by itself."""
    config.write_text("specs:\n  app: {target: 'm:x'}\nspec:\n  target: m:y\n", encoding="utf-8")
    assert set_entry_value(config, "app", "agent_key", "k", section="specs").unwrap().changed
    assert set_entry_value(config, "spec", "agent_key", "k", section="spec").unwrap().changed
    assert config.read_text() == "specs:\n  app: {agent_key: k, target: 'm:x'}\nspec:\n  agent_key: k\n  target: m:y\n"
    assert set_entry_value(config, "app", "agent_key", "k").failure().code == "BK123"


def test_edit_file__refused__says_what_to_write_and_leaves_the_file(config: Path) -> None:
    """What cannot be edited stays, and the hint holds the line that is wanted."""
    config.write_text("x-a: &a {entrypoint: 'm:x'}\nintegrations:\n  app: *a\n", encoding="utf-8")
    before = config.read_bytes()
    problem = set_entry_value(config, "app", "agent_key", "k: 1").failure()
    assert (problem.code, problem.where) == ("BK123", "beaker.yaml")
    assert problem.hint == 'write it below integrations.app by hand:\nagent_key: "k: 1"'
    top = edit_file(config, [SetTopValue("api", "local"), SetEntryValue("app", "agent_key", "k")])
    assert top.failure().code == "BK123"
    assert set_top_value(config, "x-a", "k").failure().hint.endswith("x-a: k")
    assert config.read_bytes() == before


def test_edit_file__link__is_written_through_inside_the_repository_alone(config: Path, tmp_path: Path) -> None:
    """A link that leads out of the repository, or of the project outside Git, is never written through."""
    real = config.parent.parent / "real.yaml"
    config.rename(real)
    config.symlink_to(real)
    assert set_entry_value(config, "app", "agent_key", "k").unwrap().changed
    assert config.is_symlink()
    assert "agent_key: k" in real.read_text("utf-8-sig")
    outside = tmp_path / "outside.yaml"
    outside.write_bytes(real.read_bytes())
    config.unlink()
    config.symlink_to(outside)
    before = outside.read_bytes()
    assert set_entry_value(config, "app", "agent_key", "k2").failure().code == "BK116"
    (config.parent.parent / ".git").rmdir()
    assert set_entry_value(config, "app", "agent_key", "k2").failure().code == "BK116"
    assert outside.read_bytes() == before


def test_edit_file__cannot_be_read__is_a_problem(config: Path) -> None:
    """A file that is not there, a folder or a pipe in its place, and text that is no YAML."""
    config.write_bytes(b"a: b: c\n")
    assert set_top_value(config, "api", "local").failure().code == "BK101"
    config.unlink()
    assert set_top_value(config, "api", "local").failure().code == "BK701"
    os.mkfifo(config)
    assert set_top_value(config, "api", "local").failure().code == "BK701"
