"""What a candidate changes in the repository: edits of declared paths of the pinned commit, and the rules they keep.

Every path here counts from the root of the repository and is written with `/`. A commit is known by its tracked files;
links and submodules stay as they are in every candidate, because what they lead to is not the candidate's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.documents import MAX_COMPONENT_BYTES, MAX_NAME_CHARACTERS, directories_of
from beaker.core.problems import Problem, Problems
from beaker.core.reserved_names import reserved_part
from beaker.core.strict_json import JsonObject, JsonValue
from beaker.core.targets import OptimizationTarget, RepositoryTargets
from beaker.core.text import collision_key
from beaker.core.values import value

MAX_EDITS = 2_000
MAX_FILE_BYTES = 20_000_000
MAX_EDIT_BYTES = 50_000_000

WHOLE_REPOSITORY = ("",)
"""The paths of a target that is the whole repository."""

OUTSIDE_TARGETS, NOT_A_FILE = "BK630", "BK631"
"""The codes of an edit outside the declared targets, and of one that touches a link or a submodule."""

Mode: TypeAlias = Literal["100644", "100755"]
"""Git's mode of a regular file: not executable, executable."""

_MODES = ("100644", "100755")


@value
class RepositoryFile:
    """The state of a regular file: Git's mode, and its bytes as Git stores them."""

    mode: Mode
    content: bytes


RepositoryEdits: TypeAlias = Mapping[str, RepositoryFile | None]
"""Path to new state, `None` for a file that is deleted; never what the pinned commit has already."""


@value
class TrackedFile:
    """One entry of a commit: Git's mode, also of links and submodules, and the SHA-256 of its content.

    A regular file has one of the two modes of `RepositoryFile`, whatever old one Git may hold.
    """

    mode: str
    sha256: str


Commit: TypeAlias = Mapping[str, TrackedFile]
"""Every tracked path of the pinned commit."""


def target_paths(targets: Iterable[OptimizationTarget], source_dir: str) -> tuple[str, ...]:
    """The declared repository paths counted from the root of the repository, sorted; `source_dir` is where they count
    from in the declaration. `WHOLE_REPOSITORY` when all of it is declared, `()` when there is no repository target.
    """
    base = "/".join(part for part in source_dir.split("/") if part not in ("", "."))
    found: list[str] = []
    for target in targets:
        if isinstance(target, RepositoryTargets):
            if target.paths is None:
                return WHOLE_REPOSITORY
            found += [f"{base}/{path}" if base else path for path in target.paths]
    return tuple(sorted(found))


def inside_targets(path: str, paths: Sequence[str]) -> bool:
    """Whether `path` is one of the declared `paths` (of `target_paths`) or lies in a folder that is."""
    return any(not declared or path == declared or path.startswith(f"{declared}/") for declared in paths)


def settle_edits(edits: RepositoryEdits, *, commit: Commit, paths: Sequence[str]) -> Result[RepositoryEdits, Problems]:
    """`edits` in order of path, without what the commit has already, or everything that is wrong with them.

    `paths` are those of `target_paths`. Refused are edits outside them (BK630) and edits of links and submodules
    (BK631); a path that Git or Beaker keeps for itself, that is no normal path or too long (BK632); a path that some
    file systems take for another one (BK633); a file where a folder is needed (BK634); and more than `MAX_EDITS` edits,
    `MAX_FILE_BYTES` in one file or `MAX_EDIT_BYTES` in all (BK635).
    """
    real = {path: file for path, file in sorted(edits.items()) if _state(file) != commit.get(path)}
    faults = (
        *_touched_faults(real, commit, paths),
        *_path_faults(real),
        *_place_faults(real, commit),
        *_size_faults(real),
    )
    return Failure(faults) if faults else Success(real)


def edited_files(edits: RepositoryEdits, commit: Commit) -> tuple[str, ...]:
    """Every path of the commit with `edits` made to it, sorted."""
    return tuple(sorted((commit.keys() - edits.keys()) | {path for path, file in edits.items() if file is not None}))


def changed_files(before: RepositoryEdits, after: RepositoryEdits) -> tuple[str, ...]:
    """Paths whose state differs between two candidates of one commit, sorted."""
    unedited = object()
    return tuple(
        sorted(path for path in before.keys() | after.keys() if before.get(path, unedited) != after.get(path, unedited))
    )


def edits_to_json(edits: RepositoryEdits) -> JsonObject:
    """`{path: {"mode", "sha256"} | null}`: what a digest covers, without the contents."""
    return {path: _state_json(file) for path, file in sorted(edits.items())}


def _state_json(file: RepositoryFile | None) -> JsonValue:
    return None if file is None else {"mode": file.mode, "sha256": sha256(file.content).hexdigest()}


def _state(file: RepositoryFile | None) -> TrackedFile | None:
    return None if file is None else TrackedFile(file.mode, sha256(file.content).hexdigest())


def _touched_faults(edits: RepositoryEdits, commit: Commit, paths: Sequence[str]) -> Iterator[Problem]:
    special = {path: entry.mode for path, entry in commit.items() if entry.mode not in _MODES}
    for path in edits:
        if not inside_targets(path, paths):
            yield Problem(OUTSIDE_TARGETS, "is outside the declared targets", path)
        for place in (path, *directories_of(path)):
            if place in special:
                what = "link" if special[place] == "120000" else "submodule"
                reached = f"is a {what}" if place == path else f"lies below {place}, a {what}"
                yield Problem(NOT_A_FILE, f"{reached} of the commit, which candidates keep as it is", path)


def _path_faults(edits: RepositoryEdits) -> Iterator[Problem]:
    for path, file in edits.items():
        parts = path.split("/")
        if (part := reserved_part(path)) is not None:
            yield Problem("BK632", f"the name {part!r} is kept for Git or Beaker", path)
        elif file is None:
            continue  # it goes
        elif any(part in ("", ".", "..") for part in parts) or "\\" in path or "\0" in path:
            yield Problem("BK632", "is not a normal relative path", path)
        elif not _encodable(path):
            yield Problem("BK632", "the name is not UTF-8", path)
        elif len(path) > MAX_NAME_CHARACTERS or any(len(part.encode()) > MAX_COMPONENT_BYTES for part in parts):
            limits = f"{MAX_NAME_CHARACTERS} characters, {MAX_COMPONENT_BYTES} bytes between slashes"
            yield Problem("BK632", f"the path is too long ({limits})", path if len(path) <= 300 else f"{path[:297]}...")


def _encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _place_faults(edits: RepositoryEdits, commit: Commit) -> Iterator[Problem]:
    """Created paths that collide with what the candidate has otherwise; what collides in the commit already is its."""
    files = set(edited_files(edits, commit))
    created = {path for path in files if path in edits and path not in commit}
    if not created:
        return
    folders = {folder for path in files for folder in directories_of(path)}
    # What stays as it was names its places first, so that the new one of two spellings is told.
    old = files - created
    old |= {folder for path in old for folder in directories_of(path)}
    spelled: dict[str, str] = {}
    for path in sorted(files | folders, key=lambda one: (one not in old, one)):
        spelled.setdefault(collision_key(path), path)
    for path in sorted(created):
        if path in folders:
            yield Problem("BK634", "is needed as a folder by other files", path)
        for folder in directories_of(path):
            if folder in old and folder in commit and commit[folder].mode in _MODES:
                yield Problem("BK634", f"needs the folder {folder}, which is a file", path)
        for place in (path, *directories_of(path)):
            other = spelled[collision_key(place)]
            if other != place:
                yield Problem("BK633", f"{place} differs from {other} only in case or Unicode form", path)
                break


def _size_faults(edits: RepositoryEdits) -> Iterator[Problem]:
    if len(edits) > MAX_EDITS:
        yield Problem("BK635", f"{len(edits)} files edited; a candidate may edit at most {MAX_EDITS}")
    sizes = {path: len(file.content) for path, file in edits.items() if file is not None}
    for path, size in sizes.items():
        if size > MAX_FILE_BYTES:
            yield Problem("BK635", f"{size} bytes; an edited file may have at most {MAX_FILE_BYTES}", path)
    if (total := sum(sizes.values())) > MAX_EDIT_BYTES:
        yield Problem("BK635", f"{total} bytes in all edited files together; at most {MAX_EDIT_BYTES} are allowed")
