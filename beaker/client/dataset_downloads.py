"""Downloading a dataset: its files into a folder, each verified."""

from pathlib import Path
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.dataset_files import measured
from beaker.client.flows import Call, Flow, Get, run_flow
from beaker.core.launch import DatasetChoice
from beaker.core.problems import Problem
from beaker.core.text import relative_path


def download_dataset(api: Api, dataset: DatasetChoice, directory: Path) -> Result[tuple[str, ...], Problem]:
    """Write the files of a dataset below `directory`, which must exist, and return their paths.

    BK812 for an answer that describes a file badly, BK813 for a file that is not the one that was announced.
    """
    return run_flow(api, _flow(dataset, directory))


def _flow(dataset: DatasetChoice, directory: Path) -> Flow[tuple[str, ...]]:
    asked = {"reference": dataset.reference, "artifact_id": dataset.artifact_id}
    offered = yield Call("get_dataset_download_urls", asked)
    if not is_successful(offered):
        return Failure(offered.failure())
    files = [_file(item) for item in offered.unwrap()["files"]]
    known = [file for file in files if file is not None]
    if len(known) < len(files):
        return Failure(Problem("BK812", "the answer of the download is malformed: a file lacks path, URL or digest"))
    for path, url, size, digest in known:
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        yield Get(url, target)
        if measured(target) != (size, digest):
            message = "the file that arrived is not the one that was announced"
            return Failure(Problem("BK813", message, path, "try again"))
    return Success(tuple(path for path, *_ in known))


def _file(item: Any) -> tuple[str, str, int, str] | None:
    match item:
        case {"path": str(path), "download_url": str(url), "size_bytes": int(size), "sha256": str(digest)}:
            try:
                return relative_path(path, "path"), url, size, digest.lower()
            except ValueError:
                return None
    return None
