"""What takes several calls: uploading a dataset or another artifact, downloading what a place offers."""

import os
import secrets
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.dataset_files import LocalDataset, gather, gather_files
from beaker.client.fetching import Progress, fetching_flow
from beaker.client.local_files import LocalFile, files_below, hashed_all, leaving
from beaker.client.remote_files import RemoteFile, remote_file
from beaker.client.running import run_flow
from beaker.client.steps import Begin, Call, Ended, Flow, Get, Moved, Next, Put
from beaker.core import transfer
from beaker.core.api import Response, read_refusal
from beaker.core.datasets import DatasetFile, artifact_path
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.files.atomic import os_problem


def upload_dataset(
    api: Api,
    directory: Path,
    *,
    name: str,
    splits: Mapping[str, int] | None = None,
    metadata: Mapping[str, Any] | None = None,
    promote: bool = True,
    progress: Progress | None = None,
    total_count: int | None = None,
    expires_in_seconds: int = 900,
    check_rows: bool = True,
    display_name: str | None = None,
    artifact_key: str | None = None,
    content_types: Mapping[str, str] | None = None,
) -> Result[JsonObject, Problems]:
    """Upload the dataset in `directory` and return its artifact, with `reused` telling whether it was there already.

    What travels, and what is refused before anything does, is decided by `client.dataset_files.gather`.
    `content_types` says by path what a file is called.
    """
    gathered = gather(directory, name=name, splits=splits, metadata=metadata, check_rows=check_rows)
    options = {
        "promote": promote,
        "total_count": total_count,
        "expires_in_seconds": expires_in_seconds,
        "display_name": display_name,
        "artifact_key": artifact_key,
    }
    return _upload(api, gathered, options, content_types, progress)


def upload_dataset_files(
    api: Api,
    files: Mapping[str, Path],
    *,
    name: str,
    splits: Mapping[str, int] | None = None,
    metadata: Mapping[str, Any] | None = None,
    promote: bool = True,
    progress: Progress | None = None,
    total_count: int | None = None,
    expires_in_seconds: int = 900,
    display_name: str | None = None,
    artifact_key: str | None = None,
    content_types: Mapping[str, str] | None = None,
) -> Result[JsonObject, Problems]:
    """As `upload_dataset`, for files that lie anywhere, by the paths they are to have: `dataset_files.gather_files`."""
    given = normal_paths(files)
    if not is_successful(given):
        return Failure((given.failure(),))
    gathered = gather_files(given.unwrap(), name=name, splits=splits, metadata=metadata)
    options = {
        "promote": promote,
        "total_count": total_count,
        "expires_in_seconds": expires_in_seconds,
        "display_name": display_name,
        "artifact_key": artifact_key,
    }
    return _upload(api, gathered, options, content_types, progress)


def upload_artifact(
    api: Api,
    files: Mapping[str, Path] | Path,
    *,
    kind: str = "input_artifact",
    artifact_key: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    content_types: Mapping[str, str] | None = None,
    expires_in_seconds: int = 900,
    progress: Progress | None = None,
) -> Result[JsonObject, Problems]:
    """Upload any files as an artifact and return it, with `reused`.

    `files` are files by the paths they are to have, or a folder: then all below it travels but hidden files and
    folders; a link that leads out of it or to a hidden file is refused (BK815).
    """
    if isinstance(files, Path):
        if not files.is_dir():
            return Failure((Problem("BK216", "no such folder", str(files), "give the folder that holds the files"),))
        below = files_below(files)
        if problems := tuple(leaving(files, below)):
            return Failure(problems)
        files = below
    given = normal_paths(files)
    if not is_successful(given):
        return Failure((given.failure(),))
    local = hashed_all(given.unwrap(), "read the files")
    if not is_successful(local):
        return Failure((local.failure(),))
    options = {
        "kind": kind,
        "artifact_key": artifact_key,
        "metadata": dict(metadata or {}),
        "expires_in_seconds": expires_in_seconds,
    }
    named = [DatasetFile(path, file.size, file.sha256) for path, file in local.unwrap().items()]
    begun = transfer.begin_artifact(named, options, content_types=content_types)
    if not is_successful(begun):
        return Failure((begun.failure(),))
    uploaded = run_flow(api, sending_flow(begun.unwrap(), local.unwrap(), progress=progress or _silent))
    return Success(uploaded.unwrap()) if is_successful(uploaded) else Failure((uploaded.failure(),))


def normal_paths(files: Mapping[str, Path]) -> Result[dict[str, Path], Problem]:
    """The files by the one spelling of their paths; BK205 for two that have the same, BK218 for a path that is none."""
    normal: dict[str, Path] = {}
    for given, source in files.items():
        try:
            path = artifact_path(given, "a path")
        except ValueError as error:
            return Failure(Problem("BK218", str(error), "files"))
        if path in normal:
            return Failure(Problem("BK205", "two files have this path once it is normalised", path))
        normal[path] = Path(source)
    return Success(normal)


def _upload(
    api: Api,
    gathered: Result[LocalDataset, Problems],
    options: Mapping[str, Any],
    content_types: Mapping[str, str] | None,
    progress: Progress | None,
) -> Result[JsonObject, Problems]:
    if not is_successful(gathered):
        return Failure(gathered.failure())
    begun = transfer.begin(gathered.unwrap().declaration, options, content_types=content_types)
    uploaded = run_flow(api, sending_flow(begun, gathered.unwrap().sources, progress=progress or _silent))
    return Success(uploaded.unwrap()) if is_successful(uploaded) else Failure((uploaded.failure(),))


def _silent(path: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def upload_flow(dataset: LocalDataset, options: Mapping[str, Any], *, progress: Progress) -> Flow[JsonObject]:
    """Announce a dataset, send the files that the place lacks, complete it."""
    return sending_flow(transfer.begin(dataset.declaration, options), dataset.sources, progress=progress)


def sending_flow(begun: transfer.Step, sources: Mapping[str, LocalFile], *, progress: Progress) -> Flow[JsonObject]:
    """Do what `beaker.core.transfer` decides; files that the place lacks travel at the same time."""
    upload, commands = begun
    waiting, partly = deque(commands), dict[str, int]()
    while not upload.ended:
        if waiting:
            event = yield from _carry_out(waiting.popleft(), sources)
            if event is None:
                continue
        else:
            happened = yield Next()
            if isinstance(happened, Moved):
                partly[happened.key] = happened.done
                progress(happened.key, upload.sent_bytes + sum(partly.values()), upload.total_bytes)
                continue
            partly.pop(happened.key, None)
            event = _sent(happened)
        moved = transfer.step(upload, event)
        if not is_successful(moved):
            return Failure(moved.failure())
        upload, commands = moved.unwrap()
        waiting.extend(commands)
        if isinstance(event, transfer.FileSent):
            progress(event.path, upload.sent_bytes + sum(partly.values()), upload.total_bytes)
    return upload.outcome()


def _carry_out(
    command: transfer.TransferCommand, sources: Mapping[str, LocalFile]
) -> Generator[Call | Begin | Next, Any, transfer.TransferEvent | None]:
    """Do what a command says; what happened, or nothing yet for a file that is under way now."""
    match command:
        case transfer.Announce(arguments, endpoint):
            announced = yield Call(endpoint, arguments)
            if not is_successful(announced):
                return transfer.CallFailed(announced.failure())
            return transfer.Announced(announced.unwrap())
        case transfer.SendFile(path, url, headers, _):
            yield Begin(path, Put(url, headers, sources[path]))
            return None
        case transfer.Complete(artifact_id, endpoint):
            completed = yield Call(endpoint, {"artifact_id": artifact_id})
            if not is_successful(completed):
                return transfer.CallFailed(completed.failure())
            return transfer.Completed(completed.unwrap())


def _sent(happened: Ended) -> transfer.TransferEvent:
    """What the end of a file's travelling means."""
    if not is_successful(happened.outcome):
        return transfer.CallFailed(happened.outcome.failure())
    response = happened.outcome.unwrap()
    assert isinstance(response, Response)
    if 200 <= response.status < 300:
        return transfer.FileSent(happened.key)
    refused = read_refusal(response)
    if transfer.url_expired(refused):
        return transfer.FileExpired(happened.key, refused)
    return transfer.CallFailed(refused)


def download_candidate(
    api: Api,
    candidate_id: str,
    directory: Path,
    *,
    progress: Progress | None = None,
    wanted: Callable[[str], bool] | None = None,
) -> Result[tuple[str, ...], Problem]:
    """Write the files of a candidate below `directory`, those whose path is `wanted`, and return their paths.

    Size and SHA-256 of every file are verified before the first one lands; each lands by renaming.
    """
    folder = directory / f".download-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True)
        flow = download_flow(candidate_id, folder, progress=progress or _silent, wanted=wanted)
        fetched = run_flow(api, flow)
        if is_successful(fetched):
            for path in fetched.unwrap():
                target = directory / path
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(folder / path, target)
        return fetched
    except OSError as error:
        return Failure(os_problem(error, "write the candidate", error.filename or directory))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def download_flow(
    candidate_id: str, folder: Path, *, progress: Progress, wanted: Callable[[str], bool] | None = None
) -> Flow[tuple[str, ...]]:
    """Fetch the files of a candidate into `folder`, those whose path is `wanted`, each verified."""
    ask = Call("create_candidate_download", {"candidate_id": candidate_id})
    fetched = yield from fetching_flow(ask, folder, progress=progress, wanted=wanted)
    return fetched.map(tuple)


def download_artifacts(api: Api, candidates: Mapping[str, Any], directory: Path) -> Result[tuple[str, ...], Problem]:
    """Write the artifacts of every proposal that the answer `candidates` lists below `directory`, those of proposal
    `n` in the folder `n`, each verified; their paths. Nothing is made where there are none.
    """
    wanted = {
        f"{number}/{found.path}": found
        for number, item in _announced_artifacts(candidates)
        if (found := remote_file(item)) is not None
    }
    fetched = run_flow(api, _fetch_all(wanted, directory))
    return Success(tuple(wanted)) if is_successful(fetched) else Failure(fetched.failure())


def _announced_artifacts(candidates: Mapping[str, Any]) -> Iterator[tuple[int, object]]:
    """What proposals list as their artifacts, each with the number of its proposal."""
    proposals = candidates.get("proposals")
    for proposal in proposals if isinstance(proposals, list) else ():
        number, artifacts = (proposal.get(key) if isinstance(proposal, Mapping) else None for key in ("n", "artifacts"))
        if isinstance(number, int) and isinstance(artifacts, list):
            yield from ((number, item) for item in artifacts)


def _fetch_all(files: Mapping[str, RemoteFile], folder: Path) -> Flow[None]:
    for path, file in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        yield Begin(path, Get(file, target))
    waiting = len(files)
    while waiting:
        happened = yield Next()
        if isinstance(happened, Ended):
            waiting -= 1
            if not is_successful(happened.outcome):
                return Failure(happened.outcome.failure())
    return Success(None)
