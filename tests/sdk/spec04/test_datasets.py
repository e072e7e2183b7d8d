"""Datasets of the Spec generation: read from folders and buckets, made into cases, written for an analysis."""

import io
import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beaker.sdk.spec04 import (
    Case,
    DatasetRowContext,
    DatasetSchema,
    Spec,
    build_cases_by_split,
    load_cases_by_split,
    materialize_dataset,
    serialize_cases,
)

SCHEMA = DatasetSchema({"type": "object"})


class Loader:
    """Makes as many cases of a row as it says, and notes where rows are from."""

    dataset_schema = SCHEMA

    def __init__(self) -> None:
        self.seen: list[DatasetRowContext] = []

    def parse_row(self, raw: dict[str, Any], context: DatasetRowContext) -> int:
        """How many cases."""
        self.seen.append(context)
        return int(raw["n"])

    def iter_cases(self, row: int, context: DatasetRowContext) -> Any:
        """That many cases."""
        if row < 0:
            raise RuntimeError("negative")
        return [Case(number, f"{context.label()}#{number}", {}) for number in range(row)]


def lines(*counts: Any) -> str:
    """Rows of a split."""
    return "".join(f"{json.dumps({'n': count})}\n" for count in counts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of two splits."""
    (tmp_path / "train.jsonl").write_text("\n" + lines(1, 2))
    (tmp_path / "test.jsonl").write_text(lines(0))
    return tmp_path


def test_materialize__folder__gives_rows_by_split_and_the_manifest(folder: Path) -> None:
    """Rows are dicts; a manifest is optional; the first artifact that is a dataset wins over the configuration."""
    rows = {"train": [{"n": 1}, {"n": 2}], "test": [{"n": 0}]}
    for artifacts, config in (
        ([{"uri": str(folder)}], {"local_dataset_path": "/nowhere"}),
        ([{"kind": "report", "uri": "/nowhere"}], {"localDatasetPath": str(folder)}),
        ([], {"dataset_uri": folder.as_uri()}),
    ):
        assert materialize_dataset(artifacts, config) == (rows, {})
    (folder / "manifest.json").write_text('{"name": "d"}')
    read, manifest = materialize_dataset([], {"local_dataset_path": str(folder)})
    assert manifest == {"name": "d"}
    assert pickle.loads(pickle.dumps(read)) == read == json.loads(json.dumps(read))


def test_materialize__validation_split__is_read_and_may_stand_for_test(folder: Path) -> None:
    """Until 0.4.6 a dataset had `val.jsonl`, and `test.jsonl` was optional."""
    (folder / "val.jsonl").write_text(lines(3))
    rows, _ = materialize_dataset([], {"local_dataset_path": str(folder)})
    assert list(rows) == ["train", "test", "validation"]
    (folder / "test.jsonl").unlink()
    rows, _ = materialize_dataset([], {"local_dataset_path": str(folder)})
    assert list(rows) == ["train", "validation"]


@pytest.mark.parametrize(
    "files, words",
    [
        ({"test.jsonl": ""}, "there is no train.jsonl"),
        ({"train.jsonl": ""}, "there is no test.jsonl"),
        ({"val.jsonl": "", "test.jsonl": ""}, "there is no train.jsonl"),
        ({"train.jsonl": '{"n": 1}\n[]\n', "test.jsonl": ""}, r"train\.jsonl:2"),
        ({"train.jsonl": "{", "test.jsonl": ""}, r"train\.jsonl:1"),
        ({"train.jsonl": "", "test.jsonl": "", "manifest.json": "[]"}, "manifest"),
    ],
)
def test_materialize__folder_that_is_no_dataset__is_refused(files: dict[str, str], words: str, tmp_path: Path) -> None:
    """A missing file, a row that is no object with its line, and a manifest that is none."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        materialize_dataset([], {"local_dataset_path": str(tmp_path)})


def test_materialize__no_source__is_refused() -> None:
    """Neither an artifact nor a setting, or an address nobody can read."""
    with pytest.raises(ValueError, match=r"no dataset was given.*; set local_dataset_path"):
        materialize_dataset([], {})
    with pytest.raises(ValueError, match="cannot be read from 'gs://b'"):
        materialize_dataset([{"uri": "gs://b"}], {})


class Missing(Exception):
    """What a bucket answers for a key that it does not have."""

    def __init__(self) -> None:
        self.response = {"Error": {"Code": "NoSuchKey"}}


def test_materialize__bucket__is_read_with_boto3(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files below the prefix; rows tell their address; other failures than a missing key come out."""
    objects = {("b", "d/train.jsonl"): lines(1), ("b", "d/test.jsonl"): lines(-1)}

    def get_object(*, Bucket: str, Key: str) -> dict[str, Any]:  # as the library names them
        if Key == "denied/val.jsonl":
            raise PermissionError("denied")
        if (Bucket, Key) not in objects:
            raise Missing
        return {"Body": io.BytesIO(objects[Bucket, Key].encode())}

    monkeypatch.setitem(
        sys.modules, "boto3", SimpleNamespace(client=lambda kind: SimpleNamespace(get_object=get_object))
    )
    rows, manifest = materialize_dataset([{"kind": "dataset", "s3_uri": "s3://b/d/"}], {})
    assert (rows, manifest) == ({"train": [{"n": 1}], "test": [{"n": -1}]}, {})
    with pytest.raises(ValueError, match=r"^s3://b/d/test\.jsonl:1: negative$"):
        build_cases_by_split(Loader(), rows)
    with pytest.raises(PermissionError):
        materialize_dataset([{"uri": "s3://b/denied"}], {})
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ImportError, match="boto3, which is not installed"):
        materialize_dataset([{"uri": "s3://b/d"}], {})


def test_build_cases__splits_with_cases__in_order(folder: Path) -> None:
    """A split without a case is left out; rows know file and line, and a plain one its number."""
    loader = Loader()
    cases = load_cases_by_split(data_loader=loader, input_artifacts=[], config={"local_dataset_path": str(folder)})
    train = f"{folder}/train.jsonl"
    assert {split: [case.case_id for case in made] for split, made in cases.items()} == {
        "train": [f"{train}:2#0", f"{train}:3#0", f"{train}:3#1"]
    }
    assert loader.seen[0] == DatasetRowContext("train", train, 2)
    assert list(build_cases_by_split(loader, {"x": [{"n": 0}, {"n": 1}]})) == ["x"]
    assert loader.seen[-1] == DatasetRowContext("x", None, 2)


@pytest.mark.parametrize("row, words", [({"n": -1}, "^x:1: negative$"), ({}, "^x:1: 'n'$"), ({"n": "?"}, "^x:1: inv")])
def test_build_cases__loader_that_raises__is_told_with_its_row(row: dict[str, Any], words: str) -> None:
    """Parsing or making cases: one `ValueError` with the row, whose cause is what was raised."""
    with pytest.raises(ValueError, match=words) as raised:
        build_cases_by_split(Loader(), {"x": [row]})
    assert raised.value.__cause__ is not None


def test_load_cases__schema_of_the_configuration__has_to_be_the_loaders(folder: Path) -> None:
    """Compared in their normal forms; any other is refused before the dataset is read."""
    config = {"local_dataset_path": str(folder)}
    for same in (SCHEMA, SCHEMA.to_metadata(), {"jsonSchema": {"type": "object"}}):
        given = {**config, "dataset_schema": same}
        assert load_cases_by_split(data_loader=Loader(), input_artifacts=[], config=given)
    for key in ("dataset_schema", "datasetSchema"):
        with pytest.raises(ValueError, match="differs from that of the loader"):
            load_cases_by_split(data_loader=Loader(), input_artifacts=[], config={key: {"json_schema": {}}})


def test_serialize_cases__writes_what_an_analysis_reads(tmp_path: Path) -> None:
    """Cases by split as JSON, whatever they hold, with the schema of their rows."""
    cases = {"train": [Case({1, 2}, "c", {"a": "ä"}, "g", {"at": Path("/x")})], "test": []}
    path = serialize_cases(spec=Spec(Loader(), print, None), cases_by_split=cases, out_dir=tmp_path / "a" / "b")
    assert path == tmp_path / "a" / "b" / "analysis_input.json"
    case = {"case_id": "c", "group_key": "g", "input": [1, 2], "ground_truth": {"a": "ä"}, "metadata": {"at": "/x"}}
    assert json.loads(path.read_text("utf-8")) == {
        "dataset_schema": SCHEMA.to_metadata(),
        "splits": {"train": [case], "test": []},
    }
