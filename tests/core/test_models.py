"""Model names in three places, models to compare, and the judge."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful
from returns.result import Result

from beaker.core.models import (
    MAX_OPTIMIZATION_MODELS,
    SCORER_MODEL_KEYS,
    ModelName,
    available_models,
    choose_judge,
    judges_in_settings,
    optimization_model,
    optimization_models,
    runtime_model,
    scorer_model,
    with_models,
)
from beaker.core.problems import Problem

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "models.json").read_text("utf-8"))
COLUMNS = (optimization_model, runtime_model, scorer_model)
CODES = ("BK406", "BK145", "BK144")
NAMES = st.text() | st.text(st.sampled_from(": aA/"))


def halves(read: Result[ModelName, Problem]) -> list[str] | None:
    """The provider and model of a name that was taken, `None` for one that was refused."""
    return [read.unwrap().provider, read.unwrap().model] if is_successful(read) else None


@pytest.mark.parametrize("name, compared, rollout, judge", VECTORS["names"])
def test_columns__decision_table__as_listed(name: str, compared: Any, rollout: Any, judge: Any) -> None:
    """Each place takes the name as listed, or refuses it with its own code."""
    for rule, code, expected in zip(COLUMNS, CODES, (compared, rollout, judge), strict=True):
        assert halves(rule(name)) == expected
        if expected is None:
            assert rule(name).failure().code == code


@given(NAMES)
def test_columns__any_text__is_read_or_refused(name: str) -> None:
    """Each rule is total, what it takes has two halves, and the judge's rule is the strictest of the three."""
    for rule in COLUMNS:
        assert all(halves(rule(name)) or ("x", "y"))
    if is_successful(scorer_model(name)):
        assert str(scorer_model(name).unwrap()) == str(runtime_model(name).unwrap()) == name


@given(NAMES)
def test_columns__what_was_read__reads_the_same_again(name: str) -> None:
    """Reading is idempotent: the text of a name gives that name."""
    for rule in (optimization_model, scorer_model):
        read = rule(name)
        if is_successful(read):
            assert rule(str(read.unwrap())) == read


@given(st.none() | st.integers() | st.binary())
def test_columns__no_text__is_refused(given_name: object) -> None:
    """A model is named by text."""
    assert not is_successful(runtime_model(given_name))
    assert not is_successful(scorer_model(given_name))


@pytest.mark.parametrize("texts, expected", VECTORS["lists"])
def test_optimization_models__vector__as_listed(texts: list[str], expected: list[list[str]] | None) -> None:
    """provider:model at the first colon, trimmed, at most eight, none twice."""
    found = optimization_models(texts)
    if expected is None:
        assert found.failure().code == "BK406"
    else:
        assert [[model.provider, model.model] for model in found.unwrap()] == expected


@given(st.lists(NAMES | st.sampled_from(["a:b", "A:b", " a : B", "c:d"]), max_size=MAX_OPTIMIZATION_MODELS + 1))
def test_optimization_models__several__is_each_of_them(texts: list[str]) -> None:
    """A list is taken exactly when every name is, there are not too many, and none stands twice ignoring case."""
    each = [optimization_model(text) for text in texts]
    named = [str(one.unwrap()).casefold() for one in each if is_successful(one)]
    fine = len(named) == len(texts) <= MAX_OPTIMIZATION_MODELS and len(set(named)) == len(named)
    found = optimization_models(texts)
    assert is_successful(found) == fine
    if fine:
        assert list(found.unwrap()) == [one.unwrap() for one in each]


@pytest.mark.parametrize("given_judge, required, expected", VECTORS["judges"])
def test_choose_judge__decision_table__as_listed(given_judge: Any, required: bool, expected: str | None) -> None:
    """A judge that is named must be well-formed; one that is required must be named."""
    found = choose_judge(given_judge, required=required)
    if expected == "refused":
        assert found.failure().code == "BK144"
    else:
        chosen = found.unwrap()
        assert (None if chosen is None else str(chosen)) == expected


@given(st.lists(st.sampled_from([*SCORER_MODEL_KEYS, "model", "extra"]), unique=True))
def test_judges_in_settings__each_spelling__is_one_problem(keys: list[str]) -> None:
    """Every key that names a judge is told where a judge belongs; no other key is."""
    problems = judges_in_settings(dict.fromkeys(keys), code="BK403")
    assert [problem.where for problem in problems] == [f"config.{key}" for key in keys if key in SCORER_MODEL_KEYS]
    assert all("scorer_model" in problem.hint for problem in problems)


MODEL = [{"provider": "openai", "model": "gpt"}]


@pytest.mark.parametrize(
    "config, models, integration_id, expected",
    [
        ({"extra": {}}, [], "i", {"extra": {}}),
        ({"optimization_config": {"seed": 1}}, [], "i", {"optimization_config": {"seed": 1}}),
        ({}, MODEL, "i", {"optimization_config": {"optimization_models": MODEL}}),
        (
            {"optimizationConfig": {"seed": 1}},
            MODEL,
            "i",
            {"optimization_config": {"seed": 1, "optimization_models": MODEL}},
        ),
        ({}, MODEL, None, "--optimization-model"),
        ({"optimizationConfig": {}}, [], None, "optimizationConfig"),
        ({"optimizationConfig": {}, "optimization_config": {}}, MODEL, "i", "config.optimizationConfig"),
        ({"optimization_config": 7}, MODEL, "i", "config.optimization_config"),
        ({"optimization_config": None}, MODEL, "i", "config.optimization_config"),
        (
            {"optimization_config": {"optimizationModels": []}},
            MODEL,
            "i",
            "config.optimization_config.optimizationModels",
        ),
    ],
)
def test_with_models__each_case__merges_or_names_the_place(
    config: dict[str, Any], models: list[dict[str, str]], integration_id: str | None, expected: Any
) -> None:
    """Models join an existing object, once, for an integration."""
    found = with_models(config, [ModelName(**model) for model in models], selected=integration_id is not None)
    if isinstance(expected, str):
        assert found.failure().where == expected
    else:
        assert found.unwrap() == expected


def test_available__key_that_the_organization_has__is_needed() -> None:
    """Only what is said to be true counts."""
    listed = [
        {"id": number, "credential_configured": given} for number, given in enumerate((True, False, None, 1, "yes"))
    ]
    assert available_models([*listed, 7, {}]) == listed[:1]
