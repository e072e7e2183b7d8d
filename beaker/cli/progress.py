"""How far something is: a line that is drawn over on a terminal, lines now and then elsewhere.

Nothing is said of what takes less than two seconds, nor under --quiet and --json.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from beaker.cli.shell import Io

TICK = 0.25
"""Seconds between two looks at how long something takes already."""


class LiveLine:
    """The last line of a terminal, drawn over and over. It goes before anything else is printed."""

    def __init__(self, stream: "TextIO") -> None:
        self._stream = stream
        self._lock = threading.RLock()
        self._drawn = False

    def draw(self, text: str) -> None:
        """Show `text`, cut to the width of the terminal, in place of what was shown."""
        from beaker.core.text import one_line

        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        shown = one_line(text).encode(encoding, "backslashreplace").decode(encoding)[: self._width() - 1]
        with self._lock:
            self._write(f"\r{shown}\x1b[K")
            self._drawn = True

    def clear(self) -> None:
        """Take the line away, so that something else can stand there."""
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._write("\r\x1b[K")

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            pass  # progress is no result: what is lost with it is said by whatever comes next


def live_line(io: "Io") -> LiveLine | None:
    """The line for progress of a command, where one is wanted: on a terminal that can draw, unless quiet or JSON."""
    wanted = io.stderr.isatty() and io.environ.get("TERM") != "dumb" and not (io.quiet or io.json)
    return LiveLine(io.stderr) if wanted else None


def counting(io: "Io", what: str, said: Callable[[int, int], str]) -> Callable[[int, int], None]:
    """Takes how many of how many are done. `what` is done, `said` words the counts; done as a whole, nothing is left
    of a drawn line."""
    from beaker.core.progress import PLAIN_PACE, TERMINAL_PACE, bar, is_due

    began, told = io.clock(), None

    def tell(done: int, total: int) -> None:
        nonlocal told
        line, now = io.line, io.clock()
        if line is not None and done >= total:
            line.clear()
        elif is_due(PLAIN_PACE if line is None else TERMINAL_PACE, began=began, told=told, now=now):
            told = now
            text = f"{what} {said(done, total)}"
            if line is None:
                io.note(f"  {text}")
            else:
                line.draw(f"{text}  {bar(done, total)}")

    return tell


@contextmanager
def busy(io: "Io", what: str) -> Iterator[None]:
    """While the block runs, says that `what` goes on, and for how long already.

    Other lines take the place of one that is drawn over when they come; it is drawn below them again.
    """
    if io.quiet or io.json or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_say_while, args=(io, what, io.clock(), over), daemon=True)
    thread.start()
    try:
        try:
            yield
        finally:
            over.set()
    finally:  # an interrupt may come in the one above
        over.set()
        thread.join()
        if io.line is not None:
            io.line.clear()


def _say_while(io: "Io", what: str, began: float, over: threading.Event) -> None:
    from beaker.core.progress import PLAIN_PACE, TERMINAL_PACE, is_due

    told: float | None = None
    pace = PLAIN_PACE if io.line is None else TERMINAL_PACE
    while not over.wait(TICK):
        now = io.clock()
        if not is_due(pace, began=began, told=told, now=now):
            continue
        told = now
        text = f"{what} ... {now - began:.0f} s"
        if io.line is not None:
            io.line.draw(text)
            continue
        try:
            io.note(f"  {text}")
        except OSError:
            return  # whatever is said next finds out too
