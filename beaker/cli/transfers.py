"""How far files are on their way, told while they travel."""

from typing import TYPE_CHECKING

from beaker.cli.progress import counting
from beaker.cli.shell import Io
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.client.fetching import Progress


def telling(io: Io, moved: str, *, at_the_end: bool) -> "Progress":
    """Says now and then how much of all files has `moved` and which one comes, and `at_the_end` that everything has; on
    a terminal as a line that is drawn over."""
    from beaker.core.progress import size

    latest = ""
    drawn = counting(io, moved, lambda done, total: f"{size(done)} of {size(total)}, {latest}")

    def tell(path: str, done: int, total: int) -> None:
        nonlocal latest
        latest = path
        drawn(done, total)
        if at_the_end and done >= total:
            # Several travel at once, so which of them came last says nothing.
            io.note(f"  {moved} all {counted(total, 'byte')}")

    return tell
