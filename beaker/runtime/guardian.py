"""A guardian stands between a host and one customer process, and ends all that descends from that process (Linux).

Run as a script in an isolated interpreter; standard library only, and few modules of it, since one starts with every
customer process:

    python -I -S -X utf8 guardian.py HOST PROGRAM [ARGUMENT ...]

It is a child subreaper: whatever a descendant does to its session, its group or its environment, when its parent ends
it becomes a child of the guardian. When PROGRAM ends, the host dies or the host asks for it (`END`), the guardian kills
its children until there is none, and ends the way PROGRAM did. SIGTERM is handed on to PROGRAM's process group.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn  # the module itself would take longer to load than all the others

END = signal.SIGUSR1
"""Asks a guardian to end everything now; the kernel sends it too when the host dies."""

PATIENCE = 5.0
"""Seconds after which a guardian gives up on what cannot be killed."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_HEARD = (END, signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP)


def main() -> NoReturn:
    """Guard the command of the command line to its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(_PR_SET_PDEATHSIG, int(END), 0, 0, 0)
    if os.getppid() != int(sys.argv[1]):
        os._exit(1)  # the host was gone before the kernel could tell
    guardian = os.getpid()
    customer = os.fork()
    if customer == 0:
        os.setsid()
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != guardian:
            os._exit(1)
        _become(sys.argv[2:], before)
    _let_go()
    status = _wait(customer)
    ended = _end_children(customer)
    _end_like(ended if status is None else status)


def _become(command: list[str], before: set[int | signal.Signals]) -> NoReturn:
    """Run the command in this process, in the environment that the guardian was given."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which an interpreter ignores
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        os.execvpe(command[0], command, _given_environment())
    except OSError as error:
        os.write(2, f"cannot start the command: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _given_environment() -> dict[bytes, bytes]:
    """The environment as it came; an interpreter in the C locale adds to its own."""
    with open("/proc/self/environ", "rb") as file:
        assignments = (entry.partition(b"=") for entry in file.read().split(b"\0"))
        return {name: value for name, separator, value in assignments if separator}


def _let_go() -> None:
    """Close the pipes to the host, whose ends mean the end of the customer process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue


def _wait(customer: int) -> int | None:
    """Wait for the end of the customer process, and give its wait status; `None` when it is to be ended."""
    while True:
        number = signal.sigwait(_HEARD)
        if number == END:
            return None
        if number == signal.SIGTERM:
            try:
                os.killpg(customer, signal.SIGTERM)
            except ProcessLookupError:  # it leads no group yet
                os.kill(customer, signal.SIGTERM)
        ended = _reap()
        if customer in ended:
            return ended[customer]


def _reap() -> dict[int, int]:
    """The wait statuses of children that have ended."""
    ended: dict[int, int] = {}
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
    except ChildProcessError:
        pass
    return ended


def _end_children(customer: int) -> int:
    """Kill every descendant: those of a killed child become children. The wait status of the customer process."""
    status = int(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while (children := _children(os.getpid())) and time.monotonic() < deadline:
        waiting = children
        while waiting:
            pid = waiting.pop()
            waiting += _children(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:  # gone, or somebody else's by now
                continue
        time.sleep(0.001)
        status = _reap().get(customer, status)
    return status


def _children(parent: int) -> list[int]:
    """The direct children of a process, zombies included."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        if os.path.exists(f"/proc/{parent}/task/{parent}/stat"):  # a kernel without that file
            return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _parent(pid) == parent]
    except OSError:
        pass
    return found


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b") ")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _end_like(status: int) -> NoReturn:
    """End with the exit status, or by the signal, of a wait status."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
