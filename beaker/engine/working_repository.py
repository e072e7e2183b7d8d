"""The `repository/` folder of a proposer's working copy: the parent's files in a small Git repository, and reading back
what a proposer made of them.

Its one commit is for the proposer (agents look at diffs and take things back); what becomes of `.git` does not matter.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem, Refused
from beaker.core.repository_tree import (
    MAX_EDIT_BYTES,
    MAX_EDITS,
    MAX_FILE_BYTES,
    Mode,
    RepositoryEdits,
    RepositoryFile,
    TrackedFile,
    edited_files,
    inside_targets,
)
from beaker.core.values import value
from beaker.engine.folders import Listing, file_listing, remove_tree, status_of
from beaker.engine.judging import Misdeed, Scope, listed
from beaker.files.git import LINK_MODE, SUBMODULE_MODE, commit_all, init_repository
from beaker.files.git_ignore import ignored_below
from beaker.files.patience import Patience
from beaker.files.reading import open_regular

REPOSITORY = "repository"

_GIT, _IGNORE = ".git", ".gitignore"
_EXACT = "* -text -ident !filter !working-tree-encoding\n"
"""Attributes above those of the project: whoever takes a file back with Git gets the bytes that were there."""

_PRIVATE = ".beaker/local"
"""Beaker's own state, which no proposer is given, should it be tracked."""


def lay_out_repository(root: Path, write: Callable[[Path], None]) -> Listing:
    """Make `root`, which must not exist, hold what `write` writes there, committed; how it was left.

    Raises `OSError`, `Refused` when Git fails, and what `write` raises.
    """
    write(root)
    remove_tree(root / _PRIVATE)
    _done(init_repository(root))
    (root / _GIT / "info").mkdir()
    (root / _GIT / "info" / "attributes").write_text(_EXACT)
    _done(commit_all(root, "The parent", ignored_too=True))
    return file_listing(root)


def _done(made: Result[Any, Problem]) -> None:
    if not is_successful(made):
        raise Refused(made.failure())


@value
class Left:
    """What a proposer left in the repository, as paths from its root: links and special files that are not the
    commit's, edits `outside` the targets, and `edits` without those of `changed`, whose contents are still to be read.
    """

    special: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    edits: RepositoryEdits = attrs.field(factory=dict)
    changed: Mapping[str, "os.DirEntry[str]"] = attrs.field(factory=dict)


def look_through(
    root: Path,
    *,
    parent: RepositoryEdits,
    scope: Scope,
    laid_out: Listing,
    dropping: Callable[[str], bool],
    patience: Patience,
) -> Left:
    """What a proposer made in `root` of a candidate with the edits `parent`.

    Whatever the `.gitignore` files in `root` name and the commit does not hold is passed over, `dropping` names are
    removed. Raises `OSError` and `OutOfPatience`.
    """
    paths = scope.paths
    known = {path for path in edited_files(parent, scope.commit) if not _is_private(path)}
    edits, special, seen = dict(parent), list[str](), set[str]()
    new: dict[str, os.DirEntry[str]] = {}
    changed: dict[str, os.DirEntry[str]] = {}
    for path, entry in _walk(root):
        patience.check()
        seen.add(path)
        tracked = None if path in parent else scope.commit.get(path)
        if path not in known and path not in scope.commit:
            if dropping(path):
                os.unlink(entry.path)
            else:
                new[path] = entry
        elif tracked is not None and not tracked.mode.startswith("100"):
            if not _is_same_link(entry, tracked):
                special.append(path)
        elif laid_out.get(path) != status_of(entry.stat(follow_symlinks=False)):
            changed[path] = entry
    if blocking := [path for path, entry in {**new, **changed}.items() if _holds_up_git(path, entry)]:
        return Left(special=(*special, *blocking))
    ignored = ignored_below(root, [*new], patience=patience)
    changed |= {path: entry for path, entry in new.items() if path not in ignored}
    for path in known - seen:
        if path not in scope.commit:
            del edits[path]
        elif scope.commit[path].mode != SUBMODULE_MODE:
            edits[path] = None
    special += [path for path, entry in changed.items() if not is_plain(entry)]
    special += [path for path in known - seen if path in scope.commit and scope.commit[path].mode == LINK_MODE]
    outside = [path for path, file in edits.items() if file is None and not inside_targets(path, paths)]
    inside: dict[str, os.DirEntry[str]] = {}
    for path, entry in changed.items():
        if inside_targets(path, paths):
            inside[path] = entry
        elif is_plain(entry) and not _is_unchanged(entry, scope.commit.get(path), laid_out.get(path), patience):
            outside.append(path)
    return Left(tuple(special), tuple(outside), edits, inside)


def read_edits(left: Left) -> Result[RepositoryEdits, Misdeed]:
    """All edits with their contents, unless there is more of them than a candidate may have. They are not settled yet
    (`judging.child_tree`). Raises `OSError`.
    """
    sizes = {path: entry.stat(follow_symlinks=False).st_size for path, entry in left.changed.items()}
    large = [path for path, size in sizes.items() if size > MAX_FILE_BYTES]
    if large or sum(sizes.values()) > MAX_EDIT_BYTES or len(sizes) > MAX_EDITS:
        limits = f"{MAX_EDITS} files, {MAX_FILE_BYTES} bytes in one and {MAX_EDIT_BYTES} in all"
        which = f"{listed(large)}: too large" if large else f"{len(sizes)} files of {sum(sizes.values())} bytes edited"
        return Failure(Misdeed("invalid_tree", f"{which}; a candidate may edit at most {limits}"))
    read = {path: RepositoryFile(_mode(one), Path(one.path).read_bytes()) for path, one in left.changed.items()}
    return Success({**left.edits, **read})


def is_plain(entry: "os.DirEntry[str]") -> bool:
    """Whether a file is one of its own: no link, no special file, no second name of another."""
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _walk(root: Path) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Everything below `root` that is no folder, without its `.git` and Beaker's own state, in order of name."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{folder}{entry.name}"
            if path == _GIT or _is_private(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{path}/")
            else:
                yield path, entry


def _is_private(path: str) -> bool:
    return path == _PRIVATE or path.startswith(f"{_PRIVATE}/")


def _is_same_link(entry: "os.DirEntry[str]", tracked: TrackedFile) -> bool:
    if tracked.mode != LINK_MODE or not entry.is_symlink():
        return False
    return sha256(os.fsencode(os.readlink(entry.path))).hexdigest() == tracked.sha256


def _mode(entry: "os.DirEntry[str]") -> Mode:
    return "100755" if entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR else "100644"


def _holds_up_git(path: str, entry: "os.DirEntry[str]") -> bool:
    """Whether Git would open this as a list of what is ignored, and wait for ever."""
    if path.rpartition("/")[2] != _IGNORE:
        return False
    mode = entry.stat(follow_symlinks=False).st_mode
    return not stat.S_ISREG(mode) and not stat.S_ISLNK(mode)


def _is_unchanged(
    entry: "os.DirEntry[str]", tracked: TrackedFile | None, laid_out: tuple[int, ...] | None, patience: Patience
) -> bool:
    """Whether a file that was written to holds what the commit holds. As little of it is read as can tell."""
    if tracked is None or tracked.mode != _mode(entry):
        return False
    if laid_out is not None and laid_out[2] != entry.stat(follow_symlinks=False).st_size:
        return False
    hashed = sha256()
    with open_regular(Path(entry.path)) as file:
        while block := file.read(1 << 20):
            patience.check()
            hashed.update(block)
    return tracked.sha256 == hashed.hexdigest()
