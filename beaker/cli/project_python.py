"""Where a command looks for the interpreter of a project's code: `--python`, then what lies around the project."""

import argparse
from typing import TYPE_CHECKING

from beaker.cli.shell import Io

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.files.interpreters import PythonSearch


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
