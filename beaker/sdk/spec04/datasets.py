"""Datasets as the Spec generation reads them: rows by split, cases by split, and cases written for an analysis."""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from returns.pipeline import is_successful

from beaker.core.dataset_schema import DatasetSchema, schema_metadata
from beaker.core.dataset_sources import BucketFolder, choose_dataset
from beaker.core.problems import Problem
from beaker.files.atomic import write_text
from beaker.files.jsonl import read_manifest, read_rows
from beaker.sdk.json_safe import to_json_safe
from beaker.sdk.spec04.cases import Case
from beaker.sdk.spec04.contexts import DatasetRowContext
from beaker.sdk.spec04.hooks import CaseDataLoader
from beaker.sdk.spec04.specs import Spec

TRAIN, TEST, VALIDATION = "train", "test", "validation"

_FILES = {TRAIN: "train.jsonl", TEST: "test.jsonl", VALIDATION: "val.jsonl"}
_MANIFEST = "manifest.json"
_ANALYSIS = "analysis_input.json"
_MISSING = ("404", "NoSuchKey", "NotFound")


class DatasetRow(dict[str, Any]):
    """A row, a dict as it stands in its file, that knows its place there."""

    context: DatasetRowContext


def materialize_dataset(
    input_artifacts: Iterable[Any], config: Mapping[str, Any]
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """The rows of each split, and the manifest, `{}` without one.

    Read from where `core.dataset_sources` says. There must be `train.jsonl`, and `test.jsonl` or, as until 0.4.6,
    `val.jsonl`, whose split is `validation`; every one that is there is read. `ValueError` for a missing file, a row
    that is no JSON object and an address that cannot be read; `ImportError` when an address in S3 needs `boto3`.
    """
    chosen = choose_dataset(input_artifacts, config)
    if not is_successful(chosen):
        raise _refused(chosen.failure())
    place = chosen.unwrap()
    if not isinstance(place, BucketFolder):
        return _read_folder(Path(place.path).expanduser(), place.path)
    with TemporaryDirectory() as folder:
        _fetch(place, Path(folder))
        return _read_folder(Path(folder), f"s3://{place.bucket}/{place.prefix}".rstrip("/"))


def build_cases_by_split(
    loader: CaseDataLoader[Any], rows_by_split: Mapping[str, Iterable[dict[str, Any]]]
) -> dict[str, list[Case]]:
    """The cases of every split that has any. What the loader raises becomes a `ValueError` that tells the row."""
    cases: dict[str, list[Case]] = {}
    for split, rows in rows_by_split.items():
        made = [case for number, row in enumerate(rows, start=1) for case in _cases(loader, split, number, row)]
        if made:
            cases[split] = made
    return cases


def load_cases_by_split(
    *, data_loader: CaseDataLoader[Any], input_artifacts: Iterable[Any], config: Mapping[str, Any]
) -> dict[str, list[Case]]:
    """The cases of the dataset that the artifacts or the configuration name.

    `ValueError` as the two functions above say, and when the configuration has a `dataset_schema` that is not the
    loader's.
    """
    wanted = config.get("dataset_schema", config.get("datasetSchema"))
    if wanted is not None and _normal(wanted) != _normal(data_loader.dataset_schema):
        raise ValueError("dataset_schema of the configuration differs from that of the loader")
    rows, _ = materialize_dataset(input_artifacts, config)
    return build_cases_by_split(data_loader, rows)


def serialize_cases(*, spec: Spec, cases_by_split: Mapping[str, Iterable[Case]], out_dir: Path | str) -> Path:
    """Write the cases into `analysis_input.json` of `out_dir`, which is made, and return its path."""
    splits = {
        split: [
            {
                "case_id": case.case_id,
                "group_key": case.group_key,
                "input": to_json_safe(case.input),
                "ground_truth": to_json_safe(case.ground_truth),
                "metadata": to_json_safe(case.metadata),
            }
            for case in cases
        ]
        for split, cases in cases_by_split.items()
    }
    told = {"dataset_schema": _normal(spec.data_loader.dataset_schema), "splits": splits}
    path = Path(out_dir) / _ANALYSIS
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(told, ensure_ascii=False, indent=2) + "\n")
    return path


def _cases(loader: CaseDataLoader[Any], split: str, number: int, row: dict[str, Any]) -> Iterator[Case]:
    context = row.context if isinstance(row, DatasetRow) else DatasetRowContext(split, line_number=number)
    try:
        yield from loader.iter_cases(loader.parse_row(row, context), context)
    except Exception as error:
        raise ValueError(f"{context.label()}: {error or type(error).__name__}") from error


def _normal(schema: Any) -> dict[str, Any]:
    return schema_metadata(schema.to_metadata() if isinstance(schema, DatasetSchema) else schema)


def _read_folder(folder: Path, told: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    there = {split: folder / name for split, name in _FILES.items() if (folder / name).is_file()}
    for needed in (TRAIN, TEST):
        if needed not in there and (needed == TRAIN or VALIDATION not in there):
            raise ValueError(f"{told}: there is no {_FILES[needed]}; a dataset has train.jsonl and test.jsonl")
    rows = {split: list(_rows(path, split, f"{told}/{path.name}")) for split, path in there.items()}
    manifest = read_manifest(folder)
    if not is_successful(manifest):
        raise _refused(manifest.failure())
    return rows, manifest.unwrap()


def _rows(path: Path, split: str, told: str) -> Iterator[dict[str, Any]]:
    for number, read in read_rows(path):
        if isinstance(read, Problem):
            raise _refused(read)
        row = DatasetRow(read)
        row.context = DatasetRowContext(split, told, number)
        yield row


def _refused(problem: Problem) -> ValueError:
    return ValueError(f"{problem}; {problem.hint}" if problem.hint else str(problem))


def _fetch(place: BucketFolder, folder: Path) -> None:
    try:
        client = import_module("boto3").client("s3")
    except ImportError:
        raise ImportError("a dataset in S3 is read with boto3, which is not installed") from None
    for name in (*_FILES.values(), _MANIFEST):
        try:
            body = client.get_object(Bucket=place.bucket, Key=f"{place.prefix}{name}")["Body"].read()
        except Exception as error:
            response = getattr(error, "response", None) or {}
            if response.get("Error", {}).get("Code") not in _MISSING:
                raise
        else:
            (folder / name).write_bytes(body)
