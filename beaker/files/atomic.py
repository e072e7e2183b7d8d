"""Atomic writes: a file is either as it was or as it should be, also after a crash or a full disk.

The new content goes to a temporary file in the same folder, is flushed to the disk and renamed over the old one. The
mode of an existing file is kept, a symbolic link is written through, line endings are the caller's.

Everything here raises `OSError`; a boundary turns it into a `Problem` with `os_problem`.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from beaker.core.problems import Problem

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_bytes(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace the content of `path`, or create it.

    `mode` sets the permission bits (`0o600` for secrets, there from the first byte on); without it an existing file
    keeps its own and a new one follows the umask. `OSError` when the folder is missing, not writable or full; then
    `path` is untouched and no temporary file stays.
    """
    with replacing(path, mode=mode) as file:
        file.write(data)


def write_text(path: Path, text: str, *, mode: int | None = None) -> None:
    """`write_bytes` of `text` in UTF-8, its line endings as they are. `ValueError` for a lone surrogate."""
    write_bytes(path, text.encode("utf-8"), mode=mode)


@contextmanager
def replacing(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A binary file to fill; `path` is replaced when the block ends, and untouched when it raises.

    For content that arrives piece by piece, such as a download. Errors and `mode` as in `write_bytes`.
    """
    target = Path(os.path.realpath(path))
    kept = _existing_mode(target) if mode is None else mode
    temporary = target.with_name(f".{target.name[:64]}.{secrets.token_hex(8)}.tmp")
    # Not tempfile: it opens with 0600, and the umask cannot be asked without changing it for all threads.
    try:
        descriptor = os.open(temporary, _CREATE, 0o666 if kept is None else 0o600)
    except OSError as error:
        error.filename = str(path)  # nobody asked for the temporary file
        raise
    try:
        with open(descriptor, "wb") as file:
            if kept is not None:
                os.chmod(temporary, kept)
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename, error.filename2 = str(path), None
        try:
            os.unlink(temporary)
        except FileNotFoundError:
            pass
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename in it survives a power cut.

    A file system (or Windows) that cannot do this for folders is left alone.
    """
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def os_problem(error: OSError, action: str, path: Path | str | None = None) -> Problem:
    """An `OSError` as a `Problem` (BK701) that says what was being done, where, and what to do next.

    `action` completes "cannot ...": `"write the candidate"`.
    """
    where = str(path if path is not None else error.filename or "")
    reason = error.strerror or type(error).__name__
    return Problem("BK701", f"cannot {action}: {reason}", where, _NEXT_STEPS.get(error.errno or 0, ""))


_NEXT_STEPS = {
    errno.ENOSPC: "free some space on this disk and run the command again",
    errno.EDQUOT: "your disk quota is used up; free some space and run the command again",
    errno.EROFS: "this file system is read-only; choose a folder that can be written (BEAKER_LOCAL_DIR for run state)",
    errno.EACCES: "check the permissions of the file and of its folder",
    errno.EPERM: "check the permissions of the file and of its folder",
    errno.ENOENT: "check the path",
    errno.EISDIR: "a folder stands where a file is meant; choose another path",
    errno.ENOTDIR: "a file stands where a folder is meant; choose another path",
    errno.ENAMETOOLONG: "choose a shorter path",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
}


def _existing_mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None
