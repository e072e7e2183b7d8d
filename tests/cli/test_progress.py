"""Progress: drawn over on a terminal, lines now and then elsewhere, nothing where nothing is wanted."""

import io
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from beaker.cli.progress import LiveLine, busy, counting, live_line
from beaker.cli.shell import Io
from beaker.cli.tables import show_table, table
from beaker.cli.transfers import telling

CLEARED = "\r\x1b[K"


class Terminal(io.StringIO):
    """A stream that says it is a terminal; `drawn` is set when something was drawn on it."""

    encoding = "ascii"

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if text.startswith(("\r", "  ")) and text != CLEARED:
            self.drawn.set()
        return written


class Clock:
    """Time that passes when it is told to."""

    time = 0.0

    def __call__(self) -> float:
        return self.time


def view(clock: Clock, stream: io.StringIO, *, environ: dict[str, str] | None = None, **options: bool) -> Io:
    made = Io(
        stdout=io.StringIO(),
        stderr=stream,
        stdin=io.StringIO(),
        environ=environ or {},
        cwd=Path(),
        now=clock,
        clock=clock,
        **options,
    )
    made.line = live_line(made)
    return made


def counted_to(shell: Io, clock: Clock, times: Iterable[float], total: int) -> None:
    tell = counting(shell, "moved", lambda done, of: f"{done} of {of} things")
    for done, time in enumerate(times, 1):
        clock.time = time
        tell(done, total)


def test_counting__terminal__draws_a_bar_after_two_seconds_and_takes_it_away() -> None:
    """The line is drawn over, at most ten times a second, in ASCII, and nothing of it stays."""
    clock, stream = Clock(), Terminal()
    counted_to(view(clock, stream), clock, [1.0, 2.0, 2.05, 2.2, 9.0], 5)
    bars = ["[#########...............]  40 %", "[###################.....]  80 %"]
    shown = [f"\rmoved {done} of 5 things  {bar}\x1b[K" for done, bar in zip((2, 4), bars, strict=True)]
    assert stream.getvalue() == "".join(shown) + CLEARED


def test_counting__no_terminal__says_lines_now_and_then() -> None:
    """In a log progress is a few whole lines without control characters."""
    clock, stream = Clock(), io.StringIO()
    counted_to(view(clock, stream), clock, [1.0, 2.0, 3.0, 7.0, 8.0, 20.0], 100)
    assert stream.getvalue() == "  moved 2 of 100 things\n  moved 4 of 100 things\n  moved 6 of 100 things\n"


@pytest.mark.parametrize("switch", ["quiet", "json"])
def test_counting__quiet_or_json__says_nothing(switch: str) -> None:
    """Whoever wants no remarks gets none, on a terminal or not."""
    for stream in (Terminal(), io.StringIO()):
        clock = Clock()
        counted_to(view(clock, stream, **{switch: True}), clock, [5.0, 10.0], 2)
        assert stream.getvalue() == ""


def test_live_line__terminal_that_cannot_draw__has_none() -> None:
    """A dumb terminal gets lines."""
    assert view(Clock(), Terminal(), environ={"TERM": "dumb"}).line is None


def test_draw__text_from_elsewhere__stays_in_its_line() -> None:
    """Control characters, other scripts and long names neither leave the line nor break an ASCII stream."""
    stream = Terminal()
    LiveLine(stream).draw("a\n\x1b[31mé" + "x" * 200)
    shown = stream.getvalue()
    assert shown.startswith("\ra\\n\\x1b[31m\\xe9xxx")
    assert len(shown) == len("\r" + "\x1b[K") + 79


def test_write__anything__takes_the_place_of_the_line() -> None:
    """What is printed stands in a clean line; where nothing was drawn, nothing is cleared."""
    stream = Terminal()
    shell = view(Clock(), stream)
    assert shell.line is not None
    shell.note("first")
    shell.line.draw("half")
    shell.note("second")
    shell.note("third")
    assert stream.getvalue() == f"first\n\rhalf\x1b[K{CLEARED}second\nthird\n"


def test_busy__longer_than_two_seconds__says_what_goes_on() -> None:
    """A wait without counts says how long it has lasted, and leaves nothing behind."""
    clock, stream = Clock(), Terminal()
    with busy(view(clock, stream), "waiting"):
        clock.time = 3.0
        assert stream.drawn.wait(30)
    assert "\rwaiting ... 3 s\x1b[K" in stream.getvalue()
    assert stream.getvalue().endswith(CLEARED)


def test_busy__no_terminal__says_so_in_lines_now_and_then() -> None:
    """A log tells that something goes on, in whole lines and not too often."""
    clock, stream = Clock(), Terminal()
    stream.isatty = lambda: False  # type: ignore[method-assign]
    with busy(view(clock, stream), "waiting"):
        for time in (2.0, 7.0):
            clock.time = time
            assert stream.drawn.wait(30)
            stream.drawn.clear()
            clock.time = time + 4.9
    assert stream.getvalue() == "  waiting ... 2 s\n  waiting ... 7 s\n"


def test_busy__over_at_once__says_nothing() -> None:
    """What is over before two seconds have passed needs no words."""
    for stream in (Terminal(), io.StringIO()):
        with busy(view(Clock(), stream), "waiting"):
            pass
        assert stream.getvalue() == ""


@pytest.mark.parametrize("switch", ["quiet", "json"])
def test_busy__quiet_or_json__says_nothing(switch: str) -> None:
    """Whoever wants no remarks is not told of waits either, and nothing looks for them."""
    threads = threading.active_count()
    with busy(view(Clock(), Terminal(), **{switch: True}), "waiting"):
        assert threading.active_count() == threads


@pytest.mark.parametrize("terminal", [True, False])
def test_busy__interrupted__leaves_nobody_behind_who_talks(terminal: bool) -> None:
    """The wait is over when an interrupt ends it, and so is what is said of it."""
    stream = Terminal()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt), busy(view(Clock(), stream), "waiting"):
        raise KeyboardInterrupt
    assert threading.active_count() == threads


def test_transfer__terminal__draws_sizes_and_ends_with_a_line() -> None:
    """Files that travel are a bar with the file at hand; the end is a line that stays."""
    clock, stream = Clock(), Terminal()
    tell = telling(view(clock, stream), "sent", at_the_end=True)
    clock.time = 3.0
    tell("a/b.txt", 1024, 4096)
    tell("c.txt", 4096, 4096)
    assert stream.getvalue() == (
        f"\rsent 1.0 KiB of 4.0 KiB, a/b.txt  [######..................]  25 %\x1b[K{CLEARED}  sent all 4096 bytes\n"
    )


def test_table__wide__cuts_nothing_and_aligns() -> None:
    """Columns are as wide as what stands in them, headings included."""
    columns = (("ID", 4), ("STATE", 3), ("LAST", 0))
    rows = [("abcdefgh", "x", "1"), (None, "yy", "22")]
    assert list(table(columns, rows)) == ["ID    STA  LAST", "abcd  x    1", "-     yy   22"]
    assert list(table(columns, rows, wide=True)) == [
        "ID        STATE  LAST",
        "abcdefgh  x      1",
        "-         yy     22",
    ]
    assert list(table(columns, [], wide=True)) == ["ID  STATE  LAST"]


STATES = [("r-" + "0" * 60, "COMPLETED"), ("[red]r2[/red]\x1b[31m", "FAILED"), ("r3", None)]


def shown_table(*, colourless: bool, wide: bool = False) -> str:
    stream = Terminal()
    environ = {"COLUMNS": "40", "TERM": "xterm", **({"NO_COLOR": "1"} if colourless else {})}
    shell = Io(stdout=stream, stderr=io.StringIO(), stdin=io.StringIO(), environ=environ, cwd=Path(), wide=wide)
    show_table(shell, (("RUN ID", 10), ("STATUS", 9)), STATES)
    return stream.getvalue()


def test_rich_table__terminal__cuts_nothing_and_takes_nothing_for_markup() -> None:
    """Where rich is installed a table fits the terminal, ids fold, and text from elsewhere is text."""
    pytest.importorskip("rich", reason="needs rich")
    shown = shown_table(colourless=True)
    assert all(len(line) <= 40 for line in shown.splitlines())
    assert shown.count("0") >= 60
    assert "[red]r2[/red]\\x1b[31m" in shown
    assert "\x1b" not in shown
    assert shown.isascii()
    assert "\x1b[32mCOMPLETED" in shown_table(colourless=False)


def test_rich_table__wide__is_the_plain_one() -> None:
    """Whoever wants lines in full gets one line for each row."""
    lines = shown_table(colourless=False, wide=True).splitlines()
    assert len(lines) == 4
    assert lines[1] == f"{STATES[0][0]}  COMPLETED"


def test_table__no_terminal_or_no_rich__is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts get the same table whatever is installed, and so does a terminal without rich."""
    monkeypatch.setitem(sys.modules, "rich.box", None)
    assert shown_table(colourless=False).splitlines()[0] == "RUN ID      STATUS"
    monkeypatch.undo()
    stream = io.StringIO()
    shell = Io(stdout=stream, stderr=io.StringIO(), stdin=io.StringIO(), environ={}, cwd=Path())
    show_table(shell, (("RUN ID", 10), ("STATUS", 9)), STATES)
    assert stream.getvalue().splitlines()[1] == "r-00000000  COMPLETED"
