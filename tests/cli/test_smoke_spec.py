"""`beaker run smoke` of a Spec: by its id, by its file or factory, beside a configuration and without one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODULE = """\
from beaker import Case, CaseResult, CaseScore, DatasetSchema, OptimizationTargets, Spec, spec


class Loader:
    dataset_schema = DatasetSchema(json_schema={"type": "object"})

    def parse_row(self, raw, context):
        return raw

    def iter_cases(self, row, context):
        yield Case({"name": row["name"]}, row["id"], {"greeting": row["greeting"]})


class Scorer:
    async def score_case(self, case, result):
        return CaseScore({}, float(result.output == case.ground_truth["greeting"]))


async def run_case(case, targets, runtime):
    return CaseResult(f"{targets.prompts['tone']} {case.input['name']}")


@spec(repository=None)
def build(context):
    return Spec(Loader(), run_case, Scorer(), OptimizationTargets({"tone": "Hello"}))
"""
CONFIG = """\
specs:
  tone: {target: "greeting:build", source_dir: app, package_import_root: src, config_defaults: {extra: {of: tone}}}
  other: {target: "missing:build"}
integrations:
  mine: {entrypoint: "m:i"}
"""
DATASET = '{"local_dataset_path": "dataset"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a Spec in `app/src`, and its dataset."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "src" / "greeting.py").write_text(MODULE)
    (tmp_path / "dataset").mkdir()
    for split in ("train", "test"):
        row = {"id": split, "name": "Ada", "greeting": "Hello Ada"}
        (tmp_path / "dataset" / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def configure(folder: Path) -> None:
    (folder / ".beaker").mkdir()
    (folder / ".beaker" / "beaker.yaml").write_text(CONFIG)


@pytest.fixture
def smoke(beaker: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    def call(*argv: str) -> Any:
        return beaker("run", "smoke", "--config", DATASET, *argv, cwd=folder, environ={"PATH": "/usr/bin:/bin"})

    return call


@pytest.mark.processes
def test_smoke__file_of_a_spec__needs_no_configuration(smoke: Callable[..., Any], folder: Path) -> None:
    """A factory that is named by its file is tried out whole, and one case of it is run."""
    done = smoke("--target", "src/greeting.py", "--source-dir", "app", "--run-one", "--json")
    report = json.loads(done.out)
    assert (done.code, report["passed"], report["score"]["objective"]) == (0, True, 1.0)
    assert not (folder / ".beaker").exists()


@pytest.mark.e2e
def test_smoke__spec_of_the_configuration__is_selected_by_its_id(smoke: Callable[..., Any], folder: Path) -> None:
    """Without a default, the id decides among Specs and Integrations."""
    configure(folder)
    done = smoke("--spec-id", "tone", "--json")
    assert (done.code, json.loads(done.out)["integration_id"]) == (0, "tone")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--spec-id", "none"], "BK110"),
        (["--spec-id", "tone", "--target", "greeting:build"], "BK900"),
        (["--integration-id", "mine", "--source-dir", "app"], "BK409 --source-dir"),
        (["--target", "nowhere.py"], "BK124 --target"),
        (["--target", "greeting:build", "--source-dir", "../x"], "BK117 --source-dir"),
        (["--target", "greeting:build", "--source-dir", "x"], "BK117 "),
    ],
)
def test_smoke__option_that_names_nothing__is_refused(
    argv: list[str], said: str, smoke: Callable[..., Any], folder: Path
) -> None:
    """What does not exist, or is no affair of an Integration, is said by the option's name."""
    configure(folder)
    done = smoke(*argv)
    assert (done.code, f"error: {said}" in done.err) == (2, True), done.err
