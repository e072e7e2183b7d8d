"""Cases, results and scores of the Spec generation: their positional forms, and the little that is checked."""

import copy
import dataclasses
import pickle
from enum import StrEnum
from typing import Any

import attrs
import pytest

from beaker.core.cases import Check as TodaysCheck
from beaker.sdk.spec04 import (
    Case,
    CaseFailure,
    CaseResult,
    CaseScore,
    Check,
    ErrorOutput,
    Evidence,
    FieldDiff,
    Result,
    RolloutBatch,
    Trajectory,
    normalize_output_kind,
    result_to_dict,
)


class Kind(StrEnum):
    """A kind as an enumeration has it."""

    TEXT = "text"


class Dumping:
    """Answers `model_dump` with what it was given."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self) -> Any:
        """What there is."""
        return self.dumped


FROZEN: list[Any] = [
    Case(1, "c", {}),
    CaseFailure("e"),
    CaseScore({}, 0.0),
    ErrorOutput("e"),
    Evidence("t"),
    FieldDiff("f", 1, 2),
]


def test_case__positional_and_by_name__unchecked() -> None:
    """Input, id, truth, group, metadata; nothing is refused or copied."""
    truth = {"a": {1, 2}}
    case = Case(object, "c", truth, "g", {"m": 1})
    assert case == Case(input=object, case_id="c", ground_truth=truth, group_key="g", metadata={"m": 1})
    assert case.ground_truth is truth
    assert Case(1, "", {}) == Case(1, "", {}, "default", {})
    assert Case(None, None, None).case_id is None  # type: ignore[arg-type]  # nothing is checked


def test_case_score__fields_before_objective__only_checks_are_checked() -> None:
    """Another order than today's, and no range; a check that is none is a wrong type."""
    score = CaseScore({"f": 7}, -3, "key", [FieldDiff("f", {1}, object)], [Check("c", "pass")])
    assert (score.field_scores, score.objective, score.key) == ({"f": 7}, -3, "key")
    assert score.checks == (Check("c", "pass"),)
    assert (CaseScore({}, 0).key, CaseScore({}, 0).field_diffs, CaseScore({}, 0).checks) == ("default", (), ())
    with pytest.raises(TypeError, match=r"CaseScore\.checks\[0\] must be a Check, not str"):
        CaseScore({}, 0, checks=["c"])  # type: ignore[arg-type]  # wrong on purpose
    assert Check is TodaysCheck


@pytest.mark.parametrize("made", FROZEN, ids=lambda made: type(made).__name__)
def test_frozen_value__cannot_be_changed_and_travels(made: Any) -> None:
    """Assigning fails, copies and pickles are equal, and either library knows the fields."""
    name = attrs.fields(type(made))[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, name, 1)
    assert copy.deepcopy(made) == made == pickle.loads(pickle.dumps(made))
    assert dataclasses.replace(made) == made == attrs.evolve(made)


def test_case_result__is_changeable_and_knows_its_kinds() -> None:
    """Five fields in this order; only an unknown kind is refused."""
    result = CaseResult(object, {"s": 1}, {"c": 2}, CaseFailure("e"), "none")
    assert (result.run_metrics, result.context, result.failure) == ({"s": 1}, {"c": 2}, CaseFailure("e"))
    result.output, result.output_kind = 3, "value"
    assert result == CaseResult(3, {"s": 1}, {"c": 2}, CaseFailure("e"), "value")
    assert CaseResult(1) == CaseResult(1, {}, {}, None, None)
    assert CaseResult(1, output_kind=Kind.TEXT).output_kind == "text"  # type: ignore[arg-type]  # it is one
    for unknown in ("Text", "", 3, ["text"]):
        with pytest.raises(ValueError, match="output_kind must be one of record, value, text, none or None"):
            CaseResult(1, output_kind=unknown)  # type: ignore[arg-type]  # wrong on purpose


def test_case_result__failed__tells_error_and_retry() -> None:
    """The error as text in output and failure; the context says it too when another attempt is wanted."""
    given = {"page": "p"}
    failed = CaseResult.failed(RuntimeError("down"), run_metrics={"s": 1}, context=given, retryable=True)
    assert failed == CaseResult(
        {"error": "down"}, {"s": 1}, {"page": "p", "retryable_failure": True}, CaseFailure("down", True)
    )
    assert given == {"page": "p"}
    assert CaseResult.failed("no") == CaseResult({"error": "no"}, failure=CaseFailure("no", retryable=False))


@pytest.mark.parametrize("kind", ["record", "value", "text", "none"])
def test_normalize_output_kind__known__is_kept(kind: str) -> None:
    """The four kinds, exactly."""
    assert normalize_output_kind(kind) == kind
    assert normalize_output_kind(kind.upper()) is None


@pytest.mark.parametrize("given", [None, "", "json", 1, ["text"], {}])
def test_normalize_output_kind__anything_else__is_none(given: Any) -> None:
    """Neither a wrong word nor a wrong type raises."""
    assert normalize_output_kind(given) is None


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"a": 1}, {"a": 1}),
        (Dumping({"a": 1}), {"a": 1}),
        (Dumping(3), {}),
        (CaseResult(1), dataclasses.asdict(CaseResult(1))),
        (7, {}),
        (None, {}),
        ("text", {}),
    ],
)
def test_result_to_dict__dict_dump_or_attributes__else_nothing(given: Any, expected: Any) -> None:
    """What cannot be a dict is an empty one."""
    assert result_to_dict(given) == expected


def test_records__defaults__are_their_own() -> None:
    """Positional up to the required fields; no two share a container."""
    first, second = (Result("c", 1, 0.5, {"f": 1.0}) for _ in range(2))
    first.run_metrics["x"] = 1
    first.field_diffs.append(FieldDiff("f", 1, 2))
    assert (second.run_metrics, second.field_diffs, second.checks, second.profile_key) == ({}, [], (), "default")
    one, other = (Trajectory("c", "g", "in", 0.5, {}, ["f"], 1, 2) for _ in range(2))
    one.context["x"] = 1
    assert (other.context, other.tool_counts, other.used_context_ids, other.error) == ({}, {}, [], None)
    assert RolloutBatch([1], [2]) == RolloutBatch([1], [2], None, None)
