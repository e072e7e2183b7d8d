"""Temporary folders that customer code works in, and how they are removed whatever it did to them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

_TEMPORARY: set[Path] = set()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder with its real path, removed at the end, and by `remove_temporary` when no end comes.

    Folders with this prefix that killed processes left are removed too.
    """
    _remove_left(prefix)
    folder, lock = _locked_folder(prefix)
    _TEMPORARY.add(folder)
    try:
        yield folder
    finally:
        remove_folder(folder)
        _TEMPORARY.discard(folder)
        if lock is not None:
            os.close(lock)


def _locked_folder(prefix: str) -> tuple[Path, int | None]:
    """A new folder and a descriptor of it that holds its lock for as long as this process lives."""
    while True:
        folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
        if sys.platform == "win32":
            return folder, None
        try:
            lock = os.open(folder, _FOLDER)
        except FileNotFoundError:
            continue  # taken for one that was left
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)


def _remove_left(prefix: str) -> None:
    """Remove this user's folders that nobody holds the lock of."""
    if sys.platform == "win32":
        return
    for folder in Path(os.path.realpath(tempfile.gettempdir())).glob(f"{prefix}*"):
        try:
            lock = os.open(folder, _FOLDER)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_uid == os.geteuid():
                remove_folder(folder)
        except OSError:
            pass  # it is in use
        finally:
            os.close(lock)


def remove_temporary() -> None:
    """Remove every temporary folder that is in use, for a process that is about to end without unwinding."""
    for folder in tuple(_TEMPORARY):
        remove_folder(folder)


def remove_folder(root: Path) -> None:
    """Remove a folder whatever was done to its modes or its depth; nothing happens when there is none."""
    try:
        shutil.rmtree(root, ignore_errors=True)
    except RecursionError:
        pass  # nested deeper than Python follows
    if os.path.lexists(root):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(root)], stderr=subprocess.DEVNULL, check=False)
