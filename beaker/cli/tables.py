"""Tables and labelled values for people: cells are cut to their column, control characters made visible."""

from collections.abc import Iterable, Sequence

from beaker.cli.shell import one_line

Column = tuple[str, int]
"""Heading and width in characters; the last column of a table is as wide as it needs to be."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> Iterable[str]:
    """The lines of a table: the headings, then one line per row; a missing value (`None`, empty) is `-`."""
    yield _line(columns, [heading for heading, _ in columns])
    for row in rows:
        yield _line(columns, [_cell(value) for value in row])


def labelled(pairs: Iterable[tuple[str, object]]) -> Iterable[str]:
    """Lines of aligned `label  value`."""
    listed = [(label, _cell(value)) for label, value in pairs]
    width = max((len(label) for label, _ in listed), default=0)
    yield from (f"{label:<{width}}  {value}" for label, value in listed)


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else one_line(str(value))


def _line(columns: Sequence[Column], cells: Sequence[str]) -> str:
    shown = [
        cell if number == len(columns) - 1 else f"{cell[:width]:<{width}}"
        for number, ((_, width), cell) in enumerate(zip(columns, cells, strict=True))
    ]
    return "  ".join(shown).rstrip()
