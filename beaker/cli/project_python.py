"""The interpreter of a project's code, as commands look for it: `--python`, then what lies around the project."""

import argparse
from typing import TYPE_CHECKING

from beaker.cli.shell import Io, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from beaker.files.interpreters import PythonSearch
    from beaker.files.project import Project
    from beaker.runtime.interpreters import ProjectPython
    from beaker.runtime.supervisor import Supervisor
    from beaker.service.local_workers import LocalWorkers


def python_search(arguments: argparse.Namespace, io: Io, project: "Path", repository: "Path | None") -> "PythonSearch":
    """Where to look, for the project in a folder and the repository around it, if there is one."""
    from beaker.files.interpreters import PythonSearch

    return PythonSearch(
        given=getattr(arguments, "python", None),
        environ=io.environ,
        cwd=io.cwd,
        project=project.resolve(),
        repository=(project if repository is None else repository).resolve(),
    )


async def use_python(
    supervisor: "Supervisor",
    arguments: argparse.Namespace,
    io: Io,
    *,
    project: "Path",
    repository: "Path | None",
    env: "Mapping[str, str]",
) -> "ProjectPython":
    """Have the children of `supervisor` started with the project's interpreter, and tell which it is; `Refused` when it
    cannot run them. `env` is their environment."""
    from beaker.cli.place import answered
    from beaker.runtime.interpreters import use_project_python

    search = python_search(arguments, io, project, repository)
    python = answered(await use_project_python(supervisor, search, env=env))
    tell_python(python, io)
    return python


def settle_workers_python(
    arguments: argparse.Namespace, io: Io, project: "Project | None", workers: "LocalWorkers"
) -> None:
    """Choose the interpreter that the workers of runs on this machine are to use; `Refused` when the project's cannot
    run its code."""
    from beaker.cli.signals import run_async
    from beaker.core.environment import base_environment
    from beaker.runtime.supervisor import Supervisor

    if project is None:
        return

    async def settled() -> str:
        async with Supervisor() as supervisor:
            env = base_environment(io.environ)
            root, repository = project.root, project.git_root
            found = await use_python(supervisor, arguments, io, project=root, repository=repository, env=env)
            return found.program

    workers.use_python(run_async(settled()))


def tell_python(python: "ProjectPython", io: Io) -> None:
    """Say which interpreter runs the project's code, where it is not the one that runs this."""
    if not python.is_own:
        io.note(f"  {one_line(python.described)}")
