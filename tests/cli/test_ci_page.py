"""The recipes of the page about CI do what it says, without a login."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from beaker.cli.demo.project import create_project

pytestmark = [pytest.mark.once, pytest.mark.processes]

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def commands(recipe: Any) -> Iterator[str]:
    """The command lines of a recipe of either service."""
    if isinstance(recipe, dict):
        for key, below in recipe.items():
            if key == "run":
                yield below
            elif key == "script":
                yield from below
            else:
                yield from commands(below)
    elif isinstance(recipe, list):
        for below in recipe:
            yield from commands(below)


RECIPES = [yaml.safe_load(block) for block in blocks("yaml")]


def test_page__recipes__run_the_same_commands() -> None:
    """Both services check the configuration, then the project, and keep the report whatever comes of it."""
    github, gitlab = RECIPES
    assert [*commands(github)] == [*commands(gitlab)]
    assert github["jobs"]["smoke"]["steps"][-1]["if"] == "always()"
    assert gitlab["beaker-smoke"]["artifacts"]["when"] == "always"
    report = github["jobs"]["smoke"]["steps"][-1]["with"]["path"]
    assert gitlab["beaker-smoke"]["artifacts"]["reports"]["junit"] == report
    assert f"--junit {report}" in " ".join(commands(github))


def test_page__commands__pass_without_a_login(tmp_path: Path, beaker: Callable[..., Any]) -> None:
    """Every command of the page ends well in a project that is ready, with nothing in the environment but a PATH."""
    project = tmp_path / "project"
    create_project(project).unwrap()
    shutil.copytree(project / "dataset", project / "ci" / "dataset")
    typed = [line for block in blocks("sh") for line in block.splitlines()]
    lines = dict.fromkeys((*typed, *commands(RECIPES)))
    told = [shlex.split(line) for line in lines]
    assert sum(argv[0] == "beaker" for argv in told) == 4
    for argv in told:
        if argv[0] == "beaker":
            done = beaker(*argv[1:], cwd=project, environ={"PATH": "/usr/bin:/bin"})
            assert done.code == 0, (argv, done)
    suite = ElementTree.parse(project / "beaker-smoke.xml").find("testsuite")
    assert suite is not None
    assert (suite.get("failures"), suite.get("tests")) == ("0", "8")


def test_page__project_that_is_broken__leaves_a_report(tmp_path: Path, beaker: Callable[..., Any]) -> None:
    """The report is there also when the configuration cannot be read, and the command says no."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text("integrations: [")
    argv = shlex.split(blocks("sh")[0].splitlines()[1])[1:]
    assert beaker(*argv, cwd=tmp_path).code == 2
    suite = ElementTree.parse(tmp_path / "beaker-smoke.xml").find("testsuite")
    assert suite is not None
    assert suite.find("testcase[@name='config']/failure") is not None
