"""The lock of a run: held exactly as long as its worker lives."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beaker.service.locks import acquire, holder, is_held, terminate

HOLDER = """
import sys
from pathlib import Path
from beaker.service.locks import acquire
lock = acquire(Path(sys.argv[1]))
print("held" if lock else "taken", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(path: Path, run_id: str = "run_1") -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock, with a run id in its command line as workers have."""
    command = [sys.executable, "-c", HOLDER, str(path), run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_acquire__held_by_another__is_refused_until_it_dies(tmp_path: Path) -> None:
    """A killed holder holds nothing; a living one is named."""
    path = tmp_path / "lock"
    assert (is_held(path), holder(path)) == (False, None)
    with holding(path) as process:
        assert (is_held(path), holder(path)) == (True, process.pid)
        assert acquire(path, wait_seconds=0.05) is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not is_held(path)
    lock = acquire(path)
    assert lock is not None
    assert holder(path) == os.getpid()
    lock.release()
    assert holder(path) is None


def test_acquire__probed_all_the_time__still_succeeds(tmp_path: Path) -> None:
    """A probe in the wrong moment does not make a worker think that another one lives."""
    path = tmp_path / "lock"
    path.touch()
    probe = (
        f"from pathlib import Path; from beaker.service.locks import is_held\nwhile True: is_held(Path({str(path)!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", probe]) as prober:
        for _ in range(20):
            lock = acquire(path)
            assert lock is not None
            lock.release()
        prober.kill()


def test_terminate__the_worker__gets_the_signal(tmp_path: Path) -> None:
    """SIGTERM goes to the holder when it works on that run, and to nobody else."""
    path = tmp_path / "lock"
    assert not terminate(path, "run_1")
    with holding(path) as process:
        assert not terminate(path, "run_2")
        assert terminate(path, "run_1")
        assert process.wait(10) == -signal.SIGTERM
    assert not terminate(path, "run_1")
