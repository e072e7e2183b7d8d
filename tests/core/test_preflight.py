"""Before a launch: what answers say against it, and what a run may take."""

from typing import Any

import pytest

from beaker.core.launch import DatasetChoice
from beaker.core.preflight import (
    SUBJECTS,
    Preview,
    answers_judged,
    dataset_problems,
    finds_no_dataset,
    launched_models,
    model_problems,
    next_question,
    preview,
    split_rows,
    unchecked,
    unknown_dataset,
)
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem


def test_unknown__dataset__is_named_as_it_was_chosen() -> None:
    """By its name or by its id, with the option that names it."""
    hint = "`beaker dataset list` shows what it has"
    by_name, by_id = unknown_dataset(DatasetChoice(reference="inv")), unknown_dataset(DatasetChoice(artifact_id="a"))
    assert by_name == Problem("BK411", "the service has no dataset with the name 'inv'", "--dataset", hint)
    assert by_id == Problem("BK411", "the service has no dataset with the id 'a'", "--dataset-id", hint)


@pytest.mark.parametrize(
    ("problem", "none"),
    [
        *((ApiProblem("BK801", "m", status=status), True) for status in (400, 404, 422)),
        *((ApiProblem("BK801", "m", status=status), False) for status in (0, 401, 403, 429, 500)),
        (Problem("BK812", "m"), True),
        (Problem("BK804", "m"), False),
    ],
)
def test_finds__no_dataset__is_told_from_no_answer(problem: Problem, none: bool) -> None:
    """Only a service that looked can say that there is none."""
    assert finds_no_dataset(problem) is none


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"name": "n"}, []),
        ({"name": "n", "status": "complete", "sample_counts": {"train": 1, "test": 2}}, []),
        ({"name": "n", "status": "PENDING"}, ["the dataset n is PENDING, not COMPLETE"]),
        ({"artifact_id": "a", "sample_counts": {"train": 0, "test": 0}}, ["the dataset a has no rows in train"] * 2),
    ],
)
def test_dataset__unfit__is_said_whole(record: dict[str, Any], said: list[str]) -> None:
    """Every fault is told; what nobody says is no fault."""
    told = dataset_problems(record)
    assert [problem.message.replace("in test", "in train") for problem in told] == said
    assert {problem.code for problem in told} <= {"BK412"}
    assert all(problem.hint for problem in told)


@pytest.mark.parametrize("counts", [None, [], {}, {"train": "3", "test": True}])
def test_rows__not_said__are_none(counts: Any) -> None:
    """A count is a whole number; anything else is as good as none."""
    assert split_rows({"sample_counts": counts}) == {"train": None, "test": None}
    assert split_rows({"sample_counts": {"train": 3, "test": 0, "total": 3}}) == {"train": 3, "test": 0}


def test_models__of_a_launch__are_found_in_either_spelling() -> None:
    """Those to compare and the one of the system; what has another shape names none."""
    models = {"optimization_models": [{"provider": "openai", "model": "a:b"}, "odd"]}
    assert launched_models({"optimization_config": models, "model": "x:y"}) == ("openai:a:b", "x:y")
    assert launched_models({"optimizationConfig": models}) == ("openai:a:b",)
    assert launched_models({"optimization_config": 3, "model": "plain"}) == ()
    assert launched_models({"optimization_config": {"optimization_models": 3}, "model": 3}) == ()


def test_models__unknown_or_without_key__are_refused() -> None:
    """Names are compared ignoring case, and the nearest one is offered."""
    listed = [
        {"canonical_model_id": "openai:gpt-4o", "credential_configured": True},
        {"canonical_model_id": "anthropic:claude", "credential_configured": False},
        {"canonical_model_id": ""},
        3,
    ]
    told = model_problems(("OpenAI:GPT-4o", "openai:gpt-4", "zzz:q", "anthropic:claude"), {"models": listed})
    assert told == (
        Problem(
            "BK413",
            "the service has no model openai:gpt-4",
            hint="`beaker model list` shows what it has; did you mean openai:gpt-4o?",
        ),
        Problem("BK413", "the service has no model zzz:q", hint="`beaker model list` shows what it has"),
        Problem(
            "BK413",
            "the organization has no key for the provider of anthropic:claude",
            hint="add that key in the web application",
        ),
    )


def test_unchecked__question__says_why() -> None:
    """What could not be asked is named with its reason."""
    assert unchecked("the models", Problem("BK801", "no answer")) == "not checked here: the models (no answer)"


ROWS = {"train": 4, "test": 2}


@pytest.mark.parametrize(
    ("config", "rows", "local", "told"),
    [
        ({}, {}, False, Preview()),
        ({}, ROWS, False, Preview(train=4, test=2)),
        ({}, ROWS, True, Preview(train=4, test=2, max_rollouts=44, max_proposals=50)),
        ({}, {"train": 4}, True, Preview(train=4, max_proposals=50)),
        ({}, {"test": 4}, True, Preview(test=4, max_proposals=50)),
        (
            {"harnessOptimization": {"maxRollouts": 9, "max_proposals": 3}, "spendBudgetUsd": 5},
            ROWS,
            True,
            Preview(train=4, test=2, max_rollouts=9, max_proposals=3, spend_budget_usd=5.0),
        ),
        ({"harness_optimization": 3, "spend_budget_usd": True}, {}, False, Preview()),
        (
            {"harness_optimization": {"max_rollouts": True}, "spend_budget_usd": 0.5},
            {},
            False,
            Preview(spend_budget_usd=0.5),
        ),
    ],
)
def test_preview__settings_and_rows__say_what_a_run_may_take(
    config: dict[str, Any], rows: dict[str, int | None], local: bool, told: Preview
) -> None:
    """Settings count; defaults are known on this machine alone; odd values say nothing."""
    assert preview(config, rows, local=local) == told


def test_preview__text__says_rows_rollouts_and_cost() -> None:
    """One line for people, the same as an object for scripts."""
    full = Preview(train=4, test=2, max_rollouts=44, max_proposals=50, spend_budget_usd=2.5)
    rows = "4 TRAIN and 2 TEST rows, "
    assert full.text() == f"{rows}at most 44 rollouts and 50 proposals; models may cost $2.5 at most"
    no_limit = "as many rollouts as the service decides; nothing limits what models may cost (spend_budget_usd would)"
    assert [Preview(train=4).text(), Preview(test=4).text()] == [no_limit] * 2
    assert full.json() == {
        "train": 4,
        "test": 2,
        "max_rollouts": 44,
        "max_proposals": 50,
        "spend_budget_usd": 2.5,
    }


COMPARED = {"optimization_config": {"optimization_models": [{"provider": "a", "model": "b"}]}}
AGENT = {"id": "ag_1"}


@pytest.mark.parametrize(
    ("config", "required", "agent", "answers", "asked"),
    [
        ({}, (), AGENT, {}, None),
        (COMPARED, (), AGENT, {}, "list_models"),
        (COMPARED, ("A",), AGENT, {}, "list_models"),
        (COMPARED, ("A",), AGENT, {"list_models": None}, "list_agent_env_vars"),
        (COMPARED, ("A",), {}, {"list_models": None}, None),
        ({}, ("A",), {"id": 7}, {}, None),
        ({}, iter(["A"]), AGENT, {}, "list_agent_env_vars"),
        ({}, ("A",), AGENT, {"list_agent_env_vars": None}, None),
        ({}, ("A",), AGENT, {"list_agent_env_vars": {}}, "list_llm_credentials"),
        ({}, ("A",), AGENT, {"list_agent_env_vars": {}, "list_llm_credentials": {}}, None),
        ({}, ("A",), AGENT, {"list_agent_env_vars": {}, "list_llm_credentials": None}, None),
    ],
)
def test_question__is_asked_only_where_its_answer_matters(
    config: dict[str, Any], required: Any, agent: dict[str, Any], answers: dict[str, Any], asked: str | None
) -> None:
    """Models that are named, variables that are required; keys only once the variables are known; nothing twice."""
    assert next_question(config, required, agent, answers) == asked
    assert asked is None or asked in SUBJECTS


def test_judged__answer_that_was_not_given__says_nothing() -> None:
    """Only what a service said speaks against a launch, models before variables."""
    models: dict[str, Any] = {"models": []}
    held: dict[str, Any] = {"env_vars": []}
    keys: dict[str, Any] = {"credentials": []}
    answers = {"list_models": models, "list_agent_env_vars": held, "list_llm_credentials": keys}
    codes = [problem.code for problem in answers_judged(COMPARED, ("A",), answers)]
    assert codes == ["BK413", "BK121"]
    assert [problem.code for problem in answers_judged(COMPARED, ("A",), {**answers, "list_models": None})] == ["BK121"]
    for name in ("list_agent_env_vars", "list_llm_credentials"):
        assert [problem.code for problem in answers_judged(COMPARED, ("A",), {**answers, name: None})] == ["BK413"]
    assert answers_judged(COMPARED, ("A",), {}) == ()
    assert [problem.code for problem in answers_judged({}, ("BEAKER_X",), answers)] == ["BK120"]
