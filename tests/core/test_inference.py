"""Where models are called: the environment of a rollout and of a scorer, and that no key is shown."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core import inference
from beaker.core.inference import InferenceTarget, choose_inference_target, choose_scoring_target

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "models.json").read_text("utf-8"))
VARIABLES = [getattr(inference, name) for name in dir(inference) if name.endswith("_VARIABLE")]
ENVIRONS = st.dictionaries(st.sampled_from(VARIABLES), st.text() | st.sampled_from(["openai:gpt", "http://g/", "k"]))


def target_of(found: Any) -> Any:
    """The target as a list, `None` for none, the code of a refusal."""
    if not is_successful(found):
        return found.failure().code
    target = found.unwrap()
    return None if target is None else list(attrs.astuple(target))


@pytest.mark.parametrize("model, environ, expected", VECTORS["rollout_targets"])
def test_choose_inference_target__decision_table__as_listed(model: Any, environ: dict[str, str], expected: Any) -> None:
    """Address, key and model of a rollout, or what is missing."""
    assert target_of(choose_inference_target(model, environ)) == expected


@pytest.mark.parametrize("environ, expected", VECTORS["scoring_targets"])
def test_choose_scoring_target__decision_table__as_listed(environ: dict[str, str], expected: Any) -> None:
    """Address, key and model of the judge, none outside a run, or what is missing."""
    assert target_of(choose_scoring_target(environ)) == expected


@given(st.none() | st.text(), ENVIRONS)
def test_targets__any_environment__gives_one_answer(model: str | None, environ: dict[str, str]) -> None:
    """Both decisions are total, and a target has an address, a key and a model that says its provider."""
    for found in (choose_inference_target(model, environ), choose_scoring_target(environ)):
        if is_successful(found) and (target := found.unwrap()) is not None:
            assert target.api_key
            assert all(target.model.partition(":"))
            assert not target.base_url.endswith("/")


@given(ENVIRONS)
def test_scoring_target__key_of_rollouts__never_counts(environ: dict[str, str]) -> None:
    """The judge has a key of its own: what rollouts may use changes nothing for it."""
    assert choose_scoring_target({**environ, inference.API_KEY_VARIABLE: "k"}) == choose_scoring_target(
        {name: text for name, text in environ.items() if name != inference.API_KEY_VARIABLE}
    )


TARGET = InferenceTarget("http://g/v1", "sk-secret", "openai:gpt")


def test_target__key__is_hidden_but_compared() -> None:
    """The key is in no representation, and two targets with different keys differ."""
    assert "sk-secret" not in repr(TARGET)
    assert repr(TARGET) == "InferenceTarget(base_url='http://g/v1', model='openai:gpt')"
    assert attrs.evolve(TARGET, api_key="other") != TARGET
    assert dataclasses.replace(TARGET) == TARGET
    assert dataclasses.asdict(TARGET)["api_key"] == "sk-secret"
    assert hash(TARGET) == hash(attrs.evolve(TARGET))


def test_target__for_clients__is_what_they_take() -> None:
    """The arguments of OpenAI clients, LiteLLM's name of the model, and the variables of a subprocess."""
    assert TARGET.openai_kwargs() == {"base_url": "http://g/v1", "api_key": "sk-secret"}
    assert TARGET.litellm_model == "openai/openai:gpt"
    assert TARGET.env() == {
        "OPENAI_BASE_URL": "http://g/v1",
        "OPENAI_API_BASE": "http://g/v1",
        "OPENAI_API_KEY": "sk-secret",
    }


def test_target__copies__keep_the_key() -> None:
    """Within a process a target can be copied like any value."""
    assert copy.copy(TARGET) == copy.deepcopy(TARGET) == TARGET
    assert copy.deepcopy([TARGET])[0].api_key == "sk-secret"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_target__pickled__leaves_its_key_behind(protocol: int) -> None:
    """A pickle shows no key; what comes out of it says so when a key is asked for."""
    data = pickle.dumps(TARGET, protocol)
    assert b"sk-secret" not in data
    restored = pickle.loads(data)
    assert (restored.base_url, restored.model) == (TARGET.base_url, TARGET.model)
    assert restored != TARGET
    for ask in (restored.openai_kwargs, restored.env):
        with pytest.raises(RuntimeError, match="has no key"):
            ask()


def test_choose_scoring_target__blank_model__is_none() -> None:
    """A variable that holds only blanks names no judge."""
    blank = {inference.SCORER_MODEL_VARIABLE: "  "}
    assert choose_scoring_target(blank).unwrap() is None
    assert choose_scoring_target({**blank, inference.RUN_ID_VARIABLE: "r"}).failure() == (
        choose_scoring_target({inference.RUN_ID_VARIABLE: "r"}).failure()
    )


@pytest.mark.parametrize(
    "canonical, model, provider, expected",
    [
        ("openai:a", "other:b", "p", "openai:a"),
        (" openai:a ", None, None, "openai:a"),
        (None, "anthropic:b", "openai", "anthropic:b"),
        ("", "b", "openai", "openai:b"),
        (None, "openai/b", "openai", "openai:b"),
        (None, "meta/b", "openai", "openai:meta/b"),
        (None, "openai/b/c", None, "openai:b/c"),
        (None, "b", None, None),
        (None, "b", " ", None),
        (None, None, "openai", None),
        (7, 7, 7, None),
    ],
)
def test_spec_model__fields_of_a_rollout__as_listed(canonical: Any, model: Any, provider: Any, expected: Any) -> None:
    """The canonical name, else a colon, else the provider, else a slash says which model of which provider it is."""
    assert inference.spec_model(canonical, model, provider) == expected


@pytest.mark.parametrize(
    "environ, expected",
    [
        ({inference.BASE_URL_VARIABLE: "http://g/", inference.API_KEY_VARIABLE: "k"}, ["http://g", "k", "p:m"]),
        (
            {inference.WRITEBACK_VARIABLE: "http://w/", inference.RUN_TOKEN_VARIABLE: "t"},
            ["http://w/v1/llm", "t", "p:m"],
        ),
        (
            {
                inference.WRITEBACK_VARIABLE: "http://w",
                inference.RUN_TOKEN_VARIABLE: "t",
                inference.BASE_URL_VARIABLE: "http://g",
                inference.API_KEY_VARIABLE: "k",
            },
            ["http://g", "k", "p:m"],
        ),
        ({inference.BASE_URL_VARIABLE: "http://g", inference.RUN_TOKEN_VARIABLE: "t"}, ["http://g", "t", "p:m"]),
        ({inference.WRITEBACK_VARIABLE: "http://w"}, "BK146"),
        ({inference.RUN_TOKEN_VARIABLE: "t"}, "BK146"),
        ({}, "BK146"),
    ],
)
def test_choose_spec_target__without_the_gateways_variables__those_of_the_run_count(
    environ: dict[str, str], expected: Any
) -> None:
    """Address and key each have a second variable, and the first one wins."""
    assert target_of(inference.choose_spec_target("p:m", environ)) == expected


def test_choose_spec_target__no_model__is_refused_as_ever() -> None:
    """Credentials without a model give the refusal of any rollout."""
    environ = {inference.BASE_URL_VARIABLE: "http://g", inference.API_KEY_VARIABLE: "k"}
    assert target_of(inference.choose_spec_target(None, environ)) == "BK145"
