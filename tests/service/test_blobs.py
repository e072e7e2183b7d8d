"""Blobs: whole or absent, whatever happens while they are written."""

import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from beaker.core.problems import Refused
from beaker.service.blobs import Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def files(blobs: Blobs) -> list[str]:
    """Every file below the blobs, under way or in place."""
    return sorted(path.relative_to(blobs.root).as_posix() for path in blobs.root.rglob("*") if path.is_file())


def test_put__content__is_found_by_its_digest(blobs: Blobs) -> None:
    """The digest names the content; storing it again changes nothing."""
    digest = blobs.put(b"hello")
    assert digest == sha256(b"hello").hexdigest()
    assert (blobs.put(b"hello"), blobs.read(digest), blobs.has(digest)) == (digest, b"hello", True)
    assert files(blobs) == [f"sha256/{digest[:2]}/{digest}"]


def test_batch__that_raises__stores_none_of_it(blobs: Blobs) -> None:
    """Blobs appear together."""

    def interrupted() -> None:
        with blobs.batch() as batch:
            batch.put(b"one")
            batch.put(b"two")
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert files(blobs) == []


def test_put_pieces__not_as_announced__is_refused(blobs: Blobs) -> None:
    """Another size or another content is not kept, not even in part."""
    for digest, size in ((sha256(b"content").hexdigest(), 8), (sha256(b"content").hexdigest(), 3), ("0" * 64, 7)):
        with pytest.raises(Refused) as refused, blobs.batch() as batch:
            batch.put_pieces([b"con", b"tent"], digest=digest, size=size)
        assert refused.value.problems[0].code == "BK467"
    assert files(blobs) == []
    with blobs.batch() as batch:
        batch.put_pieces([b"con", b"tent"], digest=sha256(b"content").hexdigest(), size=7)
    assert blobs.read(sha256(b"content").hexdigest()) == b"content"


def test_read__damaged_or_missing__is_refused(blobs: Blobs, tmp_path: Path) -> None:
    """What is handed out is what was stored."""
    digest = blobs.put(b"content")
    blobs.path(digest).chmod(0o644)
    blobs.path(digest).write_bytes(b"c0ntent")
    for bad in (digest, "0" * 64):
        with pytest.raises(Refused):
            blobs.read(bad)
        with pytest.raises(Refused):
            blobs.copy(bad, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


KILLED = """
import os, sys
from pathlib import Path
from beaker.service.blobs import Blobs
with Blobs(Path(sys.argv[1])).batch() as batch:
    batch.put(b"half of it")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_sweep__killed_writer__leaves_nothing(blobs: Blobs) -> None:
    """What a killed process had under way goes; what a living one writes stays."""
    command = [sys.executable, "-c", KILLED, str(blobs.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        blobs.sweep()
        assert len(files(blobs)) == 2  # the blob under way, and its lock
        process.send_signal(signal.SIGKILL)
    blobs.sweep()
    assert files(blobs) == []
    assert list((blobs.root / "tmp").iterdir()) == []


def test_sweep__while_others_write__takes_nothing_away(blobs: Blobs) -> None:
    """Writers and sweepers in parallel: every blob arrives."""
    script = (
        "import sys; from pathlib import Path; from beaker.service.blobs import Blobs; b = Blobs(Path(sys.argv[1]))\n"
        "for n in range(100): b.put(f'{sys.argv[2]} {n}'.encode()); b.sweep()"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(blobs.root), str(one)]) for one in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert all(blobs.has(sha256(f"{one} {n}".encode()).hexdigest()) for one in range(3) for n in range(100))
