"""The rows in which a run's results lie: its log, its evaluations, and facts about it."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.core.strict_json import JsonObject
from beaker.service.database import Database

if TYPE_CHECKING:
    from beaker.core.evaluations import Evaluation

_AT_ONCE = 500
"""Case ids in one query; SQLite takes a limited number of parameters."""


def stored_log(database: Database, run_id: str) -> list[JsonObject]:
    """The search's log of a run, in order."""
    rows = database.rows("SELECT entry FROM log WHERE run_id = :run_id ORDER BY position", run_id=run_id)
    return [json.loads(row["entry"]) for row in rows]


def stored_facts(database: Database, run_id: str, *names: str) -> JsonObject:
    """What is known about a run besides its log (`engine.journal`), by name: the given ones, else all of them."""
    where = "run_id = :run_id"
    asked = {f"name{number}": name for number, name in enumerate(names)}
    if asked:
        where += f" AND name IN ({', '.join(f':{key}' for key in asked)})"
    rows = database.rows(f"SELECT name, fact FROM facts WHERE {where}", run_id=run_id, **asked)
    return {row["name"]: json.loads(row["fact"]) for row in rows}


def stored_evaluations(
    database: Database, run_id: str, tree: str, case_ids: Sequence[str], *, traces: bool = True
) -> "dict[str, Evaluation]":
    """The stored evaluations of a tree by case id, of those in `case_ids` that exist, in their order.

    Without `traces`, which may be large, only usage is left of each trace.
    """
    # Counting, which every look at a run does, needs none of this.
    from beaker.core.convert import from_json
    from beaker.core.evaluations import Evaluation
    from beaker.core.traces import LIMITS

    lists = ", ".join(f"'$.trace.{name}'" for name in LIMITS)
    wanted = "evaluation" if traces else f"json_remove(evaluation, {lists})"
    found: dict[str, Evaluation] = {}
    for row in _evaluation_rows(database, run_id, tree, case_ids, wanted):
        read = from_json(json.loads(row["evaluation"]), Evaluation, code="BK477", label="stored evaluation")
        if not is_successful(read):
            raise Refused(read.failure())
        found[row["case_id"]] = read.unwrap()
    return {case_id: found[case_id] for case_id in case_ids if case_id in found}


def proposal_records(database: Database, run_id: str) -> dict[int, JsonObject]:
    """What is stored of each proposal (`engine.proposal.proposal_record`), by its number; early builds kept less."""
    rows = database.rows("SELECT seq, result FROM proposals WHERE run_id = :run_id", run_id=run_id)
    records = {row["seq"]: json.loads(row["result"]) for row in rows}
    numbers: dict[int, int] = {}
    if any("proposal" not in record for record in records.values()):
        # Records of early builds do not say which proposal they are; the command of that number does.
        commands = (entry for entry in stored_log(database, run_id) if entry.get("type") == "propose")
        numbers = {int(str(entry["seq"])): int(str(entry["proposal"])) for entry in commands}
    return {record.get("proposal", numbers.get(seq, 0)): record for seq, record in records.items()}


def evaluation_counts(database: Database, run_id: str) -> tuple[int, int]:
    """How many evaluations of a run are stored, and how many of them failed."""
    row = database.row(
        "SELECT count(*) AS done, coalesce(sum(failed), 0) AS failed FROM evaluations WHERE run_id = :run_id",
        run_id=run_id,
    )
    return (0, 0) if row is None else (int(row["done"]), int(row["failed"]))


def _evaluation_rows(
    database: Database, run_id: str, tree: str, case_ids: Sequence[str], evaluation: str
) -> Iterator[sqlite3.Row]:
    for start in range(0, len(case_ids), _AT_ONCE):
        asked = {f"case{number}": case_id for number, case_id in enumerate(case_ids[start : start + _AT_ONCE])}
        yield from database.rows(
            f"""SELECT case_id, {evaluation} AS evaluation FROM evaluations
            WHERE run_id = :run_id AND tree = :tree AND case_id IN ({", ".join(f":{name}" for name in asked)})""",
            run_id=run_id,
            tree=tree,
            **asked,
        )
