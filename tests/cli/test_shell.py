"""Streams, problems, exit codes, signals and closed pipes of every command."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beaker.cli.__main__ import run
from beaker.cli.shell import DONE, HUNG_UP, INTERRUPTED, REFUSED, TERMINATED, Io, Styled, Terminated, guarded, one_line
from beaker.core.problems import Problem, Refused

FULL = Problem("BK104", "two entries", "beaker.yaml:3", "set default_integration")


def shell(stdout: io.TextIOBase | None = None, *, environ: dict[str, str] | None = None, **options: bool) -> Io:
    return Io(
        stdout=stdout or io.StringIO(),  # type: ignore[arg-type]
        stderr=io.StringIO(),
        stdin=io.StringIO(),
        environ=environ or {},
        cwd=Path(),
        **options,
    )


def said(stream: object) -> str:
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


def test_fail__one_problem__shows_code_place_and_hint() -> None:
    """A problem is one error line and one hint line, and exit code 2."""
    view = shell()
    assert view.fail(FULL) == REFUSED
    assert said(view.stderr) == "error: BK104 beaker.yaml:3: two entries\nhint: set default_integration\n"
    assert said(view.stdout) == ""


def test_fail__neighbours_with_one_hint__say_it_once() -> None:
    """The same advice is not repeated under each fault of a file."""
    view = shell()
    view.fail([FULL, Problem("BK105", "other", "", FULL.hint)])
    assert said(view.stderr).count("hint:") == 1
    assert said(view.stderr).endswith("error: BK105 other\nhint: set default_integration\n")


def test_fail__many_problems__counts_the_rest() -> None:
    """Past the stated limit problems are counted; JSON has all of them."""
    many = [Problem("BK210", f"{'x' * number} row") for number in range(1, 71)]
    view, machine = shell(), shell(json=True)
    view.fail(many)
    assert f" {'x' * 50} row" in said(view.stderr)
    assert f" {'x' * 51} row" not in said(view.stderr)
    assert "20 more" in said(view.stderr)
    machine.fail(many)
    assert len(json.loads(said(machine.stderr))["error"]["problems"]) == 70


def test_fail__many_of_one_kind__shows_some_and_counts_them_per_kind() -> None:
    """Faults that say the same of other rows do not hide those of another kind; each hint is still said."""
    wrong = [
        Problem("BK345", f"'total' must be a number, not 'x{row}'", f"train.jsonl:{row}", "h") for row in range(40)
    ]
    missing = [Problem("BK345", "'id' is missing", f"test.jsonl:{row}") for row in range(6)]
    view = shell()
    view.fail([*wrong, *missing])
    lines = said(view.stderr).splitlines()
    assert [line.split()[2] for line in lines[:5]] == [f"train.jsonl:{row}:" for row in range(5)]
    assert lines[5] == "hint: h"
    assert [line.split()[2] for line in lines[6:12]] == [f"test.jsonl:{row}:" for row in range(6)]
    assert lines[12:] == ["error: BK345 and 35 more like train.jsonl:0: 'total' must be a number, not 'x0'"]


def test_fail__the_same_problem_again_and_again__is_counted_too() -> None:
    """One object in many places is as many problems."""
    view = shell()
    view.fail([FULL] * 9)
    assert said(view.stderr).count("beaker.yaml:3: two entries") == 6
    assert said(view.stderr).endswith("error: BK104 and 4 more like beaker.yaml:3: two entries\n")


def test_fail__json__is_one_line_on_stderr(conforms: Callable[[object, str], None]) -> None:
    """Under --json a refusal is one JSON line on the error stream and nothing on stdout."""
    view = shell(json=True)
    view.fail(FULL)
    (line,) = said(view.stderr).splitlines()
    problem = {"code": "BK104", "message": "two entries", "where": "beaker.yaml:3", "hint": "set default_integration"}
    assert json.loads(line) == {"error": {**problem, "problems": [problem]}}
    conforms(json.loads(line), "cli-error.json")
    assert said(view.stdout) == ""


def test_fail__line_break_in_a_place__starts_no_line() -> None:
    """The name of a file or document cannot pass for another message."""
    view = shell()
    view.fail(Problem("BK616", "cannot update", "faq/a\nerror: BK000 b\r.md"))
    assert said(view.stderr) == "error: BK616 faq/a\\nerror: BK000 b\\r.md: cannot update\n"


def test_out__control_characters__are_visible() -> None:
    """Text from elsewhere cannot move the cursor, colour the terminal or start a line of its own in an id."""
    view = shell()
    view.out("id \x1b[31mred\x07\r end")
    assert said(view.stdout) == "id \\x1b[31mred\\x07\\r end\n"
    assert one_line("a\nb\tc") == "a\\nb\\tc"


class Ascii(io.TextIOWrapper):
    """A stream that carries ASCII only."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="ascii")


def test_out__stream_without_the_letter__escapes_it() -> None:
    """Output never fails because of the locale."""
    stream = Ascii()
    shell(stream).out("Söner 請求")
    assert stream.bytes.getvalue() == b"S\\xf6ner \\u8acb\\u6c42\n"


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_out__styled__colours_only_a_terminal_that_wants_it(
    terminal: bool, environ: dict[str, str], coloured: bool
) -> None:
    """Colour follows the stream, NO_COLOR and TERM; text is the same without it."""
    stream = io.StringIO()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    shell(stream, environ=environ).out(Styled("READY", "ok"), " now")
    assert stream.getvalue() == ("\x1b[1;32mREADY\x1b[0m now\n" if coloured else "READY now\n")


def test_note__quiet_or_json__says_nothing() -> None:
    """Progress and remarks are dropped by --quiet and --json; problems are not."""
    for view in (shell(quiet=True), shell(json=True)):
        view.note("working")
        assert said(view.stderr) == ""
    loud = shell()
    loud.note("working")
    assert said(loud.stderr) == "working\n"


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (Refused(FULL), REFUSED, "BK104"),
        (FileNotFoundError(2, "No such file", "x.json"), REFUSED, "BK701 x.json"),
        (ZeroDivisionError("oops"), REFUSED, "BK949"),
        (KeyboardInterrupt(), INTERRUPTED, ""),
        (Terminated(), TERMINATED, ""),
        (SystemExit(3), 3, ""),
        (SystemExit(None), DONE, ""),
        (BrokenPipeError(), REFUSED, ""),
    ],
)
def test_guarded__whatever_is_raised__becomes_an_exit_code(error: BaseException, code: int, shown: str) -> None:
    """No exception leaves a command; what a person can act on is shown, without a traceback."""

    def command() -> int:
        raise error

    view = shell()
    assert guarded(command, view) == code
    assert shown in said(view.stderr)
    assert "Traceback" not in said(view.stderr)
    assert bool(shown) == bool(said(view.stderr))


def test_guarded__verbose__adds_the_traceback_of_an_internal_error() -> None:
    """--verbose shows where an error inside Beaker came from."""
    view = shell(verbose=True)
    assert guarded(lambda: 1 // 0, view) == REFUSED
    assert "ZeroDivisionError" in said(view.stderr)
    assert "Traceback" in said(view.stderr)


def test_run__verbose_option__shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The option reaches the guard around the command."""
    monkeypatch.setattr("beaker.cli.completion.SHIPPED", None)  # no folder: whether files are shipped or not
    for options, shown in (([], False), (["--verbose"], True)):
        view = shell()
        assert run([*options, "completion", "bash"], view) == REFUSED
        assert ("Traceback" in said(view.stderr)) == shown


WAITING = """
import sys, time
from beaker.cli.shell import guarded, process_io
from beaker.cli.signals import ending_signals, run_async
async def forever():
    import asyncio
    print("ready", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        print("torn down", flush=True)
        {late}
def command():
    {wait}
    return 0
with ending_signals():
    code = guarded(command, process_io())
sys.exit(code)
"""


def waiting(wait: str, late: str = "pass") -> subprocess.Popen[str]:
    """A process that runs a command which waits; it has said that it is ready."""
    script = WAITING.format(wait=wait, late=late)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED), (signal.SIGHUP, HUNG_UP)]
)
@pytest.mark.parametrize("wait", ['print("ready", flush=True); time.sleep(60)', "run_async(forever())"])
def test_signal__first__unwinds_with_its_code_and_no_traceback(number: signal.Signals, code: int, wait: str) -> None:
    """SIGINT ends with 130, SIGTERM with 143 and SIGHUP with 129, after teardown and without a traceback."""
    process = waiting(wait)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err == ""
    assert ("torn down" in out) == ("async" in wait)


def test_signal__second__ends_a_stuck_teardown() -> None:
    """A teardown that hangs cannot hold the process: the second signal ends it at once."""
    process = waiting("run_async(forever())", late="await asyncio.sleep(60)")
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "torn down\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED


def test_signal__second_outside_a_loop__ends_with_its_code_too() -> None:
    """A teardown that blocks is left by the second signal, with the exit code of a signal all the same."""
    steps = (
        "try:",
        '    print("ready", flush=True); time.sleep(60)',
        "finally:",
        '    print("held", flush=True); time.sleep(60)',
    )
    process = waiting("\n    ".join(steps))
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED


def test_signal__hangup_under_nohup__stays_ignored() -> None:
    """Who started the command said that it outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = waiting("run_async(forever())")
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == TERMINATED


@pytest.mark.parametrize("wait", ["run_async(forever())", "{block}"])
def test_signal__second__leaves_no_temporary_folder(tmp_path: Path, wait: str) -> None:
    """Whoever interrupts twice is not left with the case files of a stuck setup."""
    blocking = (
        'try: print("ready", flush=True); time.sleep(60)\n'
        '        finally: print("torn down", flush=True); time.sleep(60)'
    )
    steps = (
        "import tempfile; from beaker.runtime.folders import temporary_folder",
        f"tempfile.tempdir = {str(tmp_path)!r}",
        "with temporary_folder('beaker-x-') as folder:",
        "    (folder / 'sealed').mkdir(0o500)",
        "    " + wait.format(block=blocking),
    )
    process = waiting("\n    ".join(steps), late="await asyncio.sleep(60)")
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(signal.SIGHUP)
    assert process.stdout is not None
    assert process.stdout.readline() == "torn down\n"
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == HUNG_UP
    assert list(tmp_path.iterdir()) == []


def test_main__stdout_closed_early__ends_quietly(cli: Callable[..., "subprocess.Popen[str]"]) -> None:
    """A reader that goes away is no reason for a traceback."""
    process = cli("completion", "bash")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=30) in (0, REFUSED)  # 0: it had written all before the pipe was closed


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_main__stdout_on_a_full_disk__says_so() -> None:
    """Output that could not be written is a failure, said in one line."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "beaker.cli", "completion", "bash"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == REFUSED
    assert done.stderr == "error: BK947 standard output could not be written: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_main__both_streams_on_a_full_disk__still_ends_with_2() -> None:
    """When nobody can be told, the exit code tells."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "beaker.cli", "run", "status"]
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == REFUSED


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_main__version_on_a_full_disk__is_no_success() -> None:
    """The shortest way to an answer is guarded as well."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "beaker.cli", "--version"]
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == REFUSED


def test_main__closed_streams__do_no_harm() -> None:
    """A process started without standard streams runs all the same."""
    script = f"exec {shlex.quote(sys.executable)} -m beaker.cli completion bash <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], check=False).returncode == DONE


def test_main__argument_that_is_no_text__is_a_problem(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 in an argument are shown escaped and end in a problem, not in a traceback."""
    command = [sys.executable.encode(), b"-m", b"beaker.cli", b"--base-url", b"http://127.0.0.1:1", b"--api-key", b"k"]
    done = subprocess.run(
        [*command, b"run", b"status", b"\xff\xfe", b"--agent", b"a"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == REFUSED
    assert b"Traceback" not in done.stderr
    assert b"BK949" not in done.stderr


@pytest.fixture
def cli() -> Callable[..., "subprocess.Popen[str]"]:
    """Start `beaker` as a process of its own."""

    def start(*argv: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "beaker.cli", *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    return start
