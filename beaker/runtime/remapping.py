"""Moving what an interpreter knows about the user's own checkout over to the checkout a child works on.

Three places can name it: entries of `sys.path` (also those that a `.pth` file of an editable install added), finders
on `sys.meta_path` (editable installs of setuptools, `editables`, scikit-build and others), and modules that were loaded
at start-up. `ForeignModules` then tells whether something else still came from there.

Metadata that an old editable install left beside the code, untracked, stays to be found: what its entry points name is
loaded from this checkout. Interpreters that customer code starts are remapped alike: `nested/sitecustomize.py`, which
`PYTHONPATH` names, loads this file by its path, so it needs the standard library alone, also that of an older Python.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_OWN = "beaker"
"""Beaker itself may lie in the user's checkout, when that is Beaker's; it runs the child and stays."""

NESTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nested")
"""The folder that interpreters read first."""

CHECKOUT, ORIGINAL = "BEAKER_CHECKOUT", "BEAKER_ORIGINAL"
"""Variables that tell them the two checkouts."""


class Checkouts:
    """Tells the paths of one checkout from those of the user's own, and gives the place of one in the other.

    Interpreters keep their libraries: a path under `sys.prefix` or `sys.base_prefix` stays where that prefix is a
    folder inside the user's checkout (`.venv`), and the interpreter's own library directories always stay. A prefix
    that merely contains the checkout (`/usr` above `/usr/src/app`) exempts nothing else.
    """

    def __init__(self, repository: str | os.PathLike[str], original: str | os.PathLike[str] | None) -> None:
        self.repository = os.path.realpath(repository)
        self.original = None if original is None else os.path.realpath(original)
        if self.original == self.repository:
            self.original = None
        self._kept = () if self.original is None else interpreter_directories(self.original)

    def belongs_elsewhere(self, path: str) -> bool:
        """Whether an absolute `path` lies in the user's own checkout and not in this one."""
        return self._relative(path) is not None

    def moved(self, path: str) -> str | None:
        """The place in this checkout of a path of the user's own, or `None` when the path stays as it is."""
        relative = self._relative(path)
        return None if relative is None else os.path.normpath(os.path.join(self.repository, relative))

    def left(self, path: str) -> str | None:
        """The place in the user's own checkout of a path of this one; `None` for other paths, or when they are one."""
        if self.original is None or not _under(os.path.normpath(path), self.repository):
            return None
        return os.path.normpath(os.path.join(self.original, os.path.relpath(path, self.repository)))

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
def interpreter_directories(original: str) -> tuple[str, ...]:
    """Where the interpreter keeps its libraries, as far as that lies inside a checkout or is its standard place."""
    kept: list[str] = []
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        for known in {os.path.normpath(prefix), os.path.realpath(prefix)}:
            if known != original and _under(known, original):
                kept.append(known)
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        kept.append(os.path.realpath(sysconfig.get_path(name)))
    return tuple(kept)


def remap_interpreter(checkouts: Checkouts) -> None:
    """Point `sys.path`, the finders of editable installs and what is loaded already at this checkout."""
    left = [entry for entry in sys.path if checkouts.moved(entry) is not None]
    sys.path[:] = [checkouts.moved(entry) or entry for entry in sys.path]
    sys.meta_path[:] = [_remapped_finder(finder, checkouts) for finder in sys.meta_path]
    if left:
        sys.meta_path.append(_LeftMetadata(left))
    _hand_on(checkouts)
    for name, _ in list(ForeignModules(checkouts).found()):
        del sys.modules[name]
    importlib.invalidate_caches()


def _remapped_finder(finder: Any, checkouts: Checkouts) -> Any:
    if finder in (BuiltinImporter, FrozenImporter, PathFinder):
        return finder
    # setuptools keeps `name -> path` in its finder's module; its path hook for namespaces reads the same dicts.
    module = sys.modules.get(getattr(finder, "__module__", ""))
    for name in ("MAPPING", "NAMESPACES"):
        table = getattr(module, name, None)
        if isinstance(table, dict):
            for key, place in table.items():
                table[key] = _moved_place(place, checkouts)
    return _MovedFinder(finder, checkouts)


def _moved_place(place: Any, checkouts: Checkouts) -> Any:
    if isinstance(place, str):
        return checkouts.moved(place) or place
    sequence = isinstance(place, (list, tuple))  # not `list | tuple`: Python 3.9 reads this file too
    return [_moved_place(item, checkouts) for item in place] if sequence else place


class _MovedFinder:
    """A finder whose findings inside the user's own checkout are looked up in this one instead."""

    def __init__(self, finder: Any, checkouts: Checkouts) -> None:
        self._finder = finder
        self._checkouts = checkouts

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the wrapped finder; `None` where this checkout does not have the file."""
        spec: ModuleSpec | None = self._finder.find_spec(name, path, target)
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        moved = None if locations is None else [self._checkouts.moved(place) or place for place in locations]
        origin = self._checkouts.moved(spec.origin) if spec.has_location and spec.origin else None
        if origin is not None:
            if not os.path.isfile(origin):
                return None
            return importlib.util.spec_from_file_location(name, origin, submodule_search_locations=moved)
        if moved is not None and locations is not None and moved != list(locations):
            spec.submodule_search_locations = moved
        return spec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


class _LeftMetadata:
    """Finds distributions in the user's own checkout, after everybody else: their metadata, and never a module."""

    def __init__(self, places: list[str]) -> None:
        self._places = places

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """No module is here."""

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """Distributions of `context` with metadata in the places that `sys.path` named before."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        asked = DistributionFinder.Context() if context is None else context
        if asked.path is not sys.path:
            return ()
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=asked.name, path=self._places))


def _hand_on(checkouts: Checkouts) -> None:
    """Have interpreters that are started from here do the same."""
    if checkouts.original is None:
        return
    named = [checkouts.moved(entry) or entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    os.environ["PYTHONPATH"] = os.pathsep.join([NESTED, *(entry for entry in named if entry != NESTED)])
    os.environ[CHECKOUT], os.environ[ORIGINAL] = checkouts.repository, checkouts.original


class ForeignModules:
    """Finds loaded modules that came from another checkout; a module is looked at once."""

    def __init__(self, checkouts: Checkouts) -> None:
        self._checkouts = checkouts
        self._seen: set[str] = set()
        self._count = -1

    def found(self) -> Iterator[tuple[str, str]]:
        """(name, path) of every foreign module loaded since the last look."""
        if len(sys.modules) == self._count:
            return
        for name in sys.modules.keys() - self._seen:
            for place in loaded_from(sys.modules.get(name)):
                if self._checkouts.belongs_elsewhere(place) and name.partition(".")[0] not in (_OWN, "__main__"):
                    yield name, place
                    break
        self._seen.update(sys.modules)
        self._count = len(sys.modules)


def loaded_from(module: object) -> Iterator[str]:
    """The places that a loaded module tells of itself: its file, the one of its specification, its folders."""
    # Anything can stand in `sys.modules`, and asking an object that loads lazily for an attribute would load it.
    names = getattr(module, "__dict__", {}) if isinstance(module, ModuleType) else {}
    spec = names.get("__spec__")
    for place in (names.get("__file__"), getattr(spec, "origin", None)):
        if isinstance(place, str):
            yield place
    path = names.get("__path__")
    if isinstance(path, Iterable):
        yield from (place for place in path if isinstance(place, str))
