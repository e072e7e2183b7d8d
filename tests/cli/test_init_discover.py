"""`beaker init --discover`: the factories that a project of the Spec generation has become entries."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.files.project import find_project, load_project_config

SPEC = """\
from beaker import Case, CaseResult, CaseScore, DatasetSchema, OptimizationTargets, Spec, spec


class Loader:
    dataset_schema = DatasetSchema(json_schema={"type": "object"})

    def parse_row(self, raw, context):
        return raw

    def iter_cases(self, row, context):
        yield Case(row, row["id"], {})


class Scorer:
    async def score_case(self, case, result):
        return CaseScore({}, 1.0)


async def run_case(case, targets, runtime):
    return CaseResult("")


@spec(repository=None)
def build(context):
    return Spec(Loader(), run_case, Scorer(), OptimizationTargets({"tone": "Hello"}))
"""
SEVERAL = """\
from beaker import spec

@spec()
def one(context): ...

class Specs:
    @spec()
    def two(context): ...
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    (root / "src" / "desk").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "desk"\n')
    (root / "src" / "desk" / "tone.py").write_text(SPEC)
    (root / "src" / "desk" / "not-a-module.py").write_text(SPEC)
    (root / ".git").mkdir()
    return root


@pytest.fixture
def init(beaker: Callable[..., Any], project: Path) -> Callable[..., Any]:
    def call(*argv: str) -> Any:
        return beaker("init", *argv, cwd=project, environ={"PATH": os.environ["PATH"]})

    return call


@pytest.mark.e2e
def test_discover__decorated_factory__is_an_entry_that_is_verified(
    init: Callable[..., Any], project: Path, conforms: Callable[..., None]
) -> None:
    """It is imported from where it lies, and the file that names it is a configuration."""
    shown = init("--discover", "--print", "--json")
    answer = json.loads(shown.out)
    conforms(answer, "cli-init-discover.json")
    assert (answer["dry_run"], answer["verified"], (project / ".beaker").exists()) == (True, False, False)
    done = init("--discover")
    assert (done.code, "1 Spec found; all can be imported" in done.out) == (0, True)
    found = find_project(project).unwrap()
    assert found is not None
    config = load_project_config(found).unwrap()
    entry = config.specs["tone"]
    assert (entry.entrypoint, entry.package_import_root, entry.source_dir) == ("desk.tone:build", "src", ".")
    assert config.default_spec == "tone"
    assert ".env" in (project / ".beaker" / ".gitignore").read_text().splitlines()
    again = init("--discover")
    assert (again.code, "error: BK127 " in again.err, "target: desk.tone:build" in again.err) == (2, True, True)


def test_discover__several_factories__have_ids_that_differ(init: Callable[..., Any], project: Path) -> None:
    """A module with one factory lends it its name; of several each has its own, those of classes included."""
    (project / "more.py").write_text(SEVERAL)
    answer = json.loads(init("--discover", "--no-verify", "--json").out)
    assert {spec["id"]: spec["target"] for spec in answer["specs"]} == {
        "more_one": "more:one",
        "more_specs_two": "more:Specs.two",
        "tone": "desk.tone:build",
    }
    assert answer["verified"] is False


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--spec-id", "x"], "BK409 --spec-id"),
        (["--discover", "--target", "a.py"], "BK900"),
        (["--discover", "--agent-key", "k"], "BK900"),
        (["--discover", "--integration-id", "i"], "BK900"),
        (["--discover", "--spec-id", "x"], "BK128 --spec-id"),
    ],
)
def test_discover__options_that_mean_something_else__are_refused(
    argv: list[str], said: str, init: Callable[..., Any], project: Path
) -> None:
    """No option is ignored: what is about one Integration, or one of several Specs, is told."""
    (project / "more.py").write_text(SEVERAL)
    done = init(*argv)
    assert (done.code, f"error: {said}" in done.err, (project / ".beaker").exists()) == (2, True, False)


@pytest.mark.e2e
def test_discover__factory_that_builds_nothing__leaves_nothing_behind(init: Callable[..., Any], project: Path) -> None:
    """What cannot be imported is told, and no file stays; a project without factories has nothing to write."""
    (project / "src" / "desk" / "tone.py").write_text(SPEC.replace("    return Spec(", "    return ("))
    done = init("--discover", "--spec-id", "mine")
    assert (done.code, "BK3" in done.err, (project / ".beaker").exists()) == (2, True, False)
    (project / "src" / "desk" / "tone.py").unlink()
    assert "error: BK128 " in init("--discover").err
