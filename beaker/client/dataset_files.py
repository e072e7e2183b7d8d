"""What of a folder travels as a dataset: its rows and its manifest, and nothing else that lies there."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.client.local_files import LocalFile, hashed
from beaker.core.datasets import SPLITS, DatasetDeclaration, DatasetFile, declare_dataset, validate_splits
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.jsonl import read_manifest, read_rows, read_split_counts

MANIFEST = "manifest.json"

MAX_ROW_FAULTS = 100
"""Faulty rows that are named; more are counted."""


@value
class LocalDataset:
    """A dataset ready to be sent: what it declares, and where its files are, by their paths in it."""

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
    """The dataset in `directory`: `train.jsonl`, `test.jsonl` and, if there is one, `manifest.json`.

    Rows are counted; `splits`, where given, must agree. With `check_rows` every row must be a JSON object. All faults
    are reported together, the first 100 faulty rows by name. A link that leads out of the folder, or to a hidden file
    in it, never travels.
    """
    counted = read_split_counts(directory)
    if not is_successful(counted):
        return Failure(counted.failure())
    found = counted.unwrap()
    problems: list[Problem] = []
    judged = validate_splits(found, declared=splits)
    if not is_successful(judged):
        problems += judged.failure()
    sources = {path: directory / path for path in (*(f"{split}.jsonl" for split in SPLITS), MANIFEST)}
    sources = {path: source for path, source in sources.items() if source.exists() or source.is_symlink()}
    problems += _leaving(directory, sources)
    manifest = read_manifest(directory)
    if not is_successful(manifest):
        problems.append(manifest.failure())
    if check_rows:
        problems += _row_faults(sources)
    if problems:
        return Failure(tuple(problems))
    try:
        found_files = {path: hashed(source) for path, source in sorted(sources.items())}
    except OSError as error:
        return Failure((os_problem(error, "read the dataset"),))
    except Refused as refused:
        return Failure(refused.problems)
    files = [DatasetFile(path, file.size, file.sha256) for path, file in found_files.items()]
    declared = declare_dataset(name, files, splits=judged.unwrap(), metadata=metadata)
    return declared.map(lambda declaration: LocalDataset(declaration, found_files))


def _leaving(directory: Path, sources: Mapping[str, Path]) -> Iterator[Problem]:
    root = directory.resolve()
    for path, source in sources.items():
        target = source.resolve()
        if root not in target.parents:
            hint = "copy the file into the folder"
            yield Problem("BK815", f"the file is a link to {target}, outside the dataset", str(source), hint)
        elif any(part.startswith(".") for part in target.relative_to(root).parts):
            hint = "copy the rows into the file"
            yield Problem(
                "BK815", f"the file is a link to {target}, a hidden file, which never travels", str(source), hint
            )
        elif not target.is_file():
            yield Problem("BK815", f"{path} is no regular file", str(source))


def _row_faults(sources: Mapping[str, Path]) -> Iterator[Problem]:
    count = 0
    for path, source in sources.items():
        if path == MANIFEST:
            continue
        for _, row in read_rows(source):
            if isinstance(row, Problem):
                count += 1
                if count <= MAX_ROW_FAULTS:
                    yield row
    if count > MAX_ROW_FAULTS:
        yield Problem("BK816", f"{count - MAX_ROW_FAULTS} more rows are faulty")
