"""Launch settings: every key has one rule, and what is not built yet is refused with its reason."""

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.convert import from_json, to_json
from beaker.core.optimizer import (
    LaunchSettings,
    OptimizerSettings,
    Timeouts,
    parse_evaluation_settings,
    parse_launch_settings,
    settings_to_json,
)
from beaker.core.options import camel, closest, shown, snake
from beaker.core.prices import Price

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "launch_settings.json").read_text("utf-8")
)
OPTIMIZER_KEYS = [
    "proposer", "command", "reflection", "proposer_env", "max_rollouts", "max_proposals", "max_proposals_in_flight",
    "cases_per_process", "minibatch_size", "selection_fraction", "score_repeats", "seed", "prices", "timeouts",
    "proposer_options", "engine", "engine_options", "limits",
]  # fmt: skip
LAUNCH_KEYS = [
    "model", "case_retry_limit", "spend_budget_usd", "test_baseline", "max_concurrency", "optimization_config",
    "harness_optimization", "repository_destinations", "extra", "scorer_model",
]  # fmt: skip


@pytest.mark.parametrize("config, expected", VECTORS["accepted"])
def test_parse_launch_settings__accepted_vector__sets_what_is_listed(
    config: dict[str, Any], expected: dict[str, Any]
) -> None:
    """What was given is set, and everything else keeps its documented default."""
    settings = parse_launch_settings(config).unwrap()
    for path, wanted in expected.items():
        owner: Any = settings if hasattr(settings, path) else settings.optimizer
        found = reduce(getattr, path.split("."), owner)
        assert (list(found) if isinstance(found, tuple) else found) == wanted
    if not expected:
        command = tuple(config["harness_optimization"]["command"])
        assert settings == LaunchSettings(optimizer=OptimizerSettings(proposer="command", command=command))


def test_prices__are_kept_by_model_and_read_back() -> None:
    """Prices are per million tokens, by the name that a trace gives a model, and survive being stored."""
    prices = {"openai:gpt": {"input": 0.4, "output": 1.6}, "x:free": {"input": 0, "output": 0}}
    config: Any = {"harness_optimization": {"command": ["x"], "prices": prices}, "spend_budget_usd": 2}
    settings = parse_launch_settings(config).unwrap()
    assert settings.optimizer.prices == {"openai:gpt": Price(0.4, 1.6), "x:free": Price(0.0, 0.0)}
    assert settings_to_json(settings)["harness_optimization"]["prices"] == prices  # type: ignore[index, call-overload]  # an object
    assert parse_launch_settings(settings_to_json(settings)).unwrap() == settings


def test_spend_budget__without_prices__says_what_to_write() -> None:
    """A budget that nothing could be counted against is refused with an example of prices."""
    (problem,) = parse_launch_settings({"harness_optimization": {"command": ["x"]}, "spend_budget_usd": 2}).failure()
    assert "needs the prices of models" in problem.message
    assert '"openai:gpt-4.1-mini": {input: 0.4, output: 1.6}' in problem.hint


def test_prices__missing_part__is_named() -> None:
    """A price has both parts."""
    given: Any = {"harness_optimization": {"command": ["x"], "prices": {"a:b": {}, "a:c": {"output": 1}, "d": 3}}}
    found = parse_launch_settings(given).failure()
    assert [problem.message for problem in found] == [
        "has no input and no output",
        "has no input",
        "names 'd', which does not read provider:model",
        "must be an object, not 3",
    ]


def test_defaults__are_the_documented_ones() -> None:
    """The defaults are a contract: a run without settings is the same run tomorrow."""
    settings = parse_launch_settings({"harness_optimization": {"command": ["x"]}}).unwrap()
    assert settings_to_json(settings) == {
        "harness_optimization": {
            "proposer": "command",
            "command": ["x"],
            "reflection": None,
            "proposer_env": [],
            "proposer_options": {},
            "engine": "pareto",
            "engine_options": {},
            "max_rollouts": None,
            "max_proposals": 50,
            "max_proposals_in_flight": 1,
            "cases_per_process": 1,
            "minibatch_size": 3,
            "selection_fraction": 0.5,
            "score_repeats": 1,
            "seed": 0,
            "prices": {},
            "timeouts": {
                "import": 60.0,
                "prepare_run": 300.0,
                "load_cases": 300.0,
                "open_candidate": 300.0,
                "run_case": 300.0,
                "score_case": 120.0,
                "proposal": 1800.0,
                "teardown": 30.0,
            },
            "limits": {"memory_mb": None, "file_mb": 4096, "result_mb": 64, "candidate_seconds": None},
        },
        "max_concurrency": 4,
        "case_retry_limit": 2,
        "spend_budget_usd": None,
        "test_baseline": True,
        "extra": {},
    }


@pytest.mark.parametrize("config, places", VECTORS["refused"])
def test_parse_launch_settings__refused_vector__names_every_place(config: dict[str, Any], places: list[str]) -> None:
    """Each fault is named with its place, all of them together, and says something."""
    problems = parse_launch_settings(config).failure()
    assert [problem.where for problem in problems] == sorted(places, key=[problem.where for problem in problems].index)
    assert all(problem.code == "BK410" and problem.message for problem in problems)


def test_parse_launch_settings__unknown_keys__get_a_next_step() -> None:
    """A near miss is suggested, and values of one's own are sent to `extra`."""
    problems = parse_launch_settings(
        {"harness_optimization": {"command": ["x"], "maxRollout": 1}, "tenant": 1}
    ).failure()
    assert problems[0].hint == "did you mean 'max_rollouts'?"
    assert "`extra`" in problems[1].hint
    assert "max_concurrency" in problems[1].hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def objects(keys: list[str], special: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of `keys` in either spelling and of unknown ones, holding anything."""
    pairs = st.sampled_from([*keys, *map(camel, keys), "unknown"]).flatmap(
        lambda key: st.tuples(st.just(key), JSON | special.get(snake(key), st.nothing()))
    )
    return st.lists(pairs, max_size=6).map(dict)


GOOD: dict[str, st.SearchStrategy[Any]] = {
    "command": st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3),
    "proposer": st.sampled_from(["command", "reflection", "mine"]),
    "reflection": st.just({"base_url": "http://localhost/v1", "model": "m"}),
    "engine": st.sampled_from(["pareto", "other"]),
    "engine_options": st.just({"a": 1}),
    "proposer_options": st.just({"a": 1}),
    "timeouts": st.dictionaries(st.sampled_from(["import", "run_case", "runCase", "teardown"]), st.floats(0.1, 100)),
    "limits": st.dictionaries(st.sampled_from(["memory_mb", "fileMb", "result_mb"]), st.integers(1, 100)),
    "proposer_env": st.lists(st.sampled_from(["A", "B_C"]), unique=True),
    "selection_fraction": st.floats(0.1, 0.9),
    "max_rollouts": st.integers(1, 1000),
}


@given(objects(LAUNCH_KEYS, {"harness_optimization": objects(OPTIMIZER_KEYS, GOOD)}))
def test_parse_launch_settings__any_object__gives_settings_or_problems(config: dict[str, Any]) -> None:
    """The reading is total; what it accepts can be written, stored and read back unchanged."""
    found = parse_launch_settings(config)
    if is_successful(found):
        settings = found.unwrap()
        assert parse_launch_settings(json.loads(json.dumps(settings_to_json(settings)))).unwrap() == settings
        stored = json.loads(json.dumps(to_json(settings)))
        assert from_json(stored, LaunchSettings, code="BK999").unwrap() == settings
    else:
        assert found.failure()


@given(st.sampled_from(OPTIMIZER_KEYS + LAUNCH_KEYS + ["import", "run_case"]))
def test_camel_and_snake__every_key__are_inverse(key: str) -> None:
    """Either spelling leads to the other."""
    assert snake(camel(key)) == key


def test_parse_launch_settings__values_no_json_holds__are_refused() -> None:
    """Settings that never were JSON text are judged as strictly."""
    optimizer = {"command": ["x"], "selection_fraction": 10**400, "timeouts": {"run_case": float("inf")}}
    problems = parse_launch_settings({"harness_optimization": optimizer, "extra": {"a": (1,)}}).failure()
    assert [problem.where for problem in problems] == [
        "config.harness_optimization.selection_fraction",
        "config.harness_optimization.timeouts.run_case",
        "config.extra",
    ]
    (problem,) = parse_launch_settings(
        {"harness_optimization": {"command": ["x"]}, "extra": {"a": float("nan")}}
    ).failure()
    assert "finite" in problem.message


@pytest.mark.parametrize(
    ("key", "lowest", "highest"),
    [
        ("max_rollouts", 1, 2**53 - 1),
        ("max_proposals", 1, 2**53 - 1),
        ("max_proposals_in_flight", 1, 1000),
        ("score_repeats", 1, 1000),
        ("cases_per_process", 1, 2**53 - 1),
        ("minibatch_size", 1, 2**53 - 1),
        ("seed", -(2**53 - 1), 2**53 - 1),
    ],
)
def test_parse_launch_settings__ranges__hold_at_both_ends(key: str, lowest: int, highest: int) -> None:
    """What the page of the configuration says may be given is taken, and nothing beside it."""
    for number, fits in ((lowest, True), (highest, True), (lowest - 1, False), (highest + 1, False)):
        parsed = parse_launch_settings({"harness_optimization": {"command": ["x"], key: number}})
        assert is_successful(parsed) == fits
        if not fits:
            (problem,) = parsed.failure()
            assert str(lowest) in problem.message


@pytest.mark.parametrize(
    ("optimizer", "message", "hint"),
    [
        ({"command": []}, "is empty, so there is no program to run", 'harness_optimization: {command: ["{python}"'),
        ({"command": 7}, "must be a list that starts with a program, not 7", ""),
        ({}, "names no proposer", 'harness_optimization: {command: ["{python}"'),
        ({"command": "python {project}/p.py -n 1"}, '[python, "{project}/p.py", "-n", "1"]', ""),
    ],
)
def test_parse_launch_settings__what_to_write__is_said_as_yaml(
    optimizer: dict[str, Any], message: str, hint: str
) -> None:
    """A hint can be copied into the file."""
    (problem,) = parse_launch_settings({"harness_optimization": optimizer}).failure()
    assert message in problem.message
    assert hint in problem.hint


def test_closest__far_names__suggest_nothing() -> None:
    """A suggestion is made only for a likely slip, whatever the spelling."""
    assert closest("maxRolouts", OPTIMIZER_KEYS) == "max_rollouts"
    assert closest("Time-outs", OPTIMIZER_KEYS) == "timeouts"
    assert closest("tenant", OPTIMIZER_KEYS) is None


def test_shown__long_values__are_cut() -> None:
    """A message stays readable whatever was given."""
    assert len(shown("x" * 500)) == 60
    assert [shown(item) for item in (None, True, {}, [], 7)] == ["null", "true", "an object", "a list", "7"]
    assert shown(10**5000) == "a very large number"
    assert Timeouts().import_ == 60.0


@pytest.mark.parametrize(
    ("config", "hint"),
    [
        ({"timeouts": {"run_case": 5}}, "it belongs into `harness_optimization`"),
        ({"maxProposals": 5}, "it belongs into `harness_optimization`"),
        ({"run_case": 5}, "it belongs into `harness_optimization.timeouts`"),
        ({"base_url": "x"}, "it belongs into `harness_optimization.reflection`"),
        ({"harness_optimization": {"run_case": 5}}, "it belongs into `harness_optimization.timeouts`"),
        ({"harness_optimization": {"model": "m"}}, "it belongs into `harness_optimization.reflection`"),
        (
            {"harness_optimization": {"maxConcurrency": 2}},
            "it belongs beside `harness_optimization`, at the top of the settings",
        ),
        ({"harness_optimization": {"timeouts": {"max_proposals": 2}}}, "it belongs into `harness_optimization`"),
        ({"harness_optimization": {"reflection": {"seed": 2}}}, "it belongs into `harness_optimization`"),
    ],
)
def test_parse_launch_settings__key_of_another_level__is_sent_home(config: Any, hint: str) -> None:
    """A known key a level too high or too low is told where it belongs, not what else is known."""
    unknown = [one for one in parse_launch_settings(config).failure() if one.message == "is not a known option"]
    assert [one.hint for one in unknown] == [hint]


def test_parse_evaluation_settings__without_a_proposer__are_fine() -> None:
    """Nothing is proposed; the rest is judged as for a launch, in either spelling and of either kind."""
    assert parse_evaluation_settings({"max_concurrency": 2}).unwrap().max_concurrency == 2
    for key in ("harness_optimization", "harnessOptimization"):
        given: dict[str, Any] = {key: {"timeouts": {"run_case": 7}}}
        assert parse_evaluation_settings(given).unwrap().optimizer.timeouts.run_case == 7
        assert parse_evaluation_settings({key: None}).unwrap().optimizer.command == ("true",)
    proposed = {"harness_optimization": {"command": ["x"]}}
    assert parse_evaluation_settings(proposed).unwrap() == parse_launch_settings(proposed).unwrap()
    assert is_successful(parse_evaluation_settings({"use_harness_optimization": True}, kind="spec"))
    problems = parse_evaluation_settings({"max_concurrency": 0, "harness_optimization": {"seed": "x"}}).failure()
    assert {problem.where for problem in problems} >= {"config.max_concurrency", "config.harness_optimization.seed"}
