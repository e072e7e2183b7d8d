"""Processes that load a Spec: what its loader and scorer are told, what is still to be written, what fails."""

import os
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from beaker.core.cases import Case
from beaker.runtime.code_root import CodeRoot, code_root_from_json, code_root_to_json
from beaker.runtime.failures import WorkerFailed
from beaker.runtime.rollout_worker import RolloutResult

APP = """
import os
from beaker import Case, CaseResult, CaseScore, DatasetSchema, Spec, spec

class Loader:
    dataset_schema = DatasetSchema({"type": "object"})

    def parse_row(self, raw, context):
        return {**raw, "place": context.label(), "split": context.split}

    def iter_cases(self, row, context):
        yield Case(row["x"], row["id"], {"place": row["place"], "split": row["split"]})

async def run_case(*, case, targets, runtime):
    return CaseResult(case.input)

class Scorer:
    async def score_case(self, *, case, result):
        judge = os.environ.get("BEAKER_SCORER_MODEL")
        return CaseScore({judge or "no judge": 1.0}, 1.0)

@spec()
def build_spec(context):
    return Spec(Loader(), run_case, Scorer(), llm_scorer_model="openai:judge")
"""


@pytest.fixture
def specified(project: Any) -> Any:
    """The project, its configuration naming the factory of a Spec."""

    def write(text: str = APP, target: str = "app:build_spec") -> Any:
        (project.root / "app.py").write_text(dedent(text))
        project.code = CodeRoot(project.root, target, kind="spec")
        return project

    return write


def test_setup__spec__loads_rows_that_know_their_place(specified: Any, hosted: Any) -> None:
    """The loader is told the split, the file and the line of each row, as it was then."""
    project = specified()

    async def work(supervisor: Any) -> Any:
        worker = await project.setup(supervisor)
        prepared = await project.prepare(worker)
        await worker.close()
        return prepared

    prepared = hosted(work)
    assert [case.expected for case in prepared.cases["test"]] == [
        {"place": f"test.jsonl:{line}", "split": "test"} for line in (1, 2)
    ]
    assert prepared.cases["train"][2].expected == {"place": "train.jsonl:3", "split": "train"}
    assert prepared.placeholders == ()


@pytest.mark.parametrize("configured, judge", [(None, "openai:judge"), ("openai:other", "openai:other")])
def test_scorer__spec__is_told_of_its_judge(specified: Any, hosted: Any, configured: str | None, judge: str) -> None:
    """The Spec's own judge is set where it scores, and only there; one that the configuration names comes first."""
    project = specified()
    project.env |= {} if configured is None else {"BEAKER_SCORER_MODEL": configured}

    async def work(supervisor: Any) -> Any:
        worker = await project.scorer(supervisor)
        told = {"case_id": "c", "group_key": "default", "input": 1, "metadata": {}}
        score = await worker.score(Case("c", told, {}), RolloutResult(output=1))
        await worker.close()
        return score

    assert dict(hosted(work).field_scores) == {judge: 1.0}
    assert "BEAKER_SCORER_MODEL" not in os.environ


def test_setup__scaffold_of_a_spec__is_still_to_be_written(specified: Any, hosted: Any) -> None:
    """Markers in any part that the author wrote count, and so does the scaffold's own case."""
    text = APP.replace("async def run_case", "# TODO(beaker): call it\nasync def run_case")
    text = text.replace("        judge = ", "        # TODO(beaker): judge\n        judge = ")
    project = specified(text).rows(train=[{"id": "example-1", "x": 1}])

    async def work(supervisor: Any) -> Any:
        worker = await project.setup(supervisor)
        prepared = await project.prepare(worker)
        await worker.close()
        return prepared

    left = hosted(work).placeholders
    assert left == ("the scorer Scorer", "line 14 of app.py", "the case 'example-1' of train")


@pytest.mark.parametrize(
    "text, target, said, where, hint",
    [
        (APP, "app:missing", "app has no attribute 'missing'", "app.py", "names a function that builds a Spec"),
        (APP, "app:Loader", "takes no arguments", "app.py", "load_spec_from_target('app:Loader')"),
        (
            APP.replace("run_case, S", "7, S"),
            "app:build_spec",
            "run_case must be callable",
            "app.py",
            "names a function",
        ),
        (
            APP.replace("return Spec(", "return [][0] or Spec("),
            "app:build_spec",
            "IndexError",
            "app.py:24",
            "it was raised",
        ),
    ],
)
def test_import__spec_that_cannot_be_built__says_where(
    specified: Any, hosted: Any, text: str, target: str, said: str, where: str, hint: str
) -> None:
    """What Beaker finds wrong is told at the module, what the factory raises at its line."""
    project = specified(text, target)

    async def work(supervisor: Any) -> Any:
        with pytest.raises(WorkerFailed) as caught:
            await project.setup(supervisor)
        return caught.value.problems

    (problem,) = hosted(work)
    assert problem.code == "BK302"
    assert said in problem.message
    assert problem.where.endswith(where)
    assert hint in problem.hint


def test_code_root__kind__survives_its_json_form() -> None:
    """A root told by an earlier Beaker is that of an Integration."""
    code = CodeRoot(Path("/here"), "a:b", kind="spec")
    assert code_root_from_json(code_root_to_json(code)) == code
    told = code_root_to_json(code)
    del told["kind"]
    assert code_root_from_json(told) == CodeRoot(Path("/here"), "a:b")
