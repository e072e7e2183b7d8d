"""The database of a service: plain SQL over DB-API, here on SQLite, shared by several processes through one file."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beaker.core.problems import Problem, Refused
from beaker.service.migrations import MIGRATIONS

BUSY_SECONDS = 30.0
"""How long a statement waits for another process before it fails."""


class Database:
    """One connection, used from one thread. Parameters are named: `:name`.

    A statement outside `transaction` is a transaction of its own. Errors are `sqlite3.Error`; see `database_fault`.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, **parameters: Any) -> list[sqlite3.Row]:
        """Every row that a query gives; a row is read by column name."""
        return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, **parameters: Any) -> sqlite3.Row | None:
        """The first row that a query gives, `None` when there is none."""
        row: sqlite3.Row | None = self._connection.execute(sql, parameters).fetchone()
        return row

    def execute(self, sql: str, **parameters: Any) -> int:
        """Run a statement; how many rows it changed."""
        return self._connection.execute(sql, parameters).rowcount

    def execute_many(self, sql: str, parameters: list[dict[str, Any]]) -> None:
        """Run a statement once for each set of parameters."""
        self._connection.executemany(sql, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, alone among writers: what is read inside stays true until the end."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            # A full disk may have ended the transaction already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def open_database(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Database:
    """Open the SQLite file `path`, creating it and bringing its schema up to date.

    Raises `sqlite3.Error` when the file cannot be used, `Refused` (BK471) when a newer Beaker wrote it.
    """
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        # In WAL a kill loses nothing with NORMAL; a rollback journal needs FULL to survive a power cut whole.
        synchronous = "NORMAL" if write_ahead(connection, busy_seconds=busy_seconds) else "FULL"
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        database = Database(connection)
        migrate(database, str(path))
    except BaseException:
        connection.close()
        raise
    return database


def write_ahead(connection: sqlite3.Connection, *, busy_seconds: float = BUSY_SECONDS) -> bool:
    """Turn write-ahead logging on; false where the file system refuses it and a rollback journal stays."""
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                return True
            return bool(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            # Changing the mode does not wait for the other processes that open the file in the same moment.
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def migrate(database: Database, label: str) -> None:
    """Bring the schema to the newest version, one transaction for each step; several processes may try at once."""
    if schema_version(database) == len(MIGRATIONS):
        return
    with database.transaction():
        for version in range(schema_version(database), len(MIGRATIONS)):
            for statement in MIGRATIONS[version]:
                database.execute(statement)
            database.execute("UPDATE schema_version SET version = :version", version=version + 1)
    if (found := schema_version(database)) > len(MIGRATIONS):
        hint = "run the Beaker that wrote it, or move the folder away to start afresh"
        raise Refused(
            Problem("BK471", f"a newer Beaker wrote this store (schema {found}, not {len(MIGRATIONS)})", label, hint)
        )


def schema_version(database: Database) -> int:
    """The version of the schema, 0 for an empty database."""
    exists = database.row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'")
    if exists is None:
        return 0
    row = database.row("SELECT version FROM schema_version")
    return int(row["version"]) if row is not None else 0


def database_fault(error: sqlite3.Error) -> tuple[int, Problem]:
    """What a failing database means: an HTTP status and a `Problem` (BK472 full, BK473 busy, BK474 anything else)."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return 507, Problem("BK472", "the disk that holds Beaker's state is full", hint="free some space, then repeat")
    if _is_busy(error):
        return 503, Problem("BK473", "Beaker's state is busy with another process", hint="try again")
    hint = "check the folder and its disk; moving it away starts afresh"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        hint = "choose a folder that can be written with BEAKER_LOCAL_DIR"
    return 500, Problem("BK474", f"Beaker's state cannot be used: {error}", hint=hint)


def _is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", "") or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
