"""The interpreter that a run's worker uses: the one of its first attempt, else the one that is found now."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Result

from beaker.core.interpreters import PYTHON_VARIABLE
from beaker.core.problems import Problem
from beaker.files.interpreters import PythonSearch
from beaker.runtime.interpreters import ProjectPython, use_project_python
from beaker.runtime.supervisor import Supervisor

FILE = "python"
"""In a run's folder: the interpreter of its attempts, so that one resumed elsewhere does not change it."""


async def attempt_python(
    folder: Path,
    checkout: Path | None,
    source_dir: str,
    supervisor: Supervisor,
    *,
    environ: Mapping[str, str],
    env: Mapping[str, str],
) -> Result[ProjectPython, Problem]:
    """Have the children of `supervisor` started with the run's interpreter, and keep which in the run's `folder`.

    `checkout` is the user's working copy, in which it is looked for, if there is one; `environ` is the worker's own
    environment and `env` that of the children. The problem when this machine has none that can run them.
    """
    kept = _kept(folder / FILE)
    known = environ if kept is None else {**environ, PYTHON_VARIABLE: kept}
    search = None
    if checkout is not None:
        search = PythonSearch(
            given=None, environ=known, cwd=checkout, project=(checkout / source_dir).resolve(), repository=checkout
        )
    found = await use_project_python(supervisor, search, env=env)
    if is_successful(found):
        with suppress(OSError):  # the next attempt looks again
            (folder / FILE).write_text(found.unwrap().program, encoding="utf-8", errors="surrogateescape")
    return found


def _kept(file: Path) -> str | None:
    """The interpreter of an earlier attempt, unless it is gone."""
    try:
        program = file.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
    return program if program and os.access(program, os.X_OK) else None
