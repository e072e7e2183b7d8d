"""A real terminal: progress in a line that is drawn over, and Ctrl-C in a watch."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

CONTROLLED = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execv(sys.executable, [sys.executable, '-m', 'beaker.cli', *sys.argv[1:]])\n"
)
RUN = "GET /v1/optimization-runs/r1"


class Session:
    """A command in a terminal of its own, whose keys reach it as signals."""

    def __init__(self, *argv: str, cwd: Path) -> None:
        self._keys, other = pty.openpty()
        environ = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLED, *argv],
            cwd=cwd, env=environ, stdin=other, stdout=other, stderr=other, start_new_session=True,
        )  # fmt: skip
        os.close(other)
        self.seen = ""

    def until(self, pattern: str) -> None:
        """Read on until `pattern` was seen since the last time."""
        fresh, deadline = "", time.monotonic() + 60
        while not re.search(pattern, fresh):
            assert time.monotonic() < deadline, f"no {pattern!r} in {fresh!r} after {self.seen!r}"
            fresh += self._read()
        self.seen += fresh

    def press(self, keys: bytes) -> None:
        os.write(self._keys, keys)

    def end(self) -> int:
        """Read to the end; the exit code."""
        while piece := self._read():
            self.seen += piece
        return self.process.wait(60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._keys)

    def _read(self) -> str:
        ready, _, _ = select.select([self._keys], [], [], 60)
        assert ready, f"nothing comes after {self.seen!r}"
        try:
            return os.read(self._keys, 65536).decode()
        except OSError:  # Linux says so when the other side was closed
            return ""


def running(done: int) -> tuple[int, dict[str, Any]]:
    progress = {"rollouts": {"done": done, "limit": 100}, "proposals": {"made": 1, "accepted": 0}, "best": None}
    return 200, {"id": "r1", "status": "RUNNING", "progress": progress}


@pytest.fixture
def watch(service: Any, tmp_path: Path) -> Iterator[Session]:
    """A watch of a run that goes on."""
    service.on(RUN, running(25), running(50))
    (tmp_path / ".git").mkdir()
    made = Session(
        "--base-url", service.url, "--api-key", "secret-key",
        "run", "status", "r1", "--agent", "a", "--watch", "--poll-interval", "0.05", cwd=tmp_path,
    )  # fmt: skip
    yield made
    made.close()


def test_watch__ctrl_c__pauses_first_and_ends_second(watch: Session, service: Any) -> None:
    """The first interrupt pauses the watch and says how to come back; Enter goes on; the second one ends it."""
    watch.until(r"50 of 100 rollouts, 1 proposal|50 of 100 rollouts  \[############\.{12}\]  50 %")
    watch.press(b"\x03")
    watch.until(
        r"the watch is paused, r1 goes on without it\r\n.*to come back later: .*run status r1 --watch --agent a"
    )
    watch.press(b"\n")
    watch.until(r"\r" + re.escape("r1: 50 of 100 rollouts  [############............]  50 %\x1b[K"))
    watch.press(b"\x03")
    watch.until("to come back later")
    watch.press(b"\x03")
    assert watch.end() == 130
    assert "Traceback" not in watch.seen
    assert watch.seen.count("r1 goes on; watch it again") == 1


def test_watch__ends_while_a_line_is_drawn__leaves_a_clean_terminal(watch: Session, service: Any) -> None:
    """The line that was drawn over is gone when the run has ended, and what is said last stands alone."""
    watch.until(r"\[############\.{12}\]")
    service.on(RUN, (200, {"id": "r1", "status": "COMPLETED"}))
    assert watch.end() == 0
    last = watch.seen[watch.seen.rindex("\x1b[K") :]
    assert last.startswith("\x1b[K")
    assert "COMPLETED" in last
    assert "rollouts  [" not in last


def test_watch__sigterm__pauses_nothing(watch: Session) -> None:
    """Who is asked to end by somebody else does not wait for a key."""
    watch.until(r"\[############\.{12}\]")
    watch.process.terminate()
    assert watch.end() == 143
    assert "paused" not in watch.seen
