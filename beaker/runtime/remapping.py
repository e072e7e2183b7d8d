"""Moving what an interpreter knows about the user's own checkout over to the checkout a child works on.

Three places can name it: entries of `sys.path` (also those that a `.pth` file of an editable install added), finders
on `sys.meta_path` (editable installs of setuptools, `editables`, scikit-build and others), and modules that were loaded
at start-up. `ForeignModules` then tells whether something else still came from there.
"""

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from beaker.runtime.code_root import Checkouts

_OWN = "beaker"
"""Beaker itself may lie in the user's checkout, when that is Beaker's; it runs the child and stays."""


def remap_interpreter(checkouts: Checkouts) -> None:
    """Point `sys.path`, the finders of editable installs and what is loaded already at this checkout."""
    sys.path[:] = [checkouts.moved(entry) or entry for entry in sys.path]
    sys.meta_path[:] = [_remapped_finder(finder, checkouts) for finder in sys.meta_path]
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
    return [_moved_place(item, checkouts) for item in place] if isinstance(place, list | tuple) else place


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
            for place in _places(sys.modules.get(name)):
                if self._checkouts.belongs_elsewhere(place) and name.partition(".")[0] not in (_OWN, "__main__"):
                    yield name, place
                    break
        self._seen.update(sys.modules)
        self._count = len(sys.modules)


def _places(module: object) -> Iterator[str]:
    # Anything can stand in `sys.modules`, and asking an object that loads lazily for an attribute would load it.
    names = getattr(module, "__dict__", {}) if isinstance(module, ModuleType) else {}
    spec = names.get("__spec__")
    for place in (names.get("__file__"), getattr(spec, "origin", None)):
        if isinstance(place, str):
            yield place
    path = names.get("__path__")
    if isinstance(path, Iterable):
        yield from (place for place in path if isinstance(place, str))
