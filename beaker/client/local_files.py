"""Files of this machine that are to be sent: hashed once, and sent only as they were then."""

import os
import time
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Refused
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.reading import open_regular

PIECE_BYTES = 1 << 18
"""What is read of a file, and sent, at once."""

SETTLED_SECONDS = 2.0
"""How long ago the last change of a file must lie for its times to tell the next one: clocks of file systems are
coarse, and two changes within one of their ticks look like one."""


@value
class LocalFile:
    """A file as it was when it was hashed: its size in bytes, its SHA-256 (hex), and what tells a change since.

    `settled`: a change would be told by `stamp`; otherwise the bytes have to be hashed again while they are sent.
    """

    path: Path
    size: int
    sha256: str
    stamp: tuple[int, ...]
    settled: bool


def hashed(path: Path) -> LocalFile:
    """Hash a file. `OSError` when it cannot be read, `Refused` (BK814) when it changes meanwhile."""
    with open_regular(path) as file:
        before = _stamp(file)
        digest = sha256()
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
        size = file.tell()
        stamp = _stamp(file)
    if stamp != before:
        raise Refused(_changed(path, "while it was read"))
    return LocalFile(path, size, digest.hexdigest(), stamp, _is_settled(stamp))


def hashed_all(sources: Mapping[str, Path], action: str) -> Result[dict[str, LocalFile], Problem]:
    """`hashed` for each of them; `action` completes "cannot ..." for one that cannot be read."""
    try:
        return Success({path: hashed(source) for path, source in sources.items()})
    except OSError as error:
        return Failure(os_problem(error, action))
    except Refused as refused:
        return Failure(refused.problems[0])


def files_below(directory: Path) -> dict[str, Path]:
    """Every file below a folder, links to files included, by its path from there, sorted by path. Nothing hidden, and
    nothing below a link to a folder."""
    found: dict[str, Path] = {}
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if not name.startswith("."):
                path = Path(folder, name)
                found[path.relative_to(directory).as_posix()] = path
    return dict(sorted(found.items()))


def leaving(directory: Path, sources: Mapping[str, Path]) -> Iterator[Problem]:
    """What may not travel of the files of a folder (BK815): links out of it or to a hidden file, and what is no
    regular file."""
    root = directory.resolve()
    for path, source in sources.items():
        target = source.resolve()
        if root not in target.parents:
            hint = "copy the file into the folder"
            yield Problem("BK815", f"the file is a link to {target}, outside the folder", str(source), hint)
        elif any(part.startswith(".") for part in target.relative_to(root).parts):
            hint = "copy its content into the file"
            yield Problem(
                "BK815", f"the file is a link to {target}, a hidden file, which never travels", str(source), hint
            )
        elif not target.is_file():
            yield Problem("BK815", f"{path} is no regular file", str(source))


def pieces_of(local: LocalFile) -> Iterator[bytes]:
    """The bytes of a file, which must be those that were hashed.

    `Refused` (BK814) when they are not, at the latest before the last piece: whoever receives them has no whole file
    then. `OSError` as from `hashed`.
    """
    with open_regular(local.path) as file:
        _check(local, file)
        digest, taken = sha256(), 0
        held = b""
        while piece := file.read(PIECE_BYTES):
            taken += len(piece)
            if taken > local.size:
                raise Refused(_changed(local.path))
            if not local.settled:
                digest.update(piece)
            if held:
                yield held
            held = piece
        _check(local, file)
        if taken != local.size or not (local.settled or digest.hexdigest() == local.sha256):
            raise Refused(_changed(local.path))
        if held:
            yield held


def _check(local: LocalFile, file: Any) -> None:
    if _stamp(file) != local.stamp:
        raise Refused(_changed(local.path))


def _stamp(file: Any) -> tuple[int, ...]:
    """Which file it is, its size, and when its content and its entry changed last."""
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _is_settled(stamp: tuple[int, ...]) -> bool:
    *_, modified, changed = stamp
    return max(modified, changed) + SETTLED_SECONDS * 1e9 < time.time_ns()


def _changed(path: Path, when: str = "after it was read") -> Problem:
    return Problem("BK814", f"the file changed {when}, so nothing is known of its content", str(path), "upload again")
