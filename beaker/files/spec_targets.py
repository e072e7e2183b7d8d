"""Finding the factory of a Spec that a command line names: by `module:callable`, or by the file it stands in."""

import os
import warnings
from keyword import iskeyword
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.project_layout import normalize_repository_directory, parse_spec_target
from beaker.core.python_source import parse_module, spec_factories
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.reading import read_regular

_WHERE = "--target"
_SOURCE_FOLDER = "src"


@value
class SpecTarget:
    """`module:attribute` of a factory, and the folder it is imported from, counted from the source folder."""

    entrypoint: str
    package_import_root: str | None


def locate_spec(target: str, source: Path, package_import_root: str | None) -> Result[SpecTarget, Problem]:
    """The factory that `target` means: `module.path:callable`, or a `.py` file below the folder `source`.

    Modules are imported from `package_import_root`, counted from `source`; a file without one from `src` where it lies
    there. BK124 for what names no factory, BK128 for a file that decorates none, or several.
    """
    given = target.strip()
    if not given.endswith(".py"):
        try:
            found = parse_spec_target(given)
        except ValueError as error:
            hint = "give module.path:callable, or the path of a .py file below the source folder"
            return Failure(Problem("BK124", f"the target {error}", _WHERE, hint))
        return Success(SpecTarget(f"{found.module}:{found.attribute}", package_import_root))
    file = Path(os.path.normpath(source / given))
    if not file.is_file():
        hint = "paths count from the source folder (--source-dir, else the one of the configuration)"
        return Failure(Problem("BK124", f"there is no file {given} in {source}", _WHERE, hint))
    root = package_import_root
    if root is None and file.is_relative_to(source / _SOURCE_FOLDER):
        root = _SOURCE_FOLDER
    folder = source / normalize_repository_directory(root or ".")
    if not file.is_relative_to(folder):
        return Failure(Problem("BK124", f"{given} lies outside {folder}", _WHERE, "modules are imported from there"))
    parts = file.relative_to(folder).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
    if not all(part.isidentifier() and not iskeyword(part) for part in parts):
        message = f"{given} cannot be imported: {'.'.join(parts)} is no module name"
        return Failure(Problem("BK124", message, _WHERE, "name files and folders as Python identifiers"))
    names = factories_of(file)
    if not is_successful(names):
        return Failure(names.failure())
    if len(names.unwrap()) != 1:
        found_names = f"it has {', '.join(names.unwrap())}" if names.unwrap() else "it has none"
        hint = "decorate one with @spec(...), or name one as module.path:callable"
        message = f"exactly one factory that `spec` decorates is needed in the file; {found_names}"
        return Failure(Problem("BK128", message, str(file), hint))
    return Success(SpecTarget(f"{'.'.join(parts)}:{names.unwrap()[0]}", root))


def factories_of(file: Path) -> Result[tuple[str, ...], Problem]:
    """The factories that a module decorates, by qualified name, found without importing it; BK160 when it is no Python,
    BK701 when it cannot be read."""
    try:
        data = read_regular(file)
    except OSError as error:
        return Failure(os_problem(error, "read the module", file))
    return module_factories(data, str(file))


def module_factories(data: bytes, file: str) -> Result[tuple[str, ...], Problem]:
    """As `factories_of`, of a module's bytes."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Failure(Problem("BK160", "is not written in UTF-8", file, "save it as UTF-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes: whoever runs the module is told
        return parse_module(text, file).map(spec_factories)
