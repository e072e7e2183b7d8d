"""How far files are on their way, told while they travel."""

from typing import TYPE_CHECKING

from beaker.cli.shell import Io, one_line
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.client.fetching import Progress

PROGRESS_SECONDS = 1.0
"""Seconds between two lines."""


def telling(io: Io, moved: str, *, at_the_end: bool) -> "Progress":
    """Says now and then that a file has `moved` and how much of all, and `at_the_end` that everything has."""
    told = io.now()

    def tell(path: str, done: int, total: int) -> None:
        nonlocal told
        if (at_the_end and done >= total) or io.now() - told >= PROGRESS_SECONDS:
            told = io.now()
            io.note(f"  {moved} {one_line(path)}; {done} of {counted(total, 'byte')} in all")

    return tell
