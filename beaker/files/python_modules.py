"""The modules of a project that speak of Beaker: those that Git knows or would know, else those in its own folders."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from beaker.files.git import present_files
from beaker.files.reading import read_regular

_ELSEWHERE = frozenset({"node_modules", "build", "dist", "site-packages", "venv", "env", "__pycache__"})
"""Folders that hold no code of the project's own, where there is no Git to ask."""


def beaker_modules(
    root: Path, git_root: Path | None, *, words: Sequence[bytes] = (b"beaker",)
) -> Iterator[tuple[str, bytes]]:
    """The path from `root` and the content of every module below `root` that has one of the words, by path.

    Links are passed over. Raises `OSError` for one that cannot be read.
    """
    for path in sorted(_modules(root, git_root)):
        if path.is_file() and not path.is_symlink():
            data = read_regular(path)
            if any(word in data for word in words):
                yield path.relative_to(root).as_posix(), data


def _modules(root: Path, git_root: Path | None) -> Iterator[Path]:
    present = None if git_root is None else present_files(git_root).value_or(None)
    if git_root is not None and present is not None:
        paths = (git_root / path for path in present if path.endswith(".py"))
        yield from (path for path in paths if path.is_relative_to(root))
        return
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if (name[:1] != "." or name == ".beaker") and name not in _ELSEWHERE]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))
