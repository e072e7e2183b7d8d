"""The lock that says whether a run's worker lives: `flock` on a file that also names its process."""

import os
import signal
import time
from pathlib import Path

PROBE_SECONDS = 2.0
"""How long a worker waits for the lock: a probe by another process holds it for an instant."""


class RunLock:
    """A held lock; the system releases it when the process ends, however it ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock up."""
        os.close(self._descriptor)


def acquire(path: Path, *, wait_seconds: float = PROBE_SECONDS) -> RunLock | None:
    """Take the lock for this process and write its id into the file; `None` when another process keeps it."""
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.02)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return RunLock(descriptor)


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY)  # all that a read-only place lets us
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two probes in the same moment do not see each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def holder(path: Path) -> int | None:
    """The process that holds the lock, `None` when nobody does or it has not said so yet."""
    if not is_held(path):
        return None
    try:
        written = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(written) if written.isdecimal() else None


def terminate(path: Path, run_id: str) -> bool:
    """Send SIGTERM to the worker that holds the lock of `run_id`; whether there was one.

    The file of a worker that just took the lock may still name a process of the past, so where the system shows
    command lines (Linux) the process must have `run_id` in its own.
    """
    process = holder(path)
    if process is None:
        return False
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        command = run_id.encode()
    if run_id.encode() not in command:
        return False
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        return False
    return True
