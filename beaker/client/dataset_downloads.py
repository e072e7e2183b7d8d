"""Downloading a dataset: its files into a folder, each verified, and all of them together."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.fetching import Progress, fetching_flow, offered_files
from beaker.client.remote_files import RemoteFile
from beaker.client.running import run_flow
from beaker.client.steps import Call, Flow
from beaker.core.datasets import DatasetFile, content_fault, names_content
from beaker.core.launch import DatasetChoice
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject

PAGE = 100
"""Datasets that a listing is asked for at once."""


def download_dataset(
    api: Api, dataset: DatasetChoice, directory: Path, *, progress: Progress | None = None
) -> Result[tuple[str, ...], Problem]:
    """Write the files of a dataset below `directory`, which must exist, and return their paths.

    A place that offers files without sizes and digests is asked for the dataset's record too: sizes stand there, and
    its revision names the whole content. BK812 for an answer that describes a file badly, BK813 for a file that is not
    the one that was announced; other files are left as they arrived then.
    """
    return run_flow(api, _flow(dataset, directory, progress or (lambda *_: None)))


def describe_dataset(api: Api, dataset: DatasetChoice) -> Result[JsonObject, Problem]:
    """The record of a dataset. BK812 when no dataset has the id, else whatever hinders the call."""
    return run_flow(api, _described(dataset))


def dataset_record(api: Api, dataset: DatasetChoice) -> Result[JsonObject, Problem]:
    """What the place says of a dataset: name, revision, files; found by its reference, or in the listing by its id."""
    return run_flow(api, _described(dataset))


def _flow(dataset: DatasetChoice, directory: Path, progress: Progress) -> Flow[tuple[str, ...]]:
    ask = Call("get_dataset_download_urls", {"reference": dataset.reference, "artifact_id": dataset.artifact_id})
    offered = yield ask
    if not is_successful(offered):
        return Failure(offered.failure())
    read = offered_files(offered.unwrap())
    if not is_successful(read):
        return Failure(read.failure())
    record: Mapping[str, Any] = {}
    if any(file.size is None or file.sha256 is None for file in read.unwrap()):
        described = yield from _described(dataset)
        if not is_successful(described):
            return Failure(described.failure())
        record = described.unwrap()
    revision = record.get("revision")
    whole = names_content(revision)
    fetched = yield from fetching_flow(
        ask, directory, progress=progress, told=_telling(record), offered=offered, unverified=whole
    )
    if not is_successful(fetched):
        return Failure(fetched.failure())
    come = [DatasetFile(path, file.size, file.sha256) for path, file in fetched.unwrap().items()]
    if whole and (fault := content_fault(str(revision), come)) is not None:
        return Failure(fault)
    return Success(tuple(fetched.unwrap()))


def _described(dataset: DatasetChoice) -> Flow[JsonObject]:
    """The record of a dataset: resolved by reference, found in the listing by id."""
    if dataset.reference is not None:
        resolved = yield Call("resolve_dataset", {"reference": dataset.reference})
        if not is_successful(resolved):
            return Failure(resolved.failure())
        return Success(resolved.unwrap()["dataset"])
    offset = 0
    while True:
        page = yield Call("list_datasets", {"limit": PAGE, "offset": offset})
        if not is_successful(page):
            return Failure(page.failure())
        listed, total = page.unwrap()["datasets"], page.unwrap().get("total")
        for one in listed:
            if isinstance(one, dict) and one.get("artifact_id") == dataset.artifact_id:
                return Success(one)
        offset += len(listed)
        if not listed or not isinstance(total, int) or offset >= total:
            return Failure(Problem("BK812", f"the place lists no dataset with the id {dataset.artifact_id!r}"))


def _telling(record: Mapping[str, Any]) -> Callable[[RemoteFile], RemoteFile]:
    """Adds to a file what a dataset's record tells of it."""
    files = record.get("files")
    listed = [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    known = {one["path"]: one for one in listed if isinstance(one.get("path"), str)}

    def told(file: RemoteFile) -> RemoteFile:
        about = known.get(file.path, {})
        size, digest = about.get("size_bytes"), about.get("sha256")
        return replace(
            file,
            size=size if file.size is None and type(size) is int else file.size,
            sha256=digest.lower() if file.sha256 is None and isinstance(digest, str) else file.sha256,
        )

    return told
