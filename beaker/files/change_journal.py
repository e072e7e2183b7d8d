"""The journal that makes changing many files all or nothing, whatever kills the process in between.

An apply first lays everything it needs into a staging folder beside the documents: each new content as `new-<n>`, each
old file as `old-<n>` (a second link to it, so nothing is copied), and last the journal. From then on it only renames:

| found in the staging folder | state of the documents | what the next command does |
|---|---|---|
| no journal | untouched | removes the folder |
| journal, and all it still needs | anywhere between old and new | completes it |
| journal, but a step that is neither old nor new, or lacks its file | anywhere between | undoes it |

A document that someone else changed in the meantime is never overwritten: the other steps are undone around it.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from returns.pipeline import is_successful

from beaker.core import text
from beaker.core.changesets import PlannedChange
from beaker.core.convert import from_json, to_json
from beaker.core.documents import CreateDocumentChange, DeleteDocumentChange, content_sha256, directories_of, name_fault
from beaker.core.problems import Problem, Refused
from beaker.core.strict_json import dumps, parse
from beaker.core.values import value
from beaker.files.atomic import sync_folder, write_text
from beaker.files.reading import read_regular

STAGING = ".beaker-changes"
_JOURNAL = "journal.json"
_FORMAT = "beaker.changes-journal/1"
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.ENOSYS, errno.EACCES}

State: TypeAlias = Literal["old", "new", "foreign"]


@value
class Step:
    """One file to change: SHA-256 before and after, `None` where there is no file."""

    group: str
    name: str
    old: str | None
    new: str | None

    def __attrs_post_init__(self) -> None:
        # The change classes know what a place is; a journal found on disk must not lead anywhere else.
        settled = CreateDocumentChange(group=self.group, name=self.name, content="")
        if (settled.group, settled.name) != (self.group, self.name) or name_fault(self.name) is not None:
            raise ValueError(f"not the place of a document: {self.group}/{self.name}")


@value
class Journal:
    """Every step of one apply, and the folders it makes (relative, outer ones first)."""

    steps: tuple[Step, ...]
    folders: tuple[str, ...]
    format: str = _FORMAT

    def __attrs_post_init__(self) -> None:
        for folder in self.folders:
            if text.relative_path(folder, "Journal.folders") != folder or name_fault(folder) is not None:
                raise ValueError(f"not a folder of documents: {folder}")


def stage(directory: Path, planned: Sequence[PlannedChange]) -> Journal:
    """Lay everything into the staging folder and write the journal last; documents are not touched.

    `Refused` when a document changed since it was read, `OSError` when the disk refuses; the staging folder is gone
    then.
    """
    staging = directory / STAGING
    os.mkdir(staging, 0o700)
    try:
        steps: list[Step] = []
        for number, one in enumerate(planned):
            change = one.change
            target = directory / change.group / change.name
            new = None if isinstance(change, DeleteDocumentChange) else change.content
            if one.found is not None:
                _keep(target, staging / f"old-{number}")
            if new is not None:
                mode = None if one.found is None else stat.S_IMODE(os.lstat(staging / f"old-{number}").st_mode)
                _write_new(staging / f"new-{number}", new.encode(), mode)
            old = None if one.found is None else content_sha256(one.found.content)
            step = Step(change.group, change.name, old, None if new is None else content_sha256(new))
            if old is not None and _digest(staging / f"old-{number}") != old:
                raise Refused(_foreign_edit(step))
            steps.append(step)
        journal = Journal(tuple(steps), tuple(_missing_folders(directory, steps)))
        write_text(staging / _JOURNAL, dumps(to_json(journal)))
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(directory)
    return journal


def find(directory: Path, *, look_only: bool = False) -> Journal | None:
    """The journal of an apply that was interrupted in `directory`; `None` when there is nothing to finish.

    A staging folder without a journal is removed, but for `look_only`: nothing had been changed yet. `Refused` for a
    staging folder or a journal that an apply did not leave behind.
    """
    staging = directory / STAGING
    try:
        found = os.lstat(staging)
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        raise Refused(Problem("BK622", "is in the way: no folder of an interrupted apply", str(staging), "remove it"))
    try:
        data = read_regular(staging / _JOURNAL)
    except FileNotFoundError:
        if not look_only:
            shutil.rmtree(staging)
        return None
    read = parse(data, _JOURNAL)
    journal = from_json(read.unwrap(), Journal, code="BK622") if is_successful(read) else None
    if journal is None or not is_successful(journal) or journal.unwrap().format != _FORMAT:
        hint = f"compare the documents with your own copy, then remove {staging}"
        raise Refused(Problem("BK622", "the journal of an interrupted apply is damaged", str(staging / _JOURNAL), hint))
    return journal.unwrap()


def can_complete(directory: Path, journal: Journal) -> bool:
    """Whether every step is done or can still be done, and undone, with what the staging folder holds."""
    staging = directory / STAGING
    for number, step in enumerate(journal.steps):
        match _state(_target(directory, step), step):
            case "foreign":
                return False
            case "old":
                if step.new is not None and _digest(staging / f"new-{number}") != step.new:
                    return False
                if step.old is not None and _digest(staging / f"old-{number}") != step.old:
                    return False
            case "new":
                pass
    return True


def complete(directory: Path, journal: Journal) -> None:
    """Do every step that is not done yet, deletions first; `finish` follows.

    `Refused` for a document that someone else changed, `OSError` when the disk refuses; `undo` is the way out then.
    """
    staging = directory / STAGING
    for step in journal.steps:
        if step.new is None and _expect(directory, step) == "old":
            os.unlink(_target(directory, step))
    for step in journal.steps:
        if step.new is None:
            _prune(directory / step.group, step.name)
    for number, step in enumerate(journal.steps):
        if step.new is not None and _expect(directory, step) == "old":
            target = _target(directory, step)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / f"new-{number}", target)


def undo(directory: Path, journal: Journal) -> tuple[str, ...]:
    """Take back every step that was done; `finish` follows.

    Returns the documents that someone else changed in the meantime; they are left as they are. `OSError` when the disk
    refuses; the staging folder stays then, and the next command tries again.
    """
    staging = directory / STAGING
    kept: list[str] = []
    for step in journal.steps:
        target = _target(directory, step)
        state = _state(target, step)
        if state == "foreign":
            kept.append(f"{step.group}/{step.name}")
        elif step.old is None and state == "new":
            os.unlink(target)
    for folder in reversed(journal.folders):
        try:
            os.rmdir(_folder(directory, folder))
        except OSError:
            pass  # not empty or not there: then it is not ours to remove
    for number, step in enumerate(journal.steps):
        target, backup = _target(directory, step), staging / f"old-{number}"
        if step.old is not None and _state(target, step) == "new" and _digest(backup) == step.old:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(backup, target)
    return tuple(kept)


def foresee(
    directory: Path, journal: Journal, *, completing: bool
) -> tuple[dict[tuple[str, str], bytes | None], tuple[str, ...]]:
    """What `complete`, or else `undo`, would leave of the documents of the steps by (group, name), `None` for no
    document; and what `undo` would return, which is not among them. Nothing is written.
    """
    staging, made, kept = directory / STAGING, dict[tuple[str, str], bytes | None](), list[str]()
    for number, step in enumerate(journal.steps):
        target, place = _target(directory, step), (step.group, step.name)
        state = _state(target, step)
        wanted, staged = (step.new, f"new-{number}") if completing else (step.old, f"old-{number}")
        if state == "foreign":
            kept.append(f"{step.group}/{step.name}")
        elif wanted is None:
            made[place] = None
        elif state == ("new" if completing else "old") or _digest(staging / staged) != wanted:
            made[place] = read_regular(target) if _digest(target) else None
        else:
            made[place] = read_regular(staging / staged)
    return made, tuple(kept)


def finish(directory: Path, journal: Journal) -> None:
    """Flush what was renamed to the disk and remove the staging folder. `OSError` leaves the journal for next time."""
    for folder in sorted({_target(directory, step).parent for step in journal.steps}):
        if folder.is_dir():
            sync_folder(folder)
    # The journal goes first: a staging folder without one is only rubbish.
    os.unlink(directory / STAGING / _JOURNAL)
    shutil.rmtree(directory / STAGING, ignore_errors=True)
    sync_folder(directory)


def _expect(directory: Path, step: Step) -> State:
    state = _state(_target(directory, step), step)
    if state == "foreign":
        raise Refused(_foreign_edit(step))
    return state


def _state(target: Path, step: Step) -> State:
    current = _digest(target)
    if current == step.new:
        return "new"
    return "old" if current == step.old else "foreign"


def _digest(path: Path) -> str | None:
    """SHA-256 of a plain file; `None` where there is none or a folder; empty for anything else."""
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            return None if stat.S_ISDIR(mode) else ""
        return sha256(path.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _target(directory: Path, step: Step) -> Path:
    """The file a step means. `Refused` when a link on the way would lead elsewhere."""
    return _folder(directory, f"{step.group}/{step.name}")


def _folder(directory: Path, relative: str) -> Path:
    for above in directories_of(relative):
        if (directory / above).is_symlink():
            raise Refused(Problem("BK609", "is a symbolic link; change sets are applied in plain folders only", above))
    return directory / relative


def _keep(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(target, backup, follow_symlinks=False)


def _write_new(path: Path, data: bytes, mode: int | None) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.chmod(path, mode)
        os.fsync(file.fileno())


def _missing_folders(directory: Path, steps: Sequence[Step]) -> Iterator[str]:
    named: set[str] = set()
    for step in steps:
        above = [*directories_of(f"{step.group}/{step.name}")] if step.old is None else []
        for folder in reversed(above):
            path = directory / folder
            if folder not in named and not (path.is_dir() and not path.is_symlink()):
                named.add(folder)
                yield folder


def _prune(group: Path, name: str) -> None:
    """Remove the folders that a deleted document leaves empty, its group's excepted."""
    for folder in directories_of(name):
        try:
            os.rmdir(group / folder)
        except OSError:
            return


def _foreign_edit(step: Step) -> Problem:
    hint = "nothing was changed; run the command again when nothing else writes there"
    return Problem("BK616", "was changed by something else while the change set was applied", _place(step), hint)


def _place(step: Step) -> str:
    return f"{step.group}/{step.name}"
