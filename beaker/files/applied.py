"""What a change set replaced in a folder, kept there so that it can be taken back.

A change set carries no old texts. Before one is applied, the set that leads back is written to
`<directory>/.beaker-applied/<digest of the set>.json`; the folder ignores itself in Git. A record that an apply left
behind without changing anything does no harm: taking it back finds everything done already.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.core.changesets import change_set_from_json, change_set_to_json, invert
from beaker.core.documents import DocumentChangeSet, TargetDocument, document_key
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.strict_json import digest, dumps, parse
from beaker.files.atomic import write_text
from beaker.files.reading import read_regular

RECORDS = ".beaker-applied"


@contextmanager
def remembered(
    directory: Path, change_set: DocumentChangeSet, documents: Iterable[TargetDocument], *, undone: Path
) -> Iterator[None]:
    """Write down how to take `change_set` back, then let the block apply it to `documents`, what the folder holds.

    When the block raises and has put everything back (`undone` does not exist), the record is as it was before.
    `Refused` and `OSError` before the block: nothing has been written then.
    """
    folder, path = directory / RECORDS, _record(directory, change_set)
    existed = _is_folder(folder)
    before = read_regular(path) if path.is_file() else None
    # What the set leaves alone is no part of the way back, and was not read.
    touched = {document_key(one.group, one.name) for one in change_set.changes}
    inverse = invert([one for one in documents if document_key(one.group, one.name) in touched], change_set)
    if not is_successful(inverse):
        raise Refused(inverse.failure())
    earlier = _read(path).value_or(None)
    back = inverse.unwrap() if earlier is None else _joined(earlier, inverse.unwrap())
    try:
        folder.mkdir(exist_ok=True)
        if not (folder / ".gitignore").exists():
            write_text(folder / ".gitignore", "*\n")
        write_text(path, dumps(change_set_to_json(back)) + "\n")
        yield
    except BaseException:
        if not os.path.lexists(undone):
            if not existed:
                shutil.rmtree(folder, ignore_errors=True)
            elif before is not None:
                path.write_bytes(before)
            else:
                path.unlink(missing_ok=True)
        raise


def way_back(directory: Path, change_set: DocumentChangeSet) -> Result[DocumentChangeSet, Problems]:
    """The set that takes `change_set` back in `directory`; BK624 when it was never applied there."""
    path = _record(directory, change_set)
    if not _is_folder(path.parent) or not os.path.lexists(path):
        hint = "name the folder and the change set as `beaker changes apply` was given them"
        return Failure((Problem("BK624", "this change set was not applied here", str(directory), hint),))
    return _read(path)


def forget(directory: Path, change_set: DocumentChangeSet) -> None:
    """Remove the record of a set that was taken back, and the folder of records with the last one. Raises `OSError`."""
    path = _record(directory, change_set)
    path.unlink(missing_ok=True)
    if not any(path.parent.glob("*.json")):
        shutil.rmtree(path.parent)


def _record(directory: Path, change_set: DocumentChangeSet) -> Path:
    return directory / RECORDS / f"{digest(change_set_to_json(change_set))}.json"


def _read(path: Path) -> Result[DocumentChangeSet, Problems]:
    try:
        data = read_regular(path)
    except (OSError, Refused) as error:
        return Failure((_damaged(path, str(error)),))
    parsed = parse(data, RECORDS)
    if not is_successful(parsed):
        return Failure((_damaged(path, str(parsed.failure())),))
    read = change_set_from_json(parsed.unwrap())
    return read if is_successful(read) else Failure((_damaged(path, str(read.failure()[0])),))


def _damaged(path: Path, reason: str) -> Problem:
    return Problem("BK625", f"the record of an applied change set cannot be read: {reason}", str(path), "remove it")


def _joined(earlier: DocumentChangeSet, later: DocumentChangeSet) -> DocumentChangeSet:
    """The way back after two applies of one set: each document to what it was before it was changed last."""
    changes = {document_key(one.group, one.name): one for one in (*earlier.changes, *later.changes)}
    merged = tuple(changes[key] for key in sorted(changes))
    return DocumentChangeSet(later.run_id, later.seed_hash, later.candidate_hash, merged, groups=later.groups)


def _is_folder(folder: Path) -> bool:
    """Whether the folder of records is there; `Refused` (BK625) when something else stands in its place."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        message = "is in the way: no folder of records of applied change sets"
        raise Refused(Problem("BK625", message, str(folder), "remove it"))
    return True
