"""Candidates and eval reports, worked out from a run's log, its evaluations and its trees."""

from collections.abc import Iterator, Sequence
from typing import Any

from returns.pipeline import is_successful

from beaker.core.convert import to_json
from beaker.core.evaluations import Evaluation
from beaker.core.optimizer import parse_launch_settings
from beaker.core.prices import Prices
from beaker.core.problems import Refused
from beaker.core.scoring import EvalReport, aggregate
from beaker.core.search import Candidate, SearchState
from beaker.core.strict_json import JsonObject
from beaker.core.usage import report_usage
from beaker.core.values import value
from beaker.engine.engines import engine_of_settings
from beaker.service.answers import candidate_id
from beaker.service.database import Database
from beaker.service.result_table import proposal_records, stored_evaluations, stored_log
from beaker.service.run_table import RunRecord
from beaker.service.trees import changed_between, tree_created_at


@value
class TrainResults:
    """A candidate's evaluations on TRAIN: those of the selection set, and, while there are none, its minibatch's."""

    selection: tuple[Evaluation, ...]
    minibatch: tuple[Evaluation, ...]


def search_of(database: Database, run: RunRecord) -> SearchState | None:
    """The search of a run as far as it is, `None` before it began. `Refused` when this Beaker cannot replay it."""
    log = stored_log(database, run.id)
    if not log:
        return None
    replayed = engine_of_settings(run.settings).replay(log)
    if not is_successful(replayed):
        raise Refused(replayed.failure())
    return replayed.unwrap()


def candidate_json(database: Database, run: RunRecord, state: SearchState, number: int) -> JsonObject:
    """One candidate as it is answered; `docs/schemas/candidate.json` describes it."""
    candidate = state.candidates[number]
    train = _train_results(database, run, state, candidate).selection
    test = _test_results(database, run, state, candidate)
    return {
        "id": candidate_id(run.id, number),
        "tree": candidate.tree,
        "parent_id": None if candidate.parent is None else candidate_id(run.id, candidate.parent),
        "origin": "baseline" if candidate.proposal is None else _proposer(run),
        "proposal": candidate.proposal,
        "status": candidate.status,
        "reason": candidate.reason,
        "rollouts": candidate.rollouts,
        "created_at": tree_created_at(database, run.id, candidate.tree),
        "summary": _summary(database, run, state, candidate),
        "scores": {"train": _scores(train), "test": _scores(test)},
    }


def candidates_json(database: Database, run: RunRecord, state: SearchState | None) -> JsonObject:
    """All candidates and proposals of a run as they are answered."""
    if state is None:
        return {"candidates": [], "winner_id": None, "proposals": []}
    records = proposal_records(database, run.id)
    proposals: list[Any] = [
        {
            "n": proposal.n,
            "parent_id": candidate_id(run.id, proposal.parent),
            "outcome": proposal.outcome,
            "candidate_id": None if proposal.candidate is None else candidate_id(run.id, proposal.candidate),
            "message": proposal.message,
            "stdout": record.get("stdout", ""),
            "stderr": record.get("stderr", ""),
            "usage": record.get("usage", []),
            "artifacts": record.get("artifacts", []),
        }
        for proposal in state.proposals
        for record in [records.get(proposal.n, {})]
    ]
    return {
        "candidates": [candidate_json(database, run, state, number) for number in range(len(state.candidates))],
        "winner_id": None if state.winner is None else candidate_id(run.id, state.winner),
        "proposals": proposals,
    }


def eval_reports(database: Database, run: RunRecord, state: SearchState, number: int) -> Iterator[JsonObject]:
    """The reports of one candidate, TRAIN before TEST, of the splits on which it has results."""
    candidate = state.candidates[number]
    train = _train_results(database, run, state, candidate)
    test = _test_results(database, run, state, candidate)
    if train.selection:
        yield _report(run, number, "train", "selection", train.selection)
    elif train.minibatch:
        yield _report(run, number, "train", "minibatch", train.minibatch)
    if test:
        yield _report(run, number, "test", "test", test)


def reports_json(database: Database, run: RunRecord, state: SearchState | None) -> JsonObject:
    """The reports of every candidate of a run as they are answered."""
    reports: list[Any] = []
    if state is not None:
        for number in range(len(state.candidates)):
            reports += eval_reports(database, run, state, number)
    return {"eval_reports": reports}


def _report(run: RunRecord, number: int, split: str, measured_on: str, evaluations: Sequence[Evaluation]) -> JsonObject:
    report = aggregate(evaluations)
    return {
        "id": f"{candidate_id(run.id, number)}.{split}",
        "candidate_id": candidate_id(run.id, number),
        "split": split,
        "set": measured_on,
        **_means(report),
        "cases_total": report.cases_total,
        "scored": report.scored,
        "failed": report.failed,
        "field_scores": to_json(report.field_scores),
        "usage": report_usage((evaluation.trace for evaluation in evaluations), _prices(run)),
        "latency_ms": to_json(report.latency_ms),
        "cases": to_json(report.cases),
    }


def _scores(evaluations: Sequence[Evaluation]) -> JsonObject | None:
    if not evaluations:
        return None
    report = aggregate(evaluations)
    return {**_means(report), "cases": report.cases_total, "scored": report.scored, "failed": report.failed}


def _means(report: EvalReport) -> JsonObject:
    return {"objective": report.objective, "objective_scored": report.objective_scored}


def _train_results(database: Database, run: RunRecord, state: SearchState, candidate: Candidate) -> TrainResults:
    # Only the selection set compares candidates: evidence-set results depend on which minibatches came along.
    found = stored_evaluations(database, run.id, candidate.tree, state.train_ids, traces=False)
    selection = tuple(found[case_id] for case_id in state.split.selection if case_id in found)
    others = tuple(evaluation for case_id, evaluation in found.items() if case_id not in state.place)
    return TrainResults(selection, others)


def _test_results(
    database: Database, run: RunRecord, state: SearchState, candidate: Candidate
) -> tuple[Evaluation, ...]:
    return tuple(stored_evaluations(database, run.id, candidate.tree, state.test_ids, traces=False).values())


def _summary(database: Database, run: RunRecord, state: SearchState, candidate: Candidate) -> JsonObject:
    """What a candidate changed against its parent, by path."""
    parent = candidate if candidate.parent is None else state.candidates[candidate.parent]
    return changed_between(database, run.id, parent.tree, candidate.tree)


def _prices(run: RunRecord) -> Prices:
    settings = parse_launch_settings(run.settings)
    return settings.unwrap().optimizer.prices if is_successful(settings) else {}


def _proposer(run: RunRecord) -> str:
    optimizer = run.settings.get("harness_optimization")
    return str(optimizer.get("proposer", "command")) if isinstance(optimizer, dict) else "command"
