"""The project's own interpreter: every command that runs a project's code uses it, says so, or says what it lacks."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker import __version__
from beaker.cli.demo.project import create_project

pytestmark = pytest.mark.processes

Run = Callable[..., Any]
MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
TELLS = """
import sys
print("runs on", sys.executable, *(name for name in sys.modules if f"{name}.".startswith("beaker.cli.")))
"""


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's project, whose module tells what runs it, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "project"
    create_project(folder).unwrap()
    module = next(folder.rglob("invoice_integration.py"))
    module.write_text(module.read_text(encoding="utf-8") + TELLS, encoding="utf-8")
    return folder


@pytest.fixture
def project(made_once: Path, tmp_path: Path) -> Path:
    """The demo's project."""
    return Path(shutil.copytree(made_once, tmp_path / "project"))


@pytest.fixture
def run(project: Path, beaker: Run) -> Run:
    """Run a command in the project, with a PATH and nothing else in the environment."""

    def call(*argv: str, environ: dict[str, str] | None = None) -> Any:
        return beaker(*argv, cwd=project, environ={"PATH": "/usr/bin:/bin", **(environ or {})})

    return call


def stage(done: Any, name: str) -> Any:
    return next(one for one in json.loads(done.out)["stages"] if one["stage"] == name)


def program(path: Path, text: str) -> Path:
    """Something that is started like an interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_smoke__environment_in_the_project__runs_its_code(project: Path, run: Run, make_environment: Any) -> None:
    """Every child runs on it, none loads a module of the command line, and the report names it."""
    python = make_environment(project / ".venv")
    done = run("run", "smoke", "--json", "--run-one")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    version = ".".join(map(str, sys.version_info[:3]))
    assert report["python"] == {"executable": str(python), "version": version, "source": ".venv"}
    assert stage(done, "environment")["detail"] == f"Python {version} ({python}), the project's .venv"
    assert stage(done, "integration")["output"] == f"runs on {python}\n"
    shown = run("run", "smoke")
    assert f"PASS environment: Python {version} ({python}), the project's .venv" in shown.out


def test_smoke__no_environment__runs_on_beakers_own_and_says_so(run: Run) -> None:
    """Without anything that says otherwise nothing changes."""
    done = run("run", "smoke", "--json")
    assert json.loads(done.out)["python"]["source"] == "beaker"
    assert stage(done, "environment")["detail"].endswith(f"({sys.executable}), the one that runs Beaker")
    assert stage(done, "integration")["output"] == f"runs on {sys.executable}\n"


@pytest.mark.parametrize("how", ["--python", "BEAKER_PYTHON"])
def test_smoke__named_or_active__beats_what_lies_in_the_project(
    project: Path, run: Run, make_environment: Any, tmp_path: Path, how: str
) -> None:
    """The caller's word counts more than a folder; the one in the project is not even asked."""
    program(project / ".venv" / "bin" / "python", f"touch {tmp_path / 'asked'}; exit 1")
    (project / ".venv" / "pyvenv.cfg").touch()
    python = make_environment(tmp_path / "other")
    given = str(tmp_path / "other")
    argv = ["--python", given] if how == "--python" else []
    done = run("run", "smoke", "--json", *argv, environ={} if argv else {how: given})
    assert json.loads(done.out)["python"]["source"] == how
    assert stage(done, "integration")["output"] == f"runs on {python}\n"
    assert not (tmp_path / "asked").exists()


def test_smoke__active_environment_that_runs_beaker__is_not_asked(project: Path, run: Run) -> None:
    """The usual case costs nothing: Beaker was started from the environment that is active, whatever else there is."""
    program(project / ".venv" / "bin" / "python", "exit 1")
    (project / ".venv" / "pyvenv.cfg").touch()
    done = run("run", "smoke", "--json", environ={"VIRTUAL_ENV": sys.prefix})
    found = json.loads(done.out)["python"]
    assert (found["executable"], found["source"]) == (sys.executable, "VIRTUAL_ENV")


@pytest.mark.parametrize(
    ("metadata", "command"),
    [
        ("[project]\nname = 'x'\n", "{python} -m pip install PATH, with the wheel or the checkout of Beaker {version}"),
        ("[tool.uv]\n", "uv add --dev PATH"),
        ("[tool.poetry]\nname = 'x'\n", "poetry add --group dev PATH"),
    ],
    ids=["pip", "uv", "poetry"],
)
def test_smoke__environment_without_beaker__says_the_command(
    project: Path, run: Run, make_environment: Any, metadata: str, command: str
) -> None:
    """Nothing is lent to it, no code of the project is run, and the command is that of the project's tool."""
    python = make_environment(project / ".venv", bare=True)
    (project / "pyproject.toml").write_text(metadata)
    done = run("run", "smoke")
    assert (done.code, "FAIL environment" in done.out) == (2, True)
    assert f"error: BK308 {python} (the project's .venv): it has no Beaker" in done.err
    assert command.format(python=python, version=__version__) in done.err
    assert "--no-index --find-links" in done.err
    assert "runs on" not in done.out


ODD = [
    ('echo \'{"version": [3, 9, 1], "release": null, "missing": []}\'', "BK307", f"python{MINOR} -m venv .venv"),
    ('echo noise; echo \'{{"version": [{0}, {1}, 0], "release": "0.0.1", "missing": []}}\'', "BK309", "Beaker 0.0.1"),
    ('echo \'{{"version": [{0}, {1}, 0], "release": "", "missing": []}}\'', "BK309", "another beaker-sdk"),
    ('echo \'{{"version": [{0}, {1}, 0], "release": "{2}", "missing": ["yaml", "attr"]}}\'', "BK308", "PyYAML, attrs"),
    ("echo broken >&2; exit 3", "BK312", "does not work as a Python: broken"),
    ("exit 3", "BK312", "its exit status is 3"),
    ("echo '[]'", "BK312", "does not work as a Python"),
]


@pytest.mark.parametrize(("script", "code", "said"), ODD, ids=[code + said[:8].strip() for _, code, said in ODD])
def test_smoke__interpreter_that_does_not_fit__is_refused_with_the_reason(
    project: Path, run: Run, script: str, code: str, said: str
) -> None:
    """Another Python, another Beaker, one that lacks something, one that is none: exit 2 before any code is run."""
    text = script.format(*sys.version_info[:2], __version__) if "{0}" in script else script
    program(project / ".venv" / "bin" / "python", text)
    (project / ".venv" / "pyvenv.cfg").touch()
    done = run("run", "smoke")
    assert (done.code, "FAIL environment" in done.out) == (2, True)
    assert f"error: {code} " in done.err
    assert said in done.err
    assert "PASS integration" not in done.out


def test_smoke__environment_of_the_repository__is_not_taken_from_its_commit(
    project: Path, run: Run, git: Callable[..., str], tmp_path: Path
) -> None:
    """An interpreter that came with the repository is refused and not started."""
    program(project / ".venv" / "bin" / "python", f"touch {tmp_path / 'started'}")
    (project / ".venv" / "pyvenv.cfg").touch()
    git("add", "-f", ".venv", cwd=project)
    done = run("run", "smoke")
    assert (done.code, "BK306" in done.err) == (2, True)
    assert not (tmp_path / "started").exists()


def test_smoke__project_of_poetry__asks_it_for_the_environment(
    project: Path, run: Run, make_environment: Any, tmp_path: Path
) -> None:
    """Poetry keeps environments elsewhere; it is asked only for its own projects, and when nothing else is there."""
    python = make_environment(tmp_path / "cache" / "x-py3")
    poetry = program(tmp_path / "tools" / "poetry", f'[ "$*" = "env info --path" ] && echo {tmp_path}/cache/x-py3')
    path = {"PATH": f"{poetry.parent}:/usr/bin:/bin"}
    assert json.loads(run("run", "smoke", "--json", environ=path).out)["python"]["source"] == "beaker"
    (project / "pyproject.toml").write_text("[tool.poetry]\nname = 'x'\n")
    found = json.loads(run("run", "smoke", "--json", environ=path).out)["python"]
    assert (found["executable"], found["source"]) == (str(python), "poetry")
    program(poetry, "exit 1")
    assert json.loads(run("run", "smoke", "--json", environ=path).out)["python"]["source"] == "beaker"


def test_upload__rows__are_read_by_the_projects_interpreter(project: Path, run: Run, make_environment: Any) -> None:
    """What is checked here is checked as smoke does it, and refused as smoke refuses."""
    python = make_environment(project / ".venv")
    done = run("--local", "dataset", "upload", "dataset", "--name", "invoices")
    assert (done.code, f"({python}), the project's .venv" in done.err) == (0, True), done.err
    other = run("--local", "dataset", "upload", "dataset", "--name", "again", "--python", "nowhere")
    assert (other.code, "BK306 --python: nowhere has no interpreter" in other.err) == (2, True)


@pytest.mark.e2e
def test_eval__cases__are_run_by_the_projects_interpreter(project: Path, run: Run, make_environment: Any) -> None:
    """An evaluation names it too."""
    python = make_environment(project / ".venv")
    done = run("run", "eval", "--dataset", "dataset", "--limit", "1")
    assert (done.code, f"({python}), the project's .venv" in done.err) == (0, True), done.err


def test_init__verification__is_done_by_the_projects_interpreter(
    tmp_path: Path, beaker: Run, make_environment: Any
) -> None:
    """A new project is verified where its code will run; without Beaker there nothing is left behind."""
    root = tmp_path / "fresh"
    root.mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'fresh'\nversion = '1'\n")
    python = make_environment(root / ".venv", bare=True)
    refused = beaker("init", cwd=root)
    assert (refused.code, "BK308" in refused.err, (root / ".beaker").exists()) == (2, True, False)
    assert beaker("init", "--print", "--no-verify", cwd=root).code == 0
    shutil.rmtree(root / ".venv")
    make_environment(root / ".venv")
    done = beaker("init", cwd=root)
    assert (done.code, f"({python}), the project's .venv" in done.err) == (0, True), done.err


def test_trigger__elsewhere__has_no_use_for_an_interpreter(run: Run, hosted: Any) -> None:
    """A hosted place makes an environment of its own; the option is refused instead of ignored."""
    environ = {"BEAKER_API_KEY": "k", "BEAKER_API_BASE_URL": hosted.url, "BEAKER_AGENT_KEY": "a"}
    done = run("run", "trigger", "--no-check", "--dataset", "d@r", "--python", "python3", environ=environ)
    assert (done.code, "BK904 --python has no use elsewhere" in done.err) == (2, True), done.err


def test_trigger__here__refuses_before_a_run_is_made(project: Path, run: Run, make_environment: Any) -> None:
    """A run whose worker could not start is not launched."""
    assert run("--local", "dataset", "upload", "dataset", "--name", "invoices", "--no-check").code == 0
    make_environment(project / ".venv", bare=True)
    done = run("--local", "run", "trigger", "--dataset", "invoices", "--allow-dirty")
    assert (done.code, "BK308" in done.err) == (2, True), done.err
    assert json.loads(run("--local", "run", "list", "--json").out)["runs"] == []
    assert os.listdir(project / ".beaker" / "local" / "runs") == []
