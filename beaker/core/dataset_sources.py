"""Where a run of the Spec generation has its dataset: told by its input artifacts, else by its configuration."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

ARTIFACT_KINDS = frozenset(
    ("dataset", "dataset_snapshot", "po_dataset_snapshot", "rilix_po_dataset_snapshot", "po-extraction")
)
"""Kinds of artifacts that hold a dataset. One without a kind may."""

_URI_KEYS = ("uri", "s3_uri", "s3Uri")
_CONFIG_KEYS = (
    ("local_dataset_path", "localDatasetPath"),
    ("dataset_uri", "datasetUri"),
    ("dataset_artifact_uri", "datasetArtifactUri"),
)


@value
class LocalFolder:
    """A folder of this machine."""

    path: str


@value
class BucketFolder:
    """Objects of an S3 bucket whose keys begin with `prefix`, which ends with `/` or is empty."""

    bucket: str
    prefix: str


def choose_dataset(artifacts: Iterable[Any], config: Mapping[str, Any]) -> Result[LocalFolder | BucketFolder, Problem]:
    """Where the dataset lies.

    The first artifact that has an address and is a dataset by its kind, or has no kind; else `local_dataset_path` of
    the configuration, else its `dataset_uri`, else its `dataset_artifact_uri`. An address is a path or has the scheme
    `file` or `s3`. BK219 when there is none or it is another.
    """
    for artifact in artifacts:
        if isinstance(artifact, Mapping) and artifact.get("kind") in (None, "", *ARTIFACT_KINDS):
            for key in _URI_KEYS:
                if address := _text(artifact.get(key)):
                    return _located(address)
    for keys in _CONFIG_KEYS:
        for key in keys:
            if address := _text(config.get(key)):
                return Success(LocalFolder(address)) if keys[0] == "local_dataset_path" else _located(address)
    hint = "set local_dataset_path, or hand over an artifact with its uri"
    return Failure(
        Problem("BK219", "no dataset was given: neither an artifact nor the configuration names one", "", hint)
    )


def _text(given: object) -> str:
    return str(given).strip() if given is not None else ""


def _located(address: str) -> Result[LocalFolder | BucketFolder, Problem]:
    scheme, separator, rest = address.partition("://")
    if not separator:
        return Success(LocalFolder(address))
    host, _, path = rest.partition("/")
    if scheme.lower() == "file" and host in ("", "localhost"):
        return Success(LocalFolder(unquote(f"/{path}")))
    if scheme.lower() == "s3" and host:
        prefix = path.strip("/")
        return Success(BucketFolder(host, f"{prefix}/" if prefix else ""))
    hint = "an address is a path, file:///path or s3://bucket/prefix"
    return Failure(Problem("BK219", f"a dataset cannot be read from {address!r}", "", hint))
