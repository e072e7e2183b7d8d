"""What `pyproject.toml`, `setup.cfg` and lock files say of a project: its name, its Python, its package manager."""

import configparser
import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from returns.result import Failure, Result, Success

from beaker.core.dependencies import declared
from beaker.core.problems import Problem
from beaker.core.python_version import ProjectMetadata
from beaker.core.values import value
from beaker.files.project import upwards
from beaker.files.reading import open_regular, read_regular

PYPROJECT = "pyproject.toml"


@value
class PythonProject:
    """A folder with a `pyproject.toml`; its name, and what it says about Python. Metadata that cannot be read says
    nothing."""

    root: Path
    name: str
    metadata: ProjectMetadata
    manager: Literal["uv", "poetry", "pip"]


def find_python_project(start: Path, *, stop: Path | None = None) -> Result[PythonProject, Problem]:
    """The nearest project at or above `start`, up to `stop`; BK122 when there is none."""
    folder = next((one for one in upwards(start, stop) if (one / PYPROJECT).is_file()), None)
    if folder is None:
        hint = f"make one there ({PYPROJECT} with [project], name and version), or name its folder with --dir"
        return Failure(Problem("BK122", f"no {PYPROJECT} here or in a folder above", str(start), hint))
    return Success(read_python_project(folder))


def read_python_project(folder: Path) -> PythonProject:
    """The project in `folder`, which has a `pyproject.toml`."""
    data = _toml(folder / PYPROJECT)
    poetry = _table(data, "tool", "poetry")
    named = (_table(data, "project").get("name"), poetry.get("name"))
    name = next((one.strip() for one in named if isinstance(one, str) and one.strip()), folder.name)
    manager: Literal["uv", "poetry", "pip"] = "pip"
    if (folder / "uv.lock").is_file() or "uv" in _table(data, "tool"):
        manager = "uv"
    elif (folder / "poetry.lock").is_file() or poetry:
        manager = "poetry"
    metadata = ProjectMetadata(str(folder / PYPROJECT), data or None, _python_requires(folder / "setup.cfg"))
    return PythonProject(folder, name, metadata, manager)


def project_in(folder: Path) -> Result[Path, Problem]:
    """`folder`, resolved, which must hold a `pyproject.toml` itself; BK122 otherwise."""
    if not (folder / PYPROJECT).is_file():
        hint = "name the folder of a Python project with --dir"
        return Failure(Problem("BK122", f"holds no {PYPROJECT}", str(folder), hint))
    return Success(folder.resolve())


def declared_distributions(folder: Path) -> frozenset[str]:
    """Every distribution that the `pyproject.toml` in `folder` names; none where it cannot be read."""
    return declared(_toml(folder / PYPROJECT))


def _toml(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            return tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def _python_requires(path: Path) -> str | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_regular(path).decode("utf-8"), os.fspath(path))
        return parser.get("options", "python_requires", fallback=None)
    except (configparser.Error, UnicodeDecodeError, OSError):
        return None


def _table(data: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
