"""Cases, results and scores of the Spec generation as today's, and back.

A case travels as JSON. What today's `run_case` is given, the input alone, carries what a Spec's hook is given besides:
the id, the group and the metadata. What is expected stays with the scorer.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from beaker.core import cases as today
from beaker.core.strict_json import json_value
from beaker.core.text import class_name
from beaker.sdk.hooks import RetryableCaseError
from beaker.sdk.json_safe import to_json_safe
from beaker.sdk.row_place import RowPlace
from beaker.sdk.spec04.adapted_inputs import class_of_input, read_input
from beaker.sdk.spec04.cases import Case, CaseResult, CaseScore
from beaker.sdk.spec04.contexts import DatasetRowContext
from beaker.sdk.spec04.hooks import CaseDataLoader

GROUP_KEY = "group_key"
"""The key of today's metadata that holds the group of an old case."""

INPUT_CLASS = "input_class"
"""The key of today's input that names the class of an input that is an object."""

_NEARLY = 1e-9
"""How far a score may lie outside of 0 to 1 and still be one that rounding took there."""


class SpecCaseFailed(Exception):
    """A case whose `run_case` said that it did not run: `CaseResult.failed(...)`."""


def row_context(place: RowPlace | None) -> DatasetRowContext:
    """What a loader is told about where its row comes from; one of `train` when nobody knows."""
    if place is None:
        return DatasetRowContext("train")
    path, colon, line = place.where.rpartition(":")
    if not colon or not line.isdecimal():
        return DatasetRowContext(place.split, place.where or None)
    return DatasetRowContext(place.split, path, int(line))


def cases_of_row(
    loader: CaseDataLoader[Any], raw: Mapping[str, Any], context: DatasetRowContext
) -> Iterator[tuple[today.Case, tuple[str, ...]]]:
    """Today's cases of one row, each with the names of its fields that were no JSON and reach the hooks as JSON.

    `TypeError` for what is no case, `ValueError` for a case without an id; and whatever the loader raises, unchanged.
    """
    row = loader.parse_row(dict(raw), context)
    for case in loader.iter_cases(row, context):
        yield _todays_case(case)


def _todays_case(case: Any) -> tuple[today.Case, tuple[str, ...]]:
    if isinstance(case, today.Case):
        told = {"case_id": case.id, "group_key": "default", "input": case.input, "metadata": dict(case.metadata)}
        return today.Case(case.id, told, case.expected, case.files, case.metadata), ()
    if not isinstance(case, Case):
        raise TypeError(f"iter_cases must yield Case values, not {class_name(case)}")
    identity = "" if case.case_id is None else str(case.case_id)
    if not identity.strip():
        raise ValueError(f"a case needs a case_id that is not empty, not {case.case_id!r}")
    metadata, expected = to_json_safe(case.metadata or {}), to_json_safe(case.ground_truth)
    told = {
        "case_id": to_json_safe(case.case_id),
        "group_key": to_json_safe(case.group_key),
        "input": to_json_safe(case.input),
        "metadata": metadata,
    }
    changed = tuple(name for name in ("input", "ground_truth") if not _is_json(getattr(case, name)))
    if "input" in changed and (kind := class_of_input(case.input, told["input"])) is not None:
        told[INPUT_CLASS] = kind
        changed = changed[1:]
    return today.Case(identity, told, expected, metadata={**metadata, GROUP_KEY: told["group_key"]}), changed


def _is_json(value: Any) -> bool:
    try:
        json_value(value, "")
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def earlier_case(case_input: Any, ground_truth: Mapping[str, Any] | None = None) -> Case:
    """The old case that `case_input`, an input made here, tells of; `run_case` is not told what is expected."""
    kind = case_input.get(INPUT_CLASS)
    return Case(
        input=case_input["input"] if kind is None else read_input(kind, case_input["input"]),
        case_id=case_input["case_id"],
        ground_truth=dict(ground_truth or {}),
        group_key=case_input["group_key"],
        metadata=dict(case_input["metadata"]),
    )


def scored_case(case: today.Case) -> Case:
    """The old case that the scorer is given, with what is expected."""
    expected = case.expected
    known = {} if expected is None else {"expected": expected}
    return earlier_case(case.input, expected if isinstance(expected, Mapping) else known)


def todays_result(result: Any) -> today.CaseResult:
    """What `run_case` returned, as today's result; raises `RetryableCaseError` or `SpecCaseFailed` for a failure.

    `run_metrics` have no place any more and are dropped. `TypeError` for what is no result.
    """
    if isinstance(result, today.CaseResult):
        return result
    if not isinstance(result, CaseResult):
        raise TypeError(f"the Spec's run_case must return a CaseResult, not {class_name(result)}")
    if result.failure is not None:
        message = str(result.failure.error)
        raise RetryableCaseError(message) if result.failure.retryable else SpecCaseFailed(message)
    context = to_json_safe(result.context)
    return today.CaseResult(to_json_safe(result.output), result.output_kind, context)


def earlier_result(result: today.CaseResult) -> CaseResult:
    """A result as the scorer of a Spec is given it."""
    return CaseResult(result.output, context=dict(result.context), output_kind=result.output_kind)


def todays_score(score: Any) -> today.CaseScore:
    """What `score_case` returned, as today's score.

    `TypeError` for what is no score, `ValueError` for a number outside 0 to 1 by more than rounding explains. `key` has
    no place any more and is dropped.
    """
    if isinstance(score, today.CaseScore):
        return score
    if not isinstance(score, CaseScore):
        raise TypeError(f"the Spec's score_case must return a CaseScore, not {class_name(score)}")
    diffs = (
        diff
        if isinstance(diff, today.FieldDiff)
        else today.FieldDiff(str(diff.field), to_json_safe(diff.predicted), to_json_safe(diff.expected))
        for diff in score.field_diffs
    )
    return today.CaseScore(
        objective=_score("objective", score.objective),
        field_scores={str(name): _score(f"field_scores[{name!r}]", one) for name, one in score.field_scores.items()},
        field_diffs=tuple(diffs),
        checks=score.checks,
    )


def _score(label: str, given: Any) -> float:
    number = float(given)
    if not math.isfinite(number) or not -_NEARLY <= number <= 1 + _NEARLY:
        raise ValueError(f"CaseScore.{label} must be a number from 0 to 1, not {number!r}; scale it in score_case")
    return min(1.0, max(0.0, number))
