"""Cases, results and scores of the Spec generation. Their fields have another order, and fewer rules, than today's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import attrs

from beaker.core.cases import Check, OutputKind
from beaker.core.fields import labelled, tuple_of
from beaker.core.text import plain, shown
from beaker.core.values import value

_KINDS: dict[object, OutputKind] = {"record": "record", "value": "value", "text": "text", "none": "none"}


def normalize_output_kind(given: object) -> OutputKind | None:
    """`given` when it is one of `record`, `value`, `text` and `none`, else `None`."""
    kind = plain(given)
    return _KINDS.get(kind) if type(kind) is str else None


@value
class Case:
    """One thing to run and score. Nothing is checked or copied; ids may repeat until a run is made of them."""

    input: Any
    case_id: str
    ground_truth: dict[str, Any]
    group_key: str = "default"
    metadata: dict[str, Any] = attrs.field(factory=dict)


@value
class CaseFailure:
    """Says that a case did not run, which is no score of zero. `retryable` asks for another attempt."""

    error: str
    retryable: bool = False


@value
class ErrorOutput:
    """The output of a case that failed."""

    error: str


@dataclass
class CaseResult:
    """What `run_case` returns; changeable.

    `run_metrics` are numbers of the application's own, `context` is evidence for the scorer, `failure` says that the
    case did not run. `ValueError` for an `output_kind` that is neither `None` nor a known one.
    """

    output: Any
    run_metrics: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)
    failure: CaseFailure | None = None
    output_kind: OutputKind | None = None

    def __post_init__(self) -> None:
        if self.output_kind is not None and normalize_output_kind(self.output_kind) is None:
            kinds = ", ".join(map(str, _KINDS))
            raise ValueError(f"CaseResult.output_kind must be one of {kinds} or None, not {shown(self.output_kind)}")

    @classmethod
    def failed(
        cls,
        error: object,
        *,
        run_metrics: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        retryable: bool = False,
    ) -> "CaseResult":
        """The result of a case that did not run; `error` is told as text.

        `context["retryable_failure"]` is true when another attempt is asked for.
        """
        message = str(error)
        told = dict(context or {})
        if retryable:
            told["retryable_failure"] = True
        return cls({"error": message}, dict(run_metrics or {}), told, CaseFailure(message, retryable))


@value
class FieldDiff:
    """One field whose prediction is shown beside what was expected. Nothing is checked."""

    field: str
    predicted: Any
    expected: Any


@value
class CaseScore:
    """What `score_case` returns: scores of fields, then the objective. Only that `checks` are `Check`s is checked."""

    field_scores: Mapping[str, float]
    objective: float
    key: str = "default"
    field_diffs: Sequence[FieldDiff] = ()
    checks: tuple[Check, ...] = attrs.field(default=(), converter=labelled(tuple_of(Check), "CaseScore.checks"))
