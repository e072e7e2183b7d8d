"""Building a launch request: layering, keys, the dataset, models, the ref, and the body that is sent."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch import (
    LAUNCH_KEYS,
    DatasetChoice,
    LaunchRequest,
    check_launch_keys,
    choose_dataset,
    choose_ref,
    left_out,
    local_dataset_path,
    merge_config,
    plan_launch,
    split_config,
)
from beaker.core.launch_options import SPEC_LAUNCH_KEYS, LaunchOptions
from beaker.core.options import camel

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "launch.json").read_text("utf-8"))
KEYS = [*LAUNCH_KEYS, *map(camel, LAUNCH_KEYS), "dataset", "dataset_id", "datasetRef", "scorer_model", "other"]
OPTIONS = LaunchOptions(models=("openai:gpt",))
CONFIGS = st.dictionaries(st.sampled_from(KEYS), st.none() | st.integers() | st.text(max_size=3) | st.just({}))


@pytest.mark.parametrize("layers, expected", VECTORS["merge"])
def test_merge_config__vector__as_listed(layers: list[Any], expected: dict[str, Any]) -> None:
    """Shallow by key, either spelling; selecting a dataset drops every selector below."""
    assert merge_config(*layers) == expected


@given(CONFIGS, CONFIGS, CONFIGS)
def test_merge_config__any_layers__last_word_wins_and_grouping_does_not_matter(
    low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]
) -> None:
    """The last layer is kept whole, merging is associative, and nothing given is changed."""
    before = json.dumps([low, middle, high])
    merged = merge_config(low, middle, high)
    assert merged.items() >= high.items() if high else True
    assert merged == merge_config(merge_config(low, middle), high) == merge_config(low, merge_config(middle, high))
    assert json.dumps([low, middle, high]) == before


@pytest.mark.parametrize("config, faults", VECTORS["keys"])
def test_check_launch_keys__vector__as_listed(config: dict[str, Any], faults: list[str]) -> None:
    """Every known key passes in either spelling, everything else is named, all at once."""
    found = check_launch_keys(config)
    problems = () if is_successful(found) else found.failure()
    assert [f"{problem.code} {problem.where}" for problem in problems] == faults
    assert all(problem.hint for problem in problems)


def test_check_launch_keys__unknown_key__is_sent_to_extra() -> None:
    """The refusal lists what may be set, and where values of one's own belong."""
    (problem,) = check_launch_keys({"tenant": 1}).failure()
    assert "`extra`" in problem.hint
    assert all(key in problem.hint for key in LAUNCH_KEYS)


def test_check_launch_keys__key_of_another_level__is_sent_home() -> None:
    """A setting of the optimizer is told that it is one."""
    (problem,) = check_launch_keys({"timeouts": {}}).failure()
    assert problem.hint == "it belongs into `harness_optimization`"


@pytest.mark.parametrize("key", [*SPEC_LAUNCH_KEYS, *map(camel, SPEC_LAUNCH_KEYS)])
def test_check_launch_keys__key_of_a_spec__passes_for_a_spec_only(key: str) -> None:
    """What only a Spec's launch has is known there, in either spelling, and told apart from a typo elsewhere."""
    assert is_successful(check_launch_keys({key: None}, kind="spec"))
    for kind in ("integration", None):
        (problem,) = check_launch_keys({key: None}, kind=kind).failure()
        judge = key.lower().startswith("scorer")
        assert (problem.code, problem.where) == ("BK403" if judge else "BK402", f"config.{key}")
        assert ("Spec generation" in problem.hint) != judge


def test_check_launch_keys__typo_for_a_spec__is_compared_with_its_keys_too() -> None:
    """A Spec's launch knows more keys, which a hint may name."""
    (problem,) = check_launch_keys({"top_k_test_evel": 1}, kind="spec").failure()
    assert "did you mean 'top_k_test_eval'?" in problem.hint


@pytest.mark.parametrize("resolved, reference, artifact_id, expected", VECTORS["dataset"])
def test_choose_dataset__decision_table__as_listed(
    resolved: dict[str, Any], reference: str | None, artifact_id: str | None, expected: Any
) -> None:
    """An option beats the config, one selector selects, two in one place are refused."""
    found = choose_dataset(resolved, reference=reference, artifact_id=artifact_id)
    if expected == "refused":
        assert found.failure().code == "BK404"
    elif expected is None:
        assert found.unwrap() is None
    else:
        kind, text = expected
        assert found.unwrap() == (DatasetChoice(reference=text) if kind == "ref" else DatasetChoice(artifact_id=text))


@pytest.mark.parametrize("given_ref, local, branch, pushed, expected", VECTORS["refs"])
def test_choose_ref__decision_table__as_listed(
    given_ref: str | None, local: bool, branch: str | None, pushed: bool | None, expected: str | None
) -> None:
    """Nothing is sent unasked; `@` is the branch that is checked out, elsewhere only as it was pushed."""
    found = choose_ref(given_ref, local=local, branch=branch, pushed=pushed)
    if expected == "refused":
        assert found.failure().code == "BK407"
        assert found.failure().hint
    else:
        assert found.unwrap() == expected


MODEL = [{"provider": "openai", "model": "gpt"}]


def test_local_dataset_path__spellings__are_one_key() -> None:
    """One text, in one spelling."""
    assert local_dataset_path({}).unwrap() is None
    assert local_dataset_path({"localDatasetPath": "d", "local_dataset_path": None}).unwrap() == "d"
    assert local_dataset_path({"localDatasetPath": "d", "local_dataset_path": "e"}).failure().code == "BK404"
    assert local_dataset_path({"local_dataset_path": 7}).failure().where == "config.local_dataset_path"


def test_local_dataset_path__nul__is_refused_by_name() -> None:
    """What no file system takes is refused before a process meets it."""
    problem = local_dataset_path({"localDatasetPath": "data\0"}).failure()
    assert (problem.code, problem.where) == ("BK404", "config.localDatasetPath")
    assert problem.message == r"no folder can be named 'data\x00': the name holds a NUL character"


def test_plan_launch__layers__file_then_entry_then_given() -> None:
    """The entry's defaults lie over the file's, what was given over both; selectors do not travel."""
    entry = IntegrationEntry(id="i", config_defaults={"max_concurrency": 2, "extra": {"b": 2}})
    project = ProjectConfig(file="f", config_defaults={"dataset": "d", "maxConcurrency": 1, "local_dataset_path": "x"})
    plan = plan_launch(project, entry, {"extra": {"c": 3}}, options=OPTIONS).unwrap()
    assert plan.dataset == DatasetChoice(reference="d")
    assert plan.config == {
        "max_concurrency": 2,
        "extra": {"c": 3},
        "optimization_config": {"optimization_models": MODEL},
    }


def test_plan_launch__nothing_selected__names_misplaced_keys() -> None:
    """A selector where it selects nothing is named; without any the ways to select are."""
    entry = IntegrationEntry(id="i", misplaced_selectors=("dataset_id",))
    project = ProjectConfig(file="f", misplaced_selectors=("dataset",))
    (problem,) = plan_launch(project, entry, {}).failure()
    assert problem.code == "BK405"
    assert "dataset, dataset_id" in problem.message
    (problem,) = plan_launch(None, None, {}).failure()
    assert "--dataset" in problem.hint


def test_plan_launch__several_faults__are_reported_together() -> None:
    """Keys, models and dataset are judged at once."""
    options = LaunchOptions(models=("gpt",))
    found = plan_launch(None, None, {"tenant": 1, "dataset": 7}, options=options)
    assert [problem.code for problem in found.failure()] == ["BK402", "BK406", "BK404"]


def test_plan_launch__spec__has_what_its_launch_says_and_keys_of_its_own() -> None:
    """The kind of the entry decides what the body says: a Spec's launch says that it optimizes."""
    given_config = {"dataset": "d", "testAllCandidates": False, "top_k_test_eval": 3}
    options = LaunchOptions(test_all_candidates=True)
    plan = plan_launch(None, IntegrationEntry(id="i", section="specs"), given_config, options=options).unwrap()
    assert plan.config == {"top_k_test_eval": 3, "use_harness_optimization": True, "test_all_candidates": True}


@given(CONFIGS, CONFIGS, st.none() | st.text(max_size=3))
def test_plan_launch__any_settings__give_a_plan_or_problems(
    defaults: dict[str, Any], given_config: dict[str, Any], reference: str | None
) -> None:
    """Total; no selector and no key in two spellings is ever sent, and a given option is what counts."""
    project = ProjectConfig(file="f", config_defaults=defaults)
    found = plan_launch(project, IntegrationEntry(id="i"), given_config, reference=reference)
    if is_successful(found):
        plan = found.unwrap()
        assert is_successful(check_launch_keys(plan.config))
        assert split_config(plan.config) == (plan.config, {})
        assert (plan.dataset.reference is None) != (plan.dataset.artifact_id is None)
        assert reference is None or plan.dataset.reference == reference.strip()
    else:
        assert found.failure()


def test_body__wire_example__is_the_documented_one() -> None:
    """The body holds what was decided and leaves out what was not."""
    request = LaunchRequest(
        agent_key="inv-agent",
        config={"spend_budget_usd": 5, "maxConcurrency": 4},
        dataset=DatasetChoice(reference="inv@sha256:1f2e"),
        repository="acme/invoices",
        ref="feature/x",
        integration_id="invoices",
    )
    assert request.body() == {
        "agent_key": "inv-agent",
        "config": {"spend_budget_usd": 5, "maxConcurrency": 4},
        "trigger_metadata": {},
        "github_source": {"repository": "acme/invoices", "ref": "feature/x", "integration_id": "invoices"},
        "dataset_ref": "inv@sha256:1f2e",
    }
    bare = LaunchRequest(
        agent_key="a",
        config={},
        dataset=DatasetChoice(artifact_id="art_1"),
        repository="local/x",
        input_artifacts=({"artifact_id": "art_2"},),
    )
    assert bare.body() == {
        "agent_key": "a",
        "config": {},
        "trigger_metadata": {},
        "github_source": {"repository": "local/x"},
        "input_artifacts": [{"artifact_id": "art_2"}],
        "dataset_id": "art_1",
    }


def test_body__allow_dirty__is_told_only_where_it_is_so() -> None:
    """A place that knows no such key is never asked to ignore it."""
    request = LaunchRequest(agent_key="a", config={}, dataset=DatasetChoice(artifact_id="art_1"), repository="local/x")
    assert "allow_dirty" not in request.body()["github_source"]
    asked = attrs.evolve(request, allow_dirty=True)
    assert asked.body()["github_source"] == {"repository": "local/x", "allow_dirty": True}


@pytest.mark.parametrize(
    ("given_ref", "local", "where"),
    [(None, True, None), ("main", True, "takes no"), ("@", True, "takes no"), (None, False, "only")],
)
def test_choose_ref__allow_dirty__is_the_checkout_of_this_machine(
    given_ref: str | None, local: bool, where: str | None
) -> None:
    """What is not committed has no name, and is nowhere else."""
    found = choose_ref(given_ref, local=local, branch="main", allow_dirty=True)
    if where is None:
        assert found.unwrap() is None
    else:
        assert (found.failure().code, found.failure().where) == ("BK408", "--allow-dirty")
        assert where in found.failure().message


@pytest.mark.parametrize(
    "branch, dirty, unpushed, says",
    [
        ("main", [], 0, None),
        ("feature", [], 0, "the branch feature, since main runs without --ref"),
        (None, [], 0, "the detached commit that is checked out"),
        ("main", ["b", "a"], 1, "1 unpushed commit; uncommitted changes in a, b"),
        (
            "main",
            list("abcdefg"),
            2,
            "2 unpushed commits; uncommitted changes in a, b, c, d, e and 2 more",
        ),
    ],
)
def test_left_out__state_of_the_checkout__is_one_line(
    branch: str | None, dirty: list[str], unpushed: int, says: str | None
) -> None:
    """What a run elsewhere will not include is said exactly, or nothing is."""
    line = None if says is None else f"not included in this run: {says}"
    assert left_out(branch=branch, default_branch="main", dirty=dirty, unpushed=unpushed) == line
    assert left_out(branch="feature", default_branch=None, dirty=[], unpushed=0) is None
