"""Importing an Integration inside a child: from this checkout and no other, whatever its module does meanwhile."""

import os
import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

import beaker
from beaker.core.problems import Problem
from beaker.core.targets import declaration_json
from beaker.runtime.code_root import CodeRoot, import_root
from beaker.runtime.failures import StageFailed, StageProblem, stage_problem, traced
from beaker.runtime.installed_copies import InstalledCopies, InstalledCopy, advice, told
from beaker.runtime.namesakes import keep_apart
from beaker.runtime.remapping import Checkouts, ForeignModules, remap_interpreter
from beaker.sdk.integration import Integration
from beaker.sdk.loading import load_entry
from beaker.sdk.validation import InvalidIntegration

STAGE = "import"

_SEARCHED_LEVELS, _SEARCHED_FOLDERS = 4, 200
"""How far a module that is not where it should be is looked for: levels of folders, and folders of one level."""


class Imported:
    """An imported Integration and the watch over where its modules come from."""

    def __init__(
        self, code: CodeRoot, integration: Integration, foreign: ForeignModules, copies: InstalledCopies
    ) -> None:
        self.integration = integration
        self._code = code
        self._foreign = foreign
        self._problem: StageProblem | None = None
        self._copies = copies
        self._copied: list[InstalledCopy] = []

    def described(self) -> dict[str, Any]:
        """What the host is told about it."""
        return {
            "targets": declaration_json(self.integration.targets),
            "has_open_candidate": self.integration.open_candidate is not None,
            "python": f"{sys.version.split()[0]} ({sys.executable})",
        }

    def foreign_problem(self) -> StageProblem | None:
        """The problem of modules loaded from another checkout, or `None`.

        Once there is one, it stays: who loaded them cannot be told, and everybody may use them.
        """
        self._problem = self._problem or _foreign_problem(self._foreign)
        return self._problem

    def copy_problem(self) -> StageProblem | None:
        """The problem of modules of a repository target that were loaded from an installed copy, or `None`.

        Once there is one, it stays, as the other does.
        """
        self._copied += self._copies.found()
        if not self._copied:
            return None
        hint = advice(min(self._copied), self._code.source_dir)
        return StageProblem("BK305", told(self._copied), hint=hint, stage=STAGE)


def import_integration(code: CodeRoot) -> Imported:
    """Import and validate the Integration of `code`; `StageFailed` when that fails in whatever way."""
    root = import_root(code)
    if not is_successful(root):
        raise StageFailed(_from_problem(root.failure()))
    package = code.entrypoint.partition(":")[0].partition(".")[0]
    if package == beaker.__name__:
        message = f"the entry point {code.entrypoint!r} is called like Beaker's own package"
        raise StageFailed(StageProblem("BK303", message, stage=STAGE, hint="rename the customer's package"))
    load_own_names()
    checkouts = Checkouts(code.repository, code.original)
    remap_interpreter(checkouts)
    apart = keep_apart(root.unwrap(), package)
    sys.path.insert(0, str(root.unwrap()))
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        # A project may name its module like one of the standard library that happens to be loaded.
        del sys.modules[name]
    foreign = ForeignModules(checkouts)
    try:
        integration = load_entry(code.entrypoint, is_spec=code.kind == "spec")
    except InvalidIntegration as error:
        raise StageFailed([_declaration_fault(problem, traced(error)) for problem in error.problems]) from None
    except BaseException as error:
        raise StageFailed(_import_problem(code, error, root.unwrap(), checkouts), error) from None
    if (problem := _foreign_problem(foreign)) is not None:
        raise StageFailed(problem)
    copies = InstalledCopies(code, root.unwrap(), integration.targets, apart=apart)
    imported = Imported(code, integration, foreign, copies)
    if (problem := imported.copy_problem()) is not None:
        raise StageFailed(problem)
    return imported


def _import_problem(code: CodeRoot, error: BaseException, root: Path, checkouts: Checkouts) -> StageProblem:
    module, _, attribute = code.entrypoint.partition(":")
    place, hint = "", "it was raised while the module was imported; importing it in a test shows the same"
    if isinstance(error, ModuleNotFoundError) and error.name:
        is_own = 'File "' not in traced(error)  # nothing of the customer's was imported yet
        place = "entrypoint" if is_own else ""
        hint = _left_out_hint(error.name, checkouts) or _missing_hint(code, error.name, root, is_own=is_own)
    elif isinstance(error, SystemExit):
        in_factory = code.kind == "spec" and attribute.rpartition(".")[2] in traced(error)
        ending = "a factory" if in_factory else "code at module level"
        hint = f"{ending} must not end the process; guard what does with `if __name__ == '__main__':`"
    elif isinstance(error, SyntaxError):
        hint = f"Python {sys.version.split()[0]} cannot read it; correct the line, or use the Python it was written for"
    elif (imported := sys.modules.get(module)) is not None and _is_from_beaker(error):
        place = str(getattr(imported, "__file__", None) or module)
        names = [name for name, found in vars(imported).items() if isinstance(found, Integration)]
        hint = f"an entry point names the module's Integration: `{module}:{names[0] if names else attribute}`"
        if code.kind == "spec":
            hint = f"it names a function that builds a Spec; load_spec_from_target({code.entrypoint!r}) shows the same"
    made = stage_problem("BK302", STAGE, error, doing=f"cannot import {code.entrypoint}", hint=hint)
    return made if not place else StageProblem(made.code, made.message, place, hint, STAGE, made.traceback)


def _is_from_beaker(error: BaseException) -> bool:
    """Whether it was not the customer's code that raised, but Beaker about what stands there."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    file = "" if frame is None else frame.tb_frame.f_code.co_filename
    return file == load_entry.__code__.co_filename or os.path.basename(os.path.dirname(file)) == "spec04"


def _left_out_hint(module: str, checkouts: Checkouts) -> str:
    """What to do about a module that the user's own checkout has and the commit has not; empty for any other."""
    for folder in (checkouts.left(entry) for entry in sys.path):
        stem = None if folder is None else os.path.join(folder, *module.split("."))
        for place in () if stem is None else (f"{stem}{suffix}" for suffix in ("/__init__.py", *all_suffixes())):
            if os.path.isfile(place):
                lies = f"{place} is in your checkout, but not in the commit that runs"
                return f"{lies}; commit it, or if it is built, install the package as such instead of for editing"
    return ""


def _missing_hint(code: CodeRoot, module: str, root: Path, *, is_own: bool) -> str:
    """Where a module was looked for, where it lies instead, and for the entry point's own which setting finds it."""
    repository = Path(os.path.realpath(code.repository))
    settings = f"source_dir: {code.source_dir}"
    if code.package_import_root is not None:
        settings += f", package_import_root: {code.package_import_root}"
    searched = f"the import root is {_named(root, repository)} ({settings})"
    package = module.partition(".")[0]
    found = next(_folders_with(package, repository), None)
    if found is None or found == root:
        install = _install_hint(module, source=root, repository=repository)
        return f"{install}; if it is your own, is it committed? {searched}"
    lies = f"{package} lies in {_named(found, repository)}, but {searched}"
    source = Path(os.path.realpath(repository / code.source_dir))
    if not is_own:
        setting = f"source_dir: {found.relative_to(repository)}"
        if found.is_relative_to(source):
            setting = f"package_import_root: {found.relative_to(source)}"
        there = f"put the Integration into {_named(found, repository)} and set {setting}"
        return f"{lies}; {there}, or install its package for editing (`pip install -e .`)"
    if found != source and found.is_relative_to(source) and not (found / ".beaker").is_dir():
        return f"{lies}; set package_import_root: {found.relative_to(source)}"
    also = " and leave package_import_root out" if code.package_import_root is not None else ""
    return f"{lies}; set source_dir: {found.relative_to(repository)}{also}"


def _install_hint(module: str, *, source: Path, repository: Path) -> str:
    """How to install what a module comes with, by the tool with which the project's environment is made."""
    # A process that gets here ends, so nothing is imported from beside the Integration any more.
    sys.path[:] = [entry for entry in sys.path if entry != str(source)]
    from beaker.core.dependencies import declares
    from beaker.core.interpreters import distribution_of, missing_module_hint
    from beaker.files.pyproject import find_python_project

    project = find_python_project(source, stop=repository).value_or(None)
    manager = "pip" if project is None else project.manager
    declared = project is not None and declares(project.metadata.pyproject, distribution_of(module))
    return missing_module_hint(manager, sys.executable, module, declared=declared)


def _folders_with(package: str, repository: Path) -> Iterator[Path]:
    """Folders of the checkout that hold a module or package of that name, the shallow ones first."""
    level = [repository]
    for _ in range(_SEARCHED_LEVELS):
        for folder in level:
            if (folder / f"{package}.py").is_file() or (folder / package / "__init__.py").is_file():
                yield folder
        level = [below for folder in level for below in _subfolders(folder)][:_SEARCHED_FOLDERS]


def _subfolders(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    kept = (one for one in entries if not one.name.startswith((".", "__")) and not (one / "pyvenv.cfg").exists())
    return [one for one in kept if one.is_dir() and not one.is_symlink()]


def _named(folder: Path, repository: Path) -> str:
    return f"{folder.relative_to(repository)}/" if folder != repository else "the repository's root"


def _foreign_problem(foreign: ForeignModules) -> StageProblem | None:
    found = sorted(foreign.found())
    if not found:
        return None
    listed = ", ".join(f"{name} ({path})" for name, path in found[:5])
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return StageProblem(
        "BK304",
        f"modules were loaded from another checkout of the repository: {listed}{more}",
        hint="import them by name; paths that the code adds to sys.path must be computed from __file__",
        stage=STAGE,
    )


def _from_problem(problem: Problem) -> StageProblem:
    return StageProblem(problem.code, problem.message, problem.where, problem.hint, STAGE)


def _declaration_fault(fault: Problem, traceback: str) -> StageProblem:
    hint = fault.hint or "correct it where the Integration is made; importing the module in a test shows the same"
    return StageProblem(fault.code, fault.message, fault.where, hint, STAGE, traceback)


def load_own_names() -> None:
    """Customers' files may be called like modules that Beaker imports late: those are loaded before the files count."""
    for name in beaker.__all__:
        getattr(beaker, name)
