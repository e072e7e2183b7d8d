"""Owns every child process of a host: starts them, ends them with all their descendants, and leaves nothing behind.

A host is one asyncio process that runs customer code in children: a run worker, or the command line during smoke. Each
child leads its own session and process group. On Linux a guardian stands between it and the host and ends whatever
descends from it (`guardian.py`). Its environment carries a mark, so that descendants which left the group are found
elsewhere too, or when the guardian was killed. Should the host die without a word, three things end its children: their
guardian (Linux), the end of their control pipe, and the watchdog, a small process that outlives the host by the moment
it needs.
"""

import asyncio
import json
import os
import secrets as random_secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from beaker.core.problems import Problem
from beaker.core.sandbox import Sandbox
from beaker.core.values import value
from beaker.runtime import processes
from beaker.runtime.capture import Capture, Redact, no_redaction
from beaker.runtime.children import Child, start
from beaker.runtime.pipes import PipeReader
from beaker.runtime.shortening import shortened

TERM_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL when everything is ended."""

MAX_WARNINGS = 200
"""Different warnings of one host that are handed on."""

LONGEST_REASON = 1_000
"""Characters kept of why a command cannot be started."""

_OURS: set[int] = set()
"""Children and watchdogs of every supervisor of this process that nobody has waited for yet."""


@value
class Completed:
    """What a command left behind.

    `returncode` is its exit status (negative: the signal that ended it; 126 or 127: it could not be started), `None`
    when its time was over. `stdout` and `stderr` hold the beginning and the end of what it printed.
    """

    returncode: int | None
    timed_out: bool
    stdout: str
    stderr: str


class Supervisor:
    """Starts and ends the children of this process.

    `record` is a file that names every living group, for `end_recorded` after a kill. `pycache` is a folder for byte
    code: children then keep theirs apart by kind and never write into a checkout. `redact` takes the values of secrets
    out of everything that children print or report. `warned` is told what is deprecated in customer code, once however
    many children say so. Use it within one event loop, as an async context manager or with
    `close`.

    `python` is the interpreter of the children that run a project's code; `beaker.runtime.interpreters` finds it.
    With `sandbox`, rollout and scorer processes are confined.
    """

    def __init__(
        self,
        *,
        record: Path | None = None,
        pycache: Path | None = None,
        redact: Redact = no_redaction,
        warned: Callable[[Problem], object] = lambda problem: None,
    ) -> None:
        self.python = sys.executable
        self.sandbox: Sandbox | None = None
        self.pycache = pycache
        self.redact = redact
        self._warned = warned
        self._warnings: set[Problem] = set()
        self._record = record
        self._token = random_secrets.token_hex(8)
        self._children: dict[int, Child] = {}
        self._count = 0
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._subreaper = False
        self._sessions: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> "Supervisor":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def become_subreaper(self) -> bool:
        """Let orphaned descendants fall to this process, so that those which left their group are found and reaped.

        Linux only, until `close`; answers whether it worked. For processes that start session leaders through this
        supervisor alone: an unknown child in a session of its own counts as an orphan.
        """
        self._subreaper = processes.adopt_orphans()
        return self._subreaper

    def spawn(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        pass_fds: Iterable[int] = (),
    ) -> Child:
        """Start a child in its own session; standard input is empty. `OSError` when it cannot be started.

        Call it from the thread of the event loop: the kernel ends children with the thread that started them.
        """
        if self._closed:
            raise RuntimeError("the supervisor is closed")
        self._start_watchdog()
        self._count += 1
        mark = f"{self._token}.{self._count}"
        popen = start(
            [os.fspath(word) for word in argv],
            cwd=cwd,
            env={**env, processes.MARK: mark},
            stdout=stdout,
            stderr=stderr,
            pass_fds=pass_fds,
        )
        _OURS.add(popen.pid)
        self._sessions.add(popen.pid)
        known = processes.identity(popen.pid)
        self._note({"pid": popen.pid, "identity": known}, f"+{popen.pid} {known}\n")
        child = Child(popen, mark, self._child_ended)
        self._children[popen.pid] = child
        return child

    def warn(self, problem: Problem) -> None:
        """Hand on what a child says to be deprecated, unless that is known or there was too much of it already."""
        if problem not in self._warnings and len(self._warnings) < MAX_WARNINGS:
            self._warnings.add(problem)
            self._warned(problem)

    async def run_command(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        capture: int = 65536,
    ) -> Completed:
        """Run a command to its end, or end it and all its descendants after `timeout` seconds.

        `capture` bounds what is kept of each stream, in bytes. A command that cannot be started is completed with
        status 127 (not found) or 126. Cancelling ends the command before the cancellation goes on.
        """
        streams = (Capture(capture, self.redact), Capture(capture, self.redact))
        readers: list[PipeReader] = []
        writers: list[int] = []
        try:
            for stream in streams:
                reading, writing = os.pipe()
                writers.append(writing)
                readers.append(PipeReader(reading, stream.feed))
            try:
                child = self.spawn(argv, cwd=cwd, env=env, stdout=writers[0], stderr=writers[1])
            except (OSError, ValueError) as error:
                status = 127 if isinstance(error, FileNotFoundError) else 126
                reason = error.strerror if isinstance(error, OSError) else str(error)
                told = shortened(f"cannot start {os.fspath(argv[0])}: {reason}", LONGEST_REASON, self.redact)
                return Completed(status, False, "", f"{told}\n")
            finally:
                for writing in writers:
                    os.close(writing)
            try:
                await asyncio.wait([child.exited], timeout=timeout)
            finally:
                timed_out = not child.exited.done()
                if timed_out:
                    await child.end(TERM_GRACE)
            for reader in readers:
                reader.drain()
            stdout, stderr = (stream.text() for stream in streams)
            return Completed(None if timed_out else child.returncode, timed_out, stdout, stderr)
        finally:
            for reader in readers:
                reader.close()

    async def close(self) -> None:
        """End every child (SIGTERM, after a second SIGKILL), every descendant that is left, and the watchdog."""
        self._closed = True
        try:
            await asyncio.gather(*(child.end(TERM_GRACE) for child in list(self._children.values())))
            if self._tasks:
                await asyncio.gather(*self._tasks)
            deadline = time.monotonic() + 2.0
            while self._end_strays() and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
        finally:
            for child in self._children.values():
                child.signal(signal.SIGKILL)
            self._stop_watchdog()
            if self._subreaper:
                self._subreaper = not processes.adopt_orphans(False)
            if self._record is not None and not self._children:
                self._record.unlink(missing_ok=True)

    def _child_ended(self, child: Child) -> None:
        del self._children[child.pid]
        _OURS.discard(child.pid)  # reaped: the number may mean somebody else from here on
        if self._end_adopted(child.mark):
            task = asyncio.get_running_loop().create_task(self._sweep(child))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._settle(child)

    async def _sweep(self, child: Child) -> None:
        """Killed orphans hand their own children on to us, so it takes a few rounds."""
        deadline = time.monotonic() + 2.0
        try:
            while self._end_adopted(child.mark) and time.monotonic() < deadline:
                await asyncio.sleep(0.005)
        finally:
            self._settle(child)

    def _settle(self, child: Child) -> None:
        self._note({"ended": child.pid}, f"-{child.pid}\n")
        child.exited.set_result(None)

    def _end_adopted(self, mark: str) -> bool:
        """Kill and reap orphans that fell to us; whether one with this mark was still alive."""
        if not self._subreaper:
            return False
        alive = False
        own = os.getsid(0)
        for pid in processes.children_of(os.getpid()):
            found = None if pid in _OURS else processes.look(pid)
            if found is None:
                continue
            if found.state == "Z":
                # Other parts of this process reap their own children, which share our session.
                if found.session in self._sessions or found.session != own:
                    with suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)
            elif processes.carries(pid, mark):
                processes.kill(pid)
                alive = True
        return alive

    def _end_strays(self) -> bool:
        """After the last child: kill every descendant that is left, marked or adopted; whether there was one."""
        found = self._end_adopted(f"{self._token}.")
        if not processes.LINUX:
            return found
        for pid in processes.everyone():
            if pid not in _OURS and pid != os.getpid() and processes.carries(pid, f"{self._token}."):
                processes.kill(pid)
                found = True
        if self._subreaper:
            own = os.getsid(0)
            for pid in processes.children_of(os.getpid()):
                process = None if pid in _OURS else processes.look(pid)
                if process is not None and process.session != own and process.state != "Z":
                    processes.kill(pid)
                    found = True
        return found

    def _note(self, record: dict[str, Any], told: str) -> None:
        if self._record is not None:
            lines = "" if self._record.exists() else json.dumps({"mark": f"{self._token}."}) + "\n"
            with suppress(OSError), self._record.open("a", encoding="utf-8") as file:  # the watchdog still knows
                file.write(lines + json.dumps(record) + "\n")
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with suppress(OSError):  # the watchdog was killed; the record remains
                self._watchdog.stdin.write(told.encode())

    def _start_watchdog(self) -> None:
        if self._watchdog is None:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", processes.__file__, f"{self._token}."],
                cwd="/",
                env={},
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            _OURS.add(self._watchdog.pid)

    def _stop_watchdog(self) -> None:
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with suppress(OSError):
                self._watchdog.stdin.close()
            try:
                self._watchdog.wait(2.0)
            except subprocess.TimeoutExpired:
                self._watchdog.kill()
                self._watchdog.wait()
            _OURS.discard(self._watchdog.pid)
            self._watchdog = None


def end_recorded(record: Path, *, patience: float = 5.0) -> int:
    """End what a killed host left running, by the record it kept; how many groups and processes were killed.

    A group whose leader has another start time than recorded is a stranger's and stays. The record is removed.
    """
    groups: dict[int, str | None] = {}
    mark = ""
    with suppress(FileNotFoundError):
        for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a kill may have cut the last line
                entry = json.loads(line)
                if "mark" in entry:
                    mark = str(entry["mark"])
                elif "pid" in entry:
                    groups[int(entry["pid"])] = entry["identity"]
                else:
                    groups.pop(int(entry["ended"]), None)
    killed = processes.end_groups(groups, mark, patience=patience)
    record.unlink(missing_ok=True)
    return killed
