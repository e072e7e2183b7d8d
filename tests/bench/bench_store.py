"""What remembering costs: storing evaluations and appending to the log, beside the same bytes in bare SQLite."""

import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from beaker.core.cases import CaseScore
from beaker.core.convert import to_json
from beaker.core.evaluations import Evaluation
from beaker.core.search import Evaluated, entries_to_json
from beaker.core.strict_json import dumps
from beaker.service.journal import StoredJournal
from beaker.service.place import open_place

COUNT = 5_000
BLOCK = 8


def main() -> None:
    """Print one line per figure."""
    with tempfile.TemporaryDirectory() as folder:
        place = open_place(Path(folder) / "local")
        # The rows that a run refers to are not what is measured.
        place.database.execute("PRAGMA foreign_keys=OFF")
        journal = StoredJournal(place.database, "run_1", now=lambda: datetime.now(UTC))
        stored = [evaluation(number) for number in range(COUNT)]
        blocks = [stored[start : start + BLOCK] for start in range(0, COUNT, BLOCK)]

        def remember() -> None:
            for number, block in enumerate(blocks):
                for one in block:
                    journal.store_evaluation("t" * 64, one)
                event = Evaluated(number, tuple((one.case_id, one.objective) for one in block))
                journal.append(entries_to_json([event]), {"rollouts": {"issued": number}})

        ours = per_rollout(remember)
        ids = [one.case_id for one in stored]
        read = per_rollout(lambda: journal.evaluations("t" * 64, ids))
        place.database.close()
        bare = per_rollout(lambda: bare_inserts(Path(folder) / "bare.db", [dumps(to_json(one)) for one in stored]))
    print(f"store and log an evaluation: {ours:.3f} ms (floor, one bare SQLite insert of its bytes: {bare:.3f} ms)")
    print(f"read a stored evaluation:    {read:.3f} ms")


def evaluation(number: int) -> Evaluation:
    """A small evaluation."""
    return Evaluation(f"case-{number}", output={"total": number}, score=CaseScore(0.5, {"total": 0.5, "date": 1.0}))


def bare_inserts(path: Path, texts: list[str]) -> None:
    """The same bytes, one transaction each, with the same durability."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)")
    for text in texts:
        connection.execute("INSERT INTO t (x) VALUES (?)", (text,))
    connection.close()


def per_rollout(work: Callable[[], object]) -> float:
    """Milliseconds per evaluation."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000 / COUNT


if __name__ == "__main__":
    main()
