"""The inference targets as hooks ask for them: from this process's environment, with the contract's errors."""

from types import SimpleNamespace

import pytest

import beaker.sdk.inference
from beaker import InferenceTarget, inference_target, scoring_inference_target

NAMES = "INFERENCE_BASE_URL INFERENCE_API_KEY SCORER_MODEL SCORER_INFERENCE_API_KEY WRITEBACK_BASE_URL RUN_ID"
GATEWAY = {"INFERENCE_BASE_URL": "http://gate/v1/llm//", "INFERENCE_API_KEY": " k "}


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """Sets Beaker's variables to exactly these."""

    def give(**variables: str) -> None:
        for name in NAMES.split():
            monkeypatch.delenv(f"BEAKER_{name}", raising=False)
        for name, text in variables.items():
            monkeypatch.setenv(f"BEAKER_{name}", text)

    give()
    return give


def test_inference_target__inside_a_run__is_the_gateway_and_the_model(given):
    """The address without its last slashes, the key as it is, the provider in lower case."""
    given(**GATEWAY)
    assert inference_target(SimpleNamespace(model=" OpenAI:GPT-5 ")) == InferenceTarget(
        "http://gate/v1/llm", " k ", "openai:GPT-5"
    )


@pytest.mark.parametrize("model", [None, "", "  ", "gpt", "openai/gpt", ":x", "openai:"])
def test_inference_target__no_clear_model__is_a_runtime_error(given, model):
    """A model that was not selected, or does not say its provider."""
    given(**GATEWAY)
    with pytest.raises(RuntimeError, match="model"):
        inference_target(SimpleNamespace(model=model))


@pytest.mark.parametrize("missing", GATEWAY)
def test_inference_target__outside_a_run__says_that_there_are_no_credentials(given, missing):
    """Half a pair is none, and the message shows no key."""
    given(**{**GATEWAY, missing: ""})
    with pytest.raises(RuntimeError, match="only inside a rollout") as caught:
        inference_target(SimpleNamespace(model="openai:gpt"))
    assert " k " not in str(caught.value)


@pytest.mark.parametrize(
    "variables, error",
    [
        ({"RUN_ID": "r"}, RuntimeError),
        ({"INFERENCE_BASE_URL": "http://g", "SCORER_INFERENCE_API_KEY": "k"}, RuntimeError),
        ({"WRITEBACK_BASE_URL": "http://g", "SCORER_INFERENCE_API_KEY": "k"}, RuntimeError),
        ({"SCORER_MODEL": "openai:gpt"}, RuntimeError),
        ({"SCORER_MODEL": "openai:gpt", "INFERENCE_BASE_URL": "http://g", "INFERENCE_API_KEY": "k"}, RuntimeError),
        *(
            ({"SCORER_MODEL": model, "INFERENCE_BASE_URL": "http://g", "SCORER_INFERENCE_API_KEY": "k"}, ValueError)
            for model in ("OpenAI:x", " openai:x", "gpt", "openai:", ":x")
        ),
    ],
)
def test_scoring_target__run_without_a_usable_judge__is_refused(given, variables, error):
    """A run must name its judge and grant its key; the judge must be written canonically."""
    given(**variables)
    with pytest.raises(error) as caught:
        scoring_inference_target()
    assert type(caught.value) is error


def test_scoring_target__outside_a_run__is_none(given):
    """A local run keeps its own judge; half a pair of credentials changes nothing."""
    assert scoring_inference_target() is None
    given(INFERENCE_BASE_URL="http://g", INFERENCE_API_KEY="k")
    assert scoring_inference_target() is None


def test_scoring_target__judge_with_credentials__is_the_target(given):
    """The write-back address stands in for the gateway's; the key of rollouts never does."""
    given(SCORER_MODEL="openai:gpt", WRITEBACK_BASE_URL="http://w/", SCORER_INFERENCE_API_KEY="judge")
    assert scoring_inference_target() == InferenceTarget("http://w/v1/llm", "judge", "openai:gpt")
    assert beaker.sdk.inference.InferenceTarget is InferenceTarget
