"""The rows of runs: what was pinned at launch, how far it is, how it ended."""

import json
import sqlite3
from typing import Any

from returns.pipeline import is_successful

from beaker.core.runs import RunEvent, RunStatus, next_status
from beaker.core.strict_json import JsonObject, dumps
from beaker.core.values import value
from beaker.service.database import Database

_PINNED = (
    "id", "agent_id", "status", "created_at", "repository", "checkout", "ref", "commit_id", "source", "integration_id",
    "entry", "dataset_id", "dataset", "targets", "config", "settings", "trigger_metadata", "warnings",
)  # fmt: skip
_JSON = (
    "entry", "dataset", "targets", "config", "settings", "trigger_metadata", "warnings", "progress", "result",
)  # fmt: skip


@value(kw_only=True)
class RunRecord:
    """One run.

    Pinned at launch: `repository` (`owner/name`), `checkout` (the user's working copy of it on this machine, `None`
    when there is none), `ref` as asked, `commit_id`, `source` (digest of the commit's
    content in the blobs), `integration_id` and its `entry` of the configuration at that commit, `dataset_id` and
    `dataset` (`{name, revision, split_row_counts}`), the `targets` declaration or `None`, the launch `config` as sent,
    the `settings` it comes to, and `warnings` (problems in JSON).

    `attempts` counts the workers that started the run. What the engine found out is in `result_table.stored_facts`.
    """

    id: str
    agent_id: str
    status: RunStatus
    created_at: str
    repository: str
    checkout: str | None
    ref: str
    commit_id: str
    source: str
    integration_id: str
    entry: JsonObject
    dataset_id: str
    dataset: JsonObject
    targets: Any
    config: JsonObject
    settings: JsonObject
    trigger_metadata: JsonObject
    warnings: list[Any]
    started_at: str | None = None
    completed_at: str | None = None
    finish_reason: str | None = None
    error_message: str | None = None
    cancelled: bool = False
    progress: JsonObject | None = None
    result: JsonObject | None = None
    attempts: int = 0


def insert_run(database: Database, run: RunRecord) -> None:
    """Store a new run, as it was pinned."""
    reason = run.trigger_metadata.get("trigger_reason")
    fields = {name: getattr(run, name) for name in _PINNED}
    fields |= {name: None if fields[name] is None else dumps(fields[name]) for name in _PINNED if name in _JSON}
    fields["trigger_reason"] = reason if isinstance(reason, str) else None
    names = ", ".join(fields)
    database.execute(f"INSERT INTO runs ({names}) VALUES ({', '.join(f':{name}' for name in fields)})", **fields)


def find_run(database: Database, run_id: str, *, agent_id: str | None = None) -> RunRecord | None:
    """The run with this id, only among those of an agent when one is given."""
    row = database.row("SELECT * FROM runs WHERE id = :id", id=run_id)
    if row is None or (agent_id is not None and row["agent_id"] != agent_id):
        return None
    return _record(row)


def list_runs(
    database: Database, agent_id: str, *, limit: int, offset: int, status: str | None, trigger_reason: str | None
) -> tuple[list[RunRecord], int]:
    """A page of an agent's runs, newest first, and how many there are in all."""
    where = "agent_id = :agent_id"
    filters: dict[str, Any] = {"agent_id": agent_id}
    if status is not None:
        where += " AND status = :status"
        filters["status"] = status.upper()
    if trigger_reason is not None:
        where += " AND trigger_reason = :trigger_reason"
        filters["trigger_reason"] = trigger_reason
    counted = database.row(f"SELECT count(*) AS total FROM runs WHERE {where}", **filters)
    rows = database.rows(
        f"SELECT * FROM runs WHERE {where} ORDER BY position DESC LIMIT :limit OFFSET :offset",
        **filters,
        limit=limit,
        offset=offset,
    )
    return [_record(row) for row in rows], 0 if counted is None else int(counted["total"])


def open_runs(database: Database) -> list[RunRecord]:
    """Every run that has not ended, oldest first."""
    rows = database.rows("SELECT * FROM runs WHERE status IN ('QUEUED', 'RUNNING') ORDER BY position")
    return [_record(row) for row in rows]


def launched_commits(database: Database, agent_id: str, integration_id: str) -> list[str]:
    """The commits from which an agent's runs took an integration, the latest launched first."""
    rows = database.rows(
        """SELECT commit_id FROM runs WHERE agent_id = :agent_id AND integration_id = :integration_id
        GROUP BY commit_id ORDER BY max(position) DESC""",
        agent_id=agent_id,
        integration_id=integration_id,
    )
    return [row["commit_id"] for row in rows]


def start_attempt(database: Database, run_id: str, *, now: str) -> RunRecord | None:
    """Note that a worker starts: the run is RUNNING and has one attempt more. `None` when the run has ended.

    The caller holds the run's lock.
    """
    with database.transaction():
        run = find_run(database, run_id)
        if run is None or not is_successful(next_status(run.status, "started")):
            return None
        database.execute(
            """UPDATE runs SET status = 'RUNNING', started_at = coalesce(started_at, :now),
                attempts = attempts + 1
            WHERE id = :id""",
            id=run_id,
            now=now,
        )
        return find_run(database, run_id)


def end_run(
    database: Database,
    run_id: str,
    event: RunEvent,
    *,
    now: str,
    finish_reason: str | None,
    error_message: str | None = None,
    result: JsonObject | None = None,
) -> RunRecord | None:
    """End a run. `None`, and nothing changed, when it has ended already or does not exist.

    `ValueError` for an end that its status does not allow, such as completing a run that never started.
    """
    with database.transaction():
        run = find_run(database, run_id)
        if run is None or run.completed_at is not None:
            return None
        following = next_status(run.status, event)
        if not is_successful(following):
            raise ValueError(following.failure().message)
        database.execute(
            """UPDATE runs SET status = :status, completed_at = :now, finish_reason = :finish_reason,
                error_message = :error_message, result = :result, cancelled = cancelled OR :cancelled
            WHERE id = :id""",
            id=run_id,
            status=following.unwrap(),
            now=now,
            finish_reason=finish_reason,
            error_message=error_message,
            result=None if result is None else dumps(result),
            cancelled=event == "cancelled",
        )
        return find_run(database, run_id)


def launched_before(database: Database, agent_id: str, idempotency_key: str) -> tuple[str, str] | None:
    """The digest of the body and the run id of the launch that an agent made with this key."""
    row = database.row(
        "SELECT body_digest, run_id FROM launches WHERE agent_id = :agent_id AND idempotency_key = :key",
        agent_id=agent_id,
        key=idempotency_key,
    )
    return None if row is None else (row["body_digest"], row["run_id"])


def keep_launch(database: Database, agent_id: str, idempotency_key: str, *, body_digest: str, run_id: str) -> None:
    """Remember which run a key stands for; an `sqlite3.IntegrityError` when it stands for one already."""
    database.execute(
        "INSERT INTO launches VALUES (:agent_id, :key, :body_digest, :run_id)",
        agent_id=agent_id,
        key=idempotency_key,
        body_digest=body_digest,
        run_id=run_id,
    )


def _record(row: sqlite3.Row) -> RunRecord:
    columns = dict(row)
    for unused in ("position", "trigger_reason"):
        del columns[unused]
    for name in _JSON:
        columns[name] = None if columns[name] is None else json.loads(columns[name])
    columns["cancelled"] = bool(columns["cancelled"])
    return RunRecord(**columns)
