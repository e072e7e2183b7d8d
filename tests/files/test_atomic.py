"""Atomic writes on real files: all or nothing, modes kept, no temporary file left."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beaker.files.atomic import os_problem, replacing, write_bytes, write_text


def test_write_bytes__new_file__follows_the_umask(tmp_path: Path) -> None:
    """A new file gets the mode that open() would have given it."""
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"x"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_write_bytes__existing_file__keeps_its_mode(tmp_path: Path) -> None:
    """Replacing the content changes no permission bit."""
    path = tmp_path / "script"
    path.write_bytes(b"old")
    path.chmod(0o751)
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o751


def test_write_text__mode_and_line_endings__are_the_callers(tmp_path: Path) -> None:
    """A secret is 0600, and CRLF is written as CRLF."""
    path = tmp_path / "secrets.json"
    write_text(path, "a\r\nb\n", mode=0o600)
    assert path.read_bytes() == b"a\r\nb\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_write_bytes__symbolic_link__is_written_through(tmp_path: Path) -> None:
    """The link stays a link; the file it names changes."""
    real = tmp_path / "real"
    real.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(real)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_replacing__error_in_the_block__leaves_the_old_file_alone(tmp_path: Path) -> None:
    """Nothing is half-written and no temporary file stays when the producer fails."""
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def produce() -> None:
        with replacing(path) as file:
            file.write(b"half of the n")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        produce()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_write_bytes__missing_folder__raises(tmp_path: Path) -> None:
    """A missing folder is the caller's to make."""
    with pytest.raises(FileNotFoundError) as raised:
        write_bytes(tmp_path / "no" / "f", b"x")
    assert raised.value.filename == str(tmp_path / "no" / "f")  # what was asked for, not the temporary file


def test_write_bytes__folder_in_its_place__names_what_was_asked_for(tmp_path: Path) -> None:
    """Nobody asked for the temporary file that could not become it."""
    (tmp_path / "f" / "held").mkdir(parents=True)
    with pytest.raises(OSError) as raised:
        write_bytes(tmp_path / "f", b"x")
    assert (raised.value.filename, raised.value.filename2) == (str(tmp_path / "f"), None)
    assert os.listdir(tmp_path) == ["f"]


_WRITE_FOREVER = """
import itertools, sys
from pathlib import Path
from beaker.files.atomic import write_bytes
for count in itertools.count():
    write_bytes(Path(sys.argv[1]), (b"ab"[count % 2 : count % 2 + 1]) * 200_000)
    if count == 1:
        print("going", flush=True)
"""


def test_write_bytes__killed_at_any_moment__leaves_one_whole_content(tmp_path: Path) -> None:
    """A reader finds the old content or the new one, never a mixture, while the writer runs and after kill -9."""
    path = tmp_path / "f"
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", _WRITE_FOREVER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        with writer.stdout:
            writer.stdout.readline()
            for _ in range(30):
                assert path.read_bytes() in (b"a" * 200_000, b"b" * 200_000)
            writer.kill()
        writer.wait()
        assert path.read_bytes() in (b"a" * 200_000, b"b" * 200_000)


_FULL_DISK = """
import subprocess, sys, os
from pathlib import Path
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", sys.argv[1]], check=True)
path = Path(sys.argv[1]) / "f"
from beaker.files.atomic import write_bytes
write_bytes(path, b"old")
try:
    write_bytes(path, b"x" * 1_000_000)
except OSError as error:
    print(error.errno, path.read_bytes().decode(), sorted(os.listdir(sys.argv[1])))
subprocess.run(["mount", "-o", "remount,ro", sys.argv[1]], check=True)
try:
    write_bytes(path, b"new")
except OSError as error:
    print(error.errno, path.read_bytes().decode(), sorted(os.listdir(sys.argv[1])))
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode != 0,
    reason="needs user and mount namespaces",
)
def test_write_bytes__full_disk_and_read_only_mount__leave_the_old_file_alone(tmp_path: Path) -> None:
    """On a tiny tmpfs and on a read-only mount the old content survives and nothing is left beside it."""
    done = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", _FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{errno.ENOSPC} old ['f']", f"{errno.EROFS} old ['f']"]


def test_os_problem__says_what_where_and_next() -> None:
    """An operating system error becomes one line and a next step."""
    problem = os_problem(OSError(errno.ENOSPC, "No space left on device", "/x/f"), "write the report")
    assert str(problem) == "/x/f: cannot write the report: No space left on device"
    assert "free some space" in problem.hint
    assert os_problem(OSError("odd"), "read it", Path("p")).where == "p"
