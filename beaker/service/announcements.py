"""What an upload announces, judged before a place is made for it."""

from collections.abc import Mapping
from typing import Any

from returns.result import Failure, Result, Success

from beaker.core.api import MAX_INTEGER
from beaker.core.datasets import DatasetFile
from beaker.core.problems import Problem, Problems
from beaker.core.reserved_names import reserved_part
from beaker.service.artifact_table import ArtifactFile

MAX_EXPIRES_SECONDS = 7 * 24 * 3600


def read_files(listed: list[Any]) -> Result[tuple[ArtifactFile, ...], Problems]:
    """The files that an upload announces, or every fault of them (BK450)."""
    if not listed:
        return Failure((Problem("BK450", "an upload needs at least one file", "files"),))
    files: list[ArtifactFile] = []
    problems: list[Problem] = []
    for number, item in enumerate(listed):
        where = f"files[{number}]"
        if not isinstance(item, dict):
            problems.append(Problem("BK450", "must be an object with path, size_bytes and sha256", where))
            continue
        content_type = item.get("content_type") or "application/octet-stream"
        if not isinstance(content_type, str) or not content_type.isprintable():
            problems.append(Problem("BK450", "content_type must be printable text", where))
            continue
        try:
            one = DatasetFile(item.get("path"), item.get("size_bytes"), item.get("sha256"))  # type: ignore[arg-type]  # it checks its fields
        except (TypeError, ValueError) as error:
            problems.append(Problem("BK450", str(error), where))
            continue
        if (part := reserved_part(one.path)) is not None:
            problems.append(Problem("BK450", f"path must not lead through {part!r}, which no dataset holds", where))
        elif one.size_bytes > MAX_INTEGER:
            problems.append(Problem("BK450", f"size_bytes must be at most {MAX_INTEGER}", where))
        else:
            files.append(ArtifactFile(one.path, content_type, one.size_bytes, one.sha256))
    return Failure(tuple(problems)) if problems else Success(tuple(files))


def declaration_faults(given: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the name, the counts and the life that a dataset is announced with (BK208, BK212, BK450)."""
    problems = []
    name = given["name"].strip()
    if not name or "@" in name or "://" in name or not name.isprintable():
        message = f"a dataset name must be printable text without '@' and '://', not {name[:80]!r}"
        problems.append(Problem("BK212", message, "name"))
    for split, count in (given["splits"] or {}).items():
        if type(count) is int and abs(count) > MAX_INTEGER:
            message = f"the row count of {split!r} must be at most {MAX_INTEGER}"
            problems.append(Problem("BK208", message, f"splits.{split}"))
        elif type(count) is not int or count < 0:
            message = f"the row count of {split!r} must be a whole number from 0 up, not {count!r}"
            problems.append(Problem("BK208", message, f"splits.{split}"))
    if given["total_count"] is not None and given["total_count"] < 0:
        problems.append(Problem("BK208", "total_count must not be negative", "total_count"))
    return [*problems, *expiry_faults(given["expires_in_seconds"])]


def expiry_faults(seconds: int) -> Problems:
    """What is wrong with the life of upload addresses (BK450)."""
    if 1 <= seconds <= MAX_EXPIRES_SECONDS:
        return ()
    message = f"expires_in_seconds must be between 1 and {MAX_EXPIRES_SECONDS}"
    return (Problem("BK450", message, "expires_in_seconds"),)
