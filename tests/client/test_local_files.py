"""Files that are sent: hashed once, and never sent as anything else than what was hashed."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.client import local_files
from beaker.client.local_files import PIECE_BYTES, LocalFile, files_below, hashed, pieces_of
from beaker.core.problems import Refused

DATA = bytes(range(256)) * (PIECE_BYTES // 256) * 3 + b"end"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.write_bytes(DATA)
    return made


def settled(path: Path) -> LocalFile:
    """The file, as if it had changed last long ago: its next change has another time."""
    local, probe = attrs.evolve(hashed(path), settled=True), path.with_name("probe")
    while True:
        probe.write_bytes(b"x")
        if probe.stat().st_ctime_ns > path.stat().st_ctime_ns:
            return local


@pytest.mark.parametrize("as_hashed", [hashed, settled])
def test_pieces__file_as_it_was__is_sent_whole(file: Path, as_hashed: Callable[[Path], LocalFile]) -> None:
    """Piece by piece, and an empty file as none."""
    local = as_hashed(file)
    assert (local.size, local.sha256) == (len(DATA), sha256(DATA).hexdigest())
    assert b"".join(pieces_of(local)) == DATA
    file.write_bytes(b"")
    assert [*pieces_of(as_hashed(file))] == []


def replaced(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(DATA)
    os.replace(other, file)


def flipped(file: Path) -> None:
    """Change a byte, and turn the time of the change back."""
    before = file.stat()
    with file.open("r+b") as changed:
        changed.seek(len(DATA) - 1)
        changed.write(b"!")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: list[Callable[[Path], Any]] = [
    lambda file: file.write_bytes(DATA + b"more"),
    lambda file: file.write_bytes(DATA[:-1]),
    lambda file: file.write_bytes(b""),
    replaced,
    flipped,
]


@pytest.mark.parametrize("as_hashed", [hashed, settled])
@pytest.mark.parametrize("change", CHANGES)
def test_pieces__changed_before__is_refused_at_once(
    file: Path, change: Callable[[Path], Any], as_hashed: Callable[[Path], LocalFile]
) -> None:
    """Nothing is sent of another file than the one that was hashed."""
    local = as_hashed(file)
    change(file)
    with pytest.raises(Refused) as refused:
        next(pieces_of(local))
    assert (refused.value.problems[0].code, refused.value.problems[0].where) == ("BK814", str(file))


@pytest.mark.parametrize("as_hashed", [hashed, settled])
@pytest.mark.parametrize("change", [CHANGES[0], CHANGES[1], flipped])
def test_pieces__changed_on_the_way__are_never_whole(
    file: Path, change: Callable[[Path], Any], as_hashed: Callable[[Path], LocalFile]
) -> None:
    """The last piece is held back until it is known that nothing changed."""
    pieces = pieces_of(as_hashed(file))
    sent = [next(pieces)]
    change(file)
    with pytest.raises(Refused, match="changed"):
        sent.extend(pieces)
    assert sum(map(len, sent)) < len(DATA)


def test_pieces__change_that_no_clock_told__is_seen_by_its_bytes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the times of a file system are coarse: a file that changed a moment ago is hashed again."""
    monkeypatch.setattr(local_files, "_stamp", lambda file: (1, 2, 3, 2**62, 2**62))
    local = hashed(file)
    assert not local.settled
    flipped(file)
    with pytest.raises(Refused, match="changed"):
        b"".join(pieces_of(local))


def test_hashed__file_that_changes_meanwhile__is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hash would be of no state it ever had."""
    stamps = iter([(1,) * 5, (2,) * 5])
    monkeypatch.setattr(local_files, "_stamp", lambda file: next(stamps))
    with pytest.raises(Refused, match="while it was read"):
        hashed(file)


def test_files_below__folder__gives_what_is_not_hidden(tmp_path: Path) -> None:
    """Sorted, with links to files; nothing below hidden folders and links to folders."""
    for name in ("b/c", "a", ".env", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.symlink("a", tmp_path / "link")
    os.symlink("b", tmp_path / "folder")
    assert [*files_below(tmp_path)] == ["a", "b/c", "link"]
