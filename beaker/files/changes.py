"""A change set applied to a folder `<directory>/<group>/<name>`: compare-and-swap, all or nothing, also when killed."""

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.changesets import ChangePlan, PlannedChange, plan
from beaker.core.documents import DocumentChangeSet, TargetDocument
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.values import value
from beaker.files import change_journal
from beaker.files.applied import forget, remembered, way_back
from beaker.files.atomic import os_problem
from beaker.files.documents import read_store

if sys.platform != "win32":
    import fcntl


Foreseen: TypeAlias = Mapping[tuple[str, str], bytes | None]
"""Documents of an interrupted apply by (group, name), as they will be once it was ended; `None` for none."""


@value
class Recovery:
    """How an earlier apply that had been interrupted was ended, or would be by a command that writes. `kept` names
    documents that were changed in between by something else, and therefore left as they are.
    """

    outcome: Literal["completed", "undone"]
    kept: tuple[str, ...] = ()


@value
class Applied:
    """What became of a change set: its steps, whether they were only looked at, and what had to be ended first."""

    steps: tuple[PlannedChange, ...]
    dry_run: bool
    recovery: Recovery | None = None


def apply_to_directory(
    directory: Path, change_set: DocumentChangeSet, *, dry_run: bool = False, remember: bool = False
) -> Result[Applied, Problems]:
    """Apply a change set to the documents in `directory`, or, with `dry_run`, only say what it would do.

    Every document must still be what the change was made from, or already have the change's result; otherwise every
    conflict is reported and nothing is changed. New files are laid out beside the documents and renamed into place; the
    modes of changed files are kept, folders left empty by a deletion are removed. An error or an interrupt on the way
    takes everything back. After a kill, the next call first completes or undoes what was begun; a dry run writes
    nothing, and tells what would come of both.

    With `remember`, what `revert_in_directory` needs is written down in the folder first (`files.applied`).
    """
    try:
        with _locked(directory):
            recovery, foreseen = _foresee(directory) if dry_run else (_recover(directory), {})
            documents, judged = _judged(directory, change_set, foreseen)
            if judged.applying and not dry_run:
                undone = directory / change_journal.STAGING
                with remembered(directory, change_set, documents, undone=undone) if remember else nullcontext():
                    _apply(directory, judged)
            return Success(Applied(judged.steps, dry_run, recovery))
    except Refused as refused:
        return Failure(refused.problems)
    except OSError as error:
        return Failure((_refusal(error, "apply the changes"),))


def revert_in_directory(
    directory: Path, change_set: DocumentChangeSet, *, dry_run: bool = False
) -> Result[Applied, Problems]:
    """Take back a change set that was applied to `directory` with `remember`: the documents get their old contents.

    The rules are those of `apply_to_directory`: a document that somebody changed since is a conflict, and then nothing
    is changed. BK624 when the set was not applied here. Taken back, a set can be applied again.
    """
    try:
        with _locked(directory):
            recovery, foreseen = _foresee(directory) if dry_run else (_recover(directory), {})
            back = way_back(directory, change_set)
            if not is_successful(back):
                return Failure(back.failure())
            _, judged = _judged(directory, back.unwrap(), foreseen)
            if not dry_run:
                if judged.applying:
                    _apply(directory, judged)
                forget(directory, change_set)
            return Success(Applied(judged.steps, dry_run, recovery))
    except Refused as refused:
        return Failure(refused.problems)
    except OSError as error:
        return Failure((_refusal(error, "take the changes back"),))


def look_at_directory(
    directory: Path, change_set: DocumentChangeSet
) -> Result[tuple[tuple[TargetDocument, ...], Recovery | None], Problems]:
    """`read_documents` as it will be once an interrupted apply has been ended, and how that will be; nothing is
    written."""
    try:
        with _locked(directory):
            recovery, foreseen = _foresee(directory)
            read = read_documents(directory, change_set, foreseen=foreseen)
            return read.map(lambda documents: (documents, recovery))
    except Refused as refused:
        return Failure(refused.problems)
    except OSError as error:
        return Failure((_refusal(error, "look at the interrupted apply"),))


def recover(directory: Path) -> Result[Recovery | None, Problems]:
    """Complete or undo an apply that was interrupted in `directory`; `None` when there was none."""
    try:
        with _locked(directory):
            return Success(_recover(directory))
    except Refused as refused:
        return Failure(refused.problems)
    except OSError as error:
        return Failure((_refusal(error, "end the interrupted apply"),))


def read_documents(
    directory: Path, change_set: DocumentChangeSet, *, foreseen: Foreseen | None = None
) -> Result[tuple[TargetDocument, ...], Problems]:
    """The documents of `directory` that a change set touches, with content, and the names of those beside them; those
    that are `foreseen` as they will be.

    BK620 for a folder that cannot be meant: the set updates documents, and none of its groups is there.
    """
    if any(change.op == "update" for change in change_set.changes) and os.path.isdir(directory):
        groups = sorted({change.group for change in change_set.changes})
        if not any(os.path.lexists(directory / group) for group in groups):
            hint = "give the folder that holds one folder per document group"
            message = f"none of the change set's groups ({', '.join(groups)}) is here"
            return Failure((Problem("BK620", message, str(directory), hint),))
    places = {(change.group, change.name) for change in change_set.changes} - (foreseen or {}).keys()
    return read_store(directory, places).map(lambda found: _as_foreseen(found, foreseen or {}))


def _judged(
    directory: Path, change_set: DocumentChangeSet, foreseen: Foreseen
) -> tuple[tuple[TargetDocument, ...], ChangePlan]:
    """The documents that a set meets, and what it does to them; `Refused` for faults and for conflicts."""
    documents = read_documents(directory, change_set, foreseen=foreseen)
    if not is_successful(documents):
        raise Refused(documents.failure())
    planned = plan(documents.unwrap(), change_set)
    if not is_successful(planned):
        raise Refused(planned.failure())
    if conflicts := planned.unwrap().conflicts:
        raise Refused(conflicts)
    return documents.unwrap(), planned.unwrap()


def _as_foreseen(documents: tuple[TargetDocument, ...], foreseen: Foreseen) -> tuple[TargetDocument, ...]:
    """The documents as they will be once an interrupted apply has been ended."""
    if not foreseen:
        return documents
    there = {(one.group, one.name): one for one in documents}
    for (group, name), data in foreseen.items():
        there.pop((group, name), None)
        if data is not None:
            there[group, name] = TargetDocument(
                source_id=f"{group}/{name}", group=group, name=name, content=data.decode("utf-8", "replace")
            )
    return tuple(there.values())


def _apply(directory: Path, judged: ChangePlan) -> None:
    journal = change_journal.stage(directory, judged.applying)
    try:
        change_journal.complete(directory, journal)
    except BaseException as error:
        try:
            change_journal.undo(directory, journal)
            change_journal.finish(directory, journal)
        except (OSError, Refused) as second:
            raise Refused((*_problems(error), _stuck(directory, second))) from error
        raise
    change_journal.finish(directory, journal)


def _recover(directory: Path) -> Recovery | None:
    if not os.path.lexists(directory / change_journal.STAGING):
        return None
    journal = change_journal.find(directory)
    if journal is None:
        return Recovery("undone")
    if change_journal.can_complete(directory, journal):
        change_journal.complete(directory, journal)
        recovery = Recovery("completed")
    else:
        recovery = Recovery("undone", change_journal.undo(directory, journal))
    change_journal.finish(directory, journal)
    return recovery


def _foresee(directory: Path) -> tuple[Recovery | None, Foreseen]:
    """What `_recover` would do, and make of which documents; nothing is written."""
    if not os.path.lexists(directory / change_journal.STAGING):
        return None, {}
    journal = change_journal.find(directory, look_only=True)
    if journal is None:
        return Recovery("undone"), {}
    completing = change_journal.can_complete(directory, journal)
    foreseen, kept = change_journal.foresee(directory, journal, completing=completing)
    return Recovery("completed" if completing else "undone", kept), foreseen


def _stuck(directory: Path, error: OSError | Refused) -> Problem:
    staging = directory / change_journal.STAGING
    hint = "remove the cause and run the same command again: it completes or undoes the change set first"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return Problem("BK623", f"the change set is applied in part and could not be undone: {reason}", str(staging), hint)


def _refusal(error: OSError, action: str) -> Problem:
    # A rename has two names: the document is the second, the first lies in the staging folder.
    return os_problem(error, action, error.filename2 or error.filename)


def _problems(error: BaseException) -> Problems:
    match error:
        case Refused():
            return error.problems
        case OSError():
            return (_refusal(error, "apply the changes"),)
        case _:
            return (Problem("BK623", f"interrupted: {type(error).__name__}"),)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep other `changes` commands out of `directory`; the lock goes with the process, however it ends.

    A file system that locks no folders (and Windows) is left to the staging folder, which only one process can make.
    """
    if sys.platform == "win32":
        yield
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        hint = "give the folder that holds one folder per document group"
        raise Refused(Problem("BK620", "no such folder", str(directory), hint)) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
                hint = "wait until it has ended"
                raise Refused(
                    Problem("BK621", "another `beaker changes` command is at work here", str(directory), hint)
                ) from None
        yield
    finally:
        os.close(descriptor)
