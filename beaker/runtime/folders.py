"""Temporary folders that customer code works in, and how they are removed whatever it did to them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TEMPORARY: set[Path] = set()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder with its real path, removed at the end, and by `remove_temporary` when no end comes."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
    _TEMPORARY.add(folder)
    try:
        yield folder
    finally:
        remove_folder(folder)
        _TEMPORARY.discard(folder)


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
