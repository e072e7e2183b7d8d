"""The folder of an embedded place: where its store, its blobs and its runs lie."""

import errno
import os
import sqlite3
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from beaker.core.problems import Problem, Refused
from beaker.core.project_layout import BEAKER_LOCAL_DIR
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.project import find_git_root
from beaker.service.blobs import Blobs
from beaker.service.database import Database, cannot_write, database_fault, open_database, open_to_read
from beaker.service.locks import is_held

DATABASE = "beaker.db"

LOCAL_DIR_VARIABLE = "BEAKER_LOCAL_DIR"
"""Names the folder of a project's state, if it is not to be `.beaker/local`."""


@value
class Place:
    """An open place. The database is this process's own connection, `opened` the identity of its file."""

    state_dir: Path
    database: Database
    blobs: Blobs
    opened: tuple[int, int]

    def gone(self) -> bool:
        """Whether the place was deleted, moved or replaced since it was opened: its runs are forgotten."""
        # While the database is open its inode is not given to another file.
        return _identity(self.state_dir) != self.opened

    def served(self) -> bool:
        """Whether a `beaker serve` looks after the runs of this place."""
        return is_held(self.server_lock)

    @property
    def server_lock(self) -> Path:
        """The file whose lock says whether a server has this place."""
        return self.state_dir / "server" / "lock"

    def run_dir(self, run_id: str) -> Path:
        """The folder of one run: its lock, its log, its worker's files."""
        return self.state_dir / "runs" / run_id

    def lock_path(self, run_id: str) -> Path:
        """The file whose lock says whether the run has a worker (`service.locks`)."""
        return self.run_dir(run_id) / "lock"

    def record_path(self, run_id: str) -> Path:
        """Where the run's worker records the process groups it started (`runtime.supervisor`)."""
        return self.run_dir(run_id) / "processes.jsonl"

    def work_note(self, run_id: str) -> Path:
        """The file that names the folder its worker works in (`service.work_folder`)."""
        return self.run_dir(run_id) / "work_folder"

    def log_path(self, run_id: str) -> Path:
        """What the run's workers print."""
        return self.run_dir(run_id) / "worker.log"


def open_project_place(root: Path, state_dir: Path | None, environ: Mapping[str, str]) -> Place:
    """Open the place of the project at `root`, and remove what killed uploads left in it.

    Its state lies in `state_dir`, else where `BEAKER_LOCAL_DIR` of `environ` says, else in `.beaker/local`. Raises
    `Refused`: BK742 on Windows, BK739 for a link that leads out of the repository, BK472 to BK474 when the store cannot
    be used, and what `open_place` raises.
    """
    if sys.platform == "win32":
        raise Refused(Problem("BK742", "local runs do not work on Windows", hint="run Beaker inside WSL"))
    folder = state_dir or state_folder(root, environ)
    if state_dir is None and not environ.get(LOCAL_DIR_VARIABLE, "").strip():
        _refuse_link(folder, root)
    try:
        place = open_place(folder.absolute())
    except sqlite3.Error as error:
        _, problem = database_fault(error)
        raise Refused(Problem(problem.code, problem.message, str(folder), problem.hint)) from error
    try:
        place.blobs.sweep()
    except OSError:
        pass  # what cannot be removed now, a later command removes
    return place


def _refuse_link(folder: Path, root: Path) -> None:
    """Refuse a state folder that a link of the repository puts elsewhere on this machine."""
    home = find_git_root(root) or root
    if home.resolve() not in folder.resolve().parents:
        hint = f"remove the link; to keep the state elsewhere, name the folder with {LOCAL_DIR_VARIABLE}"
        raise Refused(Problem("BK739", f"is a link that leads out of {home}", str(folder), hint))


def state_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Where the project at `root` keeps its state: where `BEAKER_LOCAL_DIR` says, else in `.beaker/local`."""
    moved = environ.get(LOCAL_DIR_VARIABLE, "").strip()
    return root / (moved or BEAKER_LOCAL_DIR)


def open_place(state_dir: Path) -> Place:
    """Open the place in `state_dir`, made when it is missing. It ignores itself in Git.

    Where nothing can be written (a read-only mount, a full disk) a place that is there is opened to be read
    (`Database.read_only`). Raises `Refused` (BK740) when the folder cannot be made, or neither written nor read, and
    what `open_database` raises.
    """
    file = state_dir / DATABASE
    try:
        for folder in ("blobs", "runs"):
            (state_dir / folder).mkdir(parents=True, exist_ok=True)
        ignore = state_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="ascii")
        if not os.access(state_dir, os.W_OK):
            reason = errno.EROFS if os.statvfs(state_dir).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(reason, os.strerror(reason), str(state_dir))
    except OSError as error:
        problem = os_problem(error, "keep the state of local runs", error.filename or state_dir)
        hint = "choose another folder with BEAKER_LOCAL_DIR, for example one below your home folder"
        refusal = Problem("BK740", problem.message, problem.where, hint)
        if not file.is_file():
            raise Refused(refusal) from error
        try:
            database = open_to_read(file, refusal)
        except sqlite3.Error:
            raise Refused(refusal) from error
    else:
        database = _open(file)
    return Place(state_dir, database, Blobs(state_dir / "blobs"), _identity(state_dir) or (0, 0))


def _open(file: Path) -> Database:
    try:
        return open_database(file)
    except sqlite3.Error as error:
        if not cannot_write(error) or not file.is_file():
            raise
        why = database_fault(error)[1]
        try:
            return open_to_read(file, Problem(why.code, why.message, str(file.parent), why.hint))
        except sqlite3.Error:
            raise error from None


def deleted(state_dir: Path) -> Problem:
    """What is said of a place that is gone (BK743)."""
    hint = "the next command starts afresh; workers of its runs notice and end by themselves"
    return Problem("BK743", "the run state was deleted, and with it everything about its runs", str(state_dir), hint)


def _identity(state_dir: Path) -> tuple[int, int] | None:
    """What tells the place's database from any other file; `None` when it is not there."""
    try:
        found = os.stat(state_dir / DATABASE)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)
