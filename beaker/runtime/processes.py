"""What the kernel knows about processes, and ending them; run as a script, it is the watchdog of a host.

Standard library only, and no import from Beaker: the watchdog runs this file in an isolated interpreter. It reads
`+PID STARTED` and `-PID` lines from its standard input; when the input ends, because the host closed it or died, it
ends every group still listed and, on Linux, every process that carries the host's mark in its environment.

On Linux the processes listed are guardians (`guardian.py`): they are asked to end what they guard, and killed only when
that takes too long.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

LINUX = sys.platform == "linux"

MARK = "BEAKER_PROCESS"
"""The environment variable that tells which host, and which of its children, a process descends from."""

END = signal.SIGUSR1
"""What asks a guardian to end everything at once (the same as `guardian.END`)."""

_PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """One process: its parent, group and session, state letter (`Z` is a zombie) and start (clock ticks, as text)."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: str


def adopt_orphans(adopt: bool = True) -> bool:
    """Make this process the one that orphaned descendants are handed to (Linux), or no longer; whether that worked."""
    return LINUX and _prctl(_PR_SET_CHILD_SUBREAPER, int(adopt))


def identity(pid: int) -> str | None:
    """Tells this process from a later one with the same id, also across a reboot; `None` when there is no such one."""
    if LINUX:
        found = look(pid)
        return None if found is None or found.state in "ZX" else f"{_boot()}:{found.started}"
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip() or None


def look(pid: int) -> Process | None:
    """What `/proc` says about a process (Linux), or `None`."""
    try:
        # The command name, in parentheses, may itself hold anything.
        fields = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
        return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[0].decode(), fields[19].decode())
    except (OSError, IndexError, ValueError):
        return None


def everyone() -> Iterator[int]:
    """The ids of all processes that can be seen (Linux)."""
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def children_of(parent: int) -> list[int]:
    """The ids of the direct children of a process (Linux), zombies included."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, _read(f"/proc/{parent}/task/{thread}/children").split())
    except OSError:
        if not os.path.exists(f"/proc/{parent}/task/{parent}/children"):  # a kernel without that file
            looked = map(look, everyone())
            found = [process.pid for process in looked if process is not None and process.parent == parent]
    return found


def carries(pid: int, mark: str) -> bool:
    """Whether a process was started with this mark (Linux). A mark ending in `.` stands for all that begin with it."""
    try:
        environment = b"\0" + _read(f"/proc/{pid}/environ") + b"\0"
    except OSError:
        return False
    needle = f"\0{MARK}={mark}".encode()
    return (needle if mark.endswith(".") else needle + b"\0") in environment


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process group; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to one process; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def end_groups(groups: Mapping[int, str | None], mark: str, *, patience: float = 5.0) -> int:
    """End recorded groups (leader's id -> its `identity`) and, on Linux, whatever carries `mark`.

    A leader whose identity differs is a stranger with a used number and stays. Guardians get half of `patience`, in
    seconds, to end what they guard; repeats until nothing is left or all of it is over. Returns how many processes and
    groups it had to end.
    """
    ended: set[int] = set()
    begun = time.monotonic()
    while True:
        kindly = LINUX and time.monotonic() < begun + patience / 2
        leaders = {group for group, known in groups.items() if known is not None and identity(group) == known}
        for group in leaders:
            end_guarded(group) if kindly else kill_group(group)
        strays = {pid for pid in everyone() if pid != os.getpid() and carries(pid, mark)} if LINUX and mark else set()
        for pid in strays - leaders if kindly else strays:
            kill(pid)
        ended |= leaders | strays
        if not (leaders or strays) or time.monotonic() > begun + patience:
            return len(ended)
        time.sleep(0.02)


def end_guarded(guardian: int) -> None:
    """Ask a guardian to end everything, also when somebody has stopped it."""
    kill(guardian, END)
    kill(guardian, signal.SIGCONT)


@cache
def _boot() -> str:
    try:
        return _read("/proc/sys/kernel/random/boot_id").decode().strip()
    except OSError:
        return ""


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _prctl(option: int, argument: int) -> bool:
    import ctypes  # only Linux needs it, and it is not cheap

    try:
        return bool(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _watch(mark: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: dict[int, str | None] = {}
    for line in sys.stdin:
        if line.endswith("\n") and line[0] == "+":
            pid, _, known = line[1:].rstrip("\n").partition(" ")
            groups[int(pid)] = known
        elif line.endswith("\n") and line[0] == "-":
            groups.pop(int(line[1:]), None)
    end_groups(groups, mark)


if __name__ == "__main__":
    _watch(sys.argv[1])
