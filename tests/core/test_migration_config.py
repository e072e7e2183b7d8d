"""Bringing configurations of earlier generations up to date: which edits, in which words, and what is left."""

from typing import Any

import pytest

from beaker.core.config import ProjectConfig, parse_config
from beaker.core.config_tree import Scalar, tree_from_json
from beaker.core.migration_config import ConfigPlan, applied, other_meaning, plan_config

Data = dict[str, Any]


def planned(data: Any, **more: Any) -> ConfigPlan:
    return plan_config(tree_from_json(data), "f", spec_id="mine", **more)


def migrated(data: Data) -> Data:
    """The content after every edit; texts that an edit adds are pairs of a word and how it is written."""
    made = data
    for edit in planned(data).edits:
        made = applied(made, edit)
    return made


KEY = ("k", "k")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        (
            {"specs": {"a": {"target": "m:f", "source_dir": "x"}, "b": {"target": "m:g"}}, "default_spec": "b"},
            {
                "integrations": {"a": {"entrypoint": "m:f", "source_dir": "x"}, "b": {"entrypoint": "m:g"}},
                "default_integration": "b",
            },
        ),
        (
            {"spec": {"target": "m:f"}, "api": "local"},
            {"integrations": {"mine": {"entrypoint": "m:f"}}, "api": "local"},
        ),
        (
            {"agent_key": "k", "spec": {"target": "m:f"}},
            {"integrations": {"mine": {"entrypoint": "m:f", "agent_key": KEY}}},
        ),
        (
            {"project_key": " k ", "specs": {"a": {"target": "m:f"}, "b": {"target": "m:g", "agent_key": "own"}}},
            {
                "integrations": {
                    "a": {"entrypoint": "m:f", "agent_key": KEY},
                    "b": {"entrypoint": "m:g", "agent_key": "own"},
                }
            },
        ),
        (
            {"specs": {"b": {"target": "m:g", "project_key": "own", "image_base": "i"}}, "agent_key": "k"},
            {"integrations": {"b": {"entrypoint": "m:g", "agent_key": "own", "environment_base": "i"}}},
        ),
        (
            {"integrations": {"i": {"entrypoint": "m:i", "project_key": "p", "image_base": "b"}}},
            {"integrations": {"i": {"entrypoint": "m:i", "agent_key": "p", "environment_base": "b"}}},
        ),
        (
            {"integrations": {"i": {"project_key": "p", "agent_key": "a", "image_base": "b", "environment_base": "e"}}},
            {"integrations": {"i": {"project_key": "p", "agent_key": "a", "image_base": "b", "environment_base": "e"}}},
        ),
        (
            {
                "spec": {"target": "m:f", "config_defaults": {"useHarnessOptimization": True}},
                "config_defaults": {
                    "test_all_candidates": False,
                    "max_concurrency": 2,
                    "use_harness_optimization": True,
                },
            },
            {"integrations": {"mine": {"entrypoint": "m:f"}}, "config_defaults": {"max_concurrency": 2}},
        ),
        (
            {"spec": {"target": "m:f"}, "config_defaults": {"extra": {"a": 1}}},
            {"integrations": {"mine": {"entrypoint": "m:f"}}, "config_defaults": {"extra": {"a": 1}}},
        ),
        ({"integrations": {"i": {"entrypoint": "m:i"}}, "config_defaults": {"use_harness_optimization": True}}, None),
        ({"integrations": {"i": 7}, "specs": []}, None),
        ({"config_defaults": {}, "agent_key": "k"}, None),
    ],
)
def test_plan_config__earlier_keys__become_todays(before: Data, after: Data | None) -> None:
    """Entries of Specs become Integrations, keys find their new places, what says nothing goes; once."""
    plan = planned(before)
    assert plan.by_hand == ()
    assert bool(plan.edits) == bool(plan.changes) == (after is not None and after != before)
    made = migrated(before)
    assert made == (before if after is None else after)
    plain = {key: item if not isinstance(item, tuple) else item[0] for key, item in made.items()}
    assert not planned(_untupled(plain)).edits


def _untupled(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _untupled(item) for key, item in data.items()}
    return data[0] if isinstance(data, tuple) else data


SPEC = {"target": "m:f"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"spec": SPEC, "integrations": {}}, "spec and integrations would be one section"),
        ({"specs": {"a": SPEC}, "spec": SPEC}, "specs and spec would be one section"),
        ({"spec": SPEC, "default_integration": "x"}, "default_integration stands beside Specs"),
        ({"specs": {"a": {"target": "m:f", "entrypoint": "m:i"}}}, "specs.a names no factory as its target"),
        ({"specs": {"a": {}}}, "specs.a names no factory as its target"),
        ({"spec": {"target": []}}, "spec names no factory as its target"),
        ({"spec": {"target": "m:bad"}}, "spec.target m:bad cannot be an entrypoint: it is not decorated"),
        ({"spec": SPEC, "config_defaults": {"topKTestEval": 2}}, "config_defaults.topKTestEval has no counterpart"),
        ({"spec": SPEC, "config_defaults": {"use_harness_optimization": False}}, "has no counterpart"),
        ({"spec": SPEC, "config_defaults": {"use_harness_optimization": []}}, "has no counterpart"),
        (
            {"specs": {"a": {**SPEC, "config_defaults": {"scorer_model": "a:b"}}}},
            "specs.a.config_defaults.scorer_model",
        ),
        ({"integrations": {"i": {}}, "agent_key": "k", "project_key": "l"}, "agent_key at the top is not one key"),
        ({"integrations": {"i": {}}, "agent_key": None}, "agent_key at the top is not one key"),
        ({"integrations": {"i": {}}, "project_key": {}}, "project_key at the top is not one key"),
    ],
)
def test_plan_config__what_cannot_be_said_today__is_left_whole(data: Data, said: str) -> None:
    """No file is half of one generation: what is in the way is told, and nothing is edited."""
    plan = planned(data, unfit={"m:bad": "it is not decorated"})
    assert plan.edits == plan.changes == ()
    (problem,) = plan.by_hand
    assert said in problem.message
    assert (problem.code, problem.where, bool(problem.hint)) == ("BK161", "f:1", True)


def test_plan_config__no_mapping__is_left_alone() -> None:
    """What is no configuration is judged elsewhere."""
    assert plan_config(Scalar("x", "x", 1, 1), "f", spec_id="mine") == ConfigPlan()


def config(data: Data) -> ProjectConfig:
    return parse_config(tree_from_json(data), "f").unwrap()


BEFORE: Data = {
    "agent_key": "k",
    "specs": {"a": {**SPEC, "required_env": ["TOKEN"]}, "b": {"target": "m:g", "agent_key": "own"}},
    "default_spec": "a",
    "config_defaults": {"max_concurrency": 2, "use_harness_optimization": True},
}
ENTRIES = {
    "a": {"entrypoint": "m:f", "required_env": ["TOKEN"], "agent_key": "k"},
    "b": {"entrypoint": "m:g", "agent_key": "own"},
}
AFTER: Data = {"integrations": ENTRIES, "default_integration": "a", "config_defaults": {"max_concurrency": 2}}


def test_other_meaning__of_what_was_planned__is_none() -> None:
    """The migrated configuration says of every entry what the earlier one said; the unnamed one has a name."""
    assert other_meaning(config(BEFORE), config(AFTER), spec_id="mine") == ""
    assert other_meaning(config(BEFORE), config(BEFORE), spec_id="mine") == ""
    named = config({"integrations": {"mine": {"entrypoint": "m:f"}}})
    assert other_meaning(config({"spec": SPEC}), named, spec_id="mine") == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"integrations": {"a": ENTRIES["a"]}}, "its entries are others"),
        ({"integrations": {**ENTRIES, "b": {"entrypoint": "m:g"}}}, "the entry b says something else"),
        ({"integrations": {**ENTRIES, "a": {**ENTRIES["a"], "source_dir": "x"}}}, "the entry a says something else"),
        ({"default_integration": "b"}, "the default is another"),
        ({"config_defaults": {}}, "its settings are others"),
        ({"api": "local"}, "its settings are others"),
    ],
)
def test_other_meaning__anything_else__is_told(change: Data, said: str) -> None:
    """Whatever an edit might have broken is seen by what the file says then."""
    assert other_meaning(config(BEFORE), config({**AFTER, **change}), spec_id="mine") == said
