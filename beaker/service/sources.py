"""The content of a commit, kept in blobs: no clean-up of the repository can take it from a run."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from beaker.core.problems import Problem, Refused
from beaker.core.strict_json import JsonValue, canonical
from beaker.core.values import value
from beaker.files.git import EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE, TreeFile
from beaker.service.blobs import Blobs

FORMAT = "beaker.source/1"


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


def check_out(blobs: Blobs, digest: str, directory: Path) -> None:
    """Write a kept commit into `directory`, which must be new or empty, as a checkout of Git would.

    Submodules become empty folders. `OSError` from the disk; `Refused` when kept content is damaged (BK475) or a
    path is none that Git would write (BK476).
    """
    directory.mkdir(parents=True, exist_ok=True)
    folders = {directory}
    for file in source_files(blobs, digest):
        if any(part in ("", ".", "..") or part.casefold() == ".git" for part in file.path.split("/")):
            raise Refused(Problem("BK476", "the commit holds a path that Git itself would not check out", file.path))
        target = directory / file.path
        if target.parent not in folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            folders.add(target.parent)
        if file.mode == SUBMODULE_MODE:
            target.mkdir()
        elif file.mode == LINK_MODE:
            os.symlink(os.fsdecode(blobs.read(file.sha256)), target)
        else:
            blobs.copy(file.sha256, target)
            if file.mode == EXECUTABLE_MODE:
                target.chmod(target.stat().st_mode | 0o111)
