"""The store: opened by several processes at once, wherever SQLite can keep a file."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from beaker.core.problems import Problem, Refused
from beaker.service.database import database_fault, migrate, open_database, open_to_read, schema_version, write_ahead
from beaker.service.migrations import MIGRATIONS

WRITER = """
import sys
from pathlib import Path
from beaker.service.database import open_database
database = open_database(Path(sys.argv[1]))
for number in range(50):
    with database.transaction():
        found = database.row("SELECT count(*) AS n FROM documents")["n"]
        database.execute("INSERT INTO documents VALUES (:key, :text)", key=f"{sys.argv[2]}-{number}", text=str(found))
database.close()
"""


def test_open_database__several_processes_at_once__all_write(tmp_path: Path) -> None:
    """Four processes create the same file in the same moment; no write is lost, no transaction sees another's half."""
    path = tmp_path / "beaker.db"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)]) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    database = open_database(path)
    seen = {row["content"] for row in database.rows("SELECT content FROM documents")}
    assert seen == {str(number) for number in range(200)}
    database.close()


def test_open_database__ordinary_disk__writes_ahead(tmp_path: Path) -> None:
    """WAL with NORMAL where the file system takes it."""
    database = open_database(tmp_path / "beaker.db")
    assert [row[0] for row in database.rows("PRAGMA journal_mode")] == ["wal"]
    assert [row[0] for row in database.rows("PRAGMA synchronous")] == [1]
    database.close()


def test_write_ahead__refused_by_the_file_system__falls_back(tmp_path: Path) -> None:
    """Without shared memory (here: locks by files) WAL is refused; the store works with a rollback journal."""
    connection = sqlite3.connect(f"file:{tmp_path / 'beaker.db'}?vfs=unix-dotfile", uri=True)
    assert not write_ahead(connection)
    connection.execute("CREATE TABLE t (x)")
    connection.close()


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_write_ahead__file_in_use__waits(tmp_path: Path) -> None:
    """Another process that just makes the file does not fail us: changing the mode waits for it, but not for ever."""
    path = tmp_path / "beaker.db"
    command = [sys.executable, "-c", HOLDER, str(path)]
    connection = sqlite3.connect(path, timeout=0)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(sqlite3.OperationalError):
            write_ahead(connection, busy_seconds=0.05)
        threading.Timer(0.2, process.stdin.close).start()
        assert write_ahead(connection, busy_seconds=30)
    connection.close()


def test_migrate__newer_schema__is_refused(tmp_path: Path) -> None:
    """A store that a later Beaker wrote is left alone, with words."""
    database = open_database(tmp_path / "beaker.db")
    assert schema_version(database) == len(MIGRATIONS)
    database.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(Refused) as refused:
        migrate(database, "beaker.db")
    assert refused.value.problems[0].code == "BK471"
    database.close()


def test_transaction__that_raises__leaves_nothing(tmp_path: Path) -> None:
    """All or nothing."""
    database = open_database(tmp_path / "beaker.db")

    def interrupted() -> None:
        with database.transaction():
            database.execute("INSERT INTO documents VALUES ('a', 'b')")
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert database.rows("SELECT * FROM documents") == []
    database.close()


def test_database_fault__each_kind__has_its_status(tmp_path: Path) -> None:
    """Full, busy, read-only and broken are told apart."""
    path = tmp_path / "beaker.db"
    database = open_database(path)
    other = open_database(path, busy_seconds=0)
    with pytest.raises(sqlite3.OperationalError) as busy, database.transaction():
        other.execute("INSERT INTO documents VALUES ('a', 'b')")
    assert database_fault(busy.value)[0] == 503
    other.execute("PRAGMA query_only=ON")
    with pytest.raises(sqlite3.OperationalError) as read_only:
        other.execute("INSERT INTO documents VALUES ('a', 'b')")
    assert "BEAKER_LOCAL_DIR" in database_fault(read_only.value)[1].hint
    pages = database.row("PRAGMA page_count")
    assert pages is not None
    database.rows(f"PRAGMA max_page_count={pages[0]}")
    with pytest.raises(sqlite3.OperationalError) as full:
        database.execute("INSERT INTO documents VALUES ('a', :text)", text="x" * 1_000_000)
    assert database_fault(full.value)[0] == 507
    database.close()
    other.close()


@pytest.mark.parametrize(
    ("name", "status", "code", "afresh"),
    [
        ("SQLITE_FULL", 507, "BK472", False),
        ("SQLITE_IOERR_WRITE", 507, "BK472", False),
        ("SQLITE_IOERR_SHMSIZE", 507, "BK472", False),
        ("SQLITE_IOERR_FSYNC", 507, "BK472", False),
        ("SQLITE_IOERR", 500, "BK474", False),
        ("SQLITE_IOERR_READ", 500, "BK474", False),
        ("SQLITE_READONLY_DIRECTORY", 500, "BK474", False),
        ("SQLITE_CANTOPEN", 500, "BK474", False),
        ("SQLITE_ERROR", 500, "BK474", False),
        ("SQLITE_CORRUPT", 500, "BK474", True),
        ("SQLITE_NOTADB", 500, "BK474", True),
    ],
)
def test_database_fault__disk_that_fails__is_no_reason_to_start_afresh(
    name: str, status: int, code: str, afresh: bool
) -> None:
    """Only a file that is damaged is worth moving away; what is on a full or failing disk may be whole."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = name
    found, problem = database_fault(error)
    assert (found, problem.code, "afresh" in problem.hint) == (status, code, afresh)


def test_open_to_read__every_write__is_told_why(tmp_path: Path) -> None:
    """Reading works beside a writer and after it; writing and an old schema are refused with the reason given."""
    path, why = tmp_path / "odd ?#% name.db", Problem("BK740", "read-only")
    writer = open_database(path)
    writer.execute("INSERT INTO documents VALUES ('a', 'b')")
    beside = open_to_read(path, why)
    assert [row["content"] for row in beside.rows("SELECT content FROM documents")] == ["b"]
    beside.close()
    writer.close()
    database = open_to_read(path, why)
    assert [row["content"] for row in database.rows("SELECT content FROM documents")] == ["b"]
    for write in (
        lambda: database.execute("DELETE FROM documents"),
        lambda: database.execute_many("DELETE FROM documents WHERE sha256 = :key", [{"key": "a"}]),
        lambda: database.transaction().__enter__(),
    ):
        with pytest.raises(Refused) as refused:
            write()
        assert refused.value.problems == (why,)
    database.close()
    old = sqlite3.connect(tmp_path / "old.db")
    old.close()
    with pytest.raises(sqlite3.OperationalError):
        open_to_read(tmp_path / "none.db", why)
    (tmp_path / "old.db").touch()
    with pytest.raises(Refused):
        open_to_read(tmp_path / "old.db", why)


def test_open_database__no_database__is_an_error(tmp_path: Path) -> None:
    """A file of something else is not touched."""
    path = tmp_path / "beaker.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(sqlite3.DatabaseError) as error:
        open_database(path)
    assert database_fault(error.value)[1].code == "BK474"
    assert path.read_bytes() == b"not a database" * 100
