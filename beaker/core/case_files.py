"""What becomes of the files of a case: the limits, and the plan from what was staged to what is captured.

A case declares files and folders that lie in its own staging folder. Each declared file is copied under its declared
name; a declared folder becomes one uncompressed ZIP archive of that name, so that thousands of small files are one
file. Whoever looks at the disk hands in what was found; nothing here does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.cases import CapturedFile, Case, CaseFile
from beaker.core.documents import MAX_COMPONENT_BYTES, MAX_NAME_CHARACTERS, directories_of
from beaker.core.problems import Problem, Problems
from beaker.core.text import collision_key
from beaker.core.values import value
from beaker.core.wording import counted

MAX_FILES = 128
MAX_FILE_BYTES = 64 * 1024**2
MAX_CASE_BYTES = 256 * 1024**2
MAX_ATTEMPT_BYTES = 2 * 1024**3

SHOWN_FAULTS = 20
"""Faults of one case that are named; more are counted."""

Kind: TypeAlias = Literal["file", "folder", "other", "missing"]


@value
class Staged:
    """Something below a staging folder, by its path from there.

    `links` counts the hard links of a file. `what` names anything that is neither file nor folder ("a pipe").
    """

    path: str
    kind: Kind
    size: int = 0
    links: int = 1
    what: str = ""


@value
class Found:
    """What lies at the path of a declared file.

    `path` is its real path below the staging folder, empty for that folder itself, `None` when it lies elsewhere.
    `what` says what is there instead of a file or folder, or why it cannot be read.
    """

    kind: Kind
    path: str | None = None
    size: int = 0
    links: int = 1
    what: str = ""


@value
class Capture:
    """One file to make: a copy of the staged file `source`, or an archive of what lies below the folder `source`.

    `members` holds what goes into the archive, in its order, folders included; it is `None` for a copy. `size` is the
    number of bytes the captured file will have.
    """

    name: str
    source: str
    size: int
    members: tuple[Staged, ...] | None = None


def folder_name(case_id: str) -> str:
    """The name of the folders of a case: an id may hold anything, so it is never a path itself."""
    return sha256(case_id.encode()).hexdigest()


def plan_captures(
    declared: Sequence[CaseFile], found: Sequence[Found], staged: Sequence[Staged], *, attempt_bytes: int
) -> Result[tuple[Capture, ...], Problems]:
    """What to capture of a case, in the order of its declaration, or every reason why it cannot be.

    `found[i]` is what lies at `declared[i].path`; `staged` everything below the case's staging folder;
    `attempt_bytes` what the cases before have captured. Problems have the code BK339 and name the file. Regular files
    that no declaration names are left behind.
    """
    captures = tuple(_capture(file, at, staged) for file, at in zip(declared, found, strict=True))
    problems = [*_count_faults(declared), *_name_faults([file.name for file in declared])]
    for file, at, capture in zip(declared, found, captures, strict=True):
        problems += _file_faults(file, at, capture)
    named = {at.path for at in found}
    problems += [_refused(entry.path, fault) for entry in staged if entry.path not in named for fault in _odd(entry)]
    total = sum(capture.size for capture in captures)
    if total > MAX_CASE_BYTES:
        problems.append(_too_large("all files of the case together have", total, MAX_CASE_BYTES))
    if attempt_bytes + total > MAX_ATTEMPT_BYTES:
        problems.append(
            _too_large("the files of all cases up to this one have", attempt_bytes + total, MAX_ATTEMPT_BYTES)
        )
    if not problems:
        return Success(captures)
    if len(problems) > SHOWN_FAULTS:
        problems = [*problems[:SHOWN_FAULTS], Problem("BK339", f"{len(problems) - SHOWN_FAULTS} more faults")]
    return Failure(tuple(problems))


def unexpected(declared: Sequence[CaseFile], captured: Sequence[CapturedFile]) -> Problems:
    """A problem (BK339) for each captured file that does not have the SHA-256 its declaration states."""
    return tuple(
        _refused(file.name, f"its SHA-256 is {made.sha256}, not {file.expected_sha256} as declared")
        for file, made in zip(declared, captured, strict=True)
        if file.expected_sha256 not in (None, made.sha256)
    )


def captured_of(case: Case) -> tuple[CapturedFile, ...]:
    """The captured files of a case that came out of a setup: their sizes and SHA-256 stand in its declaration."""
    return tuple(
        CapturedFile(file.name, file.expected_size_bytes or 0, file.expected_sha256 or "") for file in case.files
    )


def view_faults(files: Iterable[CapturedFile], present: Mapping[str, Staged]) -> Iterator[str]:
    """How a captured view differs from what was captured, in words: names, kinds, sizes and links.

    `present` holds everything below the view by its path; contents are for whoever can read them.
    """
    expected = {file.name: file for file in files}
    folders = {folder for name in expected for folder in directories_of(name)}
    for name, file in expected.items():
        entry = present.get(name)
        if entry is None:
            yield f"{name} was removed"
        elif entry.kind != "file" or entry.links != 1:
            yield f"{name} was replaced"
        elif entry.size != file.size:
            yield f"{name} was changed"
    for path, entry in present.items():
        if path not in expected and (path not in folders or entry.kind != "folder"):
            yield f"{path} was added"


def archive_size(members: Iterable[Staged]) -> int:
    """Bytes of an uncompressed ZIP archive of `members`, which together have less than 4 GiB.

    Per member a local header of 30 bytes and a central one of 46, each with the name, and the content; 22 bytes at the
    end, and 76 more for more than 65,535 members (PKWARE, *.ZIP File Format Specification*, 4.3).
    """
    size = count = 0
    for member in members:
        size += 76 + 2 * len(archive_name(member).encode("utf-8", "surrogatepass")) + member.size
        count += 1
    return size + 22 + (76 if count > 0xFFFF else 0)


def archive_name(member: Staged) -> str:
    """The name of a member in its archive: folders end with `/`."""
    return f"{member.path}/" if member.kind == "folder" else member.path


def _capture(file: CaseFile, at: Found, staged: Sequence[Staged]) -> Capture:
    if at.kind != "folder" or at.path is None:
        return Capture(file.name, at.path or "", at.size if at.kind == "file" else 0)
    above = f"{at.path}/" if at.path else ""
    inside = sorted((entry for entry in staged if entry.path.startswith(above)), key=lambda entry: entry.path)
    members = tuple(
        Staged(entry.path[len(above) :], entry.kind, entry.size if entry.kind == "file" else 0) for entry in inside
    )
    return Capture(file.name, at.path, archive_size(members), members)


def _count_faults(declared: Sequence[CaseFile]) -> Iterator[Problem]:
    if len(declared) > MAX_FILES:
        hint = "declare the folder that holds them as one CaseFile: it becomes one archive"
        message = f"it declares {len(declared)} files; a case may have at most {MAX_FILES}"
        yield Problem("BK339", message, hint=hint)


def _name_faults(names: Sequence[str]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name in names:
        if (fault := _name_fault(name)) is not None:
            yield _refused(name, fault)
        key = collision_key(name)
        if (other := first.get(key)) is None:
            first[key] = name
        else:
            again = "is declared twice" if other == name else f"differs from {_shown(other)} only in case or form"
            yield _refused(name, again)
    for key, name in first.items():
        for folder in directories_of(key[: MAX_NAME_CHARACTERS + 1]):
            if folder in first:
                yield _refused(name, f"needs the folder {_shown(first[folder])}, which is a file")


def _name_fault(name: str) -> str | None:
    """Why no file can have this name on common file systems, or `None`."""
    if len(name) > MAX_NAME_CHARACTERS:
        return f"the name has {len(name)} characters; at most {MAX_NAME_CHARACTERS} are allowed"
    if "\0" in name:
        return "the name holds a NUL character"
    longest = max(len(part.encode()) for part in name.split("/"))
    if longest > MAX_COMPONENT_BYTES:
        return f"a part of the name has {longest} bytes; at most {MAX_COMPONENT_BYTES} are allowed"
    return None


def _file_faults(file: CaseFile, at: Found, capture: Capture) -> Iterator[Problem]:
    if at.kind == "missing":
        yield _refused(file.name, at.what or "there is nothing at its path", _STAGING_HINT)
        return
    if at.kind == "other":
        yield _refused(file.name, f"is {at.what}, not a regular file or a folder", "copy what it stands for")
        return
    if at.kind == "file" and at.links != 1:
        yield _refused(file.name, f"has {at.links} hard links", "copy the file instead of linking it")
    if at.path is None:
        yield _refused(file.name, "lies outside the staging folder of this case", _STAGING_HINT)
        return
    for member in capture.members or ():
        if (fault := _member_fault(member)) is not None:
            yield _refused(f"{file.name}: {member.path}", fault)
    if capture.size > MAX_FILE_BYTES:
        subject = "has"
        if capture.members is not None:
            subject = f"with {counted(len(capture.members), 'member')} in it, the archive has"
        yield _refused(file.name, f"{subject} {capture.size} bytes; a file may have at most {MAX_FILE_BYTES}")
    if file.expected_size_bytes not in (None, capture.size):
        yield _refused(file.name, f"has {capture.size} bytes, not {file.expected_size_bytes} as declared")


def _member_fault(member: Staged) -> str | None:
    try:
        member.path.encode()
    except UnicodeEncodeError:
        return "the file name is not UTF-8"
    return None


def _odd(entry: Staged) -> Iterator[str]:
    """Why something in a staging folder is refused whoever declares it."""
    if entry.kind == "other":
        yield f"is {entry.what}; a staging folder may hold regular files and folders only"
    elif entry.kind == "file" and entry.links != 1:
        yield f"has {entry.links} hard links; a staging folder may hold files of its own only"


_STAGING_HINT = "write it to runtime.case_files_dir(case_id), the staging folder of the case, before yielding the case"


def _too_large(what: str, size: int, most: int) -> Problem:
    return Problem("BK339", f"{what} {size} bytes; at most {most} are allowed")


def _refused(name: str, message: str, hint: str = "") -> Problem:
    return Problem("BK339", f"the file {_shown(name)}: {message}", hint=hint)


def _shown(name: str) -> str:
    return repr(name) if len(name) <= 200 else f"{name[:197]!r}..."
