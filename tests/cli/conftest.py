"""What the command line's tests share: running it in-process, and a small project in a Git repository."""

import io
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from beaker.cli.__main__ import run
from beaker.cli.shell import Io


@dataclass(frozen=True)
class Outcome:
    """What one command line did."""

    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Beaker = Callable[..., Outcome]


@pytest.fixture
def beaker(tmp_path: Path) -> Beaker:
    """Run `beaker` with these arguments in this process, on streams of its own."""

    def call(
        *argv: str,
        cwd: Path = tmp_path,
        environ: Mapping[str, str] | None = None,
        terminal: bool = False,
        stdout: io.StringIO | None = None,
        **more: object,
    ) -> Outcome:
        made = Terminal if terminal else io.StringIO
        out, err = stdout or made(), made()
        shell = Io(stdout=out, stderr=err, stdin=io.StringIO(), environ=environ or {}, cwd=cwd, **more)
        code = run(argv, shell)
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Run Git with an identity of its own."""

    def call(*arguments: str, cwd: Path = tmp_path) -> str:
        settings = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false")
        done = subprocess.run(["git", *settings, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
        return done.stdout

    return call
