"""Tables and labelled values for people: cells are cut to their column, control characters made visible."""

from collections.abc import Iterable, Sequence

from beaker.cli.shell import Io, one_line

Column = tuple[str, int]
"""Heading and width in characters; the last column of a table is as wide as it needs to be."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]], *, wide: bool = False) -> Iterable[str]:
    """The lines of a table: the headings, then one line per row; a missing value (`None`, empty) is `-`.

    `wide` makes each column as wide as it needs to be, so that nothing is cut.
    """
    headings = [heading for heading, _ in columns]
    cells = [[_cell(value) for value in row] for row in rows]
    if wide:
        widths = (max(map(len, column)) for column in zip(headings, *cells, strict=True))
        columns = list(zip(headings, widths, strict=True))
    yield _line(columns, headings)
    for row in cells:
        yield _line(columns, row)


def show_table(io: Io, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: as `rich` draws it where that is installed and the output is a terminal, else as `table` does."""
    from beaker.cli.rich_tables import rich_lines

    listed = list(rows)
    cells = [[_cell(value) for value in row] for row in listed]
    drawn = None if io.wide else rich_lines(io.stdout, io.environ, [heading for heading, _ in columns], cells)
    if drawn is not None:
        for line in drawn:
            io.plain(line)
        return
    for line in table(columns, listed, wide=io.wide):
        io.out(line)


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
