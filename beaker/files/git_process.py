"""How Git is run: as a reader that starts no other program, reaches no network, and ends within a time limit.

A repository's own configuration may name programs (hooks, monitors, filters, transports of a partial clone). Whoever
launches a run reads that repository, and must not run them: hooks and monitors are switched off, no transport is
allowed, so that a missing object is missing instead of fetched, and `without_filters` gives what switches filters off.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Refused
from beaker.files.patience import Patience

TIMEOUT = 120.0
"""Seconds one Git command, or reading one object, may take; the status of a large repository is the slowest."""

_LOOK = 0.25
"""Seconds between two looks whether somebody still waits."""

_SAFE_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",  # a repository's setting may name a program
    "core.sshCommand=false",
    "core.askPass=",
    "core.quotePath=false",
    "protocol.allow=never",
    "status.submoduleSummary=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)

# What Git says of an object that a shallow, partial or damaged repository does not hold.
_MISSING = ("promisor remote", "lazy fetching", "unable to read", "missing blob", "missing tree", "not a tree object")


def run_git(
    root: Path,
    *arguments: str,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    patience: Patience | None = None,
) -> Result[subprocess.CompletedProcess[bytes], Problem]:
    """One Git command with `given` as its standard input, whatever its exit code says.

    `environment` goes over the one that every command gets. A `Problem` when it could not be run at all (BK710: there
    is no Git) or did not end in time (BK713). Raises `OutOfPatience`; the command is ended then.
    """
    try:
        with _started(_command(root, *arguments), stderr=subprocess.PIPE, environment=environment) as process:
            out, err = _communicated(process, given, patience)
            return Success(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    except FileNotFoundError:
        return Failure(_no_git())
    except subprocess.TimeoutExpired:
        return Failure(Problem("BK713", f"git {_name(arguments)} did not end within {TIMEOUT:g} seconds", str(root)))
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        return Failure(Problem("BK713", f"git {_name(arguments)} could not be run: {error}", str(root)))


def _communicated(process: "subprocess.Popen[bytes]", given: bytes, patience: Patience | None) -> tuple[bytes, bytes]:
    if patience is None:
        return process.communicate(given, timeout=TIMEOUT)
    late, rest = time.monotonic() + TIMEOUT, given or None
    while True:
        try:
            return process.communicate(rest, timeout=_LOOK)
        except subprocess.TimeoutExpired:
            patience.check()
            if time.monotonic() > late:
                raise
            rest = None  # it is kept from the first call


def git_output(
    root: Path, *arguments: str, given: bytes = b"", environment: Mapping[str, str] | None = None
) -> Result[bytes, Problem]:
    """Standard output of one Git command that has to succeed."""
    found = run_git(root, *arguments, given=given, environment=environment)
    if not is_successful(found):
        return Failure(found.failure())
    done = found.unwrap()
    return Success(done.stdout) if done.returncode == 0 else Failure(git_problem(root, done))


def git_problem(root: Path, done: subprocess.CompletedProcess[bytes]) -> Problem:
    """What a failed command means: BK711 no repository, BK716 content that Git does not have, BK713 anything else."""
    said = done.stderr.decode("utf-8", "replace").strip()
    if "not a git repository" in said or "cannot change to" in said:
        hint = "run this inside a Git checkout (`git init` and a first commit make one)"
        return Problem("BK711", "this folder is not in a Git repository", str(root), hint)
    if "dubious ownership" in said:
        hint = f"git config --global --add safe.directory {root}"
        return Problem("BK713", "Git refuses this repository because another user owns it", str(root), hint)
    last = said.splitlines()[-1] if said else f"exit code {done.returncode}"
    if any(sign in said for sign in _MISSING):
        return Problem("BK716", f"Git does not have all of the repository's content: {last}", str(root), _FETCH)
    return Problem("BK713", f"Git failed: {last}", str(root))


def without_filters(root: Path) -> Result[tuple[str, ...], Problem]:
    """Options of Git that switch off every filter its configuration names: Git itself compares files unfiltered then.

    A filter whose name no option can carry is refused (BK713).
    """
    found = run_git(root, "config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$")
    if not is_successful(found):
        return Failure(found.failure())
    done = found.unwrap()
    if done.returncode not in (0, 1):  # 1: no such key
        return Failure(git_problem(root, done))
    names = {os.fsdecode(key).removeprefix("filter.").rpartition(".")[0] for key in done.stdout.split(b"\0")[:-1]}
    if odd := sorted(name for name in names if "=" in name):
        message = f"the configuration of Git names a filter {odd[0]!r}, whose name cannot be given as an option"
        return Failure(Problem("BK713", message, str(root), "rename it in the configuration and in .gitattributes"))
    settings = [f"filter.{name}.{key}" for name in sorted(names) for key in ("clean=", "process=", "required=false")]
    return Success(tuple(part for setting in settings for part in ("-c", setting)))


class ObjectReader:
    """Reads objects from one running `git cat-file --batch`; made by `object_reader`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin: IO[bytes] = process.stdin
        self._stdout: IO[bytes] = process.stdout
        self._process = process
        self._deadline = float("inf")
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._end_when_late, daemon=True)
        self._watch.start()

    def read(self, object_id: str, path: str) -> bytes:
        """The content of the blob `object_id`, tracked as `path`. `Refused` when Git does not have it (BK716) or does
        not answer in time (BK713).
        """
        self._deadline = time.monotonic() + TIMEOUT
        try:
            self._stdin.write(object_id.encode("ascii") + b"\n")
            self._stdin.flush()
            answer = self._stdout.readline().split()
            size = int(answer[2]) if len(answer) == 3 else -1
            data = self._stdout.read(size + 1)[:-1] if answer else b""  # a newline follows the content
        except (BrokenPipeError, ValueError):
            size, data = -1, b""
        late = time.monotonic() > self._deadline
        self._deadline = float("inf")
        if late:
            raise Refused(Problem("BK713", f"git cat-file did not give {path} within {TIMEOUT:g} seconds"))
        if len(data) != size:
            raise Refused(Problem("BK716", f"Git does not have the content of {path}", hint=_FETCH))
        return data

    def close(self) -> None:
        """Stop watching the time."""
        self._done.set()
        self._watch.join()

    def _end_when_late(self) -> None:
        # A killed process ends the pipe, and with it the read that waits there.
        while not self._done.wait(min(1.0, TIMEOUT / 4)):
            if time.monotonic() > self._deadline:
                _kill(self._process)
                return


@contextmanager
def object_reader(root: Path) -> Iterator[ObjectReader]:
    """A reader of the repository's objects; its process is ended when the block is left."""
    try:
        with _started(_command(root, "cat-file", "--batch"), stderr=subprocess.DEVNULL) as process:
            reader = ObjectReader(process)
            try:
                yield reader
            finally:
                reader.close()
    except FileNotFoundError:
        raise Refused(_no_git()) from None


@contextmanager
def _started(
    command: Sequence[str], *, stderr: int, environment: Mapping[str, str] | None = None
) -> "Iterator[subprocess.Popen[bytes]]":
    """A process in a group of its own. When the block is left, nothing of that group lives."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_environment() | dict(environment or {}),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _kill(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # what was still to be written is of no use to a dead process
        process.wait()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if os.name == "nt":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # it ended, and so did whatever it started; macOS says EPERM of a group of dead processes


def _command(root: Path, *arguments: str) -> list[str]:
    settings = [part for setting in _SAFE_SETTINGS for part in ("-c", setting)]
    # A repository's setting may name a working tree elsewhere on this machine.
    tree = [f"--work-tree={root}"] if (root / ".git").exists() else []
    return ["git", "-C", str(root), *tree, "--no-pager", "--no-optional-locks", *settings, *arguments]


def _environment() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        # No transport at all: neither a program in its place nor a network. It beats `protocol.<name>.allow`.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_NO_LAZY_FETCH": "1",
        # Only commits of our own are made here; a person's `user.name` or `author.name` has no say in them.
        **{f"GIT_{role}_NAME": "Beaker" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "beaker@localhost" for role in ("AUTHOR", "COMMITTER")},
    }


def _name(arguments: Sequence[str]) -> str:
    return next((one for one in arguments if not one.startswith("-") and "=" not in one), "")


def _no_git() -> Problem:
    hint = "install Git (https://git-scm.com/downloads) and make sure `git --version` works here"
    return Problem("BK710", "Git is needed and was not found on PATH", hint=hint)


_FETCH = "fetch the repository in full (`git fetch --refetch --no-filter`, `git fetch --unshallow`), or clone it again"
