"""What a finalizer of the Spec generation is given when an optimization ends, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs

from beaker.core.values import value
from beaker.sdk.spec04.targets import OptimizationTargets


@value
class OptimizationEvalReportRecord:
    """The report of one candidate on one split."""

    split: str
    objective_score: float
    candidate_id: str | None = None
    field_accuracies: Mapping[str, float] = attrs.field(factory=dict)


@value
class OptimizationCandidateRecord:
    """One candidate of an optimization; `parent_id` is `None` for the seed."""

    candidate_id: str
    targets: OptimizationTargets | None = None
    objective_score: float | None = None
    parent_id: str | None = None


@dataclass
class OptimizationFinalizerContext:
    """What is known when an optimization has ended; changeable."""

    run_id: str | None = None
    winner: OptimizationCandidateRecord | None = None
    candidates: list[OptimizationCandidateRecord] = field(default_factory=list)
    eval_reports: list[OptimizationEvalReportRecord] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    output_dir: Path | None = None


@dataclass
class OptimizationFinalizerResult:
    """What a finalizer adds to the result of an optimization; changeable."""

    artifacts: list[Any] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class OptimizationResultFinalizer(Protocol):
    """Makes something of the result of an optimization. Called as a plain function."""

    def __call__(self, context: OptimizationFinalizerContext) -> OptimizationFinalizerResult | None:
        """What to add to the result."""
