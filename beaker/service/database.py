"""The database of a service: plain SQL over DB-API, here on SQLite, shared by several processes through one file."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from beaker.core.problems import Problem, Refused
from beaker.service.migrations import MIGRATIONS

BUSY_SECONDS = 30.0
"""How long a statement waits for another process before it fails."""


class Database:
    """One connection, used from one thread. Parameters are named: `:name`.

    A statement outside `transaction` is a transaction of its own. Errors are `sqlite3.Error`; see `database_fault`.
    `read_only` says why nothing can be written, where that is so; whatever would write raises it as `Refused`.
    """

    def __init__(self, connection: sqlite3.Connection, *, read_only: Problem | None = None) -> None:
        self._connection = connection
        self.read_only = read_only

    def rows(self, sql: str, **parameters: Any) -> list[sqlite3.Row]:
        """Every row that a query gives; a row is read by column name."""
        return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, **parameters: Any) -> sqlite3.Row | None:
        """The first row that a query gives, `None` when there is none."""
        row: sqlite3.Row | None = self._connection.execute(sql, parameters).fetchone()
        return row

    def execute(self, sql: str, **parameters: Any) -> int:
        """Run a statement; how many rows it changed."""
        self._check_writable()
        return self._connection.execute(sql, parameters).rowcount

    def execute_many(self, sql: str, parameters: list[dict[str, Any]]) -> None:
        """Run a statement once for each set of parameters."""
        self._check_writable()
        self._connection.executemany(sql, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, alone among writers: what is read inside stays true until the end."""
        self._check_writable()
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

    def _check_writable(self) -> None:
        if self.read_only is not None:
            raise Refused(self.read_only)


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


def open_to_read(path: Path, why: Problem) -> Database:
    """Open the SQLite file `path` where nothing can be written; `why` is what every attempt to write is told.

    Raises `sqlite3.Error` when the file cannot be read either, `Refused` with `why` when its schema is out of date.
    """
    try:
        return _opened_to_read(path, "mode=ro", why)
    except sqlite3.OperationalError:
        # The index of the write-ahead log cannot be made here. Without a log nobody needs it.
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        return _opened_to_read(path, "mode=ro&immutable=1", why)


def _opened_to_read(path: Path, options: str, why: Problem) -> Database:
    connection = sqlite3.connect(
        f"file:{quote(os.fspath(path))}?{options}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        connection.row_factory = sqlite3.Row
        database = Database(connection, read_only=why)
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
    name = _name(error)
    if name.startswith("SQLITE_FULL"):
        return 507, Problem("BK472", "the disk that holds Beaker's state is full", hint="free some space, then repeat")
    if name.startswith(_UNWRITTEN):
        hint = "free some space on it, or choose another place with BEAKER_LOCAL_DIR; then repeat"
        return 507, Problem(
            "BK472", f"the disk that holds Beaker's state is full or cannot be written: {error}", hint=hint
        )
    if _is_busy(error):
        return 503, Problem("BK473", "Beaker's state is busy with another process", hint="try again")
    hint = "check the folder and its disk (space, permissions, errors); what it holds is left as it is"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        hint = "choose a folder that can be written with BEAKER_LOCAL_DIR"
    elif name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        hint = "check the folder and its disk; moving it away starts afresh"
    return 500, Problem("BK474", f"Beaker's state cannot be used: {error}", hint=hint)


def cannot_write(error: sqlite3.Error) -> bool:
    """Whether the disk is full, failing or read-only for us, so that the file may still be read."""
    return _name(error).startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN"))


# What fails when the log, its index or the file itself cannot grow; SQLite does not always call that a full disk.
_UNWRITTEN = tuple(
    f"SQLITE_IOERR_{what}" for what in ("WRITE", "SHM", "FSYNC", "DIR_FSYNC", "TRUNCATE", "DELETE", "GETTEMPPATH")
)


def _is_busy(error: sqlite3.Error) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""
