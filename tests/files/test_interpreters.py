"""Where interpreters are looked for, and which of those that lie around are the caller's own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beaker.files.interpreters import PythonSearch, look_for_pythons, manager_of, python_project
from beaker.files.pyproject import find_python_project


def environment(folder: Path, name: str = "python") -> Path:
    """A folder that looks like an environment; its interpreter is never started."""
    program = folder / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return program


def search(root: Path, *, given: str | None = None, project: Path | None = None, **environ: str) -> PythonSearch:
    (root / "here").mkdir(exist_ok=True)
    return PythonSearch(given=given, environ=environ, cwd=root / "here", project=project or root, repository=root)


def found(asked: PythonSearch) -> list[tuple[str, str | None]]:
    """The sources in order, each with its program, counted from the repository where it lies there."""
    project = find_python_project(asked.project, stop=asked.repository).value_or(None)
    listed = []
    for one in look_for_pythons(asked, project):
        path = None if one.program is None else Path(one.program)
        inside = path is not None and path.is_relative_to(asked.repository)
        listed.append((str(one.source), str(path.relative_to(asked.repository)) if path and inside else one.program))
    return listed


def test_look__empty_project__finds_nothing(tmp_path: Path) -> None:
    """Neither a folder called .venv that is none, nor one called venv, is an environment of the project."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / ".venv").write_text("a name, as some shells keep it\n")
    environment(tmp_path / "venv")
    assert found(search(tmp_path, project=tmp_path / "part")) == []
    assert found(search(tmp_path, VIRTUAL_ENV=" ", CONDA_PREFIX="", BEAKER_PYTHON="")) == []


@pytest.mark.parametrize("broken", ["link to nowhere", "without a configuration", "program that leads nowhere"])
def test_look__environment_that_is_broken__is_found_and_not_passed_over(tmp_path: Path, broken: str) -> None:
    """It was set up for the project, so that running on another interpreter would be a false green."""
    folder = tmp_path / ".venv"
    if broken == "link to nowhere":
        folder.symlink_to("/nonexistent/environment")
    else:
        program = environment(folder)
        (folder / "pyvenv.cfg").unlink()
        if broken == "program that leads nowhere":
            program.unlink()
            program.symlink_to("/nonexistent/python")
    expected = ".venv/bin/python" if broken == "without a configuration" else None
    assert found(search(tmp_path)) == [(".venv", expected)]


def test_look__everything_at_once__is_in_the_order_of_precedence(tmp_path: Path) -> None:
    """What was named, what is active, uv's, then the `.venv` of the project before that of the repository."""
    for name in ("a", "b", "c", "d", "e", "part/.venv", ".venv"):
        environment(tmp_path / name)
    (tmp_path / "part" / "pyproject.toml").write_text("[tool.uv]\n")
    named = {
        "BEAKER_PYTHON": "../b/bin/python",
        "VIRTUAL_ENV": str(tmp_path / "c"),
        "CONDA_PREFIX": str(tmp_path / "d"),
    }
    asked = search(tmp_path, given="../a", project=tmp_path / "part", UV_PROJECT_ENVIRONMENT="../e", **named)
    listed = found(asked)
    assert [(source, os.path.normpath(program or "")) for source, program in listed] == [
        ("--python", "a/bin/python"),
        ("BEAKER_PYTHON", "b/bin/python"),
        ("VIRTUAL_ENV", "c/bin/python"),
        ("CONDA_PREFIX", "d/bin/python"),
        ("UV_PROJECT_ENVIRONMENT", "e/bin/python"),
        (".venv", "part/.venv/bin/python"),
        (".venv", ".venv/bin/python"),
    ]


def test_look__base_of_conda__is_nobodys_choice(tmp_path: Path) -> None:
    """It is active in every shell of many."""
    environment(tmp_path / "conda")
    place = str(tmp_path / "conda")
    assert found(search(tmp_path, CONDA_PREFIX=place, CONDA_DEFAULT_ENV="base")) == []
    assert [one for one, _ in found(search(tmp_path, CONDA_PREFIX=place, CONDA_DEFAULT_ENV="lab"))] == ["CONDA_PREFIX"]


def test_look__uv_variable__counts_for_projects_of_uv(tmp_path: Path) -> None:
    """A variable of one tool says nothing of a project of another."""
    environment(tmp_path / "there")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert found(search(tmp_path, UV_PROJECT_ENVIRONMENT="there")) == []
    (tmp_path / "uv.lock").touch()
    assert found(search(tmp_path, UV_PROJECT_ENVIRONMENT="there")) == [("UV_PROJECT_ENVIRONMENT", "there/bin/python")]


@pytest.mark.parametrize("given", ["../env", "../env/bin/python3", "~/env/bin/python3", "named"])
def test_look__named__is_a_folder_a_file_or_a_program(
    tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths count from the working directory; a bare name is looked for on PATH, and nowhere else."""
    program = environment(tmp_path / "env", "python3")
    monkeypatch.setenv("HOME", str(tmp_path))
    on_path = environment(tmp_path / "tools", "named")
    (one,) = look_for_pythons(search(tmp_path, given=given, PATH=str(on_path.parent)), None)
    wanted = on_path if given == "named" else program
    assert one.program is not None
    assert os.path.samefile(one.program, wanted)
    assert one.prefix == os.path.realpath(wanted.parent.parent)
    assert not one.fault


@pytest.mark.parametrize("given", ["../nothing", "nothing", "../pyproject.toml"])
def test_look__named_and_not_there__has_no_program(tmp_path: Path, given: str) -> None:
    """It is found all the same, so that nothing else is taken in its place."""
    (tmp_path / "pyproject.toml").touch()
    (one,) = look_for_pythons(search(tmp_path, given=given, PATH=str(tmp_path)), None)
    assert (one.source, one.place, one.program) == ("--python", given, None)


def test_look__active_folder_that_is_gone__has_no_program(tmp_path: Path) -> None:
    """A variable that a removed environment left behind is said, not passed over."""
    assert found(search(tmp_path, VIRTUAL_ENV=str(tmp_path / "gone"))) == [("VIRTUAL_ENV", None)]


def test_look__environment_whose_python_was_removed__has_no_program(tmp_path: Path) -> None:
    """A link that leads nowhere is no interpreter."""
    program = environment(tmp_path / ".venv")
    program.unlink()
    program.symlink_to(tmp_path / "gone")
    assert found(search(tmp_path)) == [(".venv", None)]


def test_look__committed_environment__is_not_the_callers_own(tmp_path: Path, git: Callable[..., str]) -> None:
    """A repository does not choose what runs here; an environment that Git does not know is the caller's."""
    environment(tmp_path / ".venv")
    git("init", "-q", cwd=tmp_path)
    assert [one.fault for one in look_for_pythons(search(tmp_path), None)] == [""]
    git("add", "-f", ".venv/bin/python", cwd=tmp_path)
    (one,) = look_for_pythons(search(tmp_path), None)
    assert one.fault == "it is committed, so whoever wrote the repository chose the interpreter"
    (named,) = look_for_pythons(search(tmp_path, given="../.venv"), None)[:1]
    assert not named.fault


def test_look__committed_link_to_an_environment__is_not_the_callers_own(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    """A link in the repository chooses as well as a file does."""
    root = tmp_path / "repository"
    root.mkdir()
    environment(tmp_path / "elsewhere")
    (root / ".venv").symlink_to(tmp_path / "elsewhere")
    git("init", "-q", cwd=root)
    assert [one.fault for one in look_for_pythons(search(root), None)] == [""]
    git("add", "-f", ".venv", cwd=root)
    assert [bool(one.fault) for one in look_for_pythons(search(root), None)] == [True]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("given_away", [".venv", ".venv/bin/python"])
def test_look__environment_of_somebody_else__is_not_the_callers_own(tmp_path: Path, given_away: str) -> None:
    """Whoever owns it could exchange it; that of whom the repository belongs to is as good as the code there."""
    environment(tmp_path / ".venv")
    os.chown(tmp_path / given_away, 12345, 12345)
    (one,) = look_for_pythons(search(tmp_path), None)
    assert one.fault == f"{tmp_path / given_away} belongs to somebody else"
    os.chown(tmp_path, 12345, 12345)
    (one,) = look_for_pythons(search(tmp_path), None)
    assert not one.fault


def test_project__metadata__says_what_makes_environments(tmp_path: Path) -> None:
    """The nearest metadata up to the repository's root counts; without any it is pip."""
    assert manager_of(python_project(search(tmp_path))) == "pip"
    (tmp_path / "pyproject.toml").write_text("[tool.poetry]\nname = 'x'\n")
    (tmp_path / "part").mkdir()
    assert manager_of(python_project(search(tmp_path, project=tmp_path / "part"))) == "poetry"


@pytest.fixture
def git() -> Callable[..., str]:
    """Run Git."""

    def call(*arguments: str, cwd: Path) -> str:
        done = subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True)
        return done.stdout

    return call
