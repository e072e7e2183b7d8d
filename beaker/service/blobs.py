"""Content-addressed files: `sha256/ab/<digest>`, written whole or not at all, never changed."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from beaker.core.problems import Problem, Refused
from beaker.files.atomic import sync_folder

_PIECE = 1 << 20
_MANY = 100


class Blobs:
    """Blobs below `root`, a folder that several processes may use at once.

    A blob under way lies in `tmp/` until it is complete, verified and flushed to the disk, then moves to its place by
    renaming. Errors of the disk are `OSError`, and leave no blob behind.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, digest: str) -> Path:
        """Where the blob with this SHA-256 (hex) is, or would be."""
        return self.root / "sha256" / digest[:2] / digest

    def has(self, digest: str) -> bool:
        """Whether the blob is here."""
        return self.path(digest).is_file()

    def read(self, digest: str) -> bytes:
        """The content of a blob; `Refused` (BK475) when it is missing or not what it was."""
        try:
            data = self.path(digest).read_bytes()
        except FileNotFoundError:
            data = None
        if data is None or sha256(data).hexdigest() != digest:
            raise Refused(_damaged(digest, self.path(digest)))
        return data

    def copy(self, digest: str, target: Path) -> None:
        """Write the content of a blob to the new file `target`; `Refused` (BK475) as in `read`."""
        hashed = sha256()
        try:
            with self.path(digest).open("rb") as source, target.open("xb") as file:
                while piece := source.read(_PIECE):
                    hashed.update(piece)
                    file.write(piece)
        except FileNotFoundError:
            if target.parent.is_dir():
                raise Refused(_damaged(digest, self.path(digest))) from None
            raise
        if hashed.hexdigest() != digest:
            target.unlink()
            raise Refused(_damaged(digest, self.path(digest)))

    @contextmanager
    def pieces(self, digest: str, *, offset: int = 0) -> "Iterator[Iterator[bytes]]":
        """The content of a blob from byte `offset` on, for whoever checks it; `Refused` (BK475) when it is missing."""
        try:
            file = self.path(digest).open("rb")
        except FileNotFoundError:
            raise Refused(_damaged(digest, self.path(digest))) from None
        with file:
            file.seek(offset)
            yield iter(lambda: file.read(_PIECE), b"")

    def put(self, data: bytes) -> str:
        """Store `data` and return its SHA-256 (hex)."""
        with self.batch() as batch:
            return batch.put(data)

    @contextmanager
    def batch(self) -> "Iterator[Batch]":
        """Store several blobs: they appear when the block ends, none of the new ones when it raises."""
        import fcntl

        folder, lock = _temporary_folder(self.root / "tmp")
        try:
            batch = Batch(self, folder)
            yield batch
            batch.place()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)

    def sweep(self) -> None:
        """Remove what killed processes left under way; what living ones write stays."""
        import fcntl

        try:
            folders = list((self.root / "tmp").iterdir())
        except (FileNotFoundError, PermissionError):
            return
        for folder in folders:
            try:
                lock = os.open(folder / ".lock", os.O_RDWR)
            except FileNotFoundError:
                # Being made in this very moment; an empty leftover goes, a folder that filled up meanwhile stays.
                try:
                    folder.rmdir()
                except OSError:
                    pass
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            else:
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


class Batch:
    """Blobs that are stored together; see `Blobs.batch`."""

    def __init__(self, blobs: Blobs, folder: Path) -> None:
        self._blobs = blobs
        self._folder = folder
        self._pending: dict[str, Path] = {}

    def put(self, data: bytes) -> str:
        """Store `data` and return its SHA-256 (hex)."""
        digest = sha256(data).hexdigest()
        if digest not in self._pending and not self._blobs.has(digest):
            temporary = self._folder / digest
            temporary.write_bytes(data)
            self._pending[digest] = temporary
        return digest

    def put_pieces(self, pieces: Iterable[bytes], *, digest: str, size: int, where: str = "") -> None:
        """Store what arrives in pieces, and must come to this SHA-256 and size in bytes; `Refused` (BK467) otherwise.

        No piece is taken any more once there are too many bytes. What `pieces` raises passes through.
        """
        with self.incoming(digest=digest, size=size, where=where) as coming:
            for piece in pieces:
                coming.add(piece)

    @contextmanager
    def incoming(self, *, digest: str, size: int, where: str = "") -> "Iterator[Incoming]":
        """As `put_pieces`, for pieces that are given as they come; complete when the block ends."""
        temporary = self._folder / secrets.token_hex(8)
        with temporary.open("xb") as file:
            coming = Incoming(file, size, where)
            yield coming
        coming.check(digest)
        self._pending[digest] = temporary

    def place(self) -> None:
        """Flush everything to the disk and move it to its place."""
        for temporary in self._pending.values():
            temporary.chmod(0o444)
        _flush(list(self._pending.values()))
        folders = set()
        for digest, temporary in self._pending.items():
            target = self._blobs.path(digest)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(temporary, target)
            folders.add(target.parent)
        _flush(sorted(folders))


class Incoming:
    """A blob that comes in pieces; see `Batch.incoming`."""

    def __init__(self, file: BinaryIO, size: int, where: str) -> None:
        self._file = file
        self._size = size
        self._where = where
        self._hashed, self._length = sha256(), 0

    def add(self, piece: bytes) -> None:
        """Take the next piece. `Refused` (BK467) once there are too many bytes."""
        self._length += len(piece)
        if self._length > self._size:
            raise Refused(self._wrong_size(f"more than {self._size}"))
        self._hashed.update(piece)
        self._file.write(piece)

    def check(self, digest: str) -> None:
        """`Refused` (BK467) unless everything came."""
        if self._length != self._size:
            raise Refused(self._wrong_size(str(self._length)))
        if self._hashed.hexdigest() != digest:
            message = f"the file was announced with SHA-256 {digest} and has {self._hashed.hexdigest()}"
            raise Refused(Problem("BK467", message, self._where, "it changed while it was uploaded; upload it again"))

    def _wrong_size(self, found: str) -> Problem:
        return Problem("BK467", f"the file was announced with {self._size} bytes and has {found}", self._where)


def _flush(paths: list[Path]) -> None:
    """Flush files or folders to the disk: one by one costs milliseconds each, so many of them all at once."""
    if len(paths) > _MANY:
        os.sync()
        return
    for path in paths:
        if path.is_dir():
            sync_folder(path)
            continue
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _temporary_folder(parent: Path) -> tuple[Path, int]:
    """A folder for blobs under way and the descriptor of its lock, held: `sweep` spares it while we live."""
    import fcntl

    parent.mkdir(parents=True, exist_ok=True)
    while True:
        folder = parent / secrets.token_hex(8)
        try:
            folder.mkdir()
            lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # swept between the two
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / ".lock").exists():
            return folder, lock
        os.close(lock)


def _damaged(digest: str, path: Path) -> Problem:
    return Problem("BK475", f"the stored content {digest[:12]} is missing or damaged", str(path), "upload it again")
