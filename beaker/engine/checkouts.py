"""Checkouts of a run's commit, one for each kind of process, made when it is first asked for.

They are apart so that setup or a rollout that writes into its own code reaches neither the scorer nor a proposer.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from beaker.engine.cleaning import CHECKOUTS
from beaker.engine.working_copy import remove_tree

Listing = dict[str, tuple[int, ...]]


class Checkouts:
    """Checkouts below `work`. Methods raise `OSError`, and whatever `check_out` raises."""

    def __init__(self, check_out: Callable[[Path], None], work: Path) -> None:
        self._check_out = check_out
        self._root = work / CHECKOUTS
        self._project: Listing | None = None

    def setup(self) -> Path:
        """The code that sets up."""
        return self._made("setup")

    def scorer(self) -> Path:
        """The code that scores: the baseline's."""
        return self._made("scorer")

    def rollout(self) -> Path:
        """The code that candidates of documents run."""
        return self._made("rollout")

    def project(self) -> Path:
        """The read-only checkout of proposers (`{project}`), made anew when the last proposer changed it after all."""
        folder = self._root / "project"
        if self._project is None or _listing(folder) != self._project:
            remove_tree(folder)
            self._check_out(folder)
            _make_read_only(folder)
            self._project = _listing(folder)
        return folder

    def ignore_rules(self) -> bytes:
        """The `.gitignore` at the root of the commit; empty when there is none."""
        path = self.scorer() / ".gitignore"
        return path.read_bytes() if path.is_file() and not path.is_symlink() else b""

    def _made(self, name: str) -> Path:
        folder = self._root / name
        if not folder.exists():
            self._check_out(folder)
        return folder


def _make_read_only(root: Path) -> None:
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if os.stat(path).st_mode & stat.S_IXUSR else 0o444)
        os.chmod(folder, 0o555)


def _listing(root: Path) -> Listing:
    """Everything below `root`, with what shows whether it was written to."""
    found: Listing = {}
    try:
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                path = os.path.join(folder, name)
                status = os.lstat(path)
                found[path] = (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError:
        return {}
    return found
