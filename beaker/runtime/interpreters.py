"""The interpreter of a project's code: found, asked what it is, and given to a supervisor for its children."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker import __version__
from beaker.core.environment import base_environment
from beaker.core.interpreters import (
    SOURCES,
    ChosenPython,
    FoundPython,
    OwnPython,
    ProbedPython,
    PythonSource,
    choose_python,
    described_python,
    judge_python,
)
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.files.interpreters import (
    PythonSearch,
    look_for_pythons,
    manager_of,
    owned_environment,
    python_project,
)
from beaker.files.pyproject import PythonProject
from beaker.runtime.supervisor import Completed, Supervisor

NEEDED = {"attr": "attrs", "cattrs": "cattrs", "httpx": "httpx", "yaml": "PyYAML", "returns": "returns"}
"""Modules that a child imports, with the distributions that they come with."""

PROBE_SECONDS = 30.0
"""Seconds that an interpreter gets to say what it is; it reads what is installed, which a cold disk makes slow."""

POETRY_SECONDS = 15.0

_PROBE = Path(__file__).with_name("interpreter_probe.py")


@value(kw_only=True)
class ProjectPython:
    """The interpreter that runs a project's code: its program, its version (`3.12.4`), where it was found, whether it
    is the one that runs this, and all that in words."""

    program: str
    version: str
    source: PythonSource
    is_own: bool
    described: str


def own_python() -> OwnPython:
    """The interpreter that runs this."""
    version = (sys.version_info[0], sys.version_info[1], sys.version_info[2])
    prefix = os.path.realpath(sys.prefix)
    return OwnPython(program=sys.executable, prefix=prefix, version=version, release=__version__)


async def use_project_python(
    supervisor: Supervisor, search: PythonSearch | None, *, env: Mapping[str, str]
) -> Result[ProjectPython, Problem]:
    """Choose the interpreter of a project, and have every child of `supervisor` that runs the project's code use it.

    `env` is the environment of those children; without a `search` it is Beaker's own interpreter. BK306 to BK309 when
    the project's interpreter cannot be used, BK312 when it does not say what it is in `PROBE_SECONDS`. Beaker's own is
    not asked.
    """
    own = own_python()
    if search is None:
        return Success(_told(ChosenPython(program=own.program, source="beaker", is_own=True), own.version))
    project = python_project(search)
    manager = manager_of(project)
    found = look_for_pythons(search, project)
    if not found and project is not None and manager == "poetry":
        found = await _poetry(supervisor, search, project)
    chosen = choose_python(found, own, manager=manager)
    if not is_successful(chosen):
        return Failure(chosen.failure())
    python = chosen.unwrap()
    version = own.version
    if not python.is_own:
        probed = await _probed(supervisor, python, search.repository, env)
        if not is_successful(probed):
            return Failure(probed.failure())
        refusal = judge_python(python, probed.unwrap(), own, manager=manager)
        if refusal is not None:
            return Failure(refusal)
        version = probed.unwrap().version
    supervisor.python = python.program
    return Success(_told(python, version))


def _told(python: ChosenPython, version: tuple[int, int, int]) -> ProjectPython:
    return ProjectPython(
        program=python.program,
        version=".".join(map(str, version)),
        source=python.source,
        is_own=python.is_own,
        described=described_python(version, python.program, python.source),
    )


async def _probed(
    supervisor: Supervisor, python: ChosenPython, folder: Path, env: Mapping[str, str]
) -> Result[ProbedPython, Problem]:
    """What the interpreter says of itself, started as the project's children will be."""
    text = _PROBE.read_text(encoding="utf-8")
    done = await supervisor.run_command(
        [python.program, "-c", text, ",".join(NEEDED)], cwd=folder, env=env, timeout=PROBE_SECONDS
    )
    try:
        told = json.loads(done.stdout.strip().splitlines()[-1])
        first, second, third = map(int, told["version"])
        release = None if told["release"] is None else str(told["release"])
        missing = tuple(NEEDED[name] for name in told["missing"])
    except (ValueError, LookupError, TypeError):
        return Failure(_silent(python, done))
    return Success(ProbedPython(version=(first, second, third), release=release, missing=missing))


def _silent(python: ChosenPython, done: Completed) -> Problem:
    where = f"{python.program} ({SOURCES[python.source]})"
    if done.timed_out:
        message = f"it did not say what it is within {PROBE_SECONDS:g} s"
    else:
        last = done.stderr.strip().splitlines()[-1:] or [f"its exit status is {done.returncode}"]
        message = f"it does not work as a Python: {last[0]}"
    return Problem("BK312", message, where, "make the environment anew, or name another interpreter with --python")


async def _poetry(supervisor: Supervisor, search: PythonSearch, project: PythonProject) -> tuple[FoundPython, ...]:
    """The environment that Poetry keeps for a project, where there are both."""
    program = shutil.which("poetry", path=search.environ.get("PATH", os.defpath))
    if program is None or not os.path.isabs(program):
        return ()
    passed = [name for name in search.environ if name.startswith(("POETRY_", "XDG_"))]
    env = base_environment(search.environ, passed)
    done = await supervisor.run_command([program, "env", "info", "--path"], cwd=project.root, env=env,
                                        timeout=POETRY_SECONDS)  # fmt: skip
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines or not os.path.isdir(lines[-1]):
        return ()
    return (owned_environment("poetry", Path(lines[-1]), search.repository),)
