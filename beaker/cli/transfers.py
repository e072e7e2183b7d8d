"""How far files are on their way, told while they travel."""

from typing import TYPE_CHECKING

from beaker.cli.shell import Io, one_line
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.client.fetching import Progress

PROGRESS_SECONDS = 1.0
"""Seconds between two lines."""


def telling(io: Io, moved: str, *, at_the_end: bool) -> "Progress":
    """Says now and then that a file has `moved` and how much of all, and `at_the_end` that everything has; on a
    terminal as a line that is drawn over."""
    from beaker.cli.progress import counting
    from beaker.core.progress import size

    told = io.now()
    latest = ""
    drawn = counting(io, moved, lambda done, total: f"{size(done)} of {size(total)}, {latest}")

    def tell(path: str, done: int, total: int) -> None:
        nonlocal told, latest
        latest = path
        over = at_the_end and done >= total
        if io.line is not None:
            drawn(done, total)
        if over:
            # Several travel at once, so which of them came last says nothing.
            io.note(f"  {moved} all {counted(total, 'byte')}")
        elif io.line is None and io.now() - told >= PROGRESS_SECONDS:
            told = io.now()
            io.note(f"  {moved} {one_line(path)}; {done} of {counted(total, 'byte')} in all")

    return tell
