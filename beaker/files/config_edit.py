"""Adding an integration to `beaker.yaml` as text: comments, order, quoting and line ends elsewhere stay as they are.

The result is read again and must say what the file said, and the addition, and nothing else; what cannot be edited so
is refused, with the lines to add by hand.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_tree import ListNode, MapNode, Node, Scalar
from beaker.core.problems import Problem
from beaker.files.yaml_tree import parse_yaml

EntryKeys: TypeAlias = Mapping[str, str | Sequence[str]]
"""Keys of an entry in the order they are written; a list is written in one line."""

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./:-]*(?<!:)\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"})
_KEY = re.compile(r"""(?:"integrations"|'integrations'|integrations)\s*:\s*(?:#.*)?\Z""")

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


def new_config(integration_id: str, keys: EntryKeys) -> str:
    """A whole configuration with one integration, and comments that say what else may stand in it."""
    name = _word(integration_id)
    entry = "".join(_entry_lines(integration_id, keys, indent="  "))
    return f"{HEADER}integrations:\n{entry}default_integration: {name}\n{FOOTER}"


def with_integration(
    data: bytes, file: str, integration_id: str, keys: EntryKeys, *, make_default: bool
) -> Result[bytes, Problem]:
    """The configuration `data` with an integration more; with `make_default` also with a `default_integration`, unless
    there is one.

    BK123 when the file is written so that nothing can be added safely; `data` must be a valid configuration.
    """
    old = parse_yaml(data, file).value_or(None)
    if isinstance(old, MapNode) and old.key("default_integration") is not None:
        make_default = False  # one that says nothing is left for its owner
    bom, text = ("\ufeff", data.decode("utf-8-sig")) if data[:3] == b"\xef\xbb\xbf" else ("", data.decode())
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += end
    at = next((number for number, line in enumerate(lines) if _KEY.match(line.rstrip("\r\n"))), None)
    added: list[str]
    if at is None:
        added = ["integrations:\n", *_entry_lines(integration_id, keys, indent="  ")]
        position = len(lines)
    else:
        block = [number for number in range(at + 1, _block_end(lines, at + 1)) if _is_content(lines[number])]
        indent = re.match(r" *", lines[block[0]])[0] if block else "  "  # type: ignore[index]  # it always matches
        added = [*_entry_lines(integration_id, keys, indent=indent)]
        position = (block[-1] if block else at) + 1
    lines[position:position] = [line.replace("\n", end) for line in added]
    if make_default:
        lines.append(f"default_integration: {_word(integration_id)}{end}")
    made = (bom + "".join(lines)).encode()
    if not _says(made, file, data, integration_id, keys, make_default=make_default):
        by_hand = "".join(_entry_lines(integration_id, keys, indent="  "))
        hint = f"add it below integrations by hand:\n{by_hand.rstrip()}"
        return Failure(Problem("BK123", "is written so that no integration can be added to it safely", file, hint))
    return Success(made)


def _entry_lines(integration_id: str, keys: EntryKeys, *, indent: str) -> list[str]:
    lines = [f"{indent}{_word(integration_id)}:\n"]
    for key, item in keys.items():
        written = _word(item) if isinstance(item, str) else f"[{', '.join(map(_word, item))}]"
        lines.append(f"{indent}{indent}{key}: {written}\n")
    return lines


def _word(text: str) -> str:
    """`text` so that YAML 1.1 and 1.2 both read it as this text."""
    if text == "." or (_PLAIN.match(text) and text.lower() not in _WORDS and any(one.isalpha() for one in text)):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _block_end(lines: Sequence[str], start: int) -> int:
    """The line after the block whose first line is `start`: the next one that begins a key at the left margin."""
    for number in range(start, len(lines)):
        if lines[number].strip() and lines[number][0] not in " #\r\n":
            return number
    return len(lines)


def _is_content(line: str) -> bool:
    return line.startswith(" ") and bool(line.strip()) and not line.lstrip().startswith("#")


def _says(made: bytes, file: str, before: bytes, integration_id: str, keys: EntryKeys, *, make_default: bool) -> bool:
    """Whether the new text says what the old one said, and the addition."""
    read, old = parse_yaml(made, file), parse_yaml(before, file)
    if not is_successful(read) or not is_successful(old):
        return False
    wanted = _plain(old.unwrap())
    if wanted == ("", None):
        wanted = {}
    if not isinstance(wanted, dict):
        return False
    entries = wanted.setdefault("integrations", {})
    if not isinstance(entries, dict) or integration_id in entries:
        return False
    entries[integration_id] = {
        key: (item, item) if isinstance(item, str) else [(one, one) for one in item] for key, item in keys.items()
    }
    if make_default:
        wanted["default_integration"] = (integration_id, integration_id)
    same: bool = _plain(read.unwrap()) == wanted
    return same


def _plain(node: Node) -> Any:
    """A tree without places: what each word is, and how it is written."""
    match node:
        case Scalar():
            return node.raw, node.value
        case ListNode():
            return [_plain(item) for item in node.items]
        case MapNode():
            return {key.raw: _plain(item) for key, item in node.entries}
