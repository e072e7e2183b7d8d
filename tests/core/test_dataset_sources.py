"""Where a run of the Spec generation has its dataset."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.dataset_sources import ARTIFACT_KINDS, BucketFolder, LocalFolder, choose_dataset

KINDS = ("dataset", "dataset_snapshot", "po_dataset_snapshot", "rilix_po_dataset_snapshot", "po-extraction")


@pytest.mark.parametrize("key", ["uri", "s3_uri", "s3Uri"])
@pytest.mark.parametrize("kind", [None, "", *KINDS])
def test_choose_dataset__artifact_with_address__wins_over_the_configuration(key: str, kind: Any) -> None:
    """Any of three keys, any kind of dataset or none; what has no address or another kind is passed over."""
    artifacts = [{"kind": "report", "uri": "/r"}, "text", {"kind": "dataset", "uri": " "}, {"kind": kind, key: " /d "}]
    chosen = choose_dataset([*artifacts, {"uri": "/later"}], {"local_dataset_path": "/c"})
    assert chosen.unwrap() == LocalFolder("/d")
    assert frozenset(KINDS) == ARTIFACT_KINDS


@pytest.mark.parametrize(
    "config, path",
    [
        ({"local_dataset_path": "d", "dataset_uri": "/u"}, "d"),
        ({"localDatasetPath": "s3://not/read"}, "s3://not/read"),
        ({"dataset_uri": "/u", "dataset_artifact_uri": "/a"}, "/u"),
        ({"datasetUri": "/u", "datasetArtifactUri": "/a"}, "/u"),
        ({"dataset_artifact_uri": "/a"}, "/a"),
        ({"datasetArtifactUri": "/a", "local_dataset_path": ""}, "/a"),
    ],
)
def test_choose_dataset__configuration__in_the_order_of_its_keys(config: dict[str, Any], path: str) -> None:
    """A local path comes first and is no address; then the two addresses."""
    assert choose_dataset([], config).unwrap() == LocalFolder(path)


@pytest.mark.parametrize(
    "address, place",
    [
        ("data/x", LocalFolder("data/x")),
        ("C:\\data", LocalFolder("C:\\data")),
        ("file:///data/a%20b", LocalFolder("/data/a b")),
        ("file://localhost/data", LocalFolder("/data")),
        ("FILE:///data", LocalFolder("/data")),
        ("S3://bucket/a?b#c/", BucketFolder("bucket", "a?b#c/")),
        ("s3://bucket/a/b/", BucketFolder("bucket", "a/b/")),
        ("s3://bucket/a", BucketFolder("bucket", "a/")),
        ("s3://bucket", BucketFolder("bucket", "")),
    ],
)
def test_choose_dataset__address__is_a_path_or_has_a_known_scheme(address: str, place: Any) -> None:
    """Without a scheme it is a path, as a drive is; `file` and `s3` are known."""
    assert choose_dataset([{"uri": address}], {}).unwrap() == place


@pytest.mark.parametrize("address", ["https://x/y", "file://host/x", "s3:///x", "gs://b/x", "://b"])
def test_choose_dataset__other_address__is_refused(address: str) -> None:
    """What cannot be read is refused and named, with what could be."""
    problem = choose_dataset([], {"dataset_uri": address}).failure()
    assert (problem.code, problem.message) == ("BK219", f"a dataset cannot be read from {address!r}")
    assert problem.hint == "an address is a path, file:///path or s3://bucket/prefix"


def test_choose_dataset__nothing_given__says_what_to_set() -> None:
    """Neither an artifact nor a setting: the refusal names both."""
    problem = choose_dataset([{"kind": "dataset"}], {"dataset_uri": None}).failure()
    message = "no dataset was given: neither an artifact nor the configuration names one"
    assert (problem.code, problem.message, problem.where) == ("BK219", message, "")
    assert problem.hint == "set local_dataset_path, or hand over an artifact with its uri"


@given(st.text())
def test_choose_dataset__any_address__gives_an_answer(address: str) -> None:
    """Whatever stands there, it is a place or a problem."""
    found = choose_dataset([{"uri": address}], {})
    assert is_successful(found) or found.failure().code == "BK219"
