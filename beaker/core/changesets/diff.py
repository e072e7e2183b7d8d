"""A change set as people read it: a unified diff over the documents it changes."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    Place,
    TargetDocument,
    UpdateDocumentChange,
    content_sha256,
)
from beaker.core.text import one_line

# Comparing lines costs, at worst, the product of both sides; beyond this a document is shown as replaced whole.
_MAX_PRODUCT = 4_000_000
_CONTEXT = 3

_DONE = "(done already)\n"


def render_diff(documents: Iterable[TargetDocument] | None, change_set: DocumentChangeSet) -> str:
    """The changes as a unified diff, one section per operation, in the set's order; empty for an empty set.

    With `documents` (the seeds, or what a store holds) old lines are shown as well; a document that is not among them,
    or all of them when it is `None`, shows only what the change set itself carries: its new content. Remarks in
    parentheses say what is done already and what does not fit. Names and versions are written on one line with control
    characters escaped, so that none can pass for a line of the diff. Text is as it is; whoever prints it makes control
    characters visible.
    """
    known: dict[Place, str] = {(one.group, one.name): one.content for one in documents or ()}
    lines: list[str] = []
    for change in change_set.changes:
        lines += _section(change, known.get((change.group, change.name)))
    return "".join(lines)


def _section(change: DocumentChange, old: str | None) -> Iterator[str]:
    place = one_line(f"{change.group}/{change.name}")
    yield f"{change.op} {place}\n"
    if isinstance(change, CreateDocumentChange):
        if old is not None:
            yield _DONE if old == change.content else "(the name is taken by another document)\n"
        if old != change.content:
            yield from text_diff("/dev/null", place, "", change.content)
        return
    if old is None:
        base = f"base sha256 {change.base_sha256[:16]}"
        yield f"({base}, version {one_line(change.base_version)})\n" if change.base_version else f"({base})\n"
    elif isinstance(change, UpdateDocumentChange) and old == change.content:
        yield _DONE
    elif content_sha256(old) != change.base_sha256:
        yield "(not the document that the change was made from)\n"
    if isinstance(change, DeleteDocumentChange):
        yield from () if old is None else text_diff(place, "/dev/null", old, "")
    elif old is None:
        yield f"+++ {place}\n"
        yield from _marked("+", _lines(change.content))
    else:
        yield from text_diff(place, place, old, change.content)


def text_diff(old_name: str, new_name: str, old: str, new: str) -> Iterator[str]:
    """A unified diff of two texts, line by line with its line ends; nothing for equal ones."""
    before, after = _lines(old), _lines(new)
    if before == after:
        return
    yield f"--- {old_name}\n"
    yield f"+++ {new_name}\n"
    if len(before) * len(after) > _MAX_PRODUCT:
        groups = [[("replace", 0, len(before), 0, len(after))]]
    else:
        groups = [*map(list, SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT))]
    for opcodes in groups:
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = opcodes[0], opcodes[-1]
        yield f"@@ -{_span(old_start, old_end)} +{_span(new_start, new_end)} @@\n"
        for tag, first, last, new_first, new_last in opcodes:
            if tag == "equal":
                yield from _marked(" ", before[first:last])
            else:
                yield from _marked("-", before[first:last])
                yield from _marked("+", after[new_first:new_last])


def _span(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _lines(content: str) -> list[str]:
    """Lines as a diff counts them: only a line feed ends one."""
    lines = [f"{line}\n" for line in content.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
