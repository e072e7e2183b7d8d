"""The folder a proposer works in: laying it out, and judging what came back, by kind of misdeed.

    repository/          the parent's tracked files in a Git repository of one commit, when the repository is a target
    documents/<group>/   the parent's documents; those that are not editable have mode 0444
    evidence/            what the proposer is told; edits to it are ignored

What tools drop on their way (`__pycache__`, editor backups, the notes of coding agents at the top, and outside the
documents whatever the project's own `.gitignore` names) is removed and not judged.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.values import value
from beaker.core.wording import counted
from beaker.engine.candidates import CandidateTree, tree_files
from beaker.engine.folders import Listing
from beaker.engine.judging import Misdeed, Scope, child_tree, listed, told
from beaker.engine.working_repository import REPOSITORY, Left, is_plain, lay_out_repository, look_through, read_edits
from beaker.files.documents import read_tree, write_tree
from beaker.files.patience import OutOfPatience, Patience

DOCUMENTS = "documents"
EVIDENCE = "evidence"

JUDGING_SECONDS = 60.0
"""How long judging one working copy may take. A proposer may leave more files than anybody can read."""

_DROPPINGS = re.compile(r"(__pycache__|\.(pytest|mypy|ruff)_cache|\.DS_Store|.*\.py[co]|.*~|\..*\.sw[a-p])\Z")


_AGENT_NOTES = re.compile(r"\.(claude|codex|aider[^/]*)(/|\Z)")
"""What coding agents keep in the folder they are started in."""


@value
class LaidOut:
    """A working copy as it was laid out for a child of `parent`; `repository` lists the files of that folder."""

    root: Path
    parent: CandidateTree
    repository: Listing


def lay_out(root: Path, tree: CandidateTree, scope: Scope, write: Callable[[CandidateTree, Path], None]) -> LaidOut:
    """Make `root`, which must not exist, hold what of `tree` is in `scope`; `write` writes the repository of a tree.

    Raises `OSError`, `Refused` when Git fails, and what `write` raises.
    """
    root.mkdir(parents=True, mode=0o700)
    present = tree_files(tree)
    if tree.documents:
        write_tree(root / DOCUMENTS, tuple(tree.documents), present, read_only=False)
    for seed in scope.seeds:
        if not seed.editable and (seed.group, seed.name) in present:
            (root / DOCUMENTS / seed.group / seed.name).chmod(0o444)
    repository: Listing = {}
    if scope.paths:
        repository = lay_out_repository(root / REPOSITORY, lambda folder: write(tree, folder))
    return LaidOut(root, tree, repository)


def take_back(
    laid_out: LaidOut,
    scope: Scope,
    *,
    ignored: Callable[[Sequence[str]], set[str]],
    patience: Patience | None = None,
) -> Result[CandidateTree, Misdeed]:
    """Read the tree that a proposer left in a working copy, or say what is wrong with it.

    Judged in this order: links and special files, edits outside the targets, an invalid tree (a document that may not
    be edited counts as such). `ignored` says which of some paths, relative to the working copy and not in the
    repository, the project ignores. Nothing may write to the working copy meanwhile. Without `patience` it may take
    `JUDGING_SECONDS`.
    """
    patience = patience or Patience(JUDGING_SECONDS)
    try:
        return _taken_back(laid_out, scope, ignored, patience)
    except OutOfPatience:
        much = f"what is there could not be judged within {counted(f'{patience.seconds:g}', 'second')}"
        return Failure(Misdeed("invalid_tree", f"{much}; leave fewer and smaller files"))
    except OSError as error:
        return Failure(Misdeed("invalid_tree", f"the working copy cannot be read: {error.strerror}"))


def _taken_back(
    laid_out: LaidOut, scope: Scope, ignored: Callable[[Sequence[str]], set[str]], patience: Patience
) -> Result[CandidateTree, Misdeed]:
    root, parent = laid_out.root, laid_out.parent
    known = {f"{DOCUMENTS}/{group}/{name}" for group, name in tree_files(parent)}
    files: list[str] = []
    special: list[str] = []
    for path, entry in _walk(root, passed_over=(REPOSITORY,) if scope.paths else ()):
        patience.check()
        if path not in known and (_is_dropping(path) or _AGENT_NOTES.match(path)):
            (root / path).unlink()
        elif is_plain(entry):
            files.append(path)
        else:
            special.append(path)
    groups = tuple(parent.documents)
    inside = tuple(f"{DOCUMENTS}/{group}/" for group in groups)
    own = (DOCUMENTS, REPOSITORY) if scope.paths else (DOCUMENTS,)
    stray = [path for path in (*files, *special) if not path.startswith(inside) and path not in own]
    dropped = ignored(stray) if stray else set()
    left = Left()
    if scope.paths and not os.path.islink(root / REPOSITORY):
        left = look_through(
            root / REPOSITORY,
            parent=parent.repository,
            scope=scope,
            laid_out=laid_out.repository,
            dropping=_is_dropping,
            patience=patience,
        )
    special = [path for path in special if path not in dropped] + [f"{REPOSITORY}/{path}" for path in left.special]
    if special:
        return Failure(Misdeed("special_file", f"{listed(special)}: a link or special file"))
    stray = [path for path in stray if path not in dropped] + [f"{REPOSITORY}/{path}" for path in left.outside]
    if stray:
        return Failure(Misdeed("outside_targets", f"{listed(stray)}: outside the targets"))
    documents = read_tree(root / DOCUMENTS, groups) if groups else Success({})
    if not is_successful(documents):
        return Failure(Misdeed("invalid_tree", told(documents.failure())))
    edits = read_edits(left)
    return child_tree(scope, documents.unwrap(), edits.unwrap()) if is_successful(edits) else Failure(edits.failure())


def _is_dropping(path: str) -> bool:
    return any(_DROPPINGS.match(part) for part in path.split("/"))


def _walk(root: Path, *, passed_over: Collection[str]) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Everything below `root` that is no folder, in order of name, without the evidence and the repository's folder."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if path == EVIDENCE or (is_folder and path in passed_over):
                continue
            if is_folder:
                pending.append(f"{path}/")
            else:
                yield path, entry
