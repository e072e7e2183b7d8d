"""Edits of a customer's module as text: what a syntax tree points at becomes something else, and nothing around it."""

import ast
import re
from collections.abc import Iterable

from beaker.core.values import value

_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
"""Where Python's lines end; what else `splitlines` takes for an end (a form feed, say) stands inside of a line."""


@value
class SourceEdit:
    """`source[start:end]`, in bytes of UTF-8, becomes `new`; `what` says which change it belongs to, `line` where."""

    start: int
    end: int
    new: str
    line: int
    what: str


@value
class SourceText:
    """A module's text as UTF-8, and the offset at which each of its lines begins."""

    data: bytes
    starts: tuple[int, ...]

    def start(self, node: ast.AST) -> int:
        """The offset at which a node begins."""
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]  # whatever has a place

    def end(self, node: ast.AST) -> int:
        """The offset behind a node."""
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]  # whatever has a place

    def offset(self, line: int, column: int) -> int:
        """The offset of a place as the syntax tree tells it: lines from 1, columns in bytes."""
        return self.starts[line - 1] + column

    def line(self, node: ast.AST) -> tuple[int, int]:
        """The offsets at which the line that a node begins on begins and ends, its line end included."""
        number = node.lineno  # type: ignore[attr-defined]  # whatever has a place
        return self.starts[number - 1], self.starts[number] if number < len(self.starts) else len(self.data)

    def text(self, start: int, end: int) -> str:
        """What stands between two offsets."""
        return self.data[start:end].decode()


def source_text(source: str) -> SourceText:
    """`source` with the places of its lines."""
    data = source.encode()
    return SourceText(data, (0, *(found.end() for found in _LINE_ENDS.finditer(data))))


def edited(source: str, edits: Iterable[SourceEdit]) -> str:
    """`source` with every edit made. They do not overlap; of two at one offset the first given comes first."""
    data, at, parts = source.encode(), 0, []
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        parts += [data[at : edit.start], edit.new.encode()]
        at = edit.end
    return b"".join((*parts, data[at:])).decode()
