"""Named resources of text files, and prompts as files: the rules of their names and paths.

A resource is a folder of text files that a candidate may change; prompts are texts by name, of which each becomes one
file. These rules are those of the Spec generation, whose trees become groups of documents.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from beaker.core.targets import REPOSITORY_GROUP
from beaker.core.text import name, plain, shown, text

PROMPTS = "prompts"
"""The group that prompts become; no resource may be called so."""

MAX_PROMPT_FILE_NAME = 96
"""A prompt with a longer name gets a file named by a digest."""

_RESERVED = (PROMPTS, REPOSITORY_GROUP)
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_DRIVE = re.compile(r"[A-Za-z]:")


def resource_name(value: object, label: str) -> str:
    """A name without blanks around it that is not reserved. `TypeError` unless it is a string, else `ValueError`."""
    given = plain(value)
    if type(given) is not str:
        raise TypeError(f"{label} must be a string, not {type(value).__name__}")
    if given != given.strip():
        raise ValueError(f"{label} must have no blanks around it, not {shown(given)}")
    if given in _RESERVED:
        raise ValueError(f"{label} must not be {given!r}, which is reserved")
    return name(given, label)


def tree_path(value: object, label: str) -> str:
    """A relative path below a resource: backslashes become `/`, several `/` one.

    `ValueError` for an absolute path, a drive, `.` or `..` as a part, and a path that ends with `/`.
    """
    path = text(value, label).replace("\\", "/")
    if path.startswith("/") or path.endswith("/") or _DRIVE.match(path):
        raise ValueError(f"{label} must be a relative path of a file, not {path!r}")
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise ValueError(f"{label} must be a path without '.' or '..' parts, not {path!r}")
    return "/".join(parts)


def prompt_file_names(names: Iterable[str]) -> dict[str, str]:
    """The file of each prompt: `<name>.md`, or `prompt-<sha256 of the name>.md` where the name is no safe file name, is
    longer than `MAX_PROMPT_FILE_NAME`, or differs from another in case alone.
    """
    known = tuple(names)
    alike = Counter(one.casefold() for one in known)
    files = {}
    for one in known:
        safe = _SAFE.match(one) and len(one) <= MAX_PROMPT_FILE_NAME and alike[one.casefold()] == 1
        stem = one if safe else f"prompt-{hashlib.sha256(one.encode('utf-8', 'surrogatepass')).hexdigest()}"
        files[one] = f"{stem}.md"
    return files
