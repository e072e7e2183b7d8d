"""What takes several calls: uploading a dataset, downloading a candidate.

A flow is a generator of steps, sans-I/O: whoever runs it does each step and sends back what came of it.
"""

import os
import secrets
import shutil
from collections import deque
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.client.api import Api
from beaker.client.dataset_files import LocalDataset, gather, measured
from beaker.core import transfer
from beaker.core.api import Response, read_refusal
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.strict_json import JsonObject
from beaker.core.text import relative_path
from beaker.core.values import value
from beaker.files.atomic import os_problem

T = TypeVar("T")

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told after each file: its path, bytes done so far, bytes in all."""


@value
class Call:
    """Call an endpoint; what came of it is the `Result` of `Api.call`."""

    name: str
    arguments: Mapping[str, Any]


@value
class Put:
    """Send a file to an upload URL; what came of it is a `Response`."""

    url: str
    headers: Mapping[str, str]
    path: Path
    size: int


@value
class Get:
    """Fetch a download URL into a file; nothing comes of it but the file."""

    url: str
    path: Path


Flow: TypeAlias = Generator[Call | Put | Get, Any, Result[T, Problem]]


def run_flow(api: Api, flow: Flow[T]) -> Result[T, Problem]:
    """Do the steps of `flow` over the transport of `api`, one after the other."""
    came: Any = None
    try:
        while True:
            step = flow.send(came)
            match step:
                case Call():
                    came = api.call(step.name, **step.arguments)
                case Put():
                    came = api.transport.upload(step.url, step.headers, step.path, step.size)
                case Get():
                    api.transport.download(step.url, step.path)
                    came = None
    except StopIteration as ended:
        result: Result[T, Problem] = ended.value
        return result
    except Refused as refused:
        return Failure(refused.problems[0])
    except OSError as error:
        return Failure(os_problem(error, "transfer the file"))
    finally:
        flow.close()


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
) -> Result[JsonObject, Problems]:
    """Upload the dataset in `directory` and return its artifact, with `reused` telling whether it was there already.

    What travels, and what is refused before anything does, is decided by `client.dataset_files.gather`.
    """
    gathered = gather(directory, name=name, splits=splits, metadata=metadata, check_rows=check_rows)
    if not is_successful(gathered):
        return Failure(gathered.failure())
    options = {"promote": promote, "total_count": total_count, "expires_in_seconds": expires_in_seconds}
    flow = upload_flow(gathered.unwrap(), options, progress=progress or (lambda *_: None))
    uploaded = run_flow(api, flow)
    return Success(uploaded.unwrap()) if is_successful(uploaded) else Failure((uploaded.failure(),))


def upload_flow(dataset: LocalDataset, options: Mapping[str, Any], *, progress: Progress) -> Flow[JsonObject]:
    """Announce a dataset, send the files that the place lacks, complete it: as `beaker.core.transfer` decides."""
    upload, commands = transfer.begin(dataset.declaration, options)
    waiting = deque(commands)
    while waiting and not upload.ended:
        event = yield from _carry_out(waiting.popleft(), dataset)
        moved = transfer.step(upload, event)
        if not is_successful(moved):
            return Failure(moved.failure())
        upload, commands = moved.unwrap()
        waiting.extend(commands)
        if isinstance(event, transfer.FileSent):
            progress(event.path, upload.sent_bytes, upload.total_bytes)
    return upload.outcome()


def _carry_out(
    command: transfer.TransferCommand, dataset: LocalDataset
) -> Generator[Call | Put | Get, Any, transfer.TransferEvent]:
    match command:
        case transfer.Announce(arguments, endpoint):
            announced = yield Call(endpoint, arguments)
            if not is_successful(announced):
                return transfer.CallFailed(announced.failure())
            return transfer.Announced(announced.unwrap())
        case transfer.SendFile(path, url, headers, size):
            response: Response = yield Put(url, headers, dataset.sources[path], size)
            if not 200 <= response.status < 300:
                return transfer.CallFailed(read_refusal(response))
            return transfer.FileSent(path)
        case transfer.Complete(artifact_id, endpoint):
            completed = yield Call(endpoint, {"artifact_id": artifact_id})
            if not is_successful(completed):
                return transfer.CallFailed(completed.failure())
            return transfer.Completed(completed.unwrap())


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
        flow = download_flow(candidate_id, folder, progress=progress or (lambda *_: None), wanted=wanted)
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
    offered = yield Call("create_candidate_download", {"candidate_id": candidate_id})
    if not is_successful(offered):
        return Failure(offered.failure())
    listed = offered.unwrap().get("files")
    files = [_download(item) for item in listed] if isinstance(listed, list) else []
    if not isinstance(listed, list) or not all(files):
        return Failure(Problem("BK812", "the answer of the download is malformed: a file lacks path, URL or digest"))
    known = [file for file in files if file is not None and (wanted is None or wanted(file.path))]
    done, total = 0, sum(file.size for file in known)
    for file in known:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        yield Get(file.url, target)
        if measured(target) != (file.size, file.digest):
            message = "the file that arrived is not the one that was announced"
            return Failure(Problem("BK813", message, file.path, "try again"))
        done += file.size
        progress(file.path, done, total)
    return Success(tuple(file.path for file in known))


def download_artifacts(api: Api, candidates: Mapping[str, Any], directory: Path) -> Result[tuple[str, ...], Problem]:
    """Write the artifacts of every proposal that the answer `candidates` lists below `directory`, those of proposal
    `n` in the folder `n`, each verified; their paths. Nothing is made where there are none.
    """
    wanted = [
        (f"{proposal['n']}/{found.path}", found)
        for proposal in candidates.get("proposals") or ()
        for item in proposal.get("artifacts") or ()
        if (found := _download(item)) is not None and isinstance(proposal.get("n"), int)
    ]
    try:
        for path, found in wanted:
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            fetched = run_flow(api, _fetch(found, target))
            if not is_successful(fetched):
                return Failure(fetched.failure())
    except OSError as error:
        return Failure(os_problem(error, "write what proposals left", error.filename or directory))
    return Success(tuple(path for path, _ in wanted))


def _fetch(found: "_Download", target: Path) -> Flow[None]:
    yield Get(found.url, target)
    if measured(target) != (found.size, found.digest):
        return Failure(Problem("BK813", "the file that arrived is not the one that was announced", found.path))
    return Success(None)


@value
class _Download:
    path: str
    url: str
    size: int
    digest: str


def _download(item: Any) -> _Download | None:
    """A file of a download; `None` when it is not described in full, or its path would leave the folder."""
    match item:
        case {"path": str(path), "download_url": str(url), "size_bytes": int(size), "sha256": str(digest)}:
            try:
                return _Download(relative_path(path, "path"), url, size, digest.lower())
            except ValueError:
                return None
    return None
