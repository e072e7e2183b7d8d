"""Folders for what a test's cases read and write, removed when the process ends."""

import atexit
import os
import tempfile
from functools import cache
from pathlib import Path

from beaker.runtime.folders import remove_folder


def new_folder(purpose: str) -> Path:
    """A new, empty folder."""
    return Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=_root(os.getpid())))


@cache
def _root(process: int) -> str:
    """One folder for each process, as a copy of this one that was forked removes its own only."""
    root = tempfile.mkdtemp(prefix="beaker-testing-")
    atexit.register(_remove, root, process)
    return root


def _remove(root: str, process: int) -> None:
    if os.getpid() == process:
        remove_folder(Path(root))
