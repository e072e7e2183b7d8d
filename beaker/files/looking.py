"""A look at all files of a project: which there are, and what shows that one is another now."""

import os
from collections.abc import Iterable
from pathlib import Path

from beaker.core.file_changes import Stamp

_FOLDERS = ("__pycache__", "node_modules")
"""Folders that hold what programs write."""


def look_at(roots: Iterable[Path], *, leave_out: Iterable[Path] = ()) -> dict[str, Stamp]:
    """The files below the folders `roots` by their whole path, links followed.

    Left out are hidden files and folders but `.beaker`, what Python and Beaker write, virtual environments, and the
    files `leave_out`. Links to folders are not followed. What goes while it is looked at is not there.
    """
    left_out = {os.path.realpath(path) for path in leave_out}
    found: dict[str, Stamp] = {}
    for root in roots:
        for folder, folders, files in os.walk(root.resolve()):
            folders[:] = [name for name in folders if _is_looked_at(folder, name)]
            for name in files:
                path = os.path.join(folder, name)
                if (name.startswith(".") and name != ".env") or path in left_out:
                    continue
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _is_looked_at(folder: str, name: str) -> bool:
    if name in ("local", "traces"):
        return os.path.basename(folder) != ".beaker"
    if name in _FOLDERS or (name.startswith(".") and name != ".beaker"):
        return False
    return not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
