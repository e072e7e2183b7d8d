"""Which model hooks of the Spec generation call, how they average scores, and where they look for evidence."""

from types import SimpleNamespace
from typing import Any

import pytest

from beaker.core import inference
from beaker.sdk.inference import inference_target as todays_inference_target
from beaker.sdk.spec04 import (
    ContextSearchEvidence,
    EvidenceProvider,
    FieldDiff,
    InferenceTarget,
    RolloutContext,
    Trajectory,
    configure_scoring_inference_model,
    inference_target,
    objective_score,
    scoring_inference_target,
)


@pytest.fixture(autouse=True)
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable of this machine counts."""
    for name in dir(inference):
        if name.endswith("_VARIABLE"):
            monkeypatch.delenv(getattr(inference, name), raising=False)
    return monkeypatch


def test_inference_target__fields_and_fallbacks(environ: pytest.MonkeyPatch) -> None:
    """The model by its four forms; the variables of the run stand in for those of the gateway."""
    with pytest.raises(RuntimeError, match="no credentials for inference"):
        inference_target(RolloutContext("p:m", "u"))
    environ.setenv("BEAKER_WRITEBACK_BASE_URL", "http://w/")
    environ.setenv("BEAKER_RUN_TOKEN", "t")
    for runtime, model in (
        (RolloutContext("x", "u", canonical_model_id="p:m"), "p:m"),
        (RolloutContext("p:m", "u", provider="q"), "p:m"),
        (RolloutContext("m", "u", provider="p"), "p:m"),
        (RolloutContext("p/m", "u"), "p:m"),
        (SimpleNamespace(model="p:m"), "p:m"),
    ):
        assert inference_target(runtime) == InferenceTarget("http://w/v1/llm", "t", model)
        if isinstance(runtime, RolloutContext):
            assert todays_inference_target(runtime) == InferenceTarget("http://w/v1/llm", "t", model)
    for unknown in (RolloutContext("m", "u"), RolloutContext(None, "u"), SimpleNamespace()):
        with pytest.raises(RuntimeError, match="no model was selected"):
            inference_target(unknown)


def test_configure_scoring_model__sets_and_takes_back(environ: pytest.MonkeyPatch) -> None:
    """Scoring in this process asks the model that was set; another spelling is refused and changes nothing."""
    environ.setenv("BEAKER_INFERENCE_BASE_URL", "http://g")
    environ.setenv("BEAKER_SCORER_INFERENCE_API_KEY", "k")
    configure_scoring_inference_model("p:m")
    with pytest.raises(ValueError, match="scorer model must read provider:model"):
        configure_scoring_inference_model("P:m")
    assert scoring_inference_target() == InferenceTarget("http://g", "k", "p:m")
    for _ in range(2):
        configure_scoring_inference_model(None)
    with pytest.raises(RuntimeError, match="no scorer model"):
        scoring_inference_target()


@pytest.mark.parametrize(
    "scores, weights, expected",
    [
        ({"total": 1.0, "date": 0.5, "vendor": 0.25}, None, 0.5833333333333334),
        (
            {"total": 0.9, "date": 0.6, "vendor": 0.3},
            {"total": 2, "date": 1, "vendor": 1, "tax": 4},
            0.33749999999999997,
        ),
        ({"a": 1.0, "b": 0.5}, {"a": -1, "b": 1}, 0.5),
        ({"a": 2.0, "b": -1}, None, 0.5),
        ({}, None, 0.0),
        ({"a": 1}, {"a": 0}, 0.0),
        ({"a": 1}, {}, 1.0),
        ({"a": "0.5"}, None, 0.5),
        ({"a": True, "b": False}, None, 0.5),
        ({"a": None, "b": "x", "c": 1}, {"a": 1, "b": 1, "c": 2}, 0.5),
        ({"a": float("nan")}, None, 1.0),
        ({"a": 1, "b": 0.5}, {"a": float("nan"), "b": 1}, 0.5),
        (dict.fromkeys("abcdefg", 1.0), None, 0.9999999999999998),
        (dict.fromkeys("abcdefghi", 1.0), None, 1.0000000000000002),
    ],
)
def test_objective_score__vectors_of_the_generation(scores: Any, weights: Any, expected: float) -> None:
    """What is not scored counts as 0, and nothing is capped."""
    assert objective_score(scores, weights) == expected


@pytest.mark.parametrize(
    "scores, weights, error",
    [
        ({"a": 1}, {"a": "x"}, ValueError),
        ({"a": 1}, {"a": None}, TypeError),
        ([1], {"a": 1}, AttributeError),
        ({"a": 10**400}, None, OverflowError),
    ],
)
def test_objective_score__unusable__raises(scores: Any, weights: Any, error: type[Exception]) -> None:
    """A weight that is no number, scores that are no mapping, a number beyond the floats."""
    with pytest.raises(error):
        objective_score(scores, weights)


def test_context_search__finds_expected_words_in_the_context() -> None:
    """Each snippet says where it is from and on which line; keys and terms narrow what is looked for."""
    context = {"page": "top\nTotal: 12.50 EUR\nend", "files": [{"name": "a.txt", "content": "12.50"}]}
    trajectory = Trajectory("c", "g", "in", 0.0, {}, ["total"], "1", "12.50", context=context)
    search = ContextSearchEvidence()
    assert isinstance(search, EvidenceProvider)
    found = search.evidence_for(trajectory=trajectory, diff=FieldDiff("total", "1", "12.50"))
    assert [(one.text, one.source, one.data) for one in found] == [
        ("CONTEXT: top\nMATCH: Total: 12.50 EUR\nCONTEXT: end", "page", {"line_number": 2}),
        ("MATCH: 12.50", "files:a.txt", {"line_number": 1}),
    ]
    narrow = ContextSearchEvidence(context_keys=["files"], terms={"total": ["12.5"]})
    found = narrow.evidence_for(trajectory=trajectory, diff=FieldDiff("total", "1", None))
    assert [one.source for one in found] == ["files:a.txt"]
    assert search.evidence_for(trajectory=trajectory, diff=FieldDiff("vendor_name", "x", None)) == []
