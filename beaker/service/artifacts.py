"""Artifacts that are no datasets: any files under a kind, announced, received and complete like a dataset's."""

from datetime import timedelta

from returns.pipeline import is_successful

from beaker.core.api import Response
from beaker.core.datasets import DatasetFile, manifest_digest
from beaker.core.problems import Problem
from beaker.service.agent_table import keep_agent
from beaker.service.announcements import expiry_faults, read_files
from beaker.service.artifact_table import (
    DATASET,
    Artifact,
    artifact_files,
    complete_upload,
    describe_anew,
    find_artifact,
    find_complete,
    keep_upload,
)
from beaker.service.artifact_table import list_artifacts as list_kept
from beaker.service.ports import Call, answer, page_of, refuse, timestamp
from beaker.service.uploads import artifact_answer, artifact_json, lacking_answer, not_arrived


def create_artifact_upload(call: Call) -> Response:
    """Announce an artifact: which files have to be sent, and where to. One of this kind and content is reused."""
    ports, given = call.ports, call.arguments
    kind, problems = given["kind"].strip(), [*expiry_faults(given["expires_in_seconds"])]
    if kind == DATASET:
        hint = "upload a dataset (POST /v1/datasets/uploads)"
        problems.append(Problem("BK450", f"{DATASET!r} is the kind of datasets", "kind", hint))
    elif not kind or not kind.isprintable():
        problems.append(Problem("BK450", "must be printable text", "kind"))
    read = read_files(given["files"])
    if problems or not is_successful(read):
        return refuse(422, (*problems, *(() if is_successful(read) else read.failure())))
    files = read.unwrap()
    digest = manifest_digest(DatasetFile(file.path, file.size_bytes, file.sha256) for file in files)
    if not is_successful(digest):
        return refuse(422, digest.failure())
    now, agent_id = ports.now(), keep_agent(ports.database, call.the_agent()).id
    known = find_complete(ports.database, agent_id, digest.unwrap(), kind=kind)
    announced = Artifact(
        id=ports.new_id("art"),
        agent_id=agent_id,
        kind=kind,
        name="",
        display_name=None,
        artifact_key=given["artifact_key"],
        manifest_digest=digest.unwrap(),
        status="PENDING",
        metadata=given["metadata"],
        splits=None,
        total_count=None,
        row_counts=None,
        promote=False,
        created_at=timestamp(now),
        expires_at=timestamp(now + timedelta(seconds=given["expires_in_seconds"])),
    )
    if known is not None:
        describe_anew(ports.database, known, announced)
        return answer({**artifact_answer(ports, known.id), "reused": True, "files": []})
    return lacking_answer(ports, keep_upload(ports.database, announced, files))


def complete_artifact_upload(call: Call) -> Response:
    """Complete an artifact whose files have all arrived; repeating it changes nothing."""
    ports, artifact_id = call.ports, call.arguments["artifact_id"]
    artifact = find_artifact(ports.database, call.the_agent().id, artifact_id)
    if artifact is None or artifact.kind == DATASET:
        return refuse(404, Problem("BK453", f"there is no upload {artifact_id!r}"))
    if artifact.status != "COMPLETE":
        if (missing := not_arrived(artifact_files(ports.database, artifact_id))) is not None:
            return missing
        complete_upload(ports.database, artifact, row_counts=None, production=False, now=timestamp(ports.now()))
    return answer(artifact_answer(ports, artifact_id))


def list_artifacts(call: Call) -> Response:
    """A page of the agent's artifacts, datasets among them, newest first."""
    page = page_of(call)
    if isinstance(page, Response):
        return page
    limit, offset = page
    database, given = call.ports.database, call.arguments
    found, total = list_kept(
        database, call.the_agent().id, limit=limit, offset=offset, kind=given["kind"], status=given["status"]
    )
    listed = [artifact_json(database, artifact) for artifact in found]
    return answer({"artifacts": listed, "total": total, "offset": offset, "limit": limit})
