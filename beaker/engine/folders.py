"""Folders of customer code and proposers: removing them whatever was done to them, and telling whether they changed."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

Listing = Mapping[str, tuple[int, ...]]
"""Relative path, with `/`, to what shows whether it was written to: inode, mode, size, modification and change time."""


def remove_tree(root: Path) -> None:
    """Remove a folder whatever was done to its modes or its depth; nothing happens when there is none."""
    try:
        shutil.rmtree(root, ignore_errors=True)
    except RecursionError:
        pass  # nested deeper than Python can follow; `rm` can
    if os.path.lexists(root):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(root)], stderr=subprocess.DEVNULL, check=False)


def file_listing(root: Path, *, folders: bool = False) -> Listing:
    """Everything below `root` that is no folder, with `folders` these too; empty when it cannot be read."""
    found: dict[str, tuple[int, ...]] = {}
    start = len(os.fspath(root)) + 1
    try:
        for folder, below, files in os.walk(root):
            links = [name for name in below if os.path.islink(os.path.join(folder, name))]
            for name in (*files, *(below if folders else links)):
                path = os.path.join(folder, name)
                found[path[start:]] = status_of(os.lstat(path))
    except OSError:
        return {}
    return found


def status_of(status: os.stat_result) -> tuple[int, ...]:
    """What of a file's status a listing holds."""
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
