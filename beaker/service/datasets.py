"""Datasets: finding, listing, promoting them, and where their bytes are."""

from difflib import get_close_matches
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.api import Response
from beaker.core.datasets import parse_reference
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.service.artifact_table import (
    DATASET,
    Artifact,
    artifact_files,
    dataset_names,
    find_artifact,
    find_dataset,
    list_datasets,
    promote,
)
from beaker.service.database import Database
from beaker.service.ports import Call, answer, page_of, refuse, timestamp


def list_agent_datasets(call: Call) -> Response:
    """A page of the agent's complete datasets, newest first."""
    page = page_of(call)
    if isinstance(page, Response):
        return page
    limit, offset = page
    database = call.ports.database
    found, total = list_datasets(database, call.the_agent().id, limit=limit, offset=offset)
    listed = [dataset_json(one) for one in found]
    return answer({"datasets": listed, "total": total, "offset": offset, "limit": limit})


def resolve_dataset(call: Call) -> Response:
    """One dataset with its files, by reference."""
    found = dataset_by_reference(call.ports.database, call.the_agent().id, call.arguments["reference"])
    if not is_successful(found):
        return refuse(404, found.failure())
    return answer({"dataset": _with_files(call.ports.database, found.unwrap())})


def get_dataset_download_urls(call: Call) -> Response:
    """Where the bytes of each file of a dataset are, by reference or by artifact id."""
    database, agent_id = call.ports.database, call.the_agent().id
    reference, artifact_id = call.arguments["reference"], call.arguments["artifact_id"]
    found = (
        dataset_by_reference(database, agent_id, reference)
        if reference is not None
        else dataset_by_id(database, agent_id, artifact_id)
    )
    if not is_successful(found):
        return refuse(404, found.failure())
    dataset = found.unwrap()
    files = [
        {
            "path": file.path,
            "download_url": call.ports.transfers.blob_url(file.sha256, file.path),
            "size_bytes": file.size_bytes,
            "sha256": file.sha256,
        }
        for file in artifact_files(database, dataset.id)
    ]
    return answer({"artifact_id": dataset.id, "files": files})


def promote_dataset(call: Call) -> Response:
    """Make a revision the production revision of its name."""
    ports, name, revision = call.ports, call.arguments["name"], call.arguments["revision"]
    found = find_dataset(ports.database, call.the_agent().id, name, revision=revision)
    if found is None or revision == "production":
        return refuse(404, _unknown(ports.database, call.the_agent().id, f"{name}@{revision}", name))
    promote(ports.database, found, now=timestamp(ports.now()))
    kept = find_dataset(ports.database, call.the_agent().id, name, revision=revision)
    assert kept is not None
    return answer({"dataset": dataset_json(kept)})


def dataset_by_reference(database: Database, agent_id: str, reference: object) -> Result[Artifact, Problem]:
    """The complete dataset that `name`, `name@production` or `name@revision` stands for; BK206 or BK455 otherwise."""
    parsed = parse_reference(reference)
    if not is_successful(parsed):
        return Failure(parsed.failure())
    wanted = parsed.unwrap()
    found = find_dataset(database, agent_id, wanted.name, revision=wanted.revision)
    return Success(found) if found is not None else Failure(_unknown(database, agent_id, str(wanted), wanted.name))


def dataset_by_id(database: Database, agent_id: str, artifact_id: str) -> Result[Artifact, Problem]:
    """The complete dataset with this artifact id; BK455 otherwise."""
    found = find_artifact(database, agent_id, artifact_id)
    if found is None or found.kind != DATASET:
        hint = "`beaker dataset list` shows what was uploaded"
        return Failure(Problem("BK455", f"there is no dataset with the id {artifact_id!r}", hint=hint))
    if found.status != "COMPLETE":
        hint = "run `beaker dataset upload` again; it goes on where it stopped"
        return Failure(Problem("BK455", f"the upload of the dataset {artifact_id!r} was never completed", hint=hint))
    return Success(found)


def dataset_json(dataset: Artifact) -> JsonObject:
    """A dataset as it is listed."""
    counts = dataset.row_counts or {}
    return {
        "name": dataset.name,
        "display_name": dataset.display_name,
        "revision": dataset.revision,
        "reference": f"{dataset.name}@{dataset.revision}",
        "kind": dataset.kind,
        "artifact_id": dataset.id,
        "status": dataset.status,
        "is_production": dataset.is_production,
        "sample_counts": {**counts, "total": sum(counts.values())},
        "metadata": dataset.metadata,
        "created_at": dataset.created_at,
        "completed_at": dataset.completed_at,
    }


def file_json(file: Any) -> JsonObject:
    """A file of a dataset as it is answered."""
    return {
        "path": file.path,
        "size_bytes": file.size_bytes,
        "sha256": file.sha256,
        "content_type": file.content_type,
    }


def _with_files(database: Database, dataset: Artifact) -> JsonObject:
    return {**dataset_json(dataset), "files": [file_json(file) for file in artifact_files(database, dataset.id)]}


def _unknown(database: Database, agent_id: str, reference: str, name: str) -> Problem:
    known = dataset_names(database, agent_id)
    if name in known:
        hint = f"`beaker dataset list` shows the revisions of {name!r}"
        return Problem("BK455", f"the dataset {name!r} has no revision as in {reference!r}", hint=hint)
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "upload it with `beaker dataset upload`"
    return Problem("BK455", f"there is no dataset {name!r}", hint=hint)
