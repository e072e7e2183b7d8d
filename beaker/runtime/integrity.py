"""Noticing that the baseline's code changed under the scorer: a recorded list of files, compared before it is used.

A quick check compares every file's inode, size and change time with the record and hashes those that differ; a full one
hashes everything. Files that were not recorded, and files that are gone, count as changes.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.text import visible
from beaker.core.values import value

_SHOWN = 5


@value
class RecordedFile:
    """A file as it was recorded: `(inode, size in bytes, change time in ns)` and the SHA-256 of its content.

    Of a symbolic link, the content is where it points.
    """

    state: tuple[int, int, int]
    sha256: str


@value
class Baseline:
    """The files below `root`, by relative POSIX path."""

    root: Path
    files: Mapping[str, RecordedFile]


def record_baseline(root: Path) -> Result[Baseline, Problem]:
    """Record every file below `root`; links are recorded as links, special files are refused."""
    try:
        found = {name: RecordedFile(_state(status), _hash(path, status)) for name, path, status in _walk(root)}
    except OSError as error:
        return Failure(Problem("BK553", f"cannot read the baseline's code: {error}", str(root)))
    return Success(Baseline(root, found))


def check_baseline(baseline: Baseline, *, full: bool = False) -> Result[Baseline, Problem]:
    """Compare the files below the root with the record; the record with the states seen now.

    The problem names what was added, changed or removed.
    """
    faults: list[str] = []
    files: dict[str, RecordedFile] = {}
    try:
        for name, path, status in _walk(baseline.root):
            known = baseline.files.get(name)
            if known is None:
                faults.append(f"{name} was added")
            elif (full or known.state != _state(status)) and _hash(path, status) != known.sha256:
                faults.append(f"{name} was changed")
            else:
                files[name] = known if known.state == _state(status) else RecordedFile(_state(status), known.sha256)
    except OSError as error:
        return Failure(Problem("BK553", f"cannot read the baseline's code: {error}", str(baseline.root)))
    if len(files) + len(faults) != len(baseline.files) or faults:
        present = {name for name, _, _ in _walk(baseline.root)}
        faults += [f"{name} was removed" for name in sorted(baseline.files.keys() - present)]
    if not faults:
        return Success(Baseline(baseline.root, files))
    listed = visible(", ".join(faults[:_SHOWN])) + (f" and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else "")
    return Failure(
        Problem(
            "BK554",
            f"the baseline's code changed while the run used it: {listed}",
            str(baseline.root),
            "something that ran writes into the baseline's checkout; scores made with it cannot be trusted",
        )
    )


def _walk(root: Path) -> Iterator[tuple[str, str, os.stat_result]]:
    """(relative path, path, status) of everything below `root` that is no folder, in order of names."""
    waiting = [("", os.fspath(root))]
    while waiting:
        prefix, folder = waiting.pop()
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            name = f"{prefix}{entry.name}"
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                waiting.append((f"{name}/", entry.path))
            else:
                yield name, entry.path, status


def _state(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_ctime_ns


def _hash(path: str, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return f"link:{sha256(os.fsencode(os.readlink(path))).hexdigest()}"
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is neither a file nor a link")
    hashed = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()
