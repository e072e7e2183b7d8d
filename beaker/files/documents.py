"""Document trees on disk: `<root>/<group>/<name>`, written for a candidate, read back from one, read from a store.

A candidate's tree is read as something hostile: nothing is followed, nothing but plain files is opened, and what is
read is bounded. A customer's own folder is read kindly: what a change set does not touch may be anything.
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import text
from beaker.core.document_differences import document_differences
from beaker.core.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENTS,
    MAX_TREE_BYTES,
    Place,
    TargetDocument,
    directories_of,
    document_key,
)
from beaker.core.problems import Problem, Problems, Refused
from beaker.files.atomic import os_problem
from beaker.files.reading import file_kind

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_ENTRIES_PER_DOCUMENT = 10


def write_tree(root: Path, groups: Iterable[str], files: Mapping[Place, str], *, read_only: bool = True) -> None:
    """Lay out `files`, `{(group, name): content}`, below `root`; every group gets a folder, empty ones included.

    Contents are written as UTF-8, nothing added or changed. With `read_only` files get 0444 and folders below `root`
    0555. `OSError` when the disk refuses; the tree is then incomplete. The names must have passed
    `check_candidate_files`.
    """
    folders: set[Path] = set()
    for group in groups:
        folders.add(root / group)
        (root / group).mkdir(parents=True, exist_ok=True)
    for (group, name), content in files.items():
        path = root / group / name
        if path.parent not in folders:
            path.parent.mkdir(parents=True, exist_ok=True)
            folders.update(root / group / above for above in directories_of(name))
        path.write_bytes(content.encode())
        if read_only:
            path.chmod(0o444)
    if read_only:
        for folder in sorted(folders, reverse=True):
            folder.chmod(0o555)


def tree_difference(root: Path, groups: Collection[str], files: Mapping[Place, str]) -> str:
    """How the tree below `root` differs from the `files` that `write_tree` laid out there, in words; empty where it
    does not.
    """
    found = read_tree(root, groups)
    if not is_successful(found):
        return "; ".join(str(problem) for problem in found.failure()[:3])
    return document_differences(files, found.unwrap())


def read_tree(root: Path, groups: Collection[str]) -> Result[dict[Place, str], Problems]:
    """A candidate's files below `root`, `{(group, name): content}`, or everything that makes it no document tree.

    Refused: a missing or linked root, links, special and hard-linked files, files directly in the root or in an
    undeclared group, names and contents that are not UTF-8, names that are not normal paths, documents over 1,000,000
    bytes, more files or bytes than targets with these groups can hold. Empty folders are ignored. Collisions and the
    limits of one target are judged by `beaker.core.changesets.derive`.
    """
    try:
        if not stat.S_ISDIR(os.lstat(root).st_mode):
            return Failure((Problem("BK609", "the document tree is not a folder", str(root)),))
        return _read_candidate(root, groups)
    except FileNotFoundError as error:
        return Failure((Problem("BK609", "the document tree is missing", str(error.filename or root)),))
    except OSError as error:
        return Failure((os_problem(error, "read the document tree"),))


def read_store(directory: Path, places: Collection[Place]) -> Result[tuple[TargetDocument, ...], Problems]:
    """The documents of a customer's folder as `beaker.core.changesets.plan` needs them to judge `places`.

    Read are the groups of `places`. Documents at these places carry their content; for all others only the name counts,
    so they come without content and may be of any kind, size and encoding. `source_id` is the path, there is no
    version. Refused: a missing folder, and anything at or above one of `places` that is not a plain folder or file.
    """
    try:
        if not directory.is_dir():
            hint = "give the folder that holds one folder per document group"
            return Failure((Problem("BK620", "no such folder", str(directory), hint),))
        return _read_store(directory, places)
    except Refused as refused:
        return Failure(refused.problems)
    except OSError as error:
        return Failure((os_problem(error, "read the documents"),))


def read_document(path: Path, where: str) -> str:
    """The text of one document. `Refused` for anything but a plain, singly linked UTF-8 file of at most 1,000,000
    bytes; `OSError` as `open` raises it.
    """
    descriptor = os.open(path, _OPEN)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(Problem("BK609", f"is {file_kind(found.st_mode)}, not a plain file", where))
        if found.st_nlink > 1:
            raise Refused(
                Problem("BK609", f"has {found.st_nlink} hard links; a document must be a file of its own", where)
            )
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(data) > MAX_DOCUMENT_BYTES:
        size = max(found.st_size, len(data))
        raise Refused(Problem("BK602", f"{size} bytes; a document may have at most {MAX_DOCUMENT_BYTES}", where))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"is not UTF-8: {error.reason} at byte {error.start}"
        raise Refused(Problem("BK608", message, where, "documents are text; save it as UTF-8")) from None


def _read_candidate(root: Path, groups: Collection[str]) -> Result[dict[Place, str], Problems]:
    files: dict[Place, str] = {}
    problems: list[Problem] = []
    most_files, most_bytes = MAX_DOCUMENTS * max(1, len(groups)), MAX_TREE_BYTES * max(1, len(groups))
    size = 0
    most_entries = most_files * _ENTRIES_PER_DOCUMENT
    for entries, (path, entry) in enumerate(_walk(root, most=most_entries)):
        where = _printable(path)
        if entries + 1 >= most_entries or len(files) > most_files:
            problems.append(Problem("BK601", f"more than {most_files} documents, or than ten folders for each"))
            break
        if entry.is_dir(follow_symlinks=False):
            continue
        if (fault := _candidate_fault(path, entry, groups)) is not None:
            problems.append(Problem(fault[0], fault[1], where))
            continue
        group, _, name = path.partition("/")
        try:
            content = read_document(Path(entry.path), where)
        except Refused as refused:
            problems += refused.problems
            continue
        files[group, name] = content
        size += len(content)
        if size > most_bytes:
            problems.append(Problem("BK603", f"more than {most_bytes} bytes in all documents together", where))
            break
    return Failure(tuple(problems)) if problems else Success(files)


def _candidate_fault(path: str, entry: os.DirEntry[str], groups: Collection[str]) -> tuple[str, str] | None:
    """Why a file of a candidate's tree is refused unread, as `(code, message)`."""
    group, separator, name = path.partition("/")
    if not entry.is_file(follow_symlinks=False):
        return "BK609", f"is {file_kind(entry.stat(follow_symlinks=False).st_mode)}, not a plain file"
    if not separator:
        return "BK609", "lies directly in the document tree; documents lie in the folder of their group"
    if group not in groups:
        return (
            "BK607",
            f"{_printable(group)!r} is not a declared document group (declared: {', '.join(sorted(groups))})",
        )
    try:
        path.encode()
    except UnicodeEncodeError:
        return "BK608", "the file name is not UTF-8"
    try:
        normal = text.relative_path(name, "the name")
    except ValueError as error:
        return "BK600", str(error)
    if normal != name:
        return "BK600", "the name must not hold backslashes or begin or end with white space"
    return None


def _read_store(directory: Path, places: Collection[Place]) -> Result[tuple[TargetDocument, ...], Problems]:
    touched = {document_key(group, name) for group, name in places}
    guarded = touched | {(group, above) for group, name in touched for above in directories_of(name)}
    groups = {group.casefold() for group, _ in places}
    documents: list[TargetDocument] = []
    problems: list[Problem] = []
    with os.scandir(directory) as scan:
        folders = sorted((entry for entry in scan if entry.name.casefold() in groups), key=lambda entry: entry.name)
    for folder in folders:
        if not folder.is_dir(follow_symlinks=False):
            kind = file_kind(folder.stat(follow_symlinks=False).st_mode)
            problems.append(
                Problem("BK609", f"is {kind}; the folder of a document group must be a folder", folder.path)
            )
            continue
        for name, entry in _walk(Path(folder.path)):
            key, where = document_key(folder.name, name), f"{folder.name}/{name}"
            if entry.is_dir(follow_symlinks=False):
                continue
            if not entry.is_file(follow_symlinks=False):
                if key in guarded:
                    kind = file_kind(entry.stat(follow_symlinks=False).st_mode)
                    message = f"is {kind}; change sets are applied to plain files in plain folders only"
                    problems.append(Problem("BK609", message, _printable(where)))
                continue
            try:
                content = read_document(Path(entry.path), where) if key in touched else ""
                one = TargetDocument(source_id=where, group=folder.name, name=name, content=content)
            except Refused as refused:
                problems += refused.problems
            except ValueError:
                continue  # no document can have this name, so none of the changes means it
            else:
                if one.name == name:
                    documents.append(one)
    return Failure(tuple(problems)) if problems else Success(tuple(documents))


def _walk(root: Path, *, most: int | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below `root` with its path from there, folders before what they hold; links are not followed.

    Of one folder at most `most` entries are listed.
    """
    waiting = [("", str(root))]
    while waiting:
        above, folder = waiting.pop()
        with os.scandir(folder) as scan:
            entries = sorted(islice(scan, most), key=lambda entry: entry.name)
        for entry in entries:
            yield f"{above}{entry.name}", entry
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting += [(f"{above}{entry.name}/", entry.path) for entry in reversed(folders)]


def _printable(path: str) -> str:
    """`path` with undecodable bytes as escapes, so that it can be stored and printed."""
    return path.encode("utf-8", "backslashreplace").decode()
