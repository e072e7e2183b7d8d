"""Datasets as values: their files and manifest digest, references to them, and the rules of their two splits."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import text
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import dumps, json_object
from beaker.core.values import value

SPLITS = ("train", "test")
"""The splits of a dataset, in the order they are read. TRAIN drives the optimization, TEST is scored once."""

MOST_LISTED = 500
"""Datasets looked through for the newest revision of a name."""

MAX_PATH_CHARACTERS = 1_024

HELD_OUT_NAMES = frozenset({"val", "valid", "validation", "dev", "eval", "heldout", "held_out", "holdout"})
"""What people call a held-out split elsewhere; none of these is a split here, and a hint says so."""


def artifact_path(value: object, label: str) -> str:
    """A path inside a dataset in its one spelling: `/` between parts, no empty or `.` parts, no outer white space.

    `ValueError` for anything but text, for an absolute path, `..`, control characters, and more than 1,024 characters.
    """
    if not isinstance(value, str):
        raise ValueError(f"{label} must be a string, not {type(value).__name__}")
    path = value.replace("\\", "/").strip()
    if not path or path.startswith("/"):
        raise ValueError(f"{label} must be a relative path, not {value[:80]!r}")
    if any(character < " " or character == "\x7f" for character in path):
        raise ValueError(f"{label} must not hold control characters: {value[:80]!r}")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise ValueError(f"{label} must stay inside the dataset, not {value[:80]!r}")
    normal = "/".join(parts)
    if len(normal) > MAX_PATH_CHARACTERS:
        raise ValueError(f"{label} has {len(normal)} characters; at most {MAX_PATH_CHARACTERS} are allowed")
    return normal


@value
class DatasetFile:
    """One file of a dataset: its normal path, its size in bytes, and the SHA-256 of those bytes in lower case."""

    path: str
    size_bytes: int
    sha256: str

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "path", artifact_path(self.path, "DatasetFile.path"))
        if type(self.size_bytes) is not int or self.size_bytes < 0:
            given = text.shown(self.size_bytes)
            raise ValueError(f"DatasetFile.size_bytes must be a whole number from 0 up, not {given}")
        trimmed: Any = self.sha256.strip() if isinstance(self.sha256, str) else self.sha256
        object.__setattr__(self, "sha256", text.sha256_hex(trimmed, "DatasetFile.sha256"))


def manifest_digest(files: Iterable[DatasetFile]) -> Result[str, Problem]:
    """The identity of a set of files: SHA-256 over one compact ASCII JSON list of `path`, `sha256`, `size_bytes`.

    Files are ordered by the code points of their paths, so the order given does not matter. Two files with one path
    are refused.
    """
    ordered = sorted(files, key=lambda file: file.path)
    for file, following in pairwise(ordered):
        if file.path == following.path:
            return Failure(Problem("BK205", "two files have this path once it is normalised", file.path))
    listed = [{"path": file.path, "sha256": file.sha256, "size_bytes": file.size_bytes} for file in ordered]
    return Success(sha256(dumps(listed).encode("ascii")).hexdigest())


_CONTENT_REVISION = re.compile(r"sha256:[0-9A-Fa-f]{64}\Z")


def names_content(revision: object) -> bool:
    """Whether a revision names what is in it: `sha256:` and a manifest digest. Others are just labels."""
    return isinstance(revision, str) and _CONTENT_REVISION.match(revision) is not None


def content_fault(revision: str, files: Iterable[DatasetFile]) -> Problem | None:
    """What is wrong with files that are said to be the whole content of a revision that names it (BK813)."""
    found = manifest_digest(files)
    if is_successful(found) and found.unwrap() == revision.removeprefix("sha256:").lower():
        return None
    message = f"the files that arrived are not those of the revision {revision}"
    return Problem("BK813", message, hint="try again")


def named_files(row: object, known: Container[str]) -> Iterator[str]:
    """The paths among `known` that a row names: texts anywhere in it, in any spelling that `artifact_path` reads."""
    waiting = [row]
    while waiting:
        match waiting.pop():
            case dict() as named:
                waiting += named.values()
            case list() as items:
                waiting += items
            case str() as said if len(said) <= MAX_PATH_CHARACTERS:
                try:
                    path = artifact_path(said, "a path")
                except ValueError:
                    continue
                if path in known:
                    yield path


@value
class DatasetReference:
    """`name`, or `name@revision`; the revision `production` is whichever one was promoted last."""

    name: str
    revision: str | None = None

    def __str__(self) -> str:
        return self.name if self.revision is None else f"{self.name}@{self.revision}"


def parse_reference(reference: object) -> Result[DatasetReference, Problem]:
    """Read `name`, `name@production` or `name@<revision>`, divided at the last `@`; URLs and empty halves are
    refused.
    """
    hint = "write NAME, NAME@production or NAME@REVISION, as `beaker dataset list` shows them"
    written = reference.strip() if isinstance(reference, str) else ""
    if not written:
        return Failure(Problem("BK206", "a dataset reference must be a non-empty string", hint=hint))
    if "://" in written:
        return Failure(Problem("BK206", "a dataset reference is a name, not a URL", written[:200], hint))
    name, separator, revision = written.rpartition("@")
    if not separator:
        return Success(DatasetReference(written))
    if not name.strip() or not revision.strip():
        return Failure(Problem("BK206", "a dataset reference needs text on both sides of '@'", written[:200], hint))
    return Success(DatasetReference(name.strip(), revision.strip()))


def promotion(reference: str, revision: str | None = None) -> Result[DatasetReference, Problem]:
    """What a promotion names: `name@revision`, or a name with `revision` given apart; without either, the name alone.

    BK206 for what is no reference, BK203 for two revisions that differ and for `production`, which names no revision
    but whichever was promoted last.
    """
    parsed = parse_reference(reference)
    if not is_successful(parsed):
        return parsed
    found = parsed.unwrap()
    given = None if revision is None else revision.strip()
    if given == "":
        return Failure(Problem("BK203", "the revision is blank", "--revision", "name one, or leave it out"))
    if given is not None and found.revision is not None and given != found.revision:
        hint = "name one revision"
        return Failure(Problem("BK203", f"{found.revision!r} and {given!r} are two revisions", "--revision", hint))
    wanted = given or found.revision
    if wanted == "production":
        hint = f"name the revision that is to be it; `beaker dataset list` shows those of {found.name!r}"
        return Failure(Problem("BK203", "'production' is what was promoted last, not a revision", hint=hint))
    return Success(DatasetReference(found.name, wanted))


def newest_revision(listed: Iterable[object], name: str) -> Result[str, Problem]:
    """The revision of the first dataset called `name` in a listing that is sorted newest first; BK204 when none has."""
    for one in listed:
        match one:
            case {"name": str(found), "revision": str(revision)} if found == name and revision:
                return Success(revision)
    hint = "upload it with `beaker dataset upload`, or name the revision with --revision"
    return Failure(Problem("BK204", f"no revision of the dataset {name!r} is listed", hint=hint))


def validate_splits(
    found: Mapping[str, int], *, declared: Mapping[str, object] | None = None, for_run: bool = False
) -> Result[dict[str, int], Problems]:
    """The row counts of `train` and `test`, or every fault of the splits at once.

    `found` maps the splits that exist to their rows (other names are only used for hints); `declared` is what the user
    said. Declared names must be splits, declared counts whole numbers that agree with what was found. Both splits must
    exist, and for a run both must have rows.
    """
    problems = [*_declaration_faults(found, declared or {})]
    others = [name for name in (*found, *(declared or ())) if name.strip().lower() in HELD_OUT_NAMES]
    for split in SPLITS:
        if split not in found:
            hint = f"add {split}.jsonl"
            if split == "test" and others:
                hint = f"the held-out split is called test: rename {others[0]}.jsonl to test.jsonl"
            problems.append(Problem("BK210", f"the split {split!r} is missing", hint=hint))
        elif for_run and found[split] == 0:
            hint = "a run learns on train and is judged on test; both need rows"
            problems.append(Problem("BK211", f"the split {split!r} has no rows", hint=hint))
    return Failure(tuple(problems)) if problems else Success({split: found[split] for split in SPLITS})


@value
class DatasetDeclaration:
    """What an upload says about a dataset before its bytes travel. `splits` counts rows of `train` and `test`."""

    name: str
    files: tuple[DatasetFile, ...]
    splits: Mapping[str, int]
    manifest_digest: str
    metadata: Mapping[str, Any] = attrs.field(factory=dict)


def declare_dataset(
    name: object,
    files: Iterable[DatasetFile],
    *,
    splits: Mapping[str, object],
    metadata: Mapping[str, Any] | None = None,
) -> Result[DatasetDeclaration, Problems]:
    """Check an upload's declaration: a usable name, at least one file, no path twice, a file and a count per split."""
    listed, problems = tuple(files), [*_name_faults(name)]
    digest = manifest_digest(listed)
    if not is_successful(digest):
        problems.append(digest.failure())
    if not listed:
        problems.append(Problem("BK213", "a dataset needs files", hint="give the folder that holds train.jsonl"))
    stems = [file.path.removesuffix(".jsonl") for file in listed if file.path.endswith(".jsonl")]
    present = {stem: _count(splits.get(stem)) or 0 for stem in stems if stem in SPLITS or stem in HELD_OUT_NAMES}
    counted = validate_splits(present, declared=splits)
    if not is_successful(counted):
        problems += counted.failure()
    for split in SPLITS:
        if split in present and split not in splits:
            problems.append(Problem("BK209", f"the split {split!r} has a file but no row count", hint="give its count"))
    try:
        stored = json_object(metadata or {}, "metadata")
    except (TypeError, ValueError) as error:
        problems.append(Problem("BK202", str(error)))
    if problems:
        return Failure(tuple(problems))
    return Success(DatasetDeclaration(str(name).strip(), listed, counted.unwrap(), digest.unwrap(), stored))


def _declaration_faults(found: Mapping[str, int], declared: Mapping[str, object]) -> Iterator[Problem]:
    for name, count in declared.items():
        plain = name.strip().lower()
        if name not in SPLITS:
            hint = "a dataset has exactly the splits train and test"
            if plain in SPLITS:
                hint = f"did you mean {plain}?"
            elif plain in HELD_OUT_NAMES:
                hint = f"the held-out split is called test; more rows to learn from belong into train, not {name!r}"
            yield Problem("BK207", f"{name!r} is not a split", hint=hint)
        elif _count(count) is None:
            yield Problem("BK208", f"the row count of {name!r} must be a whole number from 0 up, not {count!r}")
        elif name in found and count != found[name]:
            message = f"the split {name!r} was declared with {count} rows, but {found[name]} were found"
            yield Problem("BK209", message, hint="correct the count, or leave it out and it is counted")


def _count(count: object) -> int | None:
    return count if type(count) is int and count >= 0 else None


def _name_faults(name: object) -> Iterator[Problem]:
    if not isinstance(name, str) or not name.strip():
        yield Problem("BK212", "a dataset name must be a non-empty string")
    elif "@" in name or "://" in name:
        yield Problem("BK212", f"a dataset name must not hold '@' or '://': {name[:80]!r}")
    elif not name.strip().isprintable():
        yield Problem("BK212", f"a dataset name must be printable: {name[:80]!r}")
