"""Checkouts of a run's commit and of candidates, one for each kind of process, made when it is first asked for.

They are apart so that setup or a rollout that writes into its own code reaches neither the scorer nor a proposer, nor
what another process of a candidate runs.
"""

import itertools
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from beaker.core.repository_tree import RepositoryEdits, RepositoryFile, edits_to_json
from beaker.core.strict_json import digest
from beaker.engine.candidates import CandidateTree
from beaker.engine.cleaning import CHECKOUTS
from beaker.engine.folders import Listing, file_listing, remove_tree


class Checkouts:
    """Checkouts below `work`. Methods raise `OSError`, and whatever `check_out` raises; threads may share one."""

    def __init__(self, check_out: Callable[[Path], None], work: Path) -> None:
        self._check_out = check_out
        self._root = work / CHECKOUTS
        self._projects: dict[Path, Listing] = {}
        self._read: set[Path] = set()
        self._lock = threading.Lock()
        self._count = itertools.count(1)
        self._current: dict[str, _InUse] = {}
        self._in_use: dict[Path, _InUse] = {}

    def setup(self) -> Path:
        """The code that sets up."""
        return self._made("setup")

    def scorer(self) -> Path:
        """The code that scores: the baseline's."""
        return self._made("scorer")

    def candidate(self, tree: CandidateTree) -> Path:
        """The code that this candidate runs: the commit with its edits. Give it back with `release`, once per call.

        Candidates with the same edits share a checkout, as long as nothing that ran has written to its files.
        """
        key = digest(edits_to_json(tree.repository))
        with self._lock:
            found = self._current.get(key)
            if found is None or file_listing(found.folder) != found.listing:
                folder = self._root / f"rollout-{next(self._count)}"
                self.write(tree, folder)
                if found is not None and not found.users:
                    self._remove(found)
                found = self._current[key] = self._in_use[folder] = _InUse(folder, file_listing(folder))
            found.users += 1
            return found.folder

    def release(self, folder: Path) -> None:
        """A process that ran in `folder`, from `candidate`, has ended; the last one takes the folder with it.

        The commit as it is stays while nobody wrote to it: every document's candidate runs it.
        """
        with self._lock:
            found = self._in_use[folder]
            found.users -= 1
            if not found.users and self._current.get(_UNEDITED) is not found:
                self._remove(found)

    def write(self, tree: CandidateTree, folder: Path) -> None:
        """Write the repository of a candidate into `folder`, which must not exist."""
        self._check_out(folder)
        write_edits(folder, tree.repository)

    def file(self, tree: CandidateTree, path: str) -> RepositoryFile | None:
        """A regular file of a candidate's repository; `None` when there is none at `path`."""
        if path in tree.repository:
            return tree.repository[path]
        found = self.scorer() / path
        try:
            status = os.lstat(found)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return RepositoryFile("100755" if status.st_mode & stat.S_IXUSR else "100644", found.read_bytes())

    def project(self) -> Path:
        """A read-only checkout (`{project}`) for one proposer, made anew when the last one changed it after all.

        Give it back with `return_project`; proposers that work at the same time have one each.
        """
        with self._lock:
            number = next(number for number in itertools.count() if self._project(number) not in self._read)
            folder = self._project(number)
            self._read.add(folder)
        if file_listing(folder, folders=True) != self._projects.get(folder):
            remove_tree(folder)
            self._check_out(folder)
            _make_read_only(folder)
            self._projects[folder] = file_listing(folder, folders=True)
        return folder

    def return_project(self, folder: Path) -> None:
        """The proposer that had the checkout `folder` has ended."""
        with self._lock:
            self._read.discard(folder)

    def _project(self, number: int) -> Path:
        return self._root / (f"project-{number}" if number else "project")

    def ignore_rules(self) -> bytes:
        """The `.gitignore` at the root of the commit; empty when there is none."""
        path = self.scorer() / ".gitignore"
        return path.read_bytes() if path.is_file() and not path.is_symlink() else b""

    def _made(self, name: str) -> Path:
        folder = self._root / name
        with self._lock:
            if not folder.exists():
                self._check_out(folder)
        return folder

    def _remove(self, found: "_InUse") -> None:
        del self._in_use[found.folder]
        for key in [key for key, current in self._current.items() if current is found]:
            del self._current[key]
        remove_tree(found.folder)


class _InUse:
    """A checkout that candidates run, how it was made, and how many processes run in it."""

    def __init__(self, folder: Path, listing: Listing) -> None:
        self.folder = folder
        self.listing = listing
        self.users = 0


_UNEDITED = digest(edits_to_json({}))


def write_edits(folder: Path, edits: RepositoryEdits) -> None:
    """Make the edits of a candidate in a checkout of the commit that they were settled against. Raises `OSError`."""
    # What is deleted goes first: it may stand where a folder is needed now, or hold a folder where a file is.
    for path in (path for path, file in edits.items() if file is None):
        (folder / path).unlink()
        _remove_empty(folder, (folder / path).parent)
    for path, file in edits.items():
        if file is not None:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # with its mode
            target.write_bytes(file.content)
            if file.mode == "100755":
                target.chmod(target.stat().st_mode | 0o111)


def _remove_empty(root: Path, folder: Path) -> None:
    """Git keeps no empty folders, and one that stayed would be a namespace package."""
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return  # not empty, or gone
        folder = folder.parent


def _make_read_only(root: Path) -> None:
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if os.stat(path).st_mode & stat.S_IXUSR else 0o444)
        os.chmod(folder, 0o555)
