"""The folder a proposer works in: laying it out, and judging what came back, by kind of misdeed.

    documents/<group>/   the parent's documents; those that are not editable have mode 0444
    evidence/            what the proposer is told; edits to it are ignored

What tools drop on their way (`__pycache__`, editor backups, and outside the documents whatever the project's own
`.gitignore` names) is removed and not judged.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.changesets import derive
from beaker.core.documents import TargetDocument
from beaker.core.targets import DocumentTargets
from beaker.core.text import visible
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree, tree_files, tree_from_files
from beaker.files.documents import read_tree, write_tree

DOCUMENTS = "documents"
EVIDENCE = "evidence"

_DROPPINGS = re.compile(r"(__pycache__|\.(pytest|mypy|ruff)_cache|\.DS_Store|.*\.py[co]|.*~|\..*\.sw[a-p])\Z")


@value
class Misdeed:
    """Why what a proposer left is no child: one of the outcomes of a proposal, and a sentence."""

    outcome: Literal["special_file", "outside_targets", "invalid_tree"]
    message: str


def lay_out(root: Path, tree: CandidateTree, seeds: Sequence[TargetDocument]) -> None:
    """Make `root`, which must not exist, hold the documents of `tree`. Raises `OSError`."""
    root.mkdir(parents=True, mode=0o700)
    documents = root / DOCUMENTS
    write_tree(documents, tuple(tree.documents), tree_files(tree), read_only=False)
    present = tree_files(tree)
    for seed in seeds:
        if not seed.editable and (seed.group, seed.name) in present:
            (documents / seed.group / seed.name).chmod(0o444)


def take_back(
    root: Path,
    *,
    parent: CandidateTree,
    targets: Sequence[DocumentTargets],
    seeds: Sequence[TargetDocument],
    ignored: Callable[[Sequence[str]], set[str]],
) -> Result[CandidateTree, Misdeed]:
    """Read the tree that a proposer left in `root`, or say what is wrong with it.

    Judged in this order: links and special files, edits outside the targets, an invalid tree (a document that may not
    be edited counts as such). `ignored` says which of some paths, relative to the working copy, the project ignores.
    Nothing may write to `root` meanwhile.
    """
    known = {f"{DOCUMENTS}/{group}/{name}" for group, name in tree_files(parent)}
    files: list[str] = []
    special: list[str] = []
    try:
        for path, entry in _walk(root):
            if path not in known and any(_DROPPINGS.match(part) for part in path.split("/")):
                (root / path).unlink()
            elif _is_plain(entry):
                files.append(path)
            else:
                special.append(path)
    except OSError as error:
        return Failure(Misdeed("invalid_tree", f"the working copy cannot be read: {error.strerror}"))
    groups = tuple(parent.documents)
    inside = tuple(f"{DOCUMENTS}/{group}/" for group in groups)
    stray = [path for path in (*files, *special) if not path.startswith(inside) and path != DOCUMENTS]
    dropped = ignored(stray) if stray else set()
    if special := [path for path in special if path not in dropped]:
        return Failure(Misdeed("special_file", f"{_listed(special)}: a link or special file"))
    if stray := [path for path in stray if path not in dropped]:
        return Failure(Misdeed("outside_targets", f"{_listed(stray)}: outside the targets"))
    return _valid_tree(root / DOCUMENTS, groups, targets, seeds)


def remove_tree(root: Path) -> None:
    """Remove a folder whatever was done to its modes or its depth; nothing happens when there is none."""
    try:
        shutil.rmtree(root, ignore_errors=True)
    except RecursionError:
        pass  # nested deeper than Python can follow; `rm` can
    if os.path.lexists(root):
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(root)], stderr=subprocess.DEVNULL, check=False)


def _walk(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below `root` that is no folder, except the evidence, as (path with `/`, entry), in order of name."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{folder}{entry.name}"
            if path == EVIDENCE:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{path}/")
            else:
                yield path, entry


def _is_plain(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _valid_tree(
    root: Path, groups: Sequence[str], targets: Sequence[DocumentTargets], seeds: Sequence[TargetDocument]
) -> Result[CandidateTree, Misdeed]:
    read = read_tree(root, groups)
    if not is_successful(read):
        return Failure(_invalid([str(problem) for problem in read.failure()]))
    files: Mapping[tuple[str, str], str] = read.unwrap()
    for target in targets:
        derived = derive(
            "candidate",
            target.groups,
            tuple(seed for seed in seeds if seed.group in target.groups),
            {key: content for key, content in files.items() if key[0] in target.groups},
        )
        if not is_successful(derived):
            return Failure(_invalid([str(problem) for problem in derived.failure()]))
    return Success(tree_from_files(groups, files))


def _invalid(messages: Sequence[str]) -> Misdeed:
    more = f" (and {len(messages) - 3} more)" if len(messages) > 3 else ""
    return Misdeed("invalid_tree", "; ".join(messages[:3]) + more)


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(visible(path) for path in sorted(paths)[:5])
    return f"{shown} and {len(paths) - 5} more" if len(paths) > 5 else shown
