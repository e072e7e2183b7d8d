"""What an optimization of the Spec generation keeps of its rollouts, and hands to providers of evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beaker.core.cases import Check, OutputKind
from beaker.core.values import value
from beaker.sdk.spec04.cases import FieldDiff


@dataclass
class Result:
    """One case that was run and scored; changeable. `raw_result` is the `CaseResult`."""

    case_id: str
    prediction: Any
    objective_score: float
    field_scores: dict[str, float]
    run_metrics: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    raw_result: Any = None
    profile_key: str = "default"
    field_diffs: list[FieldDiff] = field(default_factory=list)
    trace_capture: Any = None
    checks: Sequence[Check] = ()
    output_kind: OutputKind | None = None


@dataclass
class Trajectory:
    """How one case went, for whoever looks for evidence; changeable."""

    case_id: str
    group_key: str
    input_summary: Any
    objective_score: float
    field_scores: dict[str, float]
    mismatched_fields: list[Any]
    predicted: Any
    ground_truth: Any
    profile_key: str = "default"
    tool_counts: dict[str, int] = field(default_factory=dict)
    tool_calls_detail: list[Any] = field(default_factory=list)
    trace_evidence: dict[str, Any] = field(default_factory=dict)
    trace_capture: Any = None
    context: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    used_context_ids: list[str] = field(default_factory=list)


@value
class Evidence:
    """One thing found for a difference: text, where it is from, and data beside it."""

    text: str
    source: str | None = None
    data: Any = None


@dataclass
class EvaluationReport:
    """The mean objective, and per field its accuracy and how many cases have it; changeable."""

    objective_score: float
    field_accuracies: dict[str, float]
    field_sample_counts: dict[str, int]
    outputs: list[Any]
    scores: list[Any]


@dataclass
class RolloutBatch:
    """What one batch of rollouts gave, in the order of its cases; changeable."""

    outputs: list[Any]
    scores: list[Any]
    trajectories: list[Trajectory] | None = None
    objective_scores: list[Any] | None = None


def result_to_dict(given: Any) -> dict[str, Any]:
    """`given` as a dict: itself when it is one, what its `model_dump` says, or its attributes; else `{}`."""
    if isinstance(given, dict):
        return given
    dump = getattr(given, "model_dump", None)
    if callable(dump):
        dumped = dump()
        return dict(dumped) if isinstance(dumped, Mapping) else {}
    try:
        return dict(vars(given))
    except TypeError:
        return {}
