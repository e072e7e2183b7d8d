"""The rows of uploaded datasets: their files, how far an upload is, and which revision of a name is in production."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from beaker.core.strict_json import JsonObject, dumps
from beaker.core.values import value
from beaker.service.database import Database

DATASET = "dataset_snapshot"
"""The kind of an artifact that is a dataset."""

_JSON = ("metadata", "splits", "row_counts")
_COLUMNS = (
    "id", "agent_id", "kind", "name", "display_name", "artifact_key", "manifest_digest", "status", "metadata", "splits",
    "total_count", "row_counts", "promote", "created_at", "expires_at", "completed_at",
)  # fmt: skip
_SELECT = """SELECT artifacts.*, productions.artifact_id IS NOT NULL AS is_production FROM artifacts
    LEFT JOIN productions ON productions.artifact_id = artifacts.id"""


@value
class ArtifactFile:
    """One announced file: a normal path, and what its bytes must be. `received` tells whether they are here."""

    path: str
    content_type: str
    size_bytes: int
    sha256: str
    received: bool = False


@value(kw_only=True)
class Artifact:
    """One upload. `status` is `PENDING` until it is `COMPLETE`, and its content never changes again; what is said
    about it (`metadata`, `display_name`, `artifact_key`) may.

    `splits` are the declared row counts or `None`; `row_counts` the counted ones, once complete. `promote`: make it
    the production revision of its `name` when it completes. Bytes are accepted until `expires_at`.
    """

    id: str
    agent_id: str
    kind: str
    name: str
    display_name: str | None
    artifact_key: str | None
    manifest_digest: str
    status: str
    metadata: JsonObject
    splits: dict[str, int] | None
    total_count: int | None
    row_counts: dict[str, int] | None
    promote: bool
    created_at: str
    expires_at: str
    completed_at: str | None = None
    is_production: bool = False

    @property
    def revision(self) -> str:
        """The revision that the content is known by."""
        return f"sha256:{self.manifest_digest}"


def keep_upload(database: Database, artifact: Artifact, files: Sequence[ArtifactFile]) -> Artifact:
    """Store an upload with its files. An unfinished one of the same content and name is continued with what is now
    declared, a complete one stays as it is. Returns what is stored."""
    fields = {name: getattr(artifact, name) for name in _COLUMNS}
    fields |= {name: None if fields[name] is None else dumps(fields[name]) for name in _JSON}
    with database.transaction():
        database.execute(
            f"""INSERT INTO artifacts ({", ".join(_COLUMNS)}) VALUES ({", ".join(f":{name}" for name in _COLUMNS)})
            ON CONFLICT (agent_id, kind, name, manifest_digest) DO UPDATE
            SET display_name = excluded.display_name, artifact_key = excluded.artifact_key,
                metadata = excluded.metadata, splits = excluded.splits, total_count = excluded.total_count,
                promote = excluded.promote, expires_at = excluded.expires_at
            WHERE artifacts.status = 'PENDING'""",
            **fields,
        )
        kept = _one(
            database,
            "kind = :kind AND artifacts.name = :name AND manifest_digest = :digest",
            artifact.agent_id,
            kind=artifact.kind,
            name=artifact.name,
            digest=artifact.manifest_digest,
        )
        assert kept is not None
        database.execute_many(
            """INSERT INTO artifact_files
            VALUES (:artifact_id, :position, :path, :content_type, :size_bytes, :sha256, :received)
            ON CONFLICT (artifact_id, path) DO UPDATE SET received = max(received, excluded.received)""",
            [
                {
                    "artifact_id": kept.id,
                    "position": position,
                    "path": file.path,
                    "content_type": file.content_type,
                    "size_bytes": file.size_bytes,
                    "sha256": file.sha256,
                    "received": file.received or _has_content(database, artifact.agent_id, file.sha256),
                }
                for position, file in enumerate(files)
            ],
        )
    return kept


def artifact_files(database: Database, artifact_id: str) -> tuple[ArtifactFile, ...]:
    """The files of an artifact, as they were announced."""
    rows = database.rows("SELECT * FROM artifact_files WHERE artifact_id = :id ORDER BY position", id=artifact_id)
    return tuple(
        ArtifactFile(row["path"], row["content_type"], row["size_bytes"], row["sha256"], bool(row["received"]))
        for row in rows
    )


def mark_received(database: Database, artifact_id: str, path: str) -> None:
    """Note that the bytes of one file are here and verified."""
    database.execute(
        "UPDATE artifact_files SET received = 1 WHERE artifact_id = :id AND path = :path", id=artifact_id, path=path
    )


def describe_anew(database: Database, artifact: Artifact, announced: Artifact) -> None:
    """Take over what a repeated upload says about a complete artifact; what it does not say stays."""
    database.execute(
        """UPDATE artifacts SET metadata = :metadata, display_name = :display_name, artifact_key = :artifact_key
        WHERE id = :id""",
        id=artifact.id,
        metadata=dumps(announced.metadata or artifact.metadata),
        display_name=announced.display_name or artifact.display_name,
        artifact_key=announced.artifact_key or artifact.artifact_key,
    )


def complete_upload(
    database: Database, artifact: Artifact, *, row_counts: dict[str, int] | None, production: bool, now: str
) -> None:
    """Mark a pending artifact complete, a dataset with its counted rows; with `production` promote it."""
    with database.transaction():
        database.execute(
            """UPDATE artifacts SET status = 'COMPLETE', row_counts = :row_counts, completed_at = :now
            WHERE id = :id AND status = 'PENDING'""",
            id=artifact.id,
            row_counts=None if row_counts is None else dumps(row_counts),
            now=now,
        )
        if production:
            promote(database, artifact, now=now)


def promote(database: Database, artifact: Artifact, *, now: str) -> None:
    """Make a complete artifact the production revision of its name."""
    database.execute(
        """INSERT INTO productions VALUES (:agent_id, :name, :id, :now)
        ON CONFLICT (agent_id, name) DO UPDATE
        SET artifact_id = excluded.artifact_id, promoted_at = excluded.promoted_at
        WHERE productions.artifact_id <> excluded.artifact_id""",
        agent_id=artifact.agent_id,
        name=artifact.name,
        id=artifact.id,
        now=now,
    )


def find_artifact(database: Database, agent_id: str, artifact_id: str) -> Artifact | None:
    """An agent's artifact by id, complete or not."""
    return _one(database, "artifacts.id = :id", agent_id, id=artifact_id)


def artifact_by_id(database: Database, artifact_id: str) -> Artifact | None:
    """An artifact by id, whoever it belongs to: for a bearer of its upload URL, and for a run's worker."""
    row = database.row(f"{_SELECT} WHERE artifacts.id = :id", id=artifact_id)
    return None if row is None else _artifact(row)


def find_complete(database: Database, agent_id: str, manifest_digest: str, *, kind: str = DATASET) -> Artifact | None:
    """An agent's complete artifact of a kind with this content; a dataset under whatever name."""
    return _one(
        database,
        "kind = :kind AND manifest_digest = :digest AND status = 'COMPLETE'",
        agent_id,
        kind=kind,
        digest=manifest_digest,
    )


def find_dataset(database: Database, agent_id: str, name: str, *, revision: str | None) -> Artifact | None:
    """An agent's complete dataset by name.

    `revision` is a revision, `production`, or `None` for the production revision, else the newest.
    """
    named = "kind = :kind AND artifacts.name = :name AND status = 'COMPLETE'"
    if revision is None or revision == "production":
        found = _one(database, f"{named} AND productions.artifact_id IS NOT NULL", agent_id, kind=DATASET, name=name)
        if found is not None or revision is not None:
            return found
        return _one(database, named, agent_id, kind=DATASET, name=name)
    digest = revision.removeprefix("sha256:").lower()
    return _one(database, f"{named} AND manifest_digest = :digest", agent_id, kind=DATASET, name=name, digest=digest)


def dataset_names(database: Database, agent_id: str) -> list[str]:
    """The names of an agent's complete datasets, sorted."""
    rows = database.rows(
        """SELECT DISTINCT name FROM artifacts WHERE agent_id = :agent_id AND kind = :kind AND status = 'COMPLETE'
        ORDER BY name""",
        agent_id=agent_id,
        kind=DATASET,
    )
    return [row["name"] for row in rows]


def list_datasets(database: Database, agent_id: str, *, limit: int, offset: int) -> tuple[list[Artifact], int]:
    """A page of an agent's complete datasets, newest first, and how many there are in all."""
    where = "artifacts.agent_id = :agent_id AND kind = :kind AND status = 'COMPLETE'"
    counted = database.row(f"SELECT count(*) AS total FROM artifacts WHERE {where}", agent_id=agent_id, kind=DATASET)
    rows = database.rows(
        f"{_SELECT} WHERE {where} ORDER BY completed_at DESC, position DESC LIMIT :limit OFFSET :offset",
        agent_id=agent_id,
        kind=DATASET,
        limit=limit,
        offset=offset,
    )
    return [_artifact(row) for row in rows], 0 if counted is None else int(counted["total"])


def list_artifacts(
    database: Database, agent_id: str, *, limit: int, offset: int, kind: str | None, status: str | None
) -> tuple[list[Artifact], int]:
    """A page of an agent's artifacts of every kind, complete or not, newest first, and how many there are in all."""
    where, filters = "artifacts.agent_id = :agent_id", {"agent_id": agent_id}
    for name, wanted in (("kind", kind), ("status", status)):
        if wanted is not None:
            where += f" AND artifacts.{name} = :{name}"
            filters[name] = wanted
    counted = database.row(f"SELECT count(*) AS total FROM artifacts WHERE {where}", **filters)
    rows = database.rows(
        f"{_SELECT} WHERE {where} ORDER BY artifacts.position DESC LIMIT :limit OFFSET :offset",
        **filters,
        limit=limit,
        offset=offset,
    )
    return [_artifact(row) for row in rows], 0 if counted is None else int(counted["total"])


def _has_content(database: Database, agent_id: str, sha256: str) -> bool:
    """Whether the agent itself has sent these bytes before: nobody gets at others' bytes by naming their digest."""
    row = database.row(
        """SELECT 1 FROM artifact_files JOIN artifacts ON artifacts.id = artifact_files.artifact_id
        WHERE artifact_files.sha256 = :sha256 AND artifact_files.received = 1 AND artifacts.agent_id = :agent_id""",
        sha256=sha256,
        agent_id=agent_id,
    )
    return row is not None


def _one(database: Database, where: str, agent_id: str, **parameters: Any) -> Artifact | None:
    row = database.row(
        f"""{_SELECT} WHERE artifacts.agent_id = :agent_id AND {where}
        ORDER BY completed_at DESC, position DESC LIMIT 1""",
        agent_id=agent_id,
        **parameters,
    )
    return None if row is None else _artifact(row)


def _artifact(row: sqlite3.Row) -> Artifact:
    columns = dict(row)
    del columns["position"]
    for name in _JSON:
        columns[name] = None if columns[name] is None else json.loads(columns[name])
    for name in ("promote", "is_production"):
        columns[name] = bool(columns[name])
    return Artifact(**columns)
