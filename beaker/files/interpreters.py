"""Where the interpreter of a project may be: what the caller names, what is active, what lies in the project.

Nothing is started here but Git. An environment inside the repository counts only when it is the caller's own: not
committed, and belonging to the caller or to whom the repository belongs.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from beaker.core.interpreters import PYTHON_VARIABLE, FoundPython, Manager, PythonSource
from beaker.core.values import value
from beaker.files.git_process import git_output
from beaker.files.pyproject import PythonProject, find_python_project

_PROGRAMS = ("Scripts/python.exe", "python.exe") if sys.platform == "win32" else ("bin/python", "bin/python3")
_BASE_CONDA = ("base", "root")


@value(kw_only=True)
class PythonSearch:
    """Where to look: what `--python` says (`None`: nothing), the caller's environment and working directory, the
    folder of the project and the root of its repository."""

    given: str | None
    environ: Mapping[str, str]
    cwd: Path
    project: Path
    repository: Path


def python_project(search: PythonSearch) -> PythonProject | None:
    """The project whose metadata says with what its environment is made; `None` where there is no metadata."""
    return find_python_project(search.project, stop=search.repository).value_or(None)


def manager_of(project: PythonProject | None) -> Manager:
    """What makes the project's environment."""
    return "pip" if project is None else project.manager


def look_for_pythons(search: PythonSearch, project: PythonProject | None) -> tuple[FoundPython, ...]:
    """Every interpreter that was named or found, in the order of precedence."""
    return tuple(_found(search, project))


def environment_at(source: PythonSource, folder: Path) -> FoundPython:
    """The environment in a folder, whatever is in there."""
    program = next((folder / name for name in _PROGRAMS if _is_program(folder / name)), None)
    return FoundPython(
        source=source,
        place=str(folder),
        program=None if program is None else str(program),
        prefix=os.path.realpath(folder),
    )


def owned_environment(source: PythonSource, folder: Path, repository: Path) -> FoundPython:
    """The environment in a folder that nobody named; with a fault when it is not the caller's own."""
    found = environment_at(source, folder)
    fault = _fault(folder, None if found.program is None else Path(found.program), repository)
    return FoundPython(source=source, place=found.place, program=found.program, prefix=found.prefix, fault=fault)


def written_version(folder: Path) -> tuple[int, int, int] | None:
    """The Python that an environment says it was made of, without starting it; `None` where it does not say."""
    try:
        text = (folder / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^version(?:_info)?\s*=\s*(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", text, re.MULTILINE)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def _found(search: PythonSearch, project: PythonProject | None) -> Iterator[FoundPython]:
    for source, given in (("--python", search.given), (PYTHON_VARIABLE, search.environ.get(PYTHON_VARIABLE))):
        if given is not None and given.strip():
            yield _named(source, given.strip(), search)  # type: ignore[arg-type]  # the two are sources
    active, conda = (search.environ.get(name, "").strip() for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    if active:
        yield environment_at("VIRTUAL_ENV", search.cwd / active)
    if conda and search.environ.get("CONDA_DEFAULT_ENV") not in _BASE_CONDA:
        # The base environment is active in every shell of many, and nobody's choice for a project.
        yield environment_at("CONDA_PREFIX", search.cwd / conda)
    elsewhere = search.environ.get("UV_PROJECT_ENVIRONMENT", "").strip()
    if elsewhere and project is not None and project.manager == "uv":
        yield owned_environment("UV_PROJECT_ENVIRONMENT", project.root / elsewhere, search.repository)
    for folder in dict.fromkeys((search.project / ".venv", search.repository / ".venv")):
        if _was_set_up(folder):
            yield owned_environment(".venv", folder, search.repository)


def _was_set_up(folder: Path) -> bool:
    """Whether somebody made an environment here, be it broken by now: a link that leads nowhere counts, an empty folder
    or a file of that name does not."""
    if folder.is_symlink() and not folder.exists():
        return True
    marks = ("pyvenv.cfg", "conda-meta", *_PROGRAMS)
    return folder.is_dir() and any(os.path.lexists(folder / name) for name in marks)


def _named(source: PythonSource, given: str, search: PythonSearch) -> FoundPython:
    """What somebody named: a folder, a file, or a program that is looked for on PATH."""
    path = search.cwd / os.path.expanduser(given)
    if path.is_dir():
        return environment_at(source, path)
    if os.sep not in given:
        found = shutil.which(given, path=search.environ.get("PATH", os.defpath))
        return _program(source, given, None if found is None else Path(found))
    return _program(source, given, path if _is_program(path) else None)


def _program(source: PythonSource, given: str, program: Path | None) -> FoundPython:
    if program is None:
        return FoundPython(source=source, place=given)
    program = Path(os.path.abspath(program))  # its links say which environment it belongs to
    folder = program.parent.parent
    prefix = os.path.realpath(folder) if (folder / "pyvenv.cfg").is_file() else None
    return FoundPython(source=source, place=given, program=str(program), prefix=prefix)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _fault(folder: Path, program: Path | None, repository: Path) -> str:
    """Why an environment is not the caller's own, empty when it is."""
    if sys.platform == "win32":
        return ""
    trusted = {0, os.geteuid(), repository.stat().st_uid}
    for path in (folder, *(() if program is None else (program.parent, program))):
        looks = (path.lstat(), path.stat()) if path.exists() else (path.lstat(),)
        if any(known.st_uid not in trusted for known in looks):
            return f"{path} belongs to somebody else"
    listed = git_output(repository, "ls-files", "-z", "--", os.path.abspath(folder))
    if listed.value_or(b""):  # outside of the repository, or without one, Git refuses
        return "it is committed, so whoever wrote the repository chose the interpreter"
    return ""
