"""Finding the Integration that a test means: by the file of its module, by its entry point, or by its id."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path

from returns.pipeline import is_successful

from beaker import sdk
from beaker.core.config_entry import IntegrationEntry
from beaker.files.entrypoints import locate_file, locate_target, module_file
from beaker.runtime.discovery import integrations_of
from beaker.sdk import loading
from beaker.sdk.integration import Integration
from beaker.testing.configured import Configured, configured, import_root_of

_FILE = re.compile(r"(?P<path>.*\.py)(:(?P<attribute>[^:/\\]+))?\Z")


def load_integration(target: str | os.PathLike[str], *, root: str | os.PathLike[str] | None = None) -> Integration:
    """Import and validate the Integration that `target` names.

    `target` is the path of a `.py` file, such a path and `:attribute`, or an entry point `module:attribute`. A module
    with one Integration needs no attribute. Paths count from `root` (the working directory), as does the project whose
    `.beaker/beaker.yaml` may say which folder the module is imported from; else that is the project's `.beaker` or
    `src` folder, or the project itself. The folder goes on `sys.path` and stays there, and the module in `sys.modules`:
    every test of a process shares it, as with any import.

    An entry point or a file with an attribute may also name a factory of the Spec generation, decorated or configured
    as a Spec: the Integration is made of it.

    Raises `FileNotFoundError` when there is no such file; `ImportError` when another module of that name is imported
    already or hides it; `ValueError` and `TypeError` as `beaker.load_integration`, also when several Integrations
    leave open which one is meant; and whatever importing the module raises, unchanged.
    """
    text = os.fspath(target)
    base = Path.cwd() if root is None else Path(os.path.abspath(root))
    if found := _FILE.match(text):
        return _from_file(base / found["path"], found["attribute"])
    return _from_entrypoint(text, base)


def load_entry(project: Configured, entry: IntegrationEntry) -> Integration:
    """Import the Integration of a configured entry; raises as `load_integration`."""
    module, _, attribute = entry.entrypoint.partition(":")
    import_root = import_root_of(project, entry)
    file = None if import_root is None else module_file(import_root, module)
    if import_root is None or file is None:
        # Installed, or on sys.path already.
        return loading.load_entry(entry.entrypoint, is_spec=entry.kind == "spec")
    return _imported(module, attribute, import_root, file, is_spec=entry.kind == "spec")


def _from_file(path: Path, attribute: str | None) -> Integration:
    file = Path(os.path.normpath(path))
    if not file.is_file():
        raise FileNotFoundError(f"no such file: {file}")
    import_root, module = _home(configured(file.parent), file)
    if attribute is None:
        _on_path(import_root)
        names = integrations_of(import_module(module))
        _same(module, file)
        if len(names) != 1:
            found = f"several: {', '.join(names)}; name one as {file.name}:NAME" if names else "none"
            raise ValueError(f"{file} should hold one Integration; it holds {found}")
        attribute = names[0]
    return _imported(module, attribute, import_root, file)


def _from_entrypoint(text: str, base: Path) -> Integration:
    project = configured(base)
    for entry in project.entries:
        if entry.entrypoint == text:
            return load_entry(project, entry)
    located = locate_target(text, project.root)
    if not is_successful(located):
        return sdk.load_integration(text)  # installed, or on sys.path already; or no entry point at all, as it says
    there = located.unwrap()
    return _imported(there.module, there.attribute or "", there.import_root, there.file)


def _home(project: Configured, file: Path) -> tuple[Path, str]:
    """The folder that `file` is imported from and its module: as the configuration says, else by its place."""
    for entry in project.entries:
        module, import_root = entry.entrypoint.partition(":")[0], import_root_of(project, entry)
        found = None if import_root is None else module_file(import_root, module)
        if import_root is not None and found is not None and found.samefile(file):
            return import_root, module
    located = locate_file(str(file), project.root)
    if not is_successful(located):
        problem = located.failure()
        raise ValueError(f"{problem.message}; {problem.hint}")
    return located.unwrap().import_root, located.unwrap().module


def _imported(module: str, attribute: str, import_root: Path, file: Path, *, is_spec: bool = False) -> Integration:
    _on_path(import_root)
    if module in sys.modules:
        _same(module, file)
    found = loading.load_entry(f"{module}:{attribute}", is_spec=is_spec)
    _same(module, file)
    return found


def _on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _same(module: str, file: Path) -> None:
    """Another file's module of that name would be tested instead, and nobody would see it."""
    found = getattr(sys.modules[module], "__file__", None)
    if found is None or not Path(found).samefile(file):
        raise ImportError(f"{module} should come from {file}; this process has it from {found or 'elsewhere'}")
