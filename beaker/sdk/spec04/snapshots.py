"""Reading the text files below a folder that patterns name, within limits and without following links."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePath


def text_files(
    root: Path, include: str | Iterable[str], max_files: int, max_file_bytes: int, max_total_bytes: int
) -> dict[str, str]:
    """Path below `root` -> text, ordered by path; `ValueError` as `DirectoryResource.from_directory` says."""
    patterns = (include,) if isinstance(include, str) else tuple(include)
    if not patterns:
        raise ValueError("include must name at least one pattern")
    if root.is_symlink() or not root.is_dir():
        raise ValueError(f"{root} must be a folder and no symbolic link")
    found: dict[str, Path] = {}
    for pattern in patterns:
        _check_pattern(pattern)
        for path in root.glob(pattern):
            if path.is_symlink() or not path.is_dir():
                found[path.relative_to(root).as_posix()] = path
    if not found:
        raise ValueError(f"no file below {root} matches {', '.join(map(repr, patterns))}")
    if len(found) > max_files:
        raise ValueError(f"{len(found)} files below {root} match, more than the {max_files} that are allowed")
    texts: dict[str, str] = {}
    total = 0
    for name, path in sorted(found.items()):
        content = _content(root, path, max_file_bytes)
        total += len(content)
        if total > max_total_bytes:
            raise ValueError(f"the files below {root} have more than {max_total_bytes} bytes together")
        try:
            texts[name] = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text: {error}") from None
    return texts


def _check_pattern(pattern: object) -> None:
    if not isinstance(pattern, str) or not pattern.strip():
        raise ValueError(f"a pattern must be non-empty text, not {pattern!r}")
    parts = PurePath(pattern.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or pattern.startswith(("/", "\\")) or pattern[1:2] == ":":
        raise ValueError(f"a pattern must stay below the folder, not {pattern!r}")


def _content(root: Path, path: Path, limit: int) -> bytes:
    """The bytes of a regular file that no symbolic link leads to."""
    for step in (path, *path.parents):
        if step == root:
            break
        if step.is_symlink():
            raise ValueError(f"{step} is a symbolic link")
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise ValueError(f"{path} is no regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{path} is no regular file")
            content = file.read(limit + 1)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(content) > limit:
        raise ValueError(f"{path} has more than {limit} bytes")
    return content
