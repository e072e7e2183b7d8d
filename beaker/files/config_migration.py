"""Making the edits of a configuration's migration in its text: comments, order, quoting and line ends stay as they are.

Each edit is read again and must say what it was to say, and nothing else; else it is refused (BK123).
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_tree import ListNode, MapNode, Node, Scalar
from beaker.core.migration_config import AddAgentKey, ConfigEdit, NestKey, RemoveKey, RenameKey, applied
from beaker.core.problems import Problem
from beaker.files.config_edit import CODE, SetEntryValue, edit_config
from beaker.files.yaml_edit import Candidate, Splice, spliced, word
from beaker.files.yaml_spots import Spot, locate
from beaker.files.yaml_tree import parse_yaml


def migrated_config(data: bytes, edits: Sequence[ConfigEdit], *, file: str) -> Result[bytes, Problem]:
    """The YAML text `data`, which can be read, with all of `edits` made in order; BK123 when one cannot be made."""
    for edit in edits:
        made = _edited(data, edit, file)
        if not is_successful(made):
            return made
        data = made.unwrap()
    return Success(data)


def _edited(data: bytes, edit: ConfigEdit, file: str) -> Result[bytes, Problem]:
    if isinstance(edit, AddAgentKey):
        return edit_config(data, [SetEntryValue(edit.id, "agent_key", edit.agent_key, edit.section)], file=file)
    wanted = applied(_plain(parse_yaml(data, file).unwrap()), edit)
    bom, text = ("\ufeff", data.decode("utf-8-sig")) if data[:3] == b"\xef\xbb\xbf" else ("", data.decode())
    for splices in _candidates(text, edit):
        made = (bom + spliced(text, splices)).encode()
        again = parse_yaml(made, file)
        if is_successful(again) and _plain(again.unwrap()) == wanted:
            return Success(made)
    return Failure(
        Problem(CODE, f"is written so that this cannot be done safely: {_said(edit)}", file, "edit it by hand")
    )


def _candidates(text: str, edit: RenameKey | NestKey | RemoveKey) -> Iterator[Candidate]:
    root = locate(text)
    match edit:
        case RenameKey(path, new):
            if (found := _pair(root, path)) is not None:
                yield (_renamed(text, found[1], new),)
        case NestKey(key, new, inside):
            if (found := _pair(root, (key,))) is not None:
                yield from _nested(text, *found[1:], new, inside)
        case RemoveKey(path):
            if (found := _pair(root, path)) is not None:
                yield from _removed(text, *found)
        case _:
            assert_never(edit)


def _pair(root: Spot, path: Sequence[str]) -> tuple[Spot, Spot, Spot] | None:
    """The mapping, the key and the value at a path; `None` where a key is merged or an alias stands for a mapping."""
    at = root
    for index, name in enumerate(path):
        found = at.find(name)
        if found is None:
            return None
        if index == len(path) - 1:
            return at, *found
        at = found[1]
    return None


def _renamed(text: str, key: Spot, new: str) -> Splice:
    quote = key.style if key.style in ("'", '"') else ""
    return Splice(key.start, key.end, f"{quote}{new}{quote}" if quote else word(new))


def _nested(text: str, key: Spot, held: Spot, new: str, inside: str) -> Iterator[Candidate]:
    """`key: held` as `new:` with `inside: held` below it, the lines of `held` further in."""
    line = text.rfind("\n", 0, key.start) + 1
    margin = text[line : key.start]
    end = "\r\n" if "\r\n" in text else "\n"
    step = "  "
    if held.pairs and held.style == "block":
        step = " " * max(held.pairs[0][0].start - text.rfind("\n", 0, held.pairs[0][0].start) - 1 - len(margin), 1)
    head = Splice(key.start, key.end, f"{word(new)}:{end}{margin}{step}{word(inside)}")
    starts = [found.end() for found in re.finditer(r"\n", text[: held.end]) if found.end() > key.end]
    deeper = [Splice(at, at, step) for at in starts if at < held.end and text[at] not in "\r\n"]
    yield (head, *deeper)


def _removed(text: str, mapping: Spot, key: Spot, held: Spot) -> Iterator[Candidate]:
    """Ways to take the pair `key: held` out of its mapping."""
    line = text.rfind("\n", 0, key.start) + 1
    after = text.find("\n", max(held.end - 1, key.end))
    after = len(text) if after < 0 else after + 1
    if mapping.style != "flow":
        yield (Splice(line, after, ""),)
        return
    keys = [pair[0].start for pair in mapping.pairs]
    number = keys.index(key.start)
    if number + 1 < len(keys):
        yield (Splice(key.start, keys[number + 1], ""),)
    elif number:
        yield (Splice(mapping.pairs[number - 1][1].end, held.end, ""),)


def _said(edit: RenameKey | NestKey | RemoveKey) -> str:
    match edit:
        case RenameKey(path, new):
            return f"call {'.'.join(path)} {new}"
        case NestKey(key, new, inside):
            return f"move {key} to {new}.{inside}"
        case RemoveKey(path):
            return f"take out {'.'.join(path)}"
        case _:
            assert_never(edit)


def _plain(node: Node) -> object:
    """A tree without places: what each word is, and how it is written."""
    match node:
        case Scalar():
            return node.raw, node.value
        case ListNode():
            return [_plain(item) for item in node.items]
        case MapNode():
            return {key.raw: _plain(item) for key, item in node.entries}
