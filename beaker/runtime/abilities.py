"""What this system lets a run do, found out by doing it."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from beaker.core.doctor import Abilities
from beaker.runtime.processes import adopt_orphans

SECONDS = 10.0


def abilities(folder: Path) -> Abilities | None:
    """What can be done with processes, and with locks in `folder`, which exists; `None` on Windows."""
    if sys.platform == "win32":
        return None
    adopts = adopt_orphans()
    if adopts:
        adopt_orphans(False)
    return Abilities(ends_groups=_ends_groups(), adopts_orphans=adopts, locks=_locks(folder))


def _ends_groups() -> bool:
    """Whether a process that started a session of its own is ended through its group."""
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    try:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                if os.getpgid(process.pid) != process.pid:
                    return False
                os.killpg(process.pid, signal.SIGKILL)
                return process.wait(SECONDS) == -signal.SIGKILL
            except (OSError, subprocess.TimeoutExpired):
                return False
            finally:
                process.kill()
    except OSError:
        return False


def _locks(folder: Path) -> bool:
    """Whether a lock that one process holds keeps another one out. Locks of `flock` belong to the opened file, so that
    opening it twice is as good as two processes."""
    import fcntl

    try:
        with tempfile.TemporaryFile(dir=folder) as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with tempfile.NamedTemporaryFile(dir=folder) as first, open(first.name, "rb") as second:
                fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
                try:
                    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return True
        return False
    except OSError:
        return False
