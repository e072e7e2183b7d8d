"""Importing an Integration inside a child: from this checkout and no other, whatever its module does meanwhile."""

import sys
from typing import Any

from returns.pipeline import is_successful

import beaker
from beaker.core.problems import Problem
from beaker.core.targets import declaration_json
from beaker.runtime.code_root import Checkouts, CodeRoot, import_root
from beaker.runtime.failures import StageFailed, StageProblem, stage_problem, traced
from beaker.runtime.remapping import ForeignModules, remap_interpreter
from beaker.sdk.integration import Integration
from beaker.sdk.loading import load_integration
from beaker.sdk.validation import InvalidIntegration

STAGE = "import"


class Imported:
    """An imported Integration and the watch over where its modules come from."""

    def __init__(self, integration: Integration, foreign: ForeignModules) -> None:
        self.integration = integration
        self._foreign = foreign

    def described(self) -> dict[str, Any]:
        """What the host is told about it."""
        return {
            "targets": declaration_json(self.integration.targets),
            "has_open_candidate": self.integration.open_candidate is not None,
            "python": f"{sys.version.split()[0]} ({sys.executable})",
        }

    def foreign_problem(self) -> StageProblem | None:
        """The problem of modules loaded from another checkout since the last look, or `None`."""
        return _foreign_problem(self._foreign)


def import_integration(code: CodeRoot) -> Imported:
    """Import and validate the Integration of `code`; `StageFailed` when that fails in whatever way."""
    root = import_root(code)
    if not is_successful(root):
        raise StageFailed(_from_problem(root.failure()))
    package = code.entrypoint.partition(":")[0].partition(".")[0]
    if package == beaker.__name__:
        message = f"the entry point {code.entrypoint!r} is called like Beaker's own package"
        raise StageFailed(StageProblem("BK303", message, stage=STAGE, hint="rename the customer's package"))
    _load_own_names()
    checkouts = Checkouts(code.repository, code.original)
    remap_interpreter(checkouts)
    sys.path.insert(0, str(root.unwrap()))
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        # A project may name its module like one of the standard library that happens to be loaded.
        del sys.modules[name]
    foreign = ForeignModules(checkouts)
    try:
        integration = load_integration(code.entrypoint)
    except InvalidIntegration as error:
        raise StageFailed([_from_problem(problem, traced(error)) for problem in error.problems]) from None
    except BaseException as error:
        raise StageFailed(_import_problem(code, error)) from None
    if (problem := _foreign_problem(foreign)) is not None:
        raise StageFailed(problem)
    return Imported(integration, foreign)


def _import_problem(code: CodeRoot, error: BaseException) -> StageProblem:
    hint = ""
    if isinstance(error, ModuleNotFoundError) and error.name:
        hint = f"is {error.name} installed for {sys.executable}, or committed below the import root?"
    elif isinstance(error, SystemExit):
        hint = "code at module level must not end the process; guard it with `if __name__ == '__main__':`"
    return stage_problem("BK302", STAGE, error, doing=f"cannot import {code.entrypoint}", hint=hint)


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


def _from_problem(problem: Problem, traceback: str = "") -> StageProblem:
    return StageProblem(problem.code, problem.message, problem.where, problem.hint, STAGE, traceback)


def _load_own_names() -> None:
    """Customers' files may be called like modules that Beaker imports late: those are loaded before the files count."""
    for name in beaker.__all__:
        getattr(beaker, name)
