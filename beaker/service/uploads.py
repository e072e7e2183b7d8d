"""Uploading a dataset: announced, received file by file, counted, and only then complete."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.api import Response
from beaker.core.convert import to_json
from beaker.core.datasets import DatasetFile, manifest_digest, validate_splits
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.strict_json import JsonObject
from beaker.files.jsonl import count_rows
from beaker.service.agent_table import keep_agent
from beaker.service.announcements import declaration_faults, read_files
from beaker.service.artifact_table import (
    DATASET,
    Artifact,
    ArtifactFile,
    artifact_by_id,
    artifact_files,
    complete_upload,
    describe_anew,
    find_artifact,
    find_complete,
    keep_upload,
    mark_received,
    promote,
)
from beaker.service.blobs import Blobs, Incoming
from beaker.service.database import Database
from beaker.service.datasets import file_json
from beaker.service.ports import Call, Ports, answer, refuse, timestamp


def create_dataset_upload(call: Call) -> Response:
    """Announce a dataset: which files have to be sent, and where to. Content that is here already is reused, under
    what is now said about it."""
    ports, given = call.ports, call.arguments
    read = read_files(given["files"])
    problems = [*declaration_faults(given)]
    if not is_successful(read):
        return refuse(422, (*problems, *read.failure()))
    files = read.unwrap()
    digest = manifest_digest(DatasetFile(file.path, file.size_bytes, file.sha256) for file in files)
    if not is_successful(digest):
        problems.append(digest.failure())
    if problems:
        return refuse(422, tuple(problems))

    now, agent_id = ports.now(), keep_agent(ports.database, call.the_agent()).id
    known = find_complete(ports.database, agent_id, digest.unwrap())
    announced = Artifact(
        id=ports.new_id("art"),
        agent_id=agent_id,
        kind=DATASET,
        name=given["name"].strip(),
        display_name=given["display_name"],
        artifact_key=given["artifact_key"],
        manifest_digest=digest.unwrap(),
        status="COMPLETE" if known else "PENDING",
        metadata=given["metadata"],
        splits=given["splits"],
        total_count=given["total_count"],
        row_counts=known.row_counts if known else None,
        promote=given["promote"],
        created_at=timestamp(now),
        expires_at=timestamp(now + timedelta(seconds=given["expires_in_seconds"])),
        completed_at=timestamp(now) if known else None,
    )
    if known and (faults := count_faults(announced, known.row_counts or {})):
        return refuse(422, faults)
    kept = keep_upload(ports.database, announced, files)
    if kept.status == "COMPLETE":
        describe_anew(ports.database, kept, announced)
        if given["promote"] and not unfit(kept):
            promote(ports.database, kept, now=timestamp(now))
        return answer({**artifact_answer(ports, kept.id), "reused": True, "files": []})
    return lacking_answer(ports, kept)


def lacking_answer(ports: Ports, kept: Artifact) -> Response:
    """The answer to an announcement: where to send the files that have not arrived."""
    targets = [
        {
            "path": file.path,
            "upload_url": ports.transfers.upload_url(kept.id, file.path),
            "headers": {"content-type": file.content_type},
        }
        for file in artifact_files(ports.database, kept.id)
        if not file.received
    ]
    return answer({**artifact_answer(ports, kept.id), "reused": False, "files": targets}, status=201)


def receive(ports: Ports, artifact_id: str, path: str, pieces: Iterable[bytes]) -> Response:
    """Take the bytes of one announced file; they are kept only when size and SHA-256 are as announced."""
    file = awaited(ports, artifact_id, path)
    if isinstance(file, Response):
        return file
    refused = keep(ports.blobs, file, pieces)
    return received(ports, artifact_id, path) if refused is None else refused


def awaited(ports: Ports, artifact_id: str, path: str) -> ArtifactFile | Response:
    """The announced file whose bytes may come now, or why none may."""
    artifact = artifact_by_id(ports.database, artifact_id)
    file = None
    if artifact is not None:
        file = next((one for one in artifact_files(ports.database, artifact_id) if one.path == path), None)
    if artifact is None or file is None:
        return refuse(404, Problem("BK453", f"no upload awaits a file {path!r} here"))
    if artifact.status == "COMPLETE":
        what = f"the dataset {artifact.name!r}" if artifact.kind == DATASET else "the artifact"
        return refuse(409, Problem("BK468", f"{what} is complete and never changes again"))
    if timestamp(ports.now()) > artifact.expires_at:
        hint = "upload it again; that goes on where it stopped"
        return refuse(403, Problem("BK469", "the time for this upload is over", path, hint))
    return file


def keep(blobs: Blobs, file: ArtifactFile, pieces: Iterable[bytes]) -> Response | None:
    """Keep the bytes of an announced file that arrive in pieces; a refusal when they are not what was announced."""
    try:
        with blobs.batch() as batch:
            batch.put_pieces(pieces, digest=file.sha256, size=file.size_bytes, where=file.path)
    except Refused as refused:
        return refuse(422, refused.problems)
    return None


class Keeping:
    """Keeping the bytes of one announced file as they come: `begin`, `add` each piece, `end`; `give_up` in any case.

    Every step gives a refusal or `None`, may run in any thread, one after the other, and raises `OSError`.
    """

    def __init__(self, blobs: Blobs, file: ArtifactFile) -> None:
        self._blobs = blobs
        self._file = file
        self._open = ExitStack()
        self._coming: Incoming | None = None

    def begin(self) -> None:
        """Make room."""
        batch = self._open.enter_context(self._blobs.batch())
        announced = self._file
        self._coming = self._open.enter_context(
            batch.incoming(digest=announced.sha256, size=announced.size_bytes, where=announced.path)
        )

    def add(self, piece: bytes) -> Response | None:
        """Take the next bytes."""
        assert self._coming is not None
        try:
            self._coming.add(piece)
        except Refused as refused:
            return refuse(422, refused.problems)
        return None

    def end(self) -> Response | None:
        """Keep what came, if it is what was announced."""
        try:
            self._open.close()
        except Refused as refused:
            return refuse(422, refused.problems)
        return None

    def give_up(self) -> None:
        """Leave nothing behind of what `end` did not keep."""
        self._open.__exit__(_GivenUp, _GivenUp(), None)


class _GivenUp(Exception):
    """The rest of an upload is not wanted."""


def received(ports: Ports, artifact_id: str, path: str) -> Response:
    """Note that the bytes of one file have been kept."""
    mark_received(ports.database, artifact_id, path)
    return answer({})


def complete_dataset_upload(call: Call) -> Response:
    """Complete an upload whose files have all arrived, after counting its rows; repeating it changes nothing."""
    ports, artifact_id = call.ports, call.arguments["artifact_id"]
    artifact = find_artifact(ports.database, call.the_agent().id, artifact_id)
    if artifact is None or artifact.kind != DATASET:
        return refuse(404, Problem("BK453", f"there is no upload {artifact_id!r}"))
    if artifact.status != "COMPLETE":
        files = artifact_files(ports.database, artifact_id)
        if (missing := not_arrived(files)) is not None:
            return missing
        counted = _count_splits(ports, files)
        if not is_successful(counted):
            return refuse(422, counted.failure())
        if faults := count_faults(artifact, counted.unwrap()):
            return refuse(422, faults)
        row_counts = counted.unwrap()
        production = artifact.promote and not unfit(replace(artifact, row_counts=row_counts))
        complete_upload(
            ports.database, artifact, row_counts=row_counts, production=production, now=timestamp(ports.now())
        )
    return answer(artifact_answer(ports, artifact_id))


def not_arrived(files: Iterable[ArtifactFile]) -> Response | None:
    """The refusal to complete an upload whose files have not all arrived (BK468)."""
    missing = [file.path for file in files if not file.received]
    if not missing:
        return None
    shown = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
    hint = "send every file to its upload_url first"
    return refuse(409, Problem("BK468", f"{len(missing)} files have not arrived: {shown}", hint=hint))


def artifact_answer(ports: Ports, artifact_id: str) -> JsonObject:
    """`{"artifact": ...}` of an upload as it now is."""
    artifact = artifact_by_id(ports.database, artifact_id)
    assert artifact is not None
    if artifact.kind != DATASET:
        return {"artifact": artifact_json(ports.database, artifact)}
    shown: JsonObject = {
        "artifact_id": artifact.id,
        "kind": artifact.kind,
        "status": artifact.status,
        "manifest_digest": artifact.manifest_digest,
        "artifact_key": artifact.artifact_key or artifact.name,
        "dataset_name": artifact.name,
        "dataset_revision": artifact.revision,
        "is_production": artifact.is_production,
        "sample_counts": None if artifact.row_counts is None else {**artifact.row_counts},
        "metadata": artifact.metadata,
        "files": [file_json(file) for file in artifact_files(ports.database, artifact_id)],
        "warnings": to_json([*unfit(artifact)]),
    }
    return {"artifact": shown}


def artifact_json(database: Database, artifact: Artifact) -> JsonObject:
    """An artifact of any kind as it is answered."""
    uri = f"beaker-artifact:{artifact.id}"
    files = artifact_files(database, artifact.id)
    return {
        "artifact_id": artifact.id,
        "uri": uri,
        "kind": artifact.kind,
        "status": artifact.status,
        "manifest_digest": artifact.manifest_digest,
        "artifact_key": artifact.artifact_key or artifact.name or None,
        "metadata": artifact.metadata,
        "files": [{**file_json(file), "uri": f"{uri}/{quote(file.path)}"} for file in files],
        "created_at": artifact.created_at,
        "completed_at": artifact.completed_at,
    }


def unfit(artifact: Artifact) -> Problems:
    """Why no run could use a dataset whose rows are counted (BK457): it is kept, but does not go into production."""
    splits = Success({}) if artifact.row_counts is None else validate_splits(artifact.row_counts, for_run=True)
    if is_successful(splits):
        return ()
    kept = "the dataset is kept, but no run can use it and it does not go into production"
    where = f"dataset {artifact.name}"
    return tuple(Problem("BK457", f"{fault.message}; {kept}", where, fault.hint) for fault in splits.failure())


def count_faults(artifact: Artifact, counted: Mapping[str, int]) -> Problems:
    """How the declared row counts of an upload differ from those of its files (BK209)."""
    problems = []
    for split, count in (artifact.splits or {}).items():
        if split not in counted:
            message, hint = f"the split {split!r} was declared, but there is no {split}.jsonl", "correct the splits"
            problems.append(Problem("BK209", message, f"splits.{split}", hint))
        elif count != counted[split]:
            message = f"the split {split!r} was declared with {count} rows, but {counted[split]} were found"
            problems.append(Problem("BK209", message, f"splits.{split}", "correct the count, or the file"))
    total = sum(counted.values())
    if artifact.total_count is not None and artifact.total_count != total:
        message = f"{artifact.total_count} rows were declared in all, but {total} were found"
        problems.append(Problem("BK209", message, "total_count", "correct the count, or leave it out"))
    return tuple(problems)


def _count_splits(ports: Ports, files: tuple[ArtifactFile, ...]) -> Result[dict[str, int], Problems]:
    """The rows of every `<split>.jsonl` at the top of a dataset."""
    counts: dict[str, int] = {}
    problems: list[Problem] = []
    for file in files:
        if "/" in file.path or not file.path.endswith(".jsonl"):
            continue
        counted = count_rows(ports.blobs.path(file.sha256))
        if is_successful(counted):
            counts[file.path.removesuffix(".jsonl")] = counted.unwrap()
        else:
            problems.append(_at(file.path, counted.failure()))
    return Failure(tuple(problems)) if problems else Success(counts)


def _at(path: str, problem: Problem) -> Problem:
    """A problem of a blob, said of the file that was announced: where blobs lie is nobody's business."""
    return Problem(problem.code, problem.message, path, problem.hint)
