"""Folders written as a whole: what was there before stays until everything new is in place."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from beaker.core.problems import Problem
from beaker.files.atomic import os_problem


def nearest_folder(path: Path) -> Path:
    """`path` itself, else the nearest folder above it that exists: where something at `path` would come to be."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def write_refusal(folder: Path) -> Problem | None:
    """Why nothing can be written into a folder (BK701), found out by trying; `None` when it can. Nothing stays."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x" * 4096)
            file.flush()
    except OSError as error:
        return os_problem(error, "write here", folder)
    return None


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
