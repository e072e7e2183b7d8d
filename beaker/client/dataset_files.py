"""What travels as a dataset: its rows, its manifest and the files that rows name, and nothing else that lies there."""

from collections.abc import Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.local_files import LocalFile, files_below, hashed_all, leaving
from beaker.core.datasets import (
    HELD_OUT_NAMES,
    SPLITS,
    DatasetDeclaration,
    DatasetFile,
    declare_dataset,
    named_files,
    validate_splits,
)
from beaker.core.problems import Problem, Problems
from beaker.core.values import value
from beaker.files.jsonl import count_rows, read_manifest, read_rows, read_split_counts

MANIFEST = "manifest.json"

MAX_ROW_FAULTS = 100
"""Faulty rows that are named; more are counted."""

_MAIN = (*(f"{split}.jsonl" for split in SPLITS), MANIFEST)


@value
class LocalDataset:
    """A dataset ready to be sent: what it declares, and its files as they are here, by their paths in it."""

    declaration: DatasetDeclaration
    sources: Mapping[str, LocalFile]


def gather(
    directory: Path,
    *,
    name: str,
    splits: Mapping[str, int] | None = None,
    metadata: Mapping[str, object] | None = None,
    check_rows: bool = True,
) -> Result[LocalDataset, Problems]:
    """The dataset in `directory`: `train.jsonl`, `test.jsonl`, `manifest.json` if there is one, and every file below
    the folder whose path some text in a row is (`{"audio": "clips/1.wav"}`).

    Rows are counted; `splits`, where given, must agree. With `check_rows` every row must be a JSON object. All faults
    are reported together, the first 100 faulty rows by name. Hidden files never travel, nor does a link that leads out
    of the folder or to one of them.
    """
    counted = read_split_counts(directory)
    if not is_successful(counted):
        return Failure(counted.failure())
    sources = {path: directory / path for path in _MAIN}
    sources = {path: source for path, source in sources.items() if source.exists() or source.is_symlink()}
    others = {path: source for path, source in files_below(directory).items() if path not in _MAIN}
    named, row_faults = _read(sources, others, check_rows)
    sources |= {path: others[path] for path in sorted(named)}
    problems: list[Problem] = [*leaving(directory, sources)]
    manifest = read_manifest(directory)
    if not is_successful(manifest):
        problems.append(manifest.failure())
    return _declared(sources, counted.unwrap(), [*problems, *row_faults], name=name, splits=splits, metadata=metadata)


def gather_files(
    files: Mapping[str, Path],
    *,
    name: str,
    splits: Mapping[str, int] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Result[LocalDataset, Problems]:
    """The dataset of these files, by the paths they are to have in it: all of them travel, wherever they lie.

    Rows are counted and checked as by `gather`.
    """
    problems: list[Problem] = []
    found: dict[str, int] = {}
    for split in (*SPLITS, *sorted(HELD_OUT_NAMES)):
        if (source := files.get(f"{split}.jsonl")) is not None:
            counted = count_rows(source)
            if is_successful(counted):
                found[split] = counted.unwrap()
            else:
                problems.append(counted.failure())
    if not problems:
        problems += _read(files, {}, check=True)[1]
    return _declared(files, found, problems, name=name, splits=splits, metadata=metadata)


def _declared(
    sources: Mapping[str, Path],
    found: Mapping[str, int],
    problems: list[Problem],
    *,
    name: str,
    splits: Mapping[str, int] | None,
    metadata: Mapping[str, object] | None,
) -> Result[LocalDataset, Problems]:
    """The dataset of these files, hashed; or the faults of its splits and the `problems` there are already."""
    judged = validate_splits(found, declared=splits)
    if not is_successful(judged) or problems:
        return Failure((*(() if is_successful(judged) else judged.failure()), *problems))
    hashed = hashed_all({path: sources[path] for path in sorted(sources)}, "read the dataset")
    if not is_successful(hashed):
        return Failure((hashed.failure(),))
    local = hashed.unwrap()
    files = [DatasetFile(path, file.size, file.sha256) for path, file in local.items()]
    declared = declare_dataset(name, files, splits=judged.unwrap(), metadata=metadata)
    if not is_successful(declared):
        return Failure(declared.failure())
    return Success(LocalDataset(declared.unwrap(), local))


def _read(sources: Mapping[str, Path], others: Mapping[str, Path], check: bool) -> tuple[set[str], list[Problem]]:
    """Which of the `others` rows name, and, with `check`, what is wrong with rows."""
    named: set[str] = set()
    faults: list[Problem] = []
    count = 0
    for path in (f"{split}.jsonl" for split in SPLITS):
        for _, row in read_rows(sources[path]) if path in sources and (check or others) else ():
            if not isinstance(row, Problem):
                named.update(named_files(row, others) if others else ())
            elif check:
                count += 1
                if count <= MAX_ROW_FAULTS:
                    faults.append(row)
    if count > MAX_ROW_FAULTS:
        faults.append(Problem("BK816", f"{count - MAX_ROW_FAULTS} more rows are faulty"))
    return named, faults
