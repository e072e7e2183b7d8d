"""Case files on disk: looking at what was staged, copying it under its declared names, sealing and checking the copies.

A *view* is a folder that holds the captured files of one case, files 0444 and folders 0555. What is decided about them
is decided by `beaker.core.case_files`.
"""

import errno
import os
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO, Any, TypeAlias

from beaker.core.case_files import MAX_FILE_BYTES, Capture, Found, Staged, archive_name, unexpected, view_faults
from beaker.core.cases import CapturedFile, CaseFile
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.text import visible
from beaker.files.reading import file_kind, open_regular

State: TypeAlias = tuple[int, int, int, int]
"""What shows that a file was touched: inode, size in bytes, change time in ns, mode."""

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)
"""What opening says when something else, or nothing, took a file's place."""

_BLOCK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def look(staging: Path, declared: Iterable[CaseFile]) -> tuple[tuple[Found, ...], tuple[Staged, ...]]:
    """What lies at the path of each declared file, and everything below the staging folder, if there is one.

    A relative path counts from the working directory. Links above a file are followed, a link itself is not.
    """
    root = _root(staging)
    return tuple(_found(file.path, root) for file in declared), tuple(_listed(root))


def capture(staging: Path, view: Path, captures: Sequence[Capture]) -> tuple[CapturedFile, ...]:
    """Make the files of a plan in the new folder `view` and seal it; their sizes and SHA-256, in order.

    Raises `Refused` (BK339) for a file that cannot be read or is not what was looked at, and `OSError` when the disk
    refuses; nothing stays of the view then.
    """
    root = Path(_root(staging))
    view.mkdir(mode=0o700, parents=True)
    try:
        made = tuple(_captured(root, view, one) for one in captures)
        _seal(view)
    except BaseException:
        remove_view(view)
        raise
    return made


def other_contents(staging: Path, declared: Sequence[CaseFile], found: Sequence[Found]) -> Problems:
    """A problem (BK339) for each declared file, folders aside, that does not have the SHA-256 it states.

    For a case that is refused anyway, so that one fault hides no other; what cannot be read has been told already.
    """
    root = Path(_root(staging))
    read: list[tuple[CaseFile, CapturedFile]] = []
    for file, at in zip(declared, found, strict=True):
        if file.expected_sha256 is None or at.kind != "file" or at.path is None or at.size > MAX_FILE_BYTES:
            continue
        try:
            with open_regular(root / at.path) as opened:
                read.append((file, CapturedFile(file.name, at.size, file_digest(opened, "sha256").hexdigest())))
        except OSError:
            continue
    return unexpected([file for file, _ in read], [made for _, made in read])


def copy_view(view: Path, target: Path, files: Iterable[CapturedFile]) -> None:
    """Copy a view to the new folder `target` and seal the copy.

    Raises `Refused` (BK555) when the view does not hold what was captured, `OSError` when the disk refuses.
    """
    target.mkdir(mode=0o700, parents=True)
    for file in files:
        with _new(target / file.name) as sink:
            try:
                copied = _copied(view / file.name, sink, file.size)
            except _Changed:
                copied = ""
        if copied != file.sha256:
            raise Refused(_changed([f"{file.name} was changed"]))
    _seal(target)


def check_view(view: Path, files: Sequence[CapturedFile], known: Mapping[str, State]) -> dict[str, State]:
    """Compare a view with what was captured; `known` are the states of its files at the last look, `{}` at first.

    Files whose state is another one are hashed. Returns the states of now. Raises `Refused` (BK555) that names every
    difference: files and folders added, removed or changed, modes and hard links.
    """
    states: dict[str, State] = {}
    present: dict[str, Staged] = {}
    try:
        for entry in _listed(os.fspath(view)):
            present[entry.path] = entry
            states[entry.path] = _state(os.lstat(view / entry.path))
        faults = list(view_faults(files, present))
        for file in files if not faults else ():
            if known.get(file.name) != states[file.name]:
                with open(view / file.name, "rb") as opened:
                    if file_digest(opened, "sha256").hexdigest() != file.sha256:
                        faults.append(f"{file.name} was changed")
        for path, entry in present.items():
            if not faults and stat.S_IMODE(states[path][3]) != (0o555 if entry.kind == "folder" else 0o444):
                faults.append(f"the mode of {path} was changed")
    except OSError as error:
        faults = [f"{error.filename or view}: {error.strerror}"]
    if faults:
        raise Refused(_changed(faults))
    return states


def remove_view(view: Path) -> None:
    """Remove a view; nothing happens when there is none."""
    for folder, _, _ in os.walk(view):
        os.chmod(folder, 0o700)
    shutil.rmtree(view, ignore_errors=True)


class _Changed(Exception):
    """A file was not, or did not stay, what was looked at."""


def _root(staging: Path) -> str:
    """The real path of a staging folder, which is none where a link took its place."""
    return os.path.join(os.path.realpath(staging.parent), staging.name)


def _found(path: Path, root: str) -> Found:
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            parent, name = os.path.split(path)
            real = os.path.join(os.path.realpath(parent), name)
        else:
            real = os.path.realpath(path)
    except (FileNotFoundError, NotADirectoryError):
        return Found("missing")
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        return Found("missing", what=f"cannot be read: {said}")
    below = "" if real == root else real.removeprefix(f"{root}{os.sep}").replace(os.sep, "/")
    inside = real == root or real.startswith(f"{root}{os.sep}")
    entry = _entry(below, status)
    return Found(entry.kind, below if inside else None, entry.size, entry.links, entry.what)


def _listed(root: str) -> Iterator[Staged]:
    """Everything below `root` by its path from there; links are not followed. Nothing when there is no such folder."""
    waiting = [("", root)]
    while waiting:
        above, folder = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except FileNotFoundError:
            if above:
                raise
            return
        for entry in entries:
            staged = _entry(f"{above}{entry.name}", entry.stat(follow_symlinks=False))
            yield staged
            if staged.kind == "folder":
                waiting.append((f"{staged.path}/", entry.path))


def _entry(path: str, status: os.stat_result) -> Staged:
    if stat.S_ISREG(status.st_mode):
        return Staged(path, "file", status.st_size, status.st_nlink)
    if stat.S_ISDIR(status.st_mode):
        return Staged(path, "folder")
    return Staged(path, "other", what=file_kind(status.st_mode))


def _captured(root: Path, view: Path, one: Capture) -> CapturedFile:
    target = view / one.name
    try:
        with _new(target) as sink:
            if one.members is None:
                return CapturedFile(one.name, one.size, _copied(root / one.source, sink, one.size))
            _archive(root / one.source, sink, one.members)
        with target.open("rb") as made:
            return CapturedFile(one.name, target.stat().st_size, file_digest(made, "sha256").hexdigest())
    except _Changed:
        message = "changed while it was copied"
    except PermissionError as error:
        message = f"cannot be read: {error.strerror}"
    raise Refused(Problem("BK339", f"the file {one.name!r}: {message}", hint="finish writing before yielding the case"))


def _new(target: Path) -> IO[bytes]:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open(target, "xb")


def _archive(folder: Path, sink: IO[bytes], members: Sequence[Staged]) -> None:
    """An uncompressed ZIP archive whose bytes depend on the paths and contents of its members alone."""
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for member in members:
            info = zipfile.ZipInfo(archive_name(member), _EPOCH)
            info.create_system = _UNIX
            info.external_attr = (stat.S_IFDIR | 0o755) << 16 | 0x10
            if member.kind == "file":
                info.external_attr = (stat.S_IFREG | 0o644) << 16
            with archive.open(info, "w") as entry:
                if member.kind == "file":
                    _copied(folder / member.path, entry, member.size)


def _copied(source: Path, sink: IO[bytes], size: int) -> str:
    """Copy a plain file of `size` bytes; its SHA-256. `_Changed` when it is another file or does not stay the same."""
    try:
        descriptor = os.open(source, _OPEN)
    except OSError as error:
        if error.errno in _GONE:
            raise _Changed from error
        raise
    hashed, done = sha256(), 0
    with open(descriptor, "rb", buffering=0) as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode) or before.st_nlink != 1:
            raise _Changed
        while done <= size and (block := file.read(_BLOCK)):
            hashed.update(block)
            sink.write(block)
            done += len(block)
        after = os.fstat(descriptor)
    if done != size or (_state(before), before.st_mtime_ns) != (_state(after), after.st_mtime_ns):
        raise _Changed
    return hashed.hexdigest()


def _seal(view: Path) -> None:
    for folder, _, files in os.walk(view, topdown=False):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)


def _state(status: Any) -> State:
    return status.st_ino, status.st_size, status.st_ctime_ns, status.st_mode


def _changed(faults: Sequence[str]) -> Problem:
    shown = visible(", ".join(faults[:5])) + (f" and {len(faults) - 5} more" if len(faults) > 5 else "")
    hint = "something that ran writes into the captured files; scores made with them cannot be trusted"
    return Problem("BK555", f"the captured files changed while the run used them: {shown}", hint=hint)
