"""The content of a commit, kept in blobs: no clean-up of the repository can take it from a run."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from beaker.core.documents import directories_of
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.repository_tree import Commit, TrackedFile
from beaker.core.reserved_names import is_git_name
from beaker.core.strict_json import JsonValue, canonical
from beaker.core.text import collision_key
from beaker.core.values import value
from beaker.files.git import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, SUBMODULE_MODE, TreeFile
from beaker.service.blobs import Blobs

FORMAT = "beaker.source/1"

_MOST_LINKS = 40
"""Links that one path may lead through; the system follows no more either."""


@value
class SourceFile:
    """One entry of a kept commit: path, Git's mode, SHA-256 of the content (of the target, for a link), bytes."""

    path: str
    mode: str
    sha256: str
    size: int


def keep_source(blobs: Blobs, files: Iterator[TreeFile]) -> tuple[str, tuple[SourceFile, ...]]:
    """Store every entry of a commit; its digest, which names a list of the entries, and the entries.

    A submodule is listed without content. Whatever `files` raises passes through, and nothing is stored then.
    """
    with blobs.batch() as batch:
        kept = tuple(SourceFile(one.path, one.mode, batch.put(one.data), len(one.data)) for one in files)
        listed: list[JsonValue] = [
            {"path": one.path, "mode": one.mode, "sha256": one.sha256, "size": one.size} for one in kept
        ]
        return batch.put(canonical({"format": FORMAT, "files": listed})), kept


def source_files(blobs: Blobs, digest: str) -> tuple[SourceFile, ...]:
    """The entries of a kept commit."""
    return tuple(SourceFile(**entry) for entry in json.loads(blobs.read(digest))["files"])


def commit_files(blobs: Blobs, digest: str) -> Commit:
    """The entries of a kept commit by path, as the rules of repository edits know them."""
    return {
        one.path: TrackedFile(FILE_MODE if one.mode.startswith("1006") else one.mode, one.sha256)
        for one in source_files(blobs, digest)
    }


def leaving_links(blobs: Blobs, files: Iterable[SourceFile]) -> Problems:
    """Every link of a kept commit that leads out of it, through other links too (BK483).

    In a checkout such a link would show a run, and the proposers in it, files that no commit pins: the dataset's TEST
    rows among them. Links inside a commit only ever meet what is tracked.
    """
    targets = {one.path: os.fsdecode(blobs.read(one.sha256)) for one in files if one.mode == LINK_MODE}
    careless = {collision_key(path): target for path, target in targets.items()}
    hint = "replace it by the file itself, or untrack it and list it in .gitignore; then commit"
    return tuple(
        Problem("BK483", f"the tracked link leads out of the repository, to {target}", path, hint)
        for path, target in targets.items()
        if _leaves(path, target, targets, careless)
    )


def check_out(blobs: Blobs, digest: str, directory: Path) -> None:
    """Write a kept commit into `directory`, which must be new or empty, as a checkout of Git would.

    Submodules become empty folders. `OSError` from the disk; `Refused` when kept content is damaged (BK475), a path is
    none that Git would write, stands twice or leads through a file (BK476), or a link leads out of the commit (BK483);
    then nothing is written.
    """
    files = source_files(blobs, digest)
    if problems := (*_impossible_paths([file.path for file in files]), *leaving_links(blobs, files)):
        raise Refused(problems)
    directory.mkdir(parents=True, exist_ok=True)
    for folder in sorted({(directory / file.path).parent for file in files}):
        folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        target = directory / file.path
        if file.mode == SUBMODULE_MODE:
            target.mkdir()
        elif file.mode != LINK_MODE:
            blobs.copy(file.sha256, target)
            if file.mode == EXECUTABLE_MODE:
                target.chmod(target.stat().st_mode | 0o111)
    # Last, so that nothing is ever written through a link, also where the file system takes two names for one.
    for file in files:
        if file.mode == LINK_MODE:
            os.symlink(os.fsdecode(blobs.read(file.sha256)), directory / file.path)


def _impossible_paths(paths: Sequence[str]) -> Iterator[Problem]:
    present: set[str] = set()
    for path in paths:
        if any(part in ("", ".", "..") or "\0" in part or is_git_name(part) for part in path.split("/")):
            yield Problem("BK476", "the commit holds a path that Git itself would not check out", path)
        elif path in present:
            yield Problem("BK476", "the commit holds this path twice", path)
        present.add(path)
    for path in paths:
        if above := next((folder for folder in directories_of(path) if folder in present), None):
            yield Problem("BK476", f"the commit holds this path below {above}, which is no folder", path)


def _leaves(path: str, target: str, targets: Mapping[str, str], careless: Mapping[str, str]) -> bool:
    """Whether the link at `path` leads out of the root; `careless` knows the links by their `collision_key`."""
    if target.startswith("/"):
        return True
    at = path.split("/")[:-1]
    pending = target.split("/")[::-1]  # the steps still to be taken, the next one last
    followed = 0
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return True
            at.pop()
            continue
        at.append(part)
        reached = "/".join(at)
        link = targets.get(reached) or careless.get(collision_key(reached))
        if link is None:
            continue
        followed += 1
        if link.startswith("/"):
            return True
        if followed > _MOST_LINKS:
            return False  # a circle leads nowhere
        at.pop()
        pending += reversed(link.split("/"))
    return False
