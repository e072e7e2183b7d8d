"""Tables as the extra `rich` draws them: fitted to the width of the terminal, nothing cut, states in their colour."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

STATES = {"COMPLETED": "green", "COMPLETE": "green", "FAILED": "red", "HELDOUT_FAILED": "red", "CANCELLED": "red"}
"""Words of a cell that have a colour of their own; those that say that something goes on have one too."""

GOING_ON = frozenset({"BUILDING", "QUEUED", "RUNNING"})


def rich_lines(
    stream: TextIO, environ: "Mapping[str, str]", headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[str] | None:
    """The lines of the table, with the colours of the terminal; `None` where `rich` is not installed, or `stream` is no
    terminal that can show it. Cells are text without control characters: none is taken for markup."""
    if not stream.isatty() or environ.get("TERM") == "dumb":
        return None
    try:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return None
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    console = Console(
        file=stream,
        force_terminal=not environ.get("NO_COLOR"),  # without it, no escape sequence is written at all
        safe_box=not encoding.startswith("utf"),
        legacy_windows=False,
        _environ=environ,
    )
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    with console.capture() as captured:
        console.print(table)
    return [line for line in captured.get().splitlines() if line.strip()]


def _style(cell: str) -> str:
    return STATES.get(cell, "yellow" if cell in GOING_ON else "")
