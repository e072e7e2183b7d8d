"""Starting one child process, with its guardian on Linux, signalling it, and noticing its end."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from beaker.runtime import processes

GUARDIAN_PATIENCE = 3.0
"""Seconds that a guardian gets to end what it guards before it is killed itself."""

_GUARDIAN = str(Path(__file__).with_name("guardian.py"))


class Child:
    """A running child process, the leader of its own session and group. On Linux `pid` is that of its guardian."""

    def __init__(self, popen: "subprocess.Popen[bytes]", mark: str, on_exit: "Callable[[Child], None]") -> None:
        self.pid = popen.pid
        self.mark = mark
        self.returncode: int | None = None
        self._popen = popen
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self._watch()

    def signal(self, number: int) -> None:
        """Send SIGTERM or SIGKILL to the whole group; nothing happens after the child's end."""
        if self.returncode is not None:
            return
        if not processes.LINUX:
            processes.kill_group(self.pid, number)
        elif number != signal.SIGKILL:
            processes.kill(self.pid, number)  # which the guardian hands on
        else:
            processes.end_guarded(self.pid)
            self._loop.call_later(GUARDIAN_PATIENCE, self._kill_guardian)

    async def wait(self) -> int:
        """Wait until the child has ended, and its group and descendants with it. The exit status as `Popen` has it."""
        await asyncio.shield(self.exited)
        assert self.returncode is not None
        return self.returncode

    async def end(self, grace: float = 0.0) -> None:
        """SIGTERM to the group, after `grace` seconds SIGKILL (at once when it is 0); returns when all is gone."""
        if grace > 0 and not self.exited.done():
            self.signal(signal.SIGTERM)
            try:
                await asyncio.wait([self.exited], timeout=grace)
            except asyncio.CancelledError:
                self.signal(signal.SIGKILL)
                raise
        self.signal(signal.SIGKILL)
        await self.wait()

    def _kill_guardian(self) -> None:
        if self.returncode is None:
            processes.kill_group(self.pid)

    def _watch(self) -> None:
        try:
            descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, name=f"wait-{self.pid}", daemon=True).start()
            return

        def ended() -> None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            self._ended()

        self._loop.add_reader(descriptor, ended)

    def _wait_in_thread(self) -> None:
        self._popen.wait()
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        # The leader is a zombie until `wait`, so its number still means this group.
        processes.kill_group(self.pid)
        self.returncode = self._popen.wait()
        self._on_exit(self)


def start(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: int, stderr: int, pass_fds: Iterable[int]
) -> "subprocess.Popen[bytes]":
    """Start a process in its own session, behind a guardian on Linux; `OSError` or `ValueError` when it cannot be."""
    command = list(argv)
    if processes.LINUX:
        _check_startable(command[0], cwd, env)
        command = [sys.executable, "-I", "-S", "-X", "utf8", _GUARDIAN, str(os.getpid()), *command]
    popen = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        pass_fds=tuple(pass_fds),
        start_new_session=True,
    )
    _without_core_dumps(popen.pid)
    return popen


def _check_startable(program: str, cwd: Path, env: Mapping[str, str]) -> None:
    """Raise what starting `program` would raise: it is the guardian that starts it, too late to be told from here."""
    if "\0" in program:
        raise ValueError("embedded null byte")
    folders = [""] if os.sep in program else os.get_exec_path(env)
    places = [os.path.join(cwd, folder, program) for folder in folders]
    if not any(os.path.isfile(place) and os.access(place, os.X_OK) for place in places):
        number = errno.EACCES if any(map(os.path.exists, places)) else errno.ENOENT
        raise OSError(number, os.strerror(number), program)


def _without_core_dumps(pid: int) -> None:
    """A core file would hold whatever secrets the process had."""
    if sys.platform == "linux":
        import resource

        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
