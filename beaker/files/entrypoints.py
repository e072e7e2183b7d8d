"""Where the module of an Integration lies: from a file or an entrypoint to the folder it is imported from."""

import os
from keyword import iskeyword
from pathlib import Path

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.project_layout import BEAKER_DIR, parse_entrypoint
from beaker.core.values import value
from beaker.files.pyproject import PYPROJECT

IMPORT_FOLDERS = (BEAKER_DIR, "src")
"""Folders of a project that modules are imported from, beside the project itself."""


@value
class ModuleFile:
    """A module: its file, the folder it is imported from, its dotted name, and the project that it belongs to.

    `attribute` is what it is known to call its Integration, `None` when that is open.
    """

    file: Path
    import_root: Path
    module: str
    project: Path
    attribute: str | None = None


def locate_target(target: str, root: Path) -> Result[ModuleFile, Problem]:
    """The module that `target` means in the project `root`: the path of a `.py` file, which need not exist, or
    `module.path:attribute`, whose file must. BK124 for anything else, and for what lies outside the project.
    """
    if target.strip().endswith(".py"):
        return locate_file(target.strip(), root)
    hint = "give the path of a .py file of the project, or module.path:attribute"
    try:
        entrypoint = parse_entrypoint(target)
    except ValueError as error:
        return Failure(Problem("BK124", f"the target {error}", "--target", hint))
    found = {
        file: folder
        for folder in (*(root / name for name in IMPORT_FOLDERS), root)
        if (file := module_file(folder, entrypoint.module)) is not None
    }
    if len(found) == 1:
        file, folder = next(iter(found.items()))
        return Success(ModuleFile(file, folder, entrypoint.module, root, entrypoint.attribute))
    if found:
        listed = ", ".join(sorted(str(file.relative_to(root)) for file in found))
        hint = "give the path of the file that is meant"
        return Failure(Problem("BK124", f"{entrypoint.module} is several files: {listed}", "--target", hint))
    looked = ", ".join((*IMPORT_FOLDERS, "."))
    return Failure(Problem("BK124", f"no file is the module {entrypoint.module} ({looked})", "--target", hint))


def locate_file(path: str, root: Path) -> Result[ModuleFile, Problem]:
    """The module that a `.py` file of the project `root` is, `path` being absolute or counted from `root`."""
    file = Path(os.path.normpath(root / path))
    if not file.is_relative_to(root) or not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
        return Failure(Problem("BK124", f"{path} lies outside the project {root}", "--target", "move it inside"))
    project = next(one for one in file.parents if one == root or (one / PYPROJECT).is_file())
    import_root = next((folder for name in IMPORT_FOLDERS if file.is_relative_to(folder := project / name)), project)
    parts = file.relative_to(import_root).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    if not all(part.isidentifier() and not iskeyword(part) for part in parts):
        message = f"{path} cannot be imported: {'.'.join(parts)} is no module name"
        return Failure(
            Problem("BK124", message, "--target", "name files and folders as Python identifiers, not as its keywords")
        )
    return Success(ModuleFile(file, import_root, ".".join(parts), project))


def module_file(import_root: Path, module: str) -> Path | None:
    """The file of a module below the folder it is imported from, `None` when there is none."""
    base = import_root.joinpath(*module.split("."))
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)
