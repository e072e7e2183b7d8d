"""Where a child process takes the customer's code from, and which paths belong to another checkout of it.

A candidate, the baseline and the user's own files are checkouts of one repository. A child works on one of them; what
its interpreter knows about the user's own checkout (`sys.path` entries, editable installs) is moved over to it.
"""

import os
import sys
import sysconfig
from functools import cache, lru_cache
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.core.values import value


@value
class CodeRoot:
    """One checkout and the Integration in it.

    `repository` is the root of this checkout, `entrypoint` reads `module:attribute`, `source_dir` counts from the
    repository root and `package_import_root` from `source_dir` (`None`: `source_dir` itself). `original` is the root
    of the user's own checkout where it is another one; whatever the interpreter finds inside it is taken from
    `repository` instead.
    """

    repository: Path
    entrypoint: str
    source_dir: str = "."
    package_import_root: str | None = None
    original: Path | None = None


def import_root(code: CodeRoot) -> Result[Path, Problem]:
    """The directory that goes first on `sys.path`; it must exist inside `source_dir`, and that inside the repository.

    Symbolic links are followed before the comparison.
    """
    repository = Path(os.path.realpath(code.repository))
    source = _inside(repository, code.source_dir, "source_dir")
    match source:
        case Success(directory) if code.package_import_root is not None:
            return _inside(directory, code.package_import_root, "package_import_root")
        case _:
            return source


def _inside(parent: Path, relative: str, name: str) -> Result[Path, Problem]:
    found = Path(os.path.realpath(parent / relative))
    if not found.is_relative_to(parent):
        return Failure(Problem("BK300", f"{name} {relative!r} leads out of {parent}"))
    if not found.is_dir():
        hint = "Paths count from the commit that runs: is the directory committed?"
        return Failure(Problem("BK301", f"{name} {relative!r} is not a directory in {parent}", hint=hint))
    return Success(found)


def code_root_to_json(code: CodeRoot) -> JsonObject:
    """The JSON form a child is told."""
    return {
        "repository": str(code.repository),
        "entrypoint": code.entrypoint,
        "source_dir": code.source_dir,
        "package_import_root": code.package_import_root,
        "original": None if code.original is None else str(code.original),
    }


def code_root_from_json(data: JsonObject) -> CodeRoot:
    """What `code_root_to_json` wrote."""
    original = data["original"]
    return CodeRoot(
        repository=Path(str(data["repository"])),
        entrypoint=str(data["entrypoint"]),
        source_dir=str(data["source_dir"]),
        package_import_root=None if data["package_import_root"] is None else str(data["package_import_root"]),
        original=None if original is None else Path(str(original)),
    )


class Checkouts:
    """Tells the paths of one checkout from those of the user's own, and gives the place of one in the other.

    Interpreters keep their libraries: a path under `sys.prefix` or `sys.base_prefix` stays where that prefix is a
    folder inside the user's checkout (`.venv`), and the interpreter's own library directories always stay. A prefix
    that merely contains the checkout (`/usr` above `/usr/src/app`) exempts nothing else.
    """

    def __init__(self, repository: Path, original: Path | None) -> None:
        self.repository = os.path.realpath(repository)
        self.original = None if original is None else os.path.realpath(original)
        if self.original == self.repository:
            self.original = None
        self._kept = () if self.original is None else _interpreter_directories(self.original)

    def belongs_elsewhere(self, path: str) -> bool:
        """Whether an absolute `path` lies in the user's own checkout and not in this one."""
        return self._relative(path) is not None

    def moved(self, path: str) -> str | None:
        """The place in this checkout of a path of the user's own, or `None` when the path stays as it is."""
        relative = self._relative(path)
        return None if relative is None else os.path.normpath(os.path.join(self.repository, relative))

    def _relative(self, path: str) -> str | None:
        if self.original is None or not os.path.isabs(path):
            return None
        for known in (os.path.normpath(path), _real(path)):
            # This checkout may lie inside the user's own (`.beaker/local`), so it is asked about first.
            if _under(known, self.repository) or any(_under(known, directory) for directory in self._kept):
                return None
            if _under(known, self.original):
                return os.path.relpath(known, self.original)
        return None


def _under(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


@lru_cache(maxsize=4096)
def _real(path: str) -> str:
    return os.path.realpath(path)


@cache
def _interpreter_directories(original: str) -> tuple[str, ...]:
    kept: list[str] = []
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        for known in {os.path.normpath(prefix), os.path.realpath(prefix)}:
            if known != original and _under(known, original):
                kept.append(known)
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        kept.append(os.path.realpath(sysconfig.get_path(name)))
    return tuple(kept)
