"""Laws of the temporary folders that customer code works in."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from beaker.runtime.folders import temporary_folder

HOLD = """
import sys
from beaker.runtime.folders import temporary_folder
with temporary_folder("beaker-held-") as folder:
    (folder / "deep").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_temporary_folder__left_by_a_killed_process__is_removed_by_the_next(temporary: Path) -> None:
    """As long as the process lives nobody takes its folder; other names are not touched."""
    (temporary / "beaker-heldless").mkdir()
    (temporary / "beaker-held-link").symlink_to(temporary / "beaker-heldless")
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().decode().strip())
        with temporary_folder("beaker-held-") as own:
            assert held.is_dir()
            assert own.is_dir()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert held.is_dir()
        with temporary_folder("beaker-held-"):
            assert not held.exists()
    assert {path.name for path in temporary.iterdir()} == {"beaker-heldless", "beaker-held-link"}
