"""The manifest of an artifact's files: the one spelling of their paths, and the digest that names them all.

For services and tools that speak with a Beaker API. Every function raises `ValueError` for what no manifest holds.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core import datasets
from beaker.core.datasets import MAX_PATH_CHARACTERS, DatasetFile, artifact_path
from beaker.core.text import sha256_hex

MAX_ARTIFACT_PATH_LENGTH = MAX_PATH_CHARACTERS
"""Characters of a path, at most."""

SHA256_HEX_PATTERN = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 in its one spelling; use `fullmatch`."""

__all__ = [
    "MAX_ARTIFACT_PATH_LENGTH",
    "SHA256_HEX_PATTERN",
    "canonical_manifest_files",
    "digest_canonical_manifest_files",
    "file_sha256_hex",
    "manifest_digest",
    "normalize_artifact_path",
    "normalize_sha256",
    "sha256_hex_to_base64",
]


def normalize_artifact_path(path: str) -> str:
    """A path inside an artifact in its one spelling: `/` between parts, no empty or `.` parts, no outer white space."""
    return artifact_path(path, "path")


def normalize_sha256(digest: str) -> str:
    """A SHA-256 (64 hex digits) without white space around it, in lower case."""
    return sha256_hex(digest.strip() if isinstance(digest, str) else digest, "sha256")


def sha256_hex_to_base64(digest: str) -> str:
    """A SHA-256 as the checksum headers of object stores write it."""
    return b64encode(bytes.fromhex(normalize_sha256(digest))).decode("ascii")


def file_sha256_hex(path: Path | str) -> str:
    """The SHA-256 of a file's bytes; `OSError` when it cannot be read."""
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def canonical_manifest_files(files: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a manifest is made of: `path`, `sha256` and `size_bytes` of each file, in the order of their paths.

    A size may be a whole number as text, or any number, whose fraction is dropped. Two files of one path are refused.
    """
    read = [DatasetFile(one.get("path"), _size(one.get("size_bytes")), one.get("sha256")) for one in files]  # type: ignore[arg-type]  # judged by the value
    _digest(read)
    ordered = sorted(read, key=lambda file: file.path)
    return [{"path": file.path, "sha256": file.sha256, "size_bytes": file.size_bytes} for file in ordered]


def digest_canonical_manifest_files(files: Iterable[Mapping[str, Any]]) -> str:
    """The digest of files as `canonical_manifest_files` gives them."""
    return _digest([DatasetFile(one["path"], one["size_bytes"], one["sha256"]) for one in files])


def manifest_digest(files: Iterable[Mapping[str, Any]]) -> str:
    """The SHA-256 (hex) that names a set of files, whatever order they come in."""
    return digest_canonical_manifest_files(canonical_manifest_files(files))


def _digest(files: list[DatasetFile]) -> str:
    digest = datasets.manifest_digest(files)
    if not is_successful(digest):
        raise ValueError(str(digest.failure()))
    return digest.unwrap()


def _size(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError(f"size_bytes must be a whole number from 0 up, not {given!r}")
    try:
        return int(given)
    except (ValueError, OverflowError):
        raise ValueError(f"size_bytes must be a whole number from 0 up, not {given!r}") from None
