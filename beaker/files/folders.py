"""Folders written as a whole: what was there before stays until everything new is in place."""

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing_folder(folder: Path, *, only: Collection[str] = ()) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place when the block ends, and goes away when it raises.

    With `only`, names directly in the folder, everything else that `folder` holds is kept. Raises `OSError`.
    """
    mark = secrets.token_hex(4)
    fresh, old = (folder.with_name(f".{folder.name}.{kind}-{mark}") for kind in ("new", "old"))
    try:
        fresh.mkdir()
    except OSError as error:
        error.filename = str(folder)  # nobody asked for the folder beside it
        raise
    try:
        yield fresh
        if folder.exists():
            if only:
                _keep(folder, fresh, only)
            os.rename(folder, old)
        os.rename(fresh, folder)
    except BaseException as error:
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        _remove(fresh)
        if isinstance(error, OSError) and isinstance(error.filename, str):
            error.filename = error.filename.replace(str(fresh), str(folder))
        raise
    _remove(old)


def _keep(folder: Path, fresh: Path, only: Collection[str]) -> None:
    """Copy what is not replaced; a copy, since until the last rename the old folder has to stay whole."""
    for entry in folder.iterdir():
        if entry.name in only or os.path.lexists(fresh / entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, fresh / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, fresh / entry.name, follow_symlinks=False)


def _remove(folder: Path) -> None:
    """Remove a tree of ours; document trees are read-only, folders included."""
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
