"""Telling modules that were loaded from an installed copy although the checkout holds them inside a repository target.

`pip install .` copies a package into the environment. Whatever imports it there runs that copy under every candidate,
so all of them would score as the baseline does.
"""

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from beaker.core.repository_tree import inside_targets, target_paths
from beaker.core.targets import OptimizationTarget
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.remapping import interpreter_directories, loaded_from

_MOST_FILES = 50_000
"""Python files of the targets that are looked at, and files of a package that are compared, at most."""

_INSTALLED = ("site-packages", "dist-packages")


class InstalledCopy(NamedTuple):
    """A loaded module: its name, the file it came from, the path where the target holds it, and the folder (both from
    the repository's root) that it would be imported from there."""

    module: str
    loaded: str
    held: str
    root: str


class InstalledCopies:
    """Finds loaded modules that are copies of files of the targets; a module is looked at once.

    A folder from which the project is imported (the repository, `source_dir`, the import root, `src` in one of them)
    needs no more than the module's name. Any other folder of the targets does: packages of two projects may be called
    alike, so there a file must be the same, or the copy's metadata say that it was made from a folder. Modules of the
    names that are kept `apart` are loaded for others, and never meant.
    """

    def __init__(
        self,
        code: CodeRoot,
        import_root: Path,
        targets: Sequence[OptimizationTarget],
        *,
        apart: Collection[str] = (),
    ) -> None:
        self._repository = os.path.realpath(code.repository)
        self._paths = target_paths(targets, code.source_dir)
        self._kept = interpreter_directories(self._repository)
        source = os.path.normpath(code.source_dir)
        roots = (".", source, os.path.relpath(import_root, self._repository))
        self._roots = {os.path.normpath(folder) for root in roots for folder in (root, f"{root}/src")}
        self._held: dict[str, list[tuple[str, str]]] | None = None
        self._apart = frozenset(apart)
        self._seen: set[str] = {name for name in sys.modules if self._is_never_meant(name)}
        self._count = -1

    def found(self) -> Iterator[InstalledCopy]:
        """The copies among the modules that were loaded since the last look."""
        if not self._paths or len(sys.modules) == self._count:
            return
        for name in sys.modules.keys() - self._seen:
            place = next(loaded_from(sys.modules.get(name)), None)
            if place is None or self._is_never_meant(name) or not self._is_outside(place):
                continue
            for held, root in self._holding(name):
                if self._is_same(name, place, root):
                    yield InstalledCopy(name, place, held, root)
                    break
        self._seen.update(sys.modules)
        self._count = len(sys.modules)

    def _is_never_meant(self, name: str) -> bool:
        top = name.partition(".")[0]
        return top in ("beaker", "__main__") or top in sys.stdlib_module_names or top in self._apart

    def _is_outside(self, place: str) -> bool:
        if not os.path.isabs(place):
            return False  # built in, frozen, or made up
        real = os.path.realpath(place)
        if any(part in _INSTALLED for part in real.split(os.sep)):
            return True
        return not _under(real, self._repository) or any(_under(real, folder) for folder in self._kept)

    def _holding(self, name: str) -> list[tuple[str, str]]:
        if self._held is None:
            self._held = {}
            for path in self._files():
                for module, root in self._names(path):
                    self._held.setdefault(module, []).append((path, root))
        return self._held.get(name, [])

    def _names(self, path: str) -> Iterator[tuple[str, str]]:
        """Every name under which a file can be imported, each with the folder that must be searched for that."""
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        for start in range(len(parts) - 1, -1, -1):
            root = "/".join(parts[:start]) or "."
            if not all(part.isidentifier() for part in parts[start:]):
                return
            if not os.path.isfile(os.path.join(self._repository, root, "__init__.py")):
                yield ".".join(parts[start:]), root

    def _files(self) -> Iterator[str]:
        count = 0
        for declared in self._paths:
            place = os.path.join(self._repository, declared)
            for path in [place] if os.path.isfile(place) else _python_files(place):
                relative = os.path.relpath(path, self._repository).replace(os.sep, "/")
                if path.endswith(".py") and inside_targets(relative, self._paths):
                    yield relative
                    count += 1
                    if count == _MOST_FILES:
                        return

    def _is_same(self, name: str, place: str, root: str) -> bool:
        top, _, below = name.partition(".")
        mine = os.path.join(self._repository, root, top)
        package = sys.modules.get(top)
        installed = next(loaded_from(package), "") if isinstance(package, ModuleType) else ""
        is_package = bool(below) and os.path.basename(installed).partition(".")[0] == "__init__"
        if root in self._roots and (not is_package or os.path.isfile(os.path.join(mine, "__init__.py"))):
            return True
        depth = name.count(".") + (os.path.basename(place).partition(".")[0] == "__init__")
        site = os.path.normpath(os.path.join(os.path.dirname(place), *[os.pardir] * depth))
        if os.path.isfile(f"{mine}.py"):
            return _are_equal(f"{mine}.py", os.path.join(site, f"{top}.py")) or _is_from_folder(site, place)
        for path in _python_files(mine):
            if _are_equal(path, os.path.join(site, top, os.path.relpath(path, mine))):
                return True
        return _is_from_folder(site, place)


def told(copies: Iterable[InstalledCopy]) -> str:
    """The copies in a sentence, the first five by name."""
    found = sorted(copies)
    listed = ", ".join(f"{one.module} (loaded from {one.loaded}, held at {one.held})" for one in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    lead = "modules of the repository target were loaded from an installed copy, so no candidate's edits would run"
    return f"{lead}: {listed}{more}"


def advice(copy: InstalledCopy, source_dir: str) -> str:
    """What to do about a copy."""
    root = os.path.relpath(copy.root, source_dir).replace(os.sep, "/")
    setting = f"package_import_root: {root}" if not root.startswith("..") else f"source_dir: {copy.root}"
    where = "the repository's root" if copy.root == "." else f"{copy.root}/"
    return (
        "install the package for editing (`pip install -e .`) in the environment that runs Beaker, "
        f"or put the Integration into {where} and set {setting}"
    )


def _python_files(folder: str) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        folders[:] = [
            one
            for one in sorted(folders)
            if not one.startswith((".", "__pycache__"))
            and one not in (*_INSTALLED, "node_modules")
            and not os.path.exists(os.path.join(where, one, "pyvenv.cfg"))
        ]
        yield from (os.path.join(where, one) for one in sorted(files) if one.endswith(".py"))


def _are_equal(one: str, other: str) -> bool:
    """Whether both files exist and have the same content, and any at all."""
    try:
        if os.path.getsize(one) != os.path.getsize(other):
            return False
        content = Path(one).read_bytes()
        return bool(content.strip()) and content == Path(other).read_bytes()
    except OSError:
        return False


def _is_from_folder(site: str, place: str) -> bool:
    """Whether the metadata beside an installed file say that it was made from a folder, as `pip install .` notes."""
    relative = os.path.relpath(place, site).replace(os.sep, "/")
    for origin in Path(site).glob("*.dist-info/direct_url.json"):
        try:
            is_folder = "dir_info" in json.loads(origin.read_text("utf-8"))
            record = (origin.parent / "RECORD").read_text("utf-8") if is_folder else ""
        except (OSError, ValueError):
            continue
        if any(line.startswith(f"{relative},") for line in record.splitlines()):
            return True
    return False


def _under(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)
