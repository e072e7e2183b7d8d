"""Editing `beaker.yaml` as text: comments, order, quoting, anchors, flow style, line ends, a byte order mark and the
file's mode stay as they are.

The result is read again and must say what the file said, and the edit, and nothing else, before it replaces the file;
what cannot be edited so is refused (BK123), with the lines to write by hand.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_entry import Section, entry_place
from beaker.core.config_tree import ListNode, MapNode, Node, Scalar
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.files.atomic import os_problem, write_bytes
from beaker.files.project import leads_out
from beaker.files.reading import read_regular
from beaker.files.yaml_edit import (
    Candidate,
    entries,
    entry_text,
    first_pairs,
    replacements,
    spliced,
    top_pairs,
    word,
)
from beaker.files.yaml_edit import EntryKeys as EntryKeys
from beaker.files.yaml_spots import locate
from beaker.files.yaml_tree import parsable, parse_yaml

CODE = "BK123"
"""The code of a file that is written so that it cannot be edited safely."""

HEADER = """\
# What Beaker needs to know about this project. It is safe to commit: values of secrets never stand here, but in
# .beaker/.env, in the environment, or with the agent. source_dir counts from the root of the Git repository,
# package_import_root from source_dir. docs/configuration.md explains every key.
"""

FOOTER = """
# config_defaults:
#   local_dataset_path: dataset        # a folder with train.jsonl and test.jsonl, for `beaker run smoke`
#   dataset_ref: my-dataset            # what runs use; NAME@REVISION pins it
#   harness_optimization:
#     command: ["{python}", "{project}/propose.py"]
"""


@value
class AddEntry:
    """An entry more below `integrations`, which is made if there is none."""

    integration_id: str
    keys: EntryKeys


@value
class SetEntryValue:
    """A key of an entry that exists, with this text as its value: replaced, or made the first of the entry.

    `section` is the key that the entry stands below; below `spec` stands one entry, without an id.
    """

    integration_id: str
    key: str
    value: str
    section: Section = "integrations"


@value
class SetTopValue:
    """A key at the top of the file, with this text as its value: replaced, or made the last of the file."""

    key: str
    value: str


Edit: TypeAlias = AddEntry | SetEntryValue | SetTopValue


@value
class Edited:
    """What became of a file; `changed` is false when it said so already and was left alone."""

    path: Path
    changed: bool


def new_config(integration_id: str, keys: EntryKeys) -> str:
    """A whole configuration with one integration, and comments that say what else may stand in it."""
    entry = entry_text(integration_id, keys)
    return f"{HEADER}integrations:\n{entry}default_integration: {word(integration_id)}\n{FOOTER}"


def with_integration(
    data: bytes, file: str, integration_id: str, keys: EntryKeys, *, make_default: bool
) -> Result[bytes, Problem]:
    """The configuration `data` with an integration more; with `make_default` also with a `default_integration`, unless
    the key is there.

    BK123 when the file is written so that nothing can be added safely; `data` must be a valid configuration.
    """
    old = parse_yaml(data, file).value_or(None)
    edits: list[Edit] = [AddEntry(integration_id, keys)]
    # A default that says nothing is left for its owner.
    if make_default and not (isinstance(old, MapNode) and old.key("default_integration") is not None):
        edits.append(SetTopValue("default_integration", integration_id))
    return edit_config(data, edits, file=file)


def add_entry(
    path: Path, integration_id: str, keys: EntryKeys, *, make_default: bool = False
) -> Result[Edited, Problem]:
    """`with_integration` on a file. Problems as from `set_entry_value`."""
    return _edit_file(
        path, lambda data: with_integration(data, path.name, integration_id, keys, make_default=make_default)
    )


def set_entry_value(
    path: Path, integration_id: str, key: str, value: str, *, section: Section = "integrations"
) -> Result[Edited, Problem]:
    """Give a key of the entry `<section>.<integration_id>` of the file `path` a value, text.

    The file is untouched on failure: BK123 when it cannot be edited safely (the hint says which lines to write by
    hand), BK101 and others when it is no valid YAML, BK116 when it is a link that leaves its repository, BK701 when it
    cannot be read or written. A value that is there already changes nothing.
    """
    return edit_file(path, [SetEntryValue(integration_id, key, value, section)])


def set_top_value(path: Path, key: str, value: str) -> Result[Edited, Problem]:
    """Give a key at the top of the file `path` a value, text. Problems as from `set_entry_value`."""
    return edit_file(path, [SetTopValue(key, value)])


def edit_file(path: Path, edits: Sequence[Edit]) -> Result[Edited, Problem]:
    """Make all of `edits` to the file `path`, or none. Problems as from `set_entry_value`."""
    return _edit_file(path, lambda data: edit_config(data, edits, file=path.name))


def edit_config(data: bytes, edits: Sequence[Edit], *, file: str) -> Result[bytes, Problem]:
    """The YAML text `data` with all of `edits` made in order; `file` names it in problems.

    Only the characters of the edits change. The first problem of a text that is no valid YAML, BK123 for one in which
    an edit cannot be made so that it says nothing else.
    """
    for edit in edits:
        made = _edited(data, edit, file)
        if not is_successful(made):
            return made
        data = made.unwrap()
    return Success(data)


def _edited(data: bytes, edit: Edit, file: str) -> Result[bytes, Problem]:
    read = parse_yaml(data, file)
    if not is_successful(read):
        problem: Problem = read.failure()[0]
        return Failure(problem)
    before = _plain(read.unwrap())
    wanted, hindrance = _intended({} if before == ("", None) else before, edit)
    if hindrance:
        return Failure(_refusal(edit, file, hindrance))
    if wanted == before:
        return Success(data)
    bom, text = ("\ufeff", data.decode("utf-8-sig")) if data[:3] == b"\xef\xbb\xbf" else ("", data.decode())
    for splices in _candidates(text, edit):
        made = (bom + spliced(text, splices)).encode()
        again = parse_yaml(made, file)
        if is_successful(again) and _plain(again.unwrap()) == wanted:
            return Success(made)
    return Failure(_refusal(edit, file, "is written so that this cannot be done safely"))


def _candidates(text: str, edit: Edit) -> Iterator[Candidate]:
    root = locate(parsable(text))
    match edit:
        case AddEntry(integration_id, keys):
            yield from entries(text, root, integration_id, keys)
        case SetTopValue(key, item):
            found = root.find(key)
            if found is not None:
                yield from replacements(text, *found, item)
            else:
                yield from top_pairs(text, root, key, word(item))
        case SetEntryValue(integration_id, key, item, section):
            named = root.find(section)
            if named is not None and section != "spec":
                named = named[1].find(integration_id)
            if named is None or named[1].kind != "map":
                return
            found = named[1].find(key)
            if found is not None:
                yield from replacements(text, *found, item)
            else:
                yield from first_pairs(text, *named, key, word(item))
        case _:
            assert_never(edit)


def _intended(before: Any, edit: Edit) -> tuple[Any, str]:
    """What the text must say after `edit`, where each word is what it says and how it is written; or what is in the
    way."""
    if not isinstance(before, dict):
        return None, "is no mapping"
    match edit:
        case SetTopValue(key, item):
            return {**before, key: (item, item)}, ""
        case AddEntry(integration_id, keys):
            listed = before.get("integrations", {})
            listed = {} if listed == ("", None) else listed
            if not isinstance(listed, dict):
                return None, "has integrations that are no mapping"
            if integration_id in listed:
                return None, f"has an integration {integration_id!r} already"
            made = {
                key: (item, item) if isinstance(item, str) else [(one, one) for one in item]
                for key, item in keys.items()
            }
            return {**before, "integrations": {**listed, integration_id: made}}, ""
        case SetEntryValue(_, key, item, section):
            place = (section,) if section == "spec" else (section, edit.integration_id)
            entry = _at(before, place)
            if entry is None:
                return None, f"has no mapping {'.'.join(place)}"
            old = entry.get(key)
            if isinstance(old, tuple) and old[1] and old[0].strip() == item.strip():
                return before, ""  # it is read as this text already
            return _with(before, place, {**entry, key: (item, item)}), ""
        case _:
            assert_never(edit)


def _at(data: Any, place: Sequence[str]) -> dict[str, Any] | None:
    for key in place:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else None


def _with(data: dict[str, Any], place: Sequence[str], new: dict[str, Any]) -> dict[str, Any]:
    key, *rest = place
    return {**data, key: _with(data[key], rest, new) if rest else new}


def _refusal(edit: Edit, file: str, why: str) -> Problem:
    match edit:
        case AddEntry(integration_id, keys):
            lines = f"add it below integrations by hand:\n{entry_text(integration_id, keys).rstrip()}"
            return Problem(CODE, f"{why}: no integration can be added", file, lines)
        case SetEntryValue(integration_id, key, item, section):
            place = entry_place(section, integration_id)
            line = f"write it below {place} by hand:\n{word(key)}: {word(item)}"
            return Problem(CODE, f"{why}: {place}.{key} cannot be set", file, line)
        case SetTopValue(key, item):
            line = f"write it at the top of the file by hand:\n{word(key)}: {word(item)}"
            return Problem(CODE, f"{why}: {key} cannot be set", file, line)
        case _:
            assert_never(edit)


def _edit_file(path: Path, change: Callable[[bytes], Result[bytes, Problem]]) -> Result[Edited, Problem]:
    if (outside := leads_out(path)) is not None:
        return Failure(outside)
    try:
        data = read_regular(path)
        made = change(data)
        if not is_successful(made):
            return Failure(made.failure())
        if made.unwrap() == data:
            return Success(Edited(path, changed=False))
        if read_regular(path) != data:
            return Failure(Problem(CODE, "was changed by somebody else just now", str(path), "run the command again"))
        write_bytes(path, made.unwrap())
    except OSError as error:
        return Failure(os_problem(error, "edit the configuration", path))
    return Success(Edited(path, changed=True))


def _plain(node: Node) -> Any:
    """A tree without places: what each word is, and how it is written."""
    match node:
        case Scalar():
            return node.raw, node.value
        case ListNode():
            return [_plain(item) for item in node.items]
        case MapNode():
            return {key.raw: _plain(item) for key, item in node.entries}
