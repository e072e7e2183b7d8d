"""What a proposer is told: the parent's results on TRAIN cases of the evidence set, as values and as files.

Everything here is decided by the log and by stored results, so that a proposal which is made again after a crash sees
the same bytes: no clock is asked (the times in a trace are stored), no process ids, no paths.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from beaker.core.cases import Case
from beaker.core.convert import to_json
from beaker.core.evaluations import Evaluation
from beaker.core.exact import mean
from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.engine.cleaning import Clean, clean_json


@value
class Evidence:
    """`summary` becomes `summary.json`; `cases[i]` becomes `cases/<i + 1>.json`."""

    summary: JsonObject
    cases: tuple[JsonObject, ...]


@value
class Standing:
    """What the search knew when it asked for a proposal.

    `parent` is the candidate's number and `objective` its mean over the selection set (failed cases count 0).
    `history` holds what was tried in this lineage, oldest first. `rollouts_left` and `proposals_left` are what the
    budget still allows.
    """

    parent: int
    objective: float | None
    history: tuple[JsonObject, ...]
    rollouts_left: int
    proposals_left: int


def build_evidence(
    standing: Standing,
    *,
    targets: Any,
    read_only: Sequence[str],
    cases: Mapping[str, Case],
    minibatch: Sequence[str],
    others: Sequence[str],
    evaluations: Mapping[str, Evaluation],
    clean: Clean,
) -> Evidence:
    """Describe the evidence for one proposal.

    `targets` is the declaration as JSON; `read_only` names the documents (`group/name`) that may not be edited;
    `cases` and `evaluations` hold at least the cases of `minibatch` and `others`, which are shown in this order.
    `clean` takes secrets, which the proposer was not granted, and the run's own folders out of every text.
    """
    shown = [*minibatch, *others]
    summary: JsonObject = {
        "format": "beaker.evidence/1",
        "parent": standing.parent,
        "objective": standing.objective,
        "field_means": clean_json(_field_means([evaluations[case_id] for case_id in shown]), clean),
        "targets": targets,
        "read_only": list(read_only),
        "cases": {"minibatch": len(minibatch), "others": len(others)},
        "budget_left": {"rollouts": standing.rollouts_left, "proposals": standing.proposals_left},
        "history": clean_json(standing.history, clean),
    }
    return Evidence(
        summary,
        tuple(
            {"id": each, **clean_json(_record(cases[each], evaluations[each], number < len(minibatch)), clean)}
            for number, each in enumerate(shown)
        ),
    )


def write_evidence(directory: Path, evidence: Evidence) -> None:
    """Write `evidence` as files below `directory`, which must not exist. Raises `OSError`."""
    (directory / "cases").mkdir(parents=True)
    _write(directory / "summary.json", evidence.summary)
    for number, case in enumerate(evidence.cases, start=1):
        _write(directory / "cases" / f"{number}.json", case)


def _record(case: Case, evaluation: Evaluation, in_minibatch: bool) -> JsonObject:
    score = evaluation.score
    return {
        "input": case.input,
        "expected": case.expected,
        "output": evaluation.output,
        "objective": None if score is None else score.objective,
        "field_scores": {} if score is None else dict(score.field_scores),
        "field_diffs": [] if score is None else [to_json(diff) for diff in score.field_diffs],
        "checks": [] if score is None else [to_json(check) for check in score.checks],
        "error": to_json(evaluation.error),
        "trace": _shown(evaluation.trace),
        "minibatch": in_minibatch,
    }


def _shown(trace: Any) -> Any:
    """A trace without what the judge used: which one it is, is the scorer's own business."""
    return {key: item for key, item in trace.items() if key != "judge_usage"} if isinstance(trace, dict) else trace


def _field_means(evaluations: Sequence[Evaluation]) -> JsonObject:
    """Mean and number of cases per field, over the cases that report it."""
    scores: dict[str, list[float]] = {}
    for evaluation in evaluations:
        if evaluation.score is not None:
            for name, score in evaluation.score.field_scores.items():
                scores.setdefault(name, []).append(score)
    return {name: {"mean": mean(found), "n": len(found)} for name, found in sorted(scores.items())}


def _write(path: Path, data: object) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(f"{text}\n", encoding="utf-8", newline="")
