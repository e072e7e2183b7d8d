"""Contexts of a run, a row and a rollout, and what the model of a rollout can do."""

import copy
import pickle
from pathlib import Path

import pytest

from beaker.sdk.spec04 import (
    DatasetRowContext,
    OptimizationContext,
    RolloutContext,
    RolloutModelCapabilities,
    SpecContextRequiredError,
)
from beaker.sdk.trace import NOOP_TRACE


def test_optimization_context__without_a_run__has_its_defaults() -> None:
    """A factory that needs nothing can be called with it; containers are its own."""
    context = OptimizationContext()
    context.config["x"] = 1
    assert OptimizationContext() == OptimizationContext("__prompt_optimizer__", None, None, {}, [], {}, None)
    assert issubclass(SpecContextRequiredError, RuntimeError)


@pytest.mark.parametrize(
    "context, label",
    [
        (DatasetRowContext("train"), "train"),
        (DatasetRowContext("train", "d/train.jsonl"), "d/train.jsonl"),
        (DatasetRowContext("train", "d/train.jsonl", 3), "d/train.jsonl:3"),
        (DatasetRowContext("train", None, 3), "train:3"),
        (DatasetRowContext("train", line_number=0), "train:0"),
    ],
)
def test_row_context__label__is_the_place_as_far_as_known(context: DatasetRowContext, label: str) -> None:
    """The file, else the split, with the line where there is one."""
    assert context.label() == label


def test_rollout_context__resources__are_read_only_and_of_a_candidate() -> None:
    """They cannot be changed, are found by name, and need a candidate."""
    given = {"kb": Path("/c/kb")}
    context = RolloutContext("p:m", "u", candidate_id="c", resources=given)
    given["more"] = Path("/x")
    assert context.resource_root("kb") == Path("/c/kb")
    with pytest.raises(KeyError, match=r"no resource 'more' \(known: kb\)"):
        context.resource_root("more")
    with pytest.raises(TypeError, match="read-only"):
        context.resources["kb"] = Path("/y")  # type: ignore[index]  # a Mapping for readers
    with pytest.raises(ValueError, match="need a candidate_id"):
        RolloutContext("p:m", "u", resources={"kb": Path("/c/kb")})
    assert copy.deepcopy(context) == context == pickle.loads(pickle.dumps(context))


def test_rollout_context__defaults__are_those_of_no_candidate() -> None:
    """No resource, no candidate, and a trace that can be used."""
    context = RolloutContext(None, "u")
    assert (context.resources, context.candidate_runtime, context.trace) == ({}, None, NOOP_TRACE)
    with pytest.raises(KeyError, match="known: none"):
        context.resource_root("kb")


WORDS = ("low", "medium", "high")


@pytest.mark.parametrize(
    "capabilities, budget, max_tokens, effort",
    [
        (RolloutModelCapabilities(), 10, 100, None),
        (RolloutModelCapabilities(False, WORDS, "low"), 10, 100, None),
        (RolloutModelCapabilities(True, WORDS, "low"), 45, 100, "medium"),
        (RolloutModelCapabilities(True, WORDS, "low", max_output_tokens=1000), 900, None, "high"),
        (RolloutModelCapabilities(True, WORDS, "low", max_output_tokens=1000), 90, 100, "high"),
        (RolloutModelCapabilities(True, WORDS, "low"), 90, None, "low"),
        (RolloutModelCapabilities(True, WORDS, "low"), 90, 0, "low"),
        (RolloutModelCapabilities(True, WORDS, "low"), 90, -1, "low"),
        (RolloutModelCapabilities(True, ("weird",), "weird"), 90, 100, "weird"),
        (RolloutModelCapabilities(True), 90, 100, None),
    ],
)
def test_effort_for_budget__as_listed(
    capabilities: RolloutModelCapabilities, budget: float, max_tokens: int | None, effort: str | None
) -> None:
    """Nothing where the model does not reason, the default where nothing can be compared, else the nearest word."""
    assert capabilities.effort_for_budget(budget, max_tokens=max_tokens) == effort
