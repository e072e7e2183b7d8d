"""Moving what an interpreter knows about the user's own checkout over to the checkout a child works on.

Three places can name it: entries of `sys.path` (also those that a `.pth` file of an editable install added), finders
on `sys.meta_path` (editable installs of setuptools, `editables`, scikit-build and others), and modules that were loaded
at start-up. `ForeignModules` then tells whether something else still came from there.

Two things stay reachable on the way: metadata that an old editable install left beside the code, untracked, so that its
entry points are found and load what this checkout has; and source folders, for interpreters that customer code starts.
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
    left = [entry for entry in sys.path if checkouts.moved(entry) is not None]
    sys.path[:] = [checkouts.moved(entry) or entry for entry in sys.path]
    sys.meta_path[:] = [_remapped_finder(finder, checkouts) for finder in sys.meta_path]
    if left:
        sys.meta_path.append(_LeftMetadata(left))
        _hand_on([checkouts.moved(entry) or entry for entry in left], checkouts)
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


def _hand_on(places: list[str], checkouts: Checkouts) -> None:
    """Name source folders to interpreters started from here, which would take them from the user's own checkout.

    The root of the repository is none: everything in it would come before the standard library.
    """
    known = [checkouts.moved(entry) or entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    known += [place for place in places if place not in known and place != checkouts.repository]
    if known:
        os.environ["PYTHONPATH"] = os.pathsep.join(known)


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
