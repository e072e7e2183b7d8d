"""The memory of one run in the store: what `beaker.engine.journal` asks for, on the database."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from beaker.core.convert import to_json
from beaker.core.evaluations import Evaluation
from beaker.core.runs import RunEvent
from beaker.core.strict_json import JsonObject, dumps
from beaker.engine.candidates import CandidateTree
from beaker.service.database import Database
from beaker.service.ports import timestamp
from beaker.service.result_table import stored_evaluations, stored_facts, stored_log
from beaker.service.run_table import end_run
from beaker.service.trees import keep_tree, load_tree

_EVENTS: dict[str, RunEvent] = {
    "COMPLETED": "completed",
    "HELDOUT_FAILED": "heldout_failed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
}


def _keep_nothing(_: bytes) -> object:
    raise AssertionError("there is no place for files")


class StoredJournal:
    """The journal of the run `run_id`. Its worker is the only writer; `now` answers in UTC, `is_tracked` tells whether
    the run's commit has a path, `keep` stores a file under its SHA-256.

    Beside what `Journal` says: errors of the database are `sqlite3.Error`; a stored evaluation that cannot be read is
    `Refused`.
    """

    def __init__(
        self,
        database: Database,
        run_id: str,
        *,
        now: Callable[[], datetime],
        is_tracked: Callable[[str], bool] = lambda _: False,
        keep: Callable[[bytes], object] = _keep_nothing,
    ) -> None:
        self._keep = keep
        self._database = database
        self._run_id = run_id
        self._now = now
        self._is_tracked = is_tracked
        last = database.row("SELECT max(position) AS position FROM log WHERE run_id = :run_id", run_id=run_id)
        self._next_position = 0 if last is None or last["position"] is None else int(last["position"]) + 1

    def log(self) -> list[JsonObject]:
        """See `Journal.log`."""
        return stored_log(self._database, self._run_id)

    def append(self, entries: Sequence[JsonObject], progress: JsonObject) -> None:
        """See `Journal.append`."""
        at = timestamp(self._now())
        position = self._next_position
        with self._database.transaction():
            self._database.execute_many(
                "INSERT INTO log VALUES (:run_id, :position, :entry, :at)",
                [
                    {"run_id": self._run_id, "position": position + number, "entry": dumps(entry), "at": at}
                    for number, entry in enumerate(entries)
                ],
            )
            self._database.execute(
                "UPDATE runs SET progress = :progress WHERE id = :id", id=self._run_id, progress=dumps(progress)
            )
        self._next_position = position + len(entries)

    def evaluations(self, tree: str, case_ids: Sequence[str]) -> dict[str, Evaluation]:
        """See `Journal.evaluations`."""
        return stored_evaluations(self._database, self._run_id, tree, case_ids)

    def store_evaluation(self, tree: str, evaluation: Evaluation) -> None:
        """See `Journal.store_evaluation`."""
        self._database.execute(
            """INSERT INTO evaluations VALUES (:run_id, :tree, :case_id, :failed, :evaluation, :at)
            ON CONFLICT (run_id, tree, case_id) DO NOTHING""",
            run_id=self._run_id,
            tree=tree,
            case_id=evaluation.case_id,
            failed=evaluation.error is not None,
            evaluation=dumps(to_json(evaluation)),
            at=timestamp(self._now()),
        )

    def proposal(self, seq: int) -> JsonObject | None:
        """See `Journal.proposal`."""
        row = self._database.row(
            "SELECT result FROM proposals WHERE run_id = :run_id AND seq = :seq", run_id=self._run_id, seq=seq
        )
        return None if row is None else _object(row["result"])

    def store_proposal(self, seq: int, result: JsonObject, files: Iterable[bytes] = ()) -> None:
        """See `Journal.store_proposal`."""
        for data in files:
            self._keep(data)
        self._database.execute(
            """INSERT INTO proposals VALUES (:run_id, :seq, :result, :at)
            ON CONFLICT (run_id, seq) DO NOTHING""",
            run_id=self._run_id,
            seq=seq,
            result=dumps(result),
            at=timestamp(self._now()),
        )

    def tree(self, digest: str) -> CandidateTree:
        """See `Journal.tree`."""
        return load_tree(self._database, self._run_id, digest)

    def store_tree(self, digest: str, tree: CandidateTree) -> None:
        """See `Journal.store_tree`."""
        now = timestamp(self._now())
        keep_tree(self._database, self._run_id, digest, tree, is_tracked=self._is_tracked, now=now)

    def facts(self) -> JsonObject:
        """See `Journal.facts`."""
        return stored_facts(self._database, self._run_id)

    def set_facts(self, **facts: Any) -> None:
        """See `Journal.set_facts`."""
        with self._database.transaction():
            self._database.execute_many(
                """INSERT INTO facts VALUES (:run_id, :name, :fact)
                ON CONFLICT (run_id, name) DO UPDATE SET fact = excluded.fact""",
                [{"run_id": self._run_id, "name": name, "fact": dumps(fact)} for name, fact in facts.items()],
            )

    def cancelled(self) -> bool:
        """See `Journal.cancelled`. A run that is gone from the store counts as cancelled: nobody waits for it."""
        row = self._database.row("SELECT cancelled FROM runs WHERE id = :id", id=self._run_id)
        return row is None or bool(row["cancelled"])

    def finish(
        self, status: str, *, finish_reason: str | None, error_message: str | None, result: JsonObject | None
    ) -> None:
        """See `Journal.finish`. A run that was cancelled meanwhile stays cancelled."""
        end_run(
            self._database,
            self._run_id,
            _EVENTS[status],
            now=timestamp(self._now()),
            finish_reason=finish_reason,
            error_message=error_message,
            result=result,
        )


def _object(text: str) -> JsonObject:
    made: JsonObject = json.loads(text)
    return made
