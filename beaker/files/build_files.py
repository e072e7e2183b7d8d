"""What a hosted build would refuse of an entry, as far as files of the checkout tell: its extra project, its Python.

A run on this machine builds nothing; the rules are the same everywhere, so that a configuration means one thing.
"""

from pathlib import Path, PurePosixPath

import attrs
from returns.pipeline import is_successful

from beaker.core.config_entry import IntegrationEntry
from beaker.core.problems import Problem, Problems
from beaker.core.python_version import choose_hosted_python
from beaker.files.pyproject import PYPROJECT, read_python_project

CODE = "BK143"
"""The code of a `pip_install_from` that a build could not take."""


def judge_build(git_root: Path, entry: IntegrationEntry) -> Problems:
    """Why a hosted build of `entry` would be refused; `where` is the path of the key in the file, or the project's
    metadata. `entry` has no problems of its own.

    BK143 for `pip_install_from`; BK140, BK141 and BK142 as from `choose_hosted_python`, for the projects of
    `source_dir` and of `pip_install_from`.
    """
    root = git_root.resolve()
    projects = [root / entry.source_dir]
    faults: list[Problem] = []
    if entry.pip_install_from is not None:
        message = _install_fault(root, entry)
        if message is None:
            projects.append((root / entry.pip_install_from).parent)
        else:
            hint = f"name a {PYPROJECT} inside source_dir, counted from the Git root"
            said = f"{entry.pip_install_from!r} {message}"
            faults.append(Problem(CODE, said, f"{entry.place}.pip_install_from", hint))
    read = [read_python_project(folder).metadata for folder in dict.fromkeys(projects) if _has_metadata(folder)]
    named = [attrs.evolve(one, file=_shown(root, one.file)) for one in read]  # type: ignore[misc]  # a value is an attrs class
    chosen = choose_hosted_python(entry.environment_base, named)
    if not is_successful(chosen):
        fault: Problem = chosen.failure()
        where = f"{entry.place}.environment_base" if fault.where == "environment_base" else fault.where
        faults.append(Problem(fault.code, fault.message, where, fault.hint))
    return tuple(faults)


def _install_fault(root: Path, entry: IntegrationEntry) -> str | None:
    written = PurePosixPath(entry.pip_install_from or ".")
    if not written.is_relative_to(entry.source_dir):
        return f"lies outside source_dir ({entry.source_dir})"
    file = (root / written).resolve()
    if not file.is_relative_to(root):
        return f"leads out of {root}"
    return None if file.is_file() else "is no file"


def _has_metadata(folder: Path) -> bool:
    return (folder / PYPROJECT).is_file() or (folder / "setup.cfg").is_file()


def _shown(root: Path, file: str) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file
