"""Rows of a dataset, judged by the Integration that is to read them, in a process of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problems
from beaker.files.interpreters import PythonSearch
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.interpreters import ProjectPython, use_project_python
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker, WorkerFailed


async def judge_rows(
    code: CodeRoot,
    dataset_dir: Path,
    *,
    env: Mapping[str, str],
    timeouts: Timeouts,
    redact: Callable[[str], str],
    python: PythonSearch | None = None,
    told: Callable[[ProjectPython], None] = lambda python: None,
) -> Result[dict[str, int], Problems]:
    """The number of rows per split when the Integration of `code` can read all of them.

    Else every bad row of both files (`file:line`, field), up to 50, the rest counted; or what hindered the Integration
    from being imported in time. `env` is the environment of its process, `redact` hides values of secrets.
    `python` says where its interpreter is looked for, and `told` is told which it is.
    """
    async with Supervisor(redact=redact, warned=lambda problem: None) as supervisor:
        supervisor.become_subreaper()
        chosen = await use_project_python(supervisor, python, env=env)
        if not is_successful(chosen):
            return Failure((chosen.failure(),))
        told(chosen.unwrap())
        try:
            setup = await SetupWorker.start(supervisor, code, env=env, timeouts=timeouts)
            try:
                return Success(await setup.check_rows(dataset_dir))
            finally:
                await setup.kill()
        except WorkerFailed as failed:
            return Failure(failed.problems)
