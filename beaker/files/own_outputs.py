"""Telling what Beaker itself wrote into a checkout: pages, pulled runs and downloaded candidates are no code."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

_PAGE = "<title>Beaker "
_PAGE_BYTES = 2048
"""The title of a page stands in its first bytes, after the policy that forbids it to load anything."""

_LISTS = {"candidates.json": b'"candidates"', "eval_reports.json": b'"eval_reports"'}
_LIST_BYTES = 64


def without_own_outputs(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """The `paths` below `root` that are not files which `run eval`, `run report`, `run pull` or `candidate download`
    wrote, in their order. What cannot be read is kept."""
    known: dict[PurePosixPath, bool] = {}
    return tuple(path for path in paths if not _is_own(root, PurePosixPath(path), known))


def _is_own(root: Path, path: PurePosixPath, known: dict[PurePosixPath, bool]) -> bool:
    for folder in path.parents[:-1]:
        if folder not in known:
            known[folder] = _is_own_folder(root / folder)
        if known[folder]:
            return True
    if path.suffix == ".html":
        return _is_page(root / path)
    return path.name in _LISTS and _LISTS[path.name] in _start(root / path, _LIST_BYTES)


def _is_own_folder(folder: Path) -> bool:
    """A run as it is pulled, whole or in part, or a candidate as it is downloaded."""
    if (folder / "run.json").is_file():
        return any((folder / name).is_file() for name in _LISTS)
    candidate = folder.name.rpartition(".")[2]
    holds = any((folder / name).exists() for name in ("changes", "tree", "patch.diff"))
    return holds and candidate.isascii() and candidate.isdecimal() and "." in folder.name


def _is_page(path: Path) -> bool:
    return _PAGE.encode() in _start(path, _PAGE_BYTES)


def _start(path: Path, count: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(count)
    except OSError:
        return b""
