"""Modules beside an Integration that are called like one of Beaker's, of what it needs, or of the standard library.

The project's modules get the project's, everybody else the other: a helper `json.py` neither takes the place of the
module that Beaker reads with, nor is it hidden by it. Where no name is shared, which is nearly always, nothing is done.
"""

import builtins
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, all_suffixes
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from beaker.runtime.remapping import interpreter_directories, loaded_from

PREFIX = "project__"
"""What stands before the name of a project's module in `sys.modules`, where the name itself is taken."""

_OURS = frozenset({
    "anyio", "attr", "attrs", "beaker", "cattr", "cattrs", "certifi", "h11", "httpcore", "httpx", "idna", "msgspec",
    "pydantic", "pydantic_core", "returns", "typing_extensions", "yaml", "_yaml",
})  # fmt: skip

_INTERPRETERS = frozenset({
    *sys.builtin_module_names, "abc", "codecs", "encodings", "genericpath", "importlib", "io", "ntpath", "os",
    "posixpath", "site", "sitecustomize", "stat", "usercustomize", "zipimport",
})  # fmt: skip
"""What every interpreter has before a project's folder is on its path: nobody can take these names."""

_ACTS = frozenset({"antigravity", "this"})
"""Modules that do something as they are imported, and that nobody else imports."""


def keep_apart(root: Path, entry: str) -> frozenset[str]:
    """Keep the modules directly in `root`, the folder that goes on `sys.path`, apart from those of the same name.

    `entry` is the first part of the name of the Integration's own module, which takes the place of any other in
    `sys.modules`; who else asks for that name gets what was there before. To be called before `root` is on the path.
    The names that are shared, but for that one.
    """
    beside = set(_modules_in(root)) - _INTERPRETERS - _ACTS - {"beaker"}
    known = sys.stdlib_module_names | _OURS
    # Loaded now, while their names mean theirs: whoever imports them later finds them.
    families = {name: _family(name, root) for name in beside if name in known}
    shared = {name for name, family in families.items() if family}
    if not shared:
        return frozenset()
    replaced = families.get(entry, {})
    for name in replaced:
        del sys.modules[name]
    shared.discard(entry)
    sys.meta_path.insert(0, _Finder(root, shared))
    builtins.__import__ = _Import(root, shared, replaced, builtins.__import__)
    return frozenset(shared)


def _modules_in(root: Path) -> Iterable[str]:
    """The names of modules and packages directly in a folder; a namespace takes no name that is taken."""
    try:
        entries = list(os.scandir(root))
    except OSError:
        return
    for entry in entries:
        suffix = next((one for one in all_suffixes() if entry.name.endswith(one)), None)
        name = entry.name if suffix is None else entry.name[: -len(suffix)]
        if name.isidentifier() and (suffix is not None or os.path.isfile(os.path.join(entry.path, "__init__.py"))):
            yield name


def _family(name: str, root: Path) -> dict[str, ModuleType]:
    """A module that is not the project's, loaded now at the latest, and what is loaded below it; empty for none."""
    try:
        found = import_module(name)
    except ImportError:  # of the standard library, and this system lacks it
        return {}
    if any(place.startswith(str(root) + os.sep) for place in loaded_from(found)):
        return {}  # an installation for editing has loaded the project's own
    return {one: module for one, module in sys.modules.items() if one == name or one.startswith(f"{name}.")}


class _Finder:
    """Finds the project's modules under the names that they have in `sys.modules`."""

    def __init__(self, root: Path, shared: Collection[str]) -> None:
        self._root = str(root)
        self._shared = shared

    def find_spec(self, fullname: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module of that name in the root; `None` for any other."""
        name = fullname.removeprefix(PREFIX)
        if name == fullname or name not in self._shared:
            return None
        found = PathFinder.find_spec(name, [self._root])
        if found is None or found.origin is None:
            return None
        return spec_from_file_location(
            fullname, found.origin, submodule_search_locations=found.submodule_search_locations
        )


class _Import:
    """Stands for `__import__`: the project's modules are given the project's."""

    def __init__(self, root: Path, shared: Collection[str], replaced: Mapping[str, ModuleType], original: Any) -> None:
        self._root = str(root) + os.sep
        self._kept = tuple(f"{folder}{os.sep}" for folder in interpreter_directories(os.path.realpath(root)))
        self._shared = shared
        self._replaced = replaced
        self._original = original

    def __call__(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        first = name.partition(".")[0]
        if level == 0 and (first in self._shared or first in self._replaced):
            known = globals or {}
            is_projects = self._is_projects(known)
            # A module, other than a package, that imports its own name means the other one.
            is_itself = known.get("__name__") == f"{PREFIX}{first}" and "__path__" not in known
            if first in self._shared and is_projects and not is_itself:
                return self._original(f"{PREFIX}{name}", globals, locals, fromlist, 0)
            if not is_projects and name in self._replaced:
                return self._replaced[name if fromlist else first]
        return self._original(name, globals, locals, fromlist, level)

    def _is_projects(self, globals: Mapping[str, object]) -> bool:
        """Whether the importing module lies below the root, and not in an environment there."""
        file = globals.get("__file__")
        return isinstance(file, str) and file.startswith(self._root) and not file.startswith(self._kept)
