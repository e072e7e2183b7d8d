"""The options of a launch: models to compare, and what only the launch of a Spec says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.launch_options import (
    EVALUATION_SPLITS,
    MAX_BENCHMARK_CASES,
    LaunchOptions,
    refused_here,
    with_options,
)
from beaker.core.options import camel

MODEL = [{"provider": "openai", "model": "gpt"}]
COMPARED = {"optimization_models": MODEL, "execution_mode": "benchmark_and_optimize"}
SPEC_OPTIONS = {
    "--benchmark-split": LaunchOptions(benchmark_split="TEST"),
    "--benchmark-max-cases": LaunchOptions(benchmark_max_cases=1),
    "--final-eval-split": LaunchOptions(final_eval_splits=("TRAIN",)),
    "--test-all-candidates": LaunchOptions(test_all_candidates=True),
}
CONFIGS = st.dictionaries(
    st.sampled_from(
        [
            spelled
            for name in ("optimization_config", "use_harness_optimization", "test_all_candidates", "extra")
            for spelled in (name, camel(name))
        ]
    ),
    st.booleans() | st.none() | st.just({"seed": 1}),
)
OPTIONS = st.builds(
    LaunchOptions,
    models=st.sampled_from([(), ("openai:gpt",), ("a:b", "c:d"), ("gpt",)]),
    benchmark_split=st.sampled_from([None, *EVALUATION_SPLITS]),
    benchmark_max_cases=st.none() | st.integers(1, MAX_BENCHMARK_CASES),
    final_eval_splits=st.lists(st.sampled_from(EVALUATION_SPLITS), max_size=3).map(tuple),
    test_all_candidates=st.booleans(),
)


@pytest.mark.parametrize(
    ("config", "options", "expected"),
    [
        ({}, {}, {"use_harness_optimization": True}),
        ({"use_harness_optimization": False}, {}, {"use_harness_optimization": False}),
        ({"useHarnessOptimization": None}, {}, {"useHarnessOptimization": None}),
        ({"optimizationConfig": {}}, {}, {"optimizationConfig": {}}),
        ({"optimization_config": {"a": 1}}, {}, {"optimization_config": {"a": 1}}),
        ({"extra": 1}, {"models": ("openai:gpt",)}, {"extra": 1, "optimization_config": COMPARED}),
        (
            {"use_harness_optimization": False},
            {"models": (" openai : gpt ",)},
            {"use_harness_optimization": False, "optimization_config": COMPARED},
        ),
        (
            {},
            {"models": ("openai:gpt",), "benchmark_split": "TRAIN"},
            {"optimization_config": {**COMPARED, "initial_benchmark": {"enabled": True, "split": "TRAIN"}}},
        ),
        (
            {},
            {"models": ("openai:gpt",), "benchmark_max_cases": 30, "final_eval_splits": ("TEST", "TRAIN")},
            {
                "optimization_config": {
                    **COMPARED,
                    "initial_benchmark": {"enabled": True, "max_cases": 30},
                    "final_eval_splits": ["TEST", "TRAIN"],
                }
            },
        ),
        (
            {"testAllCandidates": False, "test_all_candidates": None},
            {"test_all_candidates": True},
            {"use_harness_optimization": True, "test_all_candidates": True},
        ),
    ],
)
def test_with_options__spec__says_what_its_generation_said(
    config: dict[str, Any], options: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Every option stands where the API of the generation has it; without models the run optimizes."""
    before = dict(config)
    assert with_options(config, LaunchOptions(**options), kind="spec").unwrap() == expected
    assert config == before


@pytest.mark.parametrize(
    ("config", "options", "places"),
    [
        ({}, {"benchmark_split": "TEST"}, ["--benchmark-split"]),
        (
            {},
            {"benchmark_max_cases": 3, "final_eval_splits": ("TEST",)},
            ["--benchmark-max-cases", "--final-eval-split"],
        ),
        ({}, {"models": ("gpt",)}, ["--optimization-model"]),
        ({}, {"models": ("a:b",), "final_eval_splits": ("TEST", "TEST")}, ["--final-eval-split"]),
        ({"optimizationConfig": {}}, {"models": ("a:b",)}, ["config.optimizationConfig"]),
        (
            {"optimization_config": None, "use_harness_optimization": True},
            {"models": ("a:b",)},
            ["config.optimization_config", "config.use_harness_optimization"],
        ),
        ({"useHarnessOptimization": True}, {"models": ("a:b",)}, ["config.useHarnessOptimization"]),
    ],
)
def test_with_options__what_a_spec_cannot_say__is_refused_at_its_place(
    config: dict[str, Any], options: dict[str, Any], places: list[str]
) -> None:
    """Options without their models, two words about one thing: every one is named, with the next step."""
    problems = with_options(config, LaunchOptions(**options), kind="spec").failure()
    assert [problem.where for problem in problems] == places
    assert all(problem.hint if problem.code == "BK409" else problem.code == "BK406" for problem in problems)


@pytest.mark.parametrize("kind", ["integration", None])
@pytest.mark.parametrize("name", SPEC_OPTIONS)
def test_with_options__option_of_a_spec__is_refused_elsewhere(name: str, kind: Any) -> None:
    """An Integration has no such option, and where nothing is selected a Spec is to be."""
    (problem,) = with_options({}, SPEC_OPTIONS[name], kind=kind).failure()
    assert (problem.code, problem.where) == ("BK409", name)
    assert ("--spec-id" in problem.hint) == (kind is None)


def test_with_options__integration__compares_models_and_adds_nothing_else() -> None:
    """Models join what the settings say; without models nothing is added; with nothing selected they are refused."""
    models = LaunchOptions(models=("openai:gpt",))
    made = with_options({"optimizationConfig": {"seed": 1}}, models, kind="integration").unwrap()
    assert made == {"optimization_config": {"seed": 1, "optimization_models": MODEL}}
    assert with_options({"extra": 1}, LaunchOptions(), kind="integration").unwrap() == {"extra": 1}
    (problem,) = with_options({}, models, kind=None).failure()
    assert (problem.code, problem.where) == ("BK406", "--optimization-model")


@given(OPTIONS)
def test_refused_here__every_option__has_a_reason_and_a_way_out(options: LaunchOptions) -> None:
    """Nothing that was asked for is ignored: each option given is named once, and no other."""
    problems = refused_here(options)
    asked = {name for name, one in SPEC_OPTIONS.items() if _gives(options, one)}
    asked |= {"--optimization-model"} if options.models else set()
    assert sorted(problem.where for problem in problems) == sorted(asked)
    assert all(problem.code == "BK409" and problem.message and problem.hint for problem in problems)


@given(CONFIGS, OPTIONS, st.sampled_from(["spec", "integration", None]))
def test_with_options__anything__is_said_or_refused(config: dict[str, Any], options: LaunchOptions, kind: Any) -> None:
    """Total; no option is lost, and nothing of the settings that it is not about."""
    found = with_options(config, options, kind=kind)
    if not is_successful(found):
        assert found.failure()
        return
    made = found.unwrap()
    assert made.get("extra") == config.get("extra")
    assert options.test_all_candidates <= (made.get("test_all_candidates") is True)
    comparison = made.get("optimization_config")
    if options.models:
        assert len(comparison["optimization_models"]) == len(options.models)
        assert comparison.get("final_eval_splits", []) == [*options.final_eval_splits]
        benchmark = comparison.get("initial_benchmark", {})
        assert benchmark.get("split") == options.benchmark_split
        assert benchmark.get("max_cases") == options.benchmark_max_cases
    else:
        assert not options.final_eval_splits


def _gives(options: LaunchOptions, one: LaunchOptions) -> bool:
    """Whether `options` give what `one` gives, whatever its value."""
    return any(
        getattr(options, name) != getattr(LaunchOptions(), name)
        and getattr(one, name) != getattr(LaunchOptions(), name)
        for name in ("benchmark_split", "benchmark_max_cases", "final_eval_splits", "test_all_candidates")
    )
