"""Files of a place that are fetched: verified, taken up where they stopped, and whole or not at all."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from beaker.client.transport import Transport
from beaker.core.problems import Problem, Refused
from beaker.core.responses import ApiProblem
from beaker.core.text import relative_path
from beaker.core.values import value
from beaker.files.atomic import sync_folder

UNSATISFIABLE = 416
"""The status for a part that is not there: what was kept belongs to another file."""

_PIECE = 1 << 20
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


@value
class RemoteFile:
    """A file that a place offers: its path in the folder it is meant for, its address, its size in bytes and its
    SHA-256 (hex); `None` for what the place does not say."""

    path: str
    url: str = attrs.field(repr=False)  # signed: whoever has it may read
    size: int | None
    sha256: str | None


@value
class Fetched:
    """What has arrived: size in bytes and SHA-256 (hex)."""

    size: int
    sha256: str


def remote_file(item: Any) -> RemoteFile | None:
    """A file as an answer offers it; `None` without a path and an address, with a size or digest that is none, and for
    a path that would leave the folder."""
    match item:
        case {"path": str(path), "download_url": str(url)}:
            size, digest = item.get("size_bytes"), item.get("sha256")
            if not (size is None or type(size) is int) or not isinstance(digest, str | None):
                return None
            try:
                return RemoteFile(relative_path(path, "path"), url, size, digest if digest is None else digest.lower())
            except ValueError:
                return None
    return None


def fetch(transport: Transport, file: RemoteFile, target: Path, told: Callable[[int], None]) -> Fetched:
    """Write a file of the place to `target`, whose folder exists; what stood there is replaced.

    What has arrived lies beside it in a `.part` file until it is whole and verified; a later call goes on there where
    the digest is known. `told` gets the number of bytes that are there, as they come. `Refused` (BK813) when other
    bytes arrive than those announced, which are not kept, and what `Transport.download` raises; `OSError` when they
    cannot be written.
    """
    part = target.with_name(f".{target.name[:64]}.{(file.sha256 or 'new')[:16]}.part")
    keep = True
    try:
        with open(os.open(part, _OPEN if file.sha256 else _OPEN | os.O_TRUNC, 0o666), "r+b") as kept:
            coming = _Coming(kept, file)
            try:
                if not coming.whole:
                    with transport.download(file.url, offset=coming.there) as arriving:
                        coming.go_on(arriving.offset)
                        for piece in arriving.pieces:
                            coming.add(piece)
                            told(coming.there)
                coming.whole = True
                coming.check()
            except Refused as refused:
                first = refused.problems[0]
                useless = first.code == "BK813" or (isinstance(first, ApiProblem) and first.status == UNSATISFIABLE)
                keep = coming.there > 0 and file.sha256 is not None and not useless
                raise
            kept.flush()
            os.fsync(kept.fileno())
        os.replace(part, target)
    finally:
        if not keep:
            os.unlink(part)
    sync_folder(target.parent)
    return coming.fetched


class _Coming:
    """A file as far as it has come: what lies in `kept` already counts."""

    def __init__(self, kept: BinaryIO, file: RemoteFile) -> None:
        self._kept = kept
        self._file = file
        self._digest, self.there = sha256(), 0
        while piece := kept.read(_PIECE):
            self._digest.update(piece)
            self.there += len(piece)
        self.whole = self.there == file.size and self._digest.hexdigest() == file.sha256
        if not self.whole and file.size is not None and self.there >= file.size:
            self.go_on(0)

    @property
    def fetched(self) -> Fetched:
        """What has come."""
        return Fetched(self.there, self._digest.hexdigest())

    def go_on(self, offset: int) -> None:
        """Expect the bytes from `offset` on, which is where it stopped, or else the start."""
        if offset != self.there:
            self._kept.seek(0)
            self._kept.truncate()
            self._digest, self.there = sha256(), 0

    def add(self, piece: bytes) -> None:
        """Take the next bytes. `Refused` (BK813) when there are too many."""
        self.there += len(piece)
        if self._file.size is not None and self.there > self._file.size:
            raise Refused(other_bytes(self._file.path))
        self._digest.update(piece)
        self._kept.write(piece)

    def check(self) -> None:
        """`Refused` (BK813) unless it is the file that was announced."""
        come = self.fetched
        if self._file.size not in (None, come.size) or self._file.sha256 not in (None, come.sha256):
            raise Refused(other_bytes(self._file.path))


def other_bytes(path: str) -> Problem:
    """What is said of a file that is not the announced one."""
    return Problem("BK813", "the file that arrived is not the one that was announced", path, "try again")
