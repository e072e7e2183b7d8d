"""YAML (and JSON, its subset) as a tree of raw words with lines, for a schema to judge.

Built from the parser's events, so that no YAML 1.1 type is ever guessed. Refused, each with its line: invalid YAML, a
key that stands twice, a key that is no word, tags, aliases that lead into themselves or grow without bounds, several
documents, nesting deeper than 200, lone surrogates. Anchors, aliases and `<<` merges are resolved.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, resolve_plain
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.strict_json import MAX_DEPTH

CODE = "BK101"
"""The code of a file that is no valid YAML."""

MAX_BYTES = 1_000_000
MAX_NODES = 100_000
"""Values a file may stand for, aliases written out."""


def parse_yaml(data: bytes, file: str) -> Result[Node, Problems]:
    """Read one YAML document; an empty one is a null. `file` names it in the problems, all of which are reported."""
    text = _decoded(data, file)
    if not is_successful(text):
        return Failure((text.failure(),))
    composer = _Composer(file)
    try:
        root = composer.compose(parsable(text.unwrap()))
    except Refused as refused:
        return Failure((*composer.found(), *refused.problems))
    return Failure(composer.found()) if composer.faults else Success(root)


def parsable(text: str) -> str:
    """`text` as the parser takes it, character for character: JSON may be indented with tabs, which the parser takes
    for a mistake. Texts in JSON hold none."""
    return text.replace("\t", " ") if "\t" in text and is_json(text) else text


def is_json(text: str) -> bool:
    """Whether `text` is an object or a list in JSON, and so its own kind of YAML."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decoded(data: bytes, file: str) -> Result[str, Problem]:
    if len(data) > MAX_BYTES:
        return Failure(Problem(CODE, f"is larger than {MAX_BYTES} bytes, more than a configuration can be", file))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Failure(Problem(CODE, "is written in UTF-16", file, "save the file as UTF-8"))
    try:
        return Success(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8: byte {data[error.start]:#04x} cannot stand here"
        return Failure(Problem(CODE, message, f"{file}:{line}", "save the file as UTF-8"))


class _Frame:
    """A list or mapping that is still open."""

    def __init__(self, event: Any) -> None:
        self.is_map = isinstance(event, yaml.MappingStartEvent)
        self.anchor: str | None = event.anchor
        self.line, self.column = _place(event)
        self.children: list[Node] = []
        self.size = self.depth = 1


_Sized = tuple[Node, int, int]
"""A node, how many values it stands for, and how deep it is."""


class _Composer:
    """Turns events into nodes; what is wrong without making the rest unreadable is kept in `faults`, with its line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[tuple[int, Problem]] = []
        self.anchors: dict[str, _Sized] = {}
        self.frames: list[_Frame] = []
        self.root: Node | None = None

    def found(self) -> Problems:
        """The faults in the order of the file."""
        return tuple(problem for _, problem in sorted(self.faults, key=lambda fault: fault[0]))

    def compose(self, text: str) -> Node:
        for event in self._events(text):
            if isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
                raise Refused(self._fault(event, "starts a second document", "keep one document per file"))
            if isinstance(event, yaml.ScalarEvent):
                self._add((self._scalar(event), 1, 0), event.anchor, event)
            elif isinstance(event, yaml.AliasEvent):
                self._add(self._aliased(event), None, event)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                self._check_tag(event)
                self._check_depth(1, event)
                self.frames.append(_Frame(event))
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                frame = self.frames.pop()
                made = self._mapping(frame) if frame.is_map else _list(frame)
                self._add((made, frame.size, frame.depth), frame.anchor, event)
        return Scalar("", None, 1, 1) if self.root is None else self.root

    def _events(self, text: str) -> Iterator[Any]:
        try:
            # The parser in Python: its messages are the same on every machine, and configurations are small.
            yield from yaml.parse(text, Loader=yaml.SafeLoader)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            found = f"the character {chr(error.character)!r} cannot stand here"
            raise Refused(Problem(CODE, f"is not valid YAML: {found}", f"{self.file}:{line}")) from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            said = " ".join(part for part in (error.context, error.problem) if part)
            where = self.file if mark is None else f"{self.file}:{mark.line + 1}:{mark.column + 1}"
            hint = "write blanks in place of the tab, also before a comment" if r"'\t'" in said else ""
            if mark is not None and any(part in said for part in _NO_KEY_HERE):
                raise Refused(_colon_fault(text, mark, Problem(CODE, f"is not valid YAML: {said}", where))) from error
            raise Refused(Problem(CODE, f"is not valid YAML: {said}", where, hint)) from error

    def _add(self, sized: _Sized, anchor: str | None, event: Any) -> None:
        node, size, depth = sized
        if anchor is not None:
            self.anchors[anchor] = sized
        if not self.frames:
            self.root = node
            return
        self._check_depth(depth, event)
        frame = self.frames[-1]
        frame.children.append(node)
        frame.size += size
        frame.depth = max(frame.depth, depth + 1)
        if frame.size > MAX_NODES:
            raise Refused(self._fault(event, f"stands for more than {MAX_NODES} values"))

    def _check_depth(self, more: int, event: Any) -> None:
        if len(self.frames) + more > MAX_DEPTH:
            raise Refused(self._fault(event, f"is nested deeper than {MAX_DEPTH} levels"))

    def _aliased(self, event: Any) -> _Sized:
        found = self.anchors.get(event.anchor)
        if found is None:
            open_here = any(frame.anchor == event.anchor for frame in self.frames)
            why = "leads into itself" if open_here else "names no anchor before it"
            raise Refused(self._fault(event, f"the alias *{event.anchor} {why}"))
        return found

    def _scalar(self, event: Any) -> Scalar:
        line, column = _place(event)
        raw: str = event.value
        if not raw.isascii():
            raw = self._without_surrogates(event, raw)
        resolved = resolve_plain(raw) if event.style is None and event.tag is None else raw
        if event.tag is not None:
            self._check_tag(event)
        return Scalar(raw, resolved, line, column)

    def _without_surrogates(self, event: Any, raw: str) -> str:
        try:
            # JSON writes a character beyond U+FFFF as two escapes, which the parser leaves as two halves.
            return raw.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._note(event, "holds a lone surrogate, which has no UTF-8 form")
            return "\ufffd"

    def _check_tag(self, event: Any) -> None:
        if event.tag not in (None, "!", *_PLAIN_TAGS[type(event)]):
            self._note(event, f"has the tag {event.tag!r}", "write plain YAML without tags")

    def _mapping(self, frame: _Frame) -> MapNode:
        entries: dict[str, tuple[Scalar, Node]] = {}
        merged: list[MapNode] = []
        lines: dict[str, int] = {}
        children = iter(frame.children)
        for key, child in zip(children, children, strict=True):
            if not isinstance(key, Scalar):
                self._note(key, "has a list or mapping as a key")
            elif key.raw in lines:
                said = f"the key {key.raw!r} stands twice, first on line {lines[key.raw]}"
                self._note(key, said, "keep one of them")
            else:
                lines[key.raw] = key.line
                if key.raw == "<<":
                    merged.extend(self._merged(child))
                else:
                    entries[key.raw] = (key, child)
        for source in merged:
            for key, child in source.entries:
                entries.setdefault(key.raw, (key, child))
        return MapNode(tuple(entries.values()), frame.line, frame.column)

    def _merged(self, node: Node) -> list[MapNode]:
        sources = node.items if isinstance(node, ListNode) else (node,)
        kept = [source for source in sources if isinstance(source, MapNode)]
        if len(kept) != len(sources):
            self._note(node, "`<<` merges a mapping, or a list of mappings")
        return kept

    def _note(self, at: Any, message: str, hint: str = "") -> None:
        self.faults.append((_line(at), self._fault(at, message, hint)))

    def _fault(self, at: Any, message: str, hint: str = "") -> Problem:
        return Problem(CODE, message, f"{self.file}:{_line(at)}", hint)


_NO_KEY_HERE = ("mapping values are not allowed here", "found '<block mapping start>'")
"""What the parser says of a key in a place that takes none; the mistake is often in the line before."""

_KEY_END = re.compile(r":(?=\s|$)")


def _colon_fault(text: str, mark: Any, problem: Problem) -> Problem:
    """`problem`, a key where none may stand, at the line that is to blame: one before it whose key has no colon."""
    lines = text.splitlines()
    here = lines[mark.line] if mark.line < len(lines) else ""
    before = [
        (number, line)
        for number, line in enumerate(lines[: mark.line])
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(_KEY_END.findall(here[: mark.column + 1])) > 1:
        return _advised(problem, 'put text that holds ": " in quotes')
    if not before or _indent(here) < _indent(before[-1][1]):
        return problem
    number, line = before[-1]
    first, *rest = line.split()
    if _KEY_END.search(line) or first.startswith(("-", "'", '"', "[", "{", "|", ">")):
        more = _indent(here) > _indent(line)
        return _advised(problem, f"line {number + 1} has its value already; indent both alike") if more else problem
    said = f"is not valid YAML: {line.strip()!r} has no colon after its key"
    where = f"{problem.where.rsplit(':', 2)[0]}:{number + 1}:{_indent(line) + 1}"
    return Problem(problem.code, said, where, f"write `{' '.join([f'{first}:', *rest])}`")


def _advised(problem: Problem, hint: str) -> Problem:
    return Problem(problem.code, problem.message, problem.where, hint)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_PLAIN_TAGS: dict[type[Any], tuple[str, ...]] = {
    yaml.ScalarEvent: ("tag:yaml.org,2002:str",),
    yaml.SequenceStartEvent: ("tag:yaml.org,2002:seq",),
    yaml.MappingStartEvent: ("tag:yaml.org,2002:map",),
}


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _line(at: Any) -> int:
    return at.line if isinstance(at, Scalar | ListNode | MapNode) else _place(at)[0]


def _list(frame: _Frame) -> ListNode:
    return ListNode(tuple(frame.children), frame.line, frame.column)
