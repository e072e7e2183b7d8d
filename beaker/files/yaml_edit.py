"""Ways to change a YAML text by splicing: nothing but what a splice replaces can become another.

Each function yields candidates, the nicest first. None is trusted: the caller reads the spliced text again and takes
the first candidate that says what was meant (`config_edit`), so a candidate may be wrong but must not be silent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from beaker.core.values import value
from beaker.files.yaml_spots import Spot
from beaker.files.yaml_tree import is_json

EntryKeys: TypeAlias = Mapping[str, str | Sequence[str]]
"""Keys of an entry in the order they are written; a list is written in one line."""


@value
class Splice:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


Candidate: TypeAlias = tuple[Splice, ...]


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """`text` with every splice applied; they do not overlap."""
    for splice in sorted(splices, key=lambda one: one.start, reverse=True):
        text = text[: splice.start] + splice.new + text[splice.end :]
    return text


def word(text: str) -> str:
    """`text` so that YAML 1.1 and 1.2 both read it as this text."""
    if text == "." or (_PLAIN.match(text) and text.lower() not in _WORDS and any(one.isalpha() for one in text)):
        return text
    return _quoted(text)


def written(item: str | Sequence[str]) -> str:
    """A value of an entry, in one line."""
    return word(item) if isinstance(item, str) else f"[{', '.join(map(word, item))}]"


def replacements(text: str, key: Spot, old: Spot, new: str) -> Iterator[Candidate]:
    """Ways to put the word `new` in the place of the value `old` of `key`, quoted as it is."""
    if old.kind != "word":
        return
    if old.style == "'" and new.isprintable():
        yield (Splice(old.start, old.end, "'" + new.replace("'", "''") + "'"),)
    elif old.style == '"':
        yield (Splice(old.start, old.end, _quoted(new)),)
    elif old.style == "empty":
        blank = " " if text[old.start - 1 : old.start] not in _BLANK else ""
        yield (Splice(old.start, old.end, blank + word(new)),)
        yield (Splice(key.end, key.end, ": " + word(new)),)  # a key of a flow mapping, without a colon
    elif old.style in "|>":
        body = text[old.start : old.end]
        indicator = re.match(r"[|>][-+0-9]*", body)
        head = _line_end(text, old.start)
        assert indicator is not None
        last = old.start + len(body.rstrip())
        yield (Splice(old.start, old.start + indicator.end(), word(new)), Splice(head, max(head, last), ""))
    else:
        yield (Splice(old.start, old.end, word(new)),)


def first_pairs(text: str, parent: Spot, mapping: Spot, key: str, new: str) -> Iterator[Candidate]:
    """Ways to make `key: new` the first pair of the mapping that is the value of the key `parent`."""
    if mapping.style == "flow":
        yield from _flow_pair(text, mapping, key, new, first=True)
        return
    head = mapping.pairs[0][0].start
    indent = _column(text, head) * " "
    line = _line_end(text, parent.end)
    if line < head:
        yield (Splice(line, line, f"{_break_at(text, line)}{indent}{word(key)}: {new}"),)
    yield (Splice(head, head, f"{word(key)}: {new}{_break_at(text, head)}{indent}"),)


def top_pairs(text: str, root: Spot, key: str, new: str) -> Iterator[Candidate]:
    """Ways to give the mapping that the whole text is a pair more, at its end if that can be."""
    if root.style == "flow":
        yield from _flow_pair(text, root, key, new, first=False)
        return
    yield from _top_lines(text, root, [f"{word(key)}: {new}"])


def entries(text: str, root: Spot, integration_id: str, keys: EntryKeys) -> Iterator[Candidate]:
    """Ways to give the mapping `integrations` of the whole text an entry more, the last one."""
    found = root.find("integrations")
    flow = f"{{{', '.join(f'{word(key)}: {written(item)}' for key, item in keys.items())}}}"
    if found is None and root.style == "flow":
        whole = f"{{{_like(text, root, integration_id)}: {_flow_entry(text, root, keys, flow)}}}"
        yield from _flow_pair(text, root, "integrations", whole, first=False)
    elif found is None:
        yield from _top_lines(text, root, ["integrations:", *_entry_lines(integration_id, keys, "  ", "  ")])
    else:
        key, block = found
        bare = block.style == "empty" or (block.kind == "map" and not block.pairs and text[block.start] == "{")
        if block.kind == "map" and block.style == "block":
            yield from _block_entries(text, block, integration_id, keys)
        elif bare and root.style == "block" and not text[block.start + 1 : block.end - 1].strip():
            line = _line_end(text, block.end)
            lines = _joined(text, line, _entry_lines(integration_id, keys, "  ", "  "))
            blanks = len(text[key.end : block.start]) - len(text[key.end : block.start].rstrip(" "))
            yield (Splice(block.start - blanks, block.end, ""), Splice(line, line, lines))
        if block.kind == "map" and block.style == "flow":
            yield from _flow_pair(text, block, integration_id, _flow_entry(text, block, keys, flow), first=False)


def _block_entries(text: str, block: Spot, integration_id: str, keys: EntryKeys) -> Iterator[Candidate]:
    first = block.pairs[0][0].start
    column = _column(text, first)
    nested = [entry for _, entry in block.pairs if entry.style == "block" and entry.pairs]
    own = _column(text, nested[-1].pairs[0][0].start) - column if nested else 0
    lines = _entry_lines(integration_id, keys, column * " ", (own if own > 0 else column or 2) * " ")
    for at in dict.fromkeys((_behind_comments(text, _content_end(text, block), column), _content_end(text, block))):
        yield (Splice(at, at, _joined(text, at, lines)),)
    ends = _break_at(text, first)
    shifted = [lines[0].strip(" "), *lines[1:], column * " "]
    yield (Splice(first, first, ends.join(shifted)),)


def _top_lines(text: str, root: Spot, lines: Sequence[str]) -> Iterator[Candidate]:
    """Ways to add `lines` to a text whose whole is a block mapping, or nothing: at its end, behind its last word, or
    in front of its first."""
    ends = _break_at(text, len(text))
    indent = " " * _column(text, root.start) if root.pairs else ""
    shifted = [f"{indent}{line}" for line in lines]
    missing = "" if not text or text[-1] in _BREAKS else ends
    yield (Splice(len(text), len(text), f"{missing}{ends.join(shifted)}{ends}"),)
    if root.pairs:
        at = _content_end(text, root)
        yield (Splice(at, at, _joined(text, at, shifted)),)
        yield (Splice(root.start, root.start, ends.join([lines[0], *shifted[1:], indent])),)


def _flow_pair(text: str, mapping: Spot, key: str, new: str, *, first: bool) -> Iterator[Candidate]:
    """Ways to give a flow mapping a pair more. In JSON the pair is JSON too."""
    name = _like(text, mapping, key)
    if name.startswith('"') and not new.startswith(("{", "[", '"')):
        new = _quoted(new)
    pair = f"{name}: {new}"
    if not mapping.pairs:
        yield (Splice(mapping.start + 1, mapping.start + 1, pair),)
        return
    head = mapping.pairs[0][0].start
    gap = _gap_before(text, head if first else mapping.pairs[-1][0].start)
    if first:
        yield (Splice(head, head, f"{pair},{gap}"),)
    else:
        end = max(mapping.pairs[-1][1].end, mapping.pairs[-1][0].end)
        line = _line_end(text, end)
        remark = _REMARK.match(text, end, line)
        if remark is not None and gap != " ":
            # What is said of the last pair stays beside it.
            behind = Splice(line, line, f"{gap}{pair}{remark['comma']}")
            yield (behind,) if remark["comma"] else (Splice(end, end, ","), behind)
        yield (Splice(end, end, f",{gap}{pair}"),)


def _gap_before(text: str, at: int) -> str:
    """The line end and indent in front of a flow mapping's key, or a blank when it does not begin its line."""
    start = _line_start(text, at)
    indent = text[start:at]
    return f"{_break_at(text, start)}{indent}" if start and not indent.strip(" \t") else " "


def _like(text: str, mapping: Spot, key: str) -> str:
    """`key` in the quotes that the keys of a flow mapping have; in an empty one those of JSON if the text is JSON."""
    quoted = [text[name.start : name.start + 1] == '"' for name, _ in mapping.pairs] or [is_json(text)]
    return _quoted(key) if mapping.style == "flow" and any(quoted) else word(key)


def _flow_entry(text: str, mapping: Spot, keys: EntryKeys, plain: str) -> str:
    if _like(text, mapping, "a") == "a":
        return plain
    return json.dumps({key: item if isinstance(item, str) else list(item) for key, item in keys.items()})


def _entry_lines(integration_id: str, keys: EntryKeys, indent: str, step: str) -> list[str]:
    return [
        f"{indent}{word(integration_id)}:",
        *(f"{indent}{step}{key}: {written(item)}" for key, item in keys.items()),
    ]


def entry_text(integration_id: str, keys: EntryKeys) -> str:
    """An entry as it stands below `integrations`, each line with its end."""
    return "".join(f"{line}\n" for line in _entry_lines(integration_id, keys, "  ", "  "))


def _joined(text: str, at: int, lines: Sequence[str]) -> str:
    """`lines` for a place that is the end of a line, before its break."""
    ends = _break_at(text, at)
    return "".join(f"{ends}{line}" for line in lines)


def _content_end(text: str, spot: Spot) -> int:
    """The end of the last line with something of `spot` in it, a comment behind that included; before its break."""
    kept = len(text[: spot.end].rstrip())
    return _line_end(text, kept)


def _behind_comments(text: str, at: int, column: int) -> int:
    """`at`, the end of a line, or that of the last comment behind it that is indented to `column` or more."""
    found = position = at
    while position < len(text):
        start = position + len(_break_at(text, position))
        position = _line_end(text, start)
        line = text[start:position]
        if line.lstrip(" ").startswith("#") and column and len(line) - len(line.lstrip(" ")) >= column:
            found = position
        elif line.strip():
            break
    return found


def _line_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in _BREAKS:
        at += 1
    return at


def _line_start(text: str, at: int) -> int:
    while at and text[at - 1] not in _BREAKS:
        at -= 1
    return at


def _column(text: str, at: int) -> int:
    return at - _line_start(text, at)


def _break_at(text: str, at: int) -> str:
    """The line end that stands at `at`, else the one before it, else the first of the text."""
    found = _BREAK.match(text, at) or next(reversed(list(_BREAK.finditer(text, 0, at))), None) or _BREAK.search(text)
    return found[0] if found else "\n"


def _quoted(text: str) -> str:
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in shown)


_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./:-]*(?<!:)\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", ".inf", ".nan"})
_REMARK = re.compile(r"[ \t]*(?P<comma>,?)[ \t]*#")
"""A comment behind a pair of a flow mapping, with or without the comma between them."""

_BREAKS = "\r\n\x85\u2028\u2029"
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_BLANK = (" ", "\t")
