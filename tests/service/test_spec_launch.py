"""Launching a Spec on one's own machine: which entry runs, and which settings of its generation can be run here."""

from typing import Any

import pytest

SPECS = """\
specs:
  tone: {target: "tone_spec:build", config_defaults: {test_all_candidates: false}}
  facts: {target: "facts_spec:Specs.build"}
default_spec: tone
integrations:
  demo: {entrypoint: "m:i"}
"""
PROPOSER = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}}


@pytest.fixture
def specs(world: Any) -> Any:
    """A place whose project has two Specs and an Integration."""
    world.write(".beaker/beaker.yaml", SPECS)
    world.commit()
    world.dataset()
    return world


def test_launch__of_a_spec__runs_the_one_that_is_named_or_usual(specs: Any, conforms: Any) -> None:
    """The run says which entry it is of by the name of its kind, and keeps what the entry is."""
    config = {**PROPOSER, "use_harness_optimization": True, "top_k_test_eval": None}
    for source, expected in (
        ({}, {"spec_id": "tone"}),
        ({"spec_id": "facts"}, {"spec_id": "facts"}),
        ({"integration_id": "demo"}, {"integration_id": "demo"}),
    ):
        run = specs.launch(github_source=source, config=config if "spec_id" in expected else PROPOSER)
        conforms(run, "run.json")
        kept = {key: item for key, item in run["github_source"].items() if key.endswith("_id")}
        assert kept == expected


@pytest.mark.parametrize(
    ("source", "config", "said"),
    [
        ({"spec_id": "nobody"}, {}, "no Spec is named 'nobody'"),
        ({"spec_id": "demo"}, {}, "pass --integration-id demo"),
        ({"spec_id": "tone", "integration_id": "demo"}, {}, "a command works on one"),
        ({"spec_id": 7}, {}, "must be a non-empty string"),
        ({}, {"optimization_config": {"optimization_models": []}}, "through a gateway"),
        ({}, {"test_all_candidates": True}, "opens TEST for the winner and the baseline only"),
        ({}, {"top_k_test_eval": 2}, "opens TEST for the winner and the baseline only"),
        ({}, {"use_harness_optimization": False}, "nothing else than optimizing"),
        ({}, {"prompts_to_update": ["tone"]}, "may change every prompt"),
        ({}, {"scorer_model": "openai:gpt"}, "the one that the Spec names"),
        ({"integration_id": "demo"}, {"use_harness_optimization": True}, "is not a known option"),
    ],
)
def test_launch__what_no_run_here_can_do__is_refused_before_a_run_exists(
    specs: Any, source: dict[str, Any], config: dict[str, Any], said: str
) -> None:
    """Nothing that was asked for is ignored, by whatever client it is asked."""
    arguments = {"github_source": source, "config": {**PROPOSER, **config}, "dataset_ref": "inv"}
    response = specs.raw("create_optimization_run", **arguments)
    assert (response.status, said in response.body.decode()) == (422, True), response.body
    assert specs.place.database.rows("SELECT 1 FROM runs") == []
