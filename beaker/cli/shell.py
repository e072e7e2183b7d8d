"""What every command shares: its streams, how problems are shown, the exit codes, signals and closed pipes.

What each exit code means is said in `beaker.cli.exit_codes`.

Nothing heavy is imported here: `beaker --version` goes through this module.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping

TYPE_CHECKING = False  # importing typing for it would take longer than `beaker --version` does
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TextIO

    from beaker.cli.progress import LiveLine
    from beaker.core.problems import Problem

DONE, NEGATIVE, REFUSED, UNFINISHED = 0, 1, 2, 3
INTERRUPTED, TERMINATED, HUNG_UP = 130, 143, 129

SHOWN_PROBLEMS, SHOWN_OF_A_KIND = 50, 5
"""Problems printed one by one, in all and of those that say the same; `--json` carries all of them."""

_STYLES = {"heading": "1", "key": "36", "ok": "1;32", "warn": "1;33", "error": "1;31", "muted": "2"}


class OutputLost(OSError):
    """What a command had to say could not be written: the disk that takes it is full, say."""


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; unwinds like an interrupt and ends with 143."""

    code = TERMINATED


class HungUp(Terminated):
    """SIGHUP arrived, so the terminal is gone; unwinds like an interrupt and ends with 129."""

    code = HUNG_UP


class Io:
    """One command's view of the world: streams, environment, working directory, clock, and how much to say.

    `json` puts problems on the error stream as one JSON line and drops notes; `quiet` drops notes only.
    `verbose` tells what only whoever looks for a fault wants to know, beside `quiet` and `json` too.
    `wide` cuts nothing in tables. `line` is where progress is drawn, `None` where none is (`beaker.cli.progress`).
    `now` and `sleep` are in seconds; `clock`, in seconds too, measures how long something takes. `program` is what
    started us, `options` the global options it was given that another command would need too, ready for a shell.
    `warned` holds the codes that `warn_once` has shown.
    """

    def __init__(
        self,
        *,
        stdout: TextIO,
        stderr: TextIO,
        stdin: TextIO,
        environ: Mapping[str, str],
        cwd: Path,
        json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
        wide: bool = False,
        line: LiveLine | None = None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        program: str = "beaker",
        options: str = "",
        warned: set[str] | None = None,
    ) -> None:
        self.stdout, self.stderr, self.stdin = stdout, stderr, stdin
        self.environ, self.cwd = environ, cwd
        self.json, self.quiet, self.verbose, self.wide = json, quiet, verbose, wide
        self.line = line
        self.now, self.sleep, self.clock = now, sleep, clock
        self.program, self.options = program, options
        self.warned = set() if warned is None else warned

    def derive(self, **changes: Any) -> Io:
        """This view with some of its constructor's arguments replaced."""
        return Io(**{**vars(self), **changes})

    def command(self, *words: str) -> str:
        """The command line that performs `words` on the same place and project, to be shown and copied."""
        from beaker.cli.words import command_line

        return command_line(self, words)

    def out(self, *parts: str) -> None:
        """Print the joined `parts` and a line end as a result; control characters are made visible."""
        self._write(self.stdout, *parts)

    def note(self, *parts: str) -> None:
        """Print on the error stream: progress and remarks, nothing a script reads. Dropped by quiet and JSON."""
        if not (self.quiet or self.json):
            self._write(self.stderr, *parts)

    def tell(self, *parts: str) -> None:
        """Print on the error stream what somebody must know that is no problem. Dropped under JSON, not by quiet."""
        if not self.json:
            self._write(self.stderr, *parts)

    def detail(self, text: str) -> None:
        """Print on the error stream what `--verbose` asks for, and nothing without it; under JSON as a JSON line."""
        if not self.verbose:
            return
        if self.json:
            from beaker.core.strict_json import dumps

            text = dumps({"verbose": text})
        self._write(self.stderr, text)

    def warn(self, problem: Problem) -> None:
        """Show a problem that stops nothing. Dropped under JSON, not by quiet."""
        if not self.json:
            self._show(self._advised(problem), Styled("warning:", "warn"), hint=True)

    def warn_once(self, problem: Problem) -> None:
        """As `warn`, for what one command meets again and again: its code is shown once."""
        if problem.code not in self.warned:
            self.warned.add(problem.code)
            self.warn(problem)

    def plain(self, text: str) -> None:
        """Print a text of ours as a result, and import nothing to look through it."""
        self._put(self.stdout, text)

    def json_line(self, data: object) -> None:
        """Print `data` as one compact JSON line."""
        from beaker.core.strict_json import dumps

        self._write(self.stdout, dumps(data))

    def fail(self, problems: Problem | Iterable[Problem], *, code: int = REFUSED) -> int:
        """Show why the command stops and return its exit code. The one place where problems reach a person."""
        several = tuple(map(self._advised, problems if isinstance(problems, Iterable) else (problems,)))
        if self.json:
            from beaker.core.strict_json import dumps

            self._write(self.stderr, dumps({"error": problems_json(several)}))
            return code
        label = Styled("error:", "error")
        first, left = _first_of_each_kind(several)
        shown = first[:SHOWN_PROBLEMS]
        for problem, following in zip(shown, [*shown[1:], None], strict=True):
            # A hint shared by neighbours is said once, after the last of them.
            self._show(problem, label, hint=following is None or following.hint != problem.hint)
        for kind, count in left:
            place = f"{one_line(kind.where)}: " if kind.where else ""
            like, *_ = kind.message.splitlines() or [""]
            self._write(self.stderr, label, f" {kind.code} and {count} more like {place}{like}")
        if len(first) > SHOWN_PROBLEMS:
            self._write(self.stderr, label, f" and {len(first) - SHOWN_PROBLEMS} more of these")
        return code

    def _advised(self, problem: Problem) -> Problem:
        """`problem`, with the commands that its hint names as they would have to be typed here."""
        from beaker.cli.words import advised

        return advised(problem, self)

    def _show(self, problem: Problem, label: Styled, *, hint: bool) -> None:
        first, *rest = problem.message.splitlines() or [""]
        self._write(
            self.stderr, label, f" {problem.code} ", f"{one_line(problem.where)}: " if problem.where else "", first
        )
        for line in rest:
            self._write(self.stderr, "  ", line)
        if hint and problem.hint:
            self._write(self.stderr, Styled("hint:", "key"), " ", problem.hint.replace("\n", "\n      "))

    def _write(self, stream: TextIO, *parts: str) -> None:
        """Write `parts` as a line: control characters visible, what the stream's encoding lacks escaped."""
        from beaker.core.text import visible

        coloured = stream.isatty() and not self.environ.get("NO_COLOR") and self.environ.get("TERM") != "dumb"
        text = "".join(
            f"\x1b[{_STYLES[part.role]}m{visible(part)}\x1b[0m"
            if coloured and isinstance(part, Styled)
            else visible(part)
            for part in parts
        )
        encoding = getattr(stream, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.encode(encoding, "backslashreplace").decode(encoding)
        self._put(stream, text)

    def _put(self, stream: TextIO, text: str) -> None:
        """Write a line of ours as it is, in place of progress that is drawn there."""
        if self.line is not None:
            self.line.clear()
        try:
            stream.write(text + "\n")
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error.errno, error.strerror) from error


def _first_of_each_kind(problems: tuple[Problem, ...]) -> tuple[list[Problem], list[tuple[Problem, int]]]:
    """The problems to be shown, in order, and how many more say the same as each kind's first."""
    from beaker.core.wording import alike

    kinds: dict[tuple[str, str], list[int]] = {}
    for at, problem in enumerate(problems):
        kinds.setdefault((problem.code, alike(problem.message)), []).append(at)
    # One more is no shorter as a count than as itself.
    cut = [places for places in kinds.values() if len(places) > SHOWN_OF_A_KIND + 1]
    hidden = {at for places in cut for at in places[SHOWN_OF_A_KIND:]}
    shown = [problem for at, problem in enumerate(problems) if at not in hidden]
    return shown, [(problems[places[0]], len(places) - SHOWN_OF_A_KIND) for places in cut]


class Styled(str):
    """A part of a line in the colour of its `role` where the stream is a terminal that wants colour.

    Roles: heading, key, ok, warn, error, muted. Colour is a type, not an escape sequence in the text, so that text
    from elsewhere cannot bring its own.
    """

    __slots__ = ("role",)
    role: str

    def __new__(cls, text: str, role: str) -> Styled:
        made = super().__new__(cls, text)
        made.role = role
        return made


def problems_json(problems: tuple[Problem, ...]) -> dict[str, Any]:
    """The JSON form of a refusal: the first problem's keys, and `problems`, all of them, with the same keys each."""
    every = [{name: getattr(problem, name) for name in ("code", "message", "where", "hint")} for problem in problems]
    return {**every[0], "problems": every}


def one_line(text: str) -> str:
    """`text` with control characters, line ends included, made visible: for ids, names and states inside a line."""
    from beaker.core.text import one_line

    return one_line(text)


def process_io() -> Io:
    """The view of this process; a stream that was closed before we started swallows what it is given."""
    from pathlib import Path

    streams: dict[str, Any] = {}
    for name, mode in (("stdout", "w"), ("stderr", "w"), ("stdin", "r")):
        streams[name] = getattr(sys, name) or open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  # lives on
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        cwd = Path(os.environ.get("PWD", "/"))
    return Io(**streams, environ=os.environ, cwd=cwd, program=sys.argv[0] if sys.argv else "beaker")


def guarded(command: Callable[[], int], io: Io) -> int:
    """Run one command to its exit code: what it raises becomes a problem, a signal its code, a closed pipe silence."""
    try:
        try:
            return _settled(command, io)
        except KeyboardInterrupt as interrupt:
            return interrupt.code if isinstance(interrupt, Terminated) else INTERRUPTED
        finally:
            if io.line is not None:
                io.line.clear()
            io.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone. What was asked may be unfinished, so this is never 0.
        _discard(io.stdout)
        return REFUSED
    except OSError as error:
        _discard(io.stdout)
        try:
            return io.fail(_output_lost(error))
        except OSError:
            _discard(io.stderr)
            return REFUSED  # nobody can be told


def _settled(command: Callable[[], int], io: Io) -> int:
    try:
        return command()
    except (KeyboardInterrupt, BrokenPipeError, OutputLost):
        raise
    except SystemExit as exit_:  # argparse, after --help, --version or its own usage message
        return exit_.code if isinstance(exit_.code, int) else DONE
    except Exception as error:
        from beaker.core.problems import Problem, Refused

        if isinstance(error, Refused):
            return io.fail(error.problems)
        if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
            hint = "give names and ids in UTF-8"
            return io.fail(Problem("BK946", f"{error.object[:80]!r} holds bytes that are no text", hint=hint))
        if isinstance(error, OSError):
            from beaker.files.atomic import os_problem

            return io.fail(os_problem(error, "read or write a file"))
        if io.verbose:
            import traceback

            io.detail("".join(traceback.format_exception(error)).rstrip())
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame is not None else ""
        return io.fail(
            Problem(
                "BK949",
                f"an error inside Beaker: {type(error).__name__}: {error}",
                where,
                "run it again with --verbose for the traceback, and report it",
            )
        )


def _output_lost(error: OSError) -> Problem:
    from beaker.core.problems import Problem

    return Problem("BK947", f"standard output could not be written: {error.strerror or error}")


def _discard(stream: TextIO) -> None:
    """Point a real stream at nothing, so that the interpreter's flush at exit neither speaks nor changes the code."""
    try:
        number = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)
