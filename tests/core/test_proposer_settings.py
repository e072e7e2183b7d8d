"""Which proposer is chosen, and what belongs to it."""

from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.optimizer import parse_launch_settings, settings_to_json
from beaker.core.options import OptionsRefused
from beaker.core.proposer_settings import NoProposer, choose_proposer, options, proposer_variables


@pytest.mark.parametrize(
    ("values", "proposer"),
    [
        ({"command": ("x",)}, "command"),
        ({"reflection": 1}, "reflection"),
        ({"command": ("x",), "proposer": "command", "proposer_env": ("A",)}, "command"),
        ({"proposer": "mine", "proposer_options": {"a": 1}, "proposer_env": ("A",)}, "mine"),
        ({"proposer": "mine", "engine": "other", "engine_options": {"a": 1}}, "mine"),
    ],
)
def test_choose_proposer__named_or_implied__is_that_one(values: dict[str, Any], proposer: str) -> None:
    """A command or a model names its proposer."""
    assert choose_proposer(values, code="X") == proposer


@pytest.mark.parametrize(
    ("values", "places", "words"),
    [
        ({}, [""], "names no proposer"),
        ({"command": 1, "reflection": 1}, [""], "two proposers"),
        ({"proposer": "command"}, [".command"], "needs a command"),
        ({"proposer": "reflection"}, [".reflection"], "which model"),
        ({"proposer": "command", "command": 1, "reflection": 1}, [".reflection"], "the reflection proposer"),
        ({"proposer": "mine", "command": 1, "reflection": 1}, [".command", ".reflection"], "'mine' is chosen"),
        ({"reflection": 1, "proposer_env": ("A",)}, [".proposer_env"], "a program"),
        ({"reflection": 1, "proposer_options": {"a": 1}}, [".proposer_options"], "'reflection' is chosen"),
        ({"command": 1, "engine_options": {"a": 1}}, [".engine_options"], "'pareto' is chosen"),
    ],
)
def test_choose_proposer__what_would_be_left_out__is_refused(
    values: dict[str, Any], places: list[str], words: str
) -> None:
    """Every setting is used or named."""
    with pytest.raises(OptionsRefused) as refused:
        choose_proposer(values, code="X")
    problems = refused.value.problems
    assert [(problem.code, problem.where) for problem in problems] == [("X", place) for place in places]
    assert words in problems[0].message
    assert isinstance(problems[0], NoProposer) == (not values)


def test_options__any_json_object__is_kept_read_only() -> None:
    """Anything else is refused."""
    kept = options({"a": [1, {"b": None}]})
    assert kept == {"a": [1, {"b": None}]}
    for other in ([], "a", None, 1, {"a": (1,)}, {"a": float("nan")}):
        with pytest.raises(ValueError):
            options(other)


def test_proposer_variables__of_stored_settings__are_those_passed_on_and_the_key_s() -> None:
    """In this order; settings of other shapes need none."""
    stored = {"proposer_env": ["A", 7, "B"], "reflection": {"api_key_env": "KEY"}}
    assert proposer_variables(stored) == ("A", "B", "KEY")
    assert proposer_variables({"proposer_env": ["A"], "reflection": {"api_key_env": None}}) == ("A",)
    for other in ({}, None, [], {"proposer_env": "A", "reflection": "x"}):
        assert proposer_variables(other) == ()


def test_settings_of_a_reflection__read_back__need_its_key() -> None:
    """What a launch stores says what its worker needs."""
    reflection = {"base_url": "http://localhost/v1", "model": "m", "api_key_env": "KEY"}
    parsed = parse_launch_settings({"harness_optimization": {"reflection": reflection}})
    assert is_successful(parsed)
    stored = settings_to_json(parsed.unwrap())
    assert proposer_variables(stored["harness_optimization"]) == ("KEY",)
    assert parse_launch_settings(stored).unwrap() == parsed.unwrap()
