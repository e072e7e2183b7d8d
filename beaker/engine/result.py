"""How a run ends: its status, and winner against baseline on TEST."""

from collections.abc import Sequence

from beaker.core.evaluations import Evaluation
from beaker.core.exact import mean
from beaker.core.problems import Problems
from beaker.core.scoring import paired_difference
from beaker.core.search import SearchState
from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.engine.journal import Journal


@value
class Ending:
    """A terminal status with what `Journal.finish` says about it."""

    status: str
    finish_reason: str | None = None
    error_message: str | None = None
    result: JsonObject | None = None


def search_ending(run_id: str, state: SearchState, journal: Journal) -> Ending:
    """The ending that a finished search comes to: COMPLETED, HELDOUT_FAILED or FAILED (CANCELLED when it was)."""
    reason = state.finished
    assert reason is not None
    if reason == "cancelled":
        return Ending("CANCELLED", "cancelled")
    message = state.finish.message if state.finish is not None else ""
    if reason == "error":
        return Ending("FAILED", "error", message + _last_baseline_error(state, journal))
    if state.winner is None:  # the money was gone, or could not be counted, before there was anything to test
        return Ending("FAILED", reason, f"{message}; TEST was not run")
    winner = _test_evaluations(state, journal, state.winner or 0)
    result = _result(run_id, state, journal, winner)
    if all(evaluation.error is not None for evaluation in winner):
        untested = f"no TEST case could be scored for the winner{_error_of(winner[-1:])}"
        return Ending("HELDOUT_FAILED", reason, untested, result)
    return Ending("COMPLETED", reason, None, result)


def failed(problems: Problems) -> Ending:
    """FAILED, with every problem on a line of its own, the cause first."""
    lines = [f"{problem}" + (f" ({problem.hint})" if problem.hint else "") for problem in problems]
    return Ending("FAILED", "error", "\n".join(lines))


def _result(run_id: str, state: SearchState, journal: Journal, winner: Sequence[Evaluation]) -> JsonObject:
    """The `result` of a run; scores are means over all TEST cases, a failed case counting 0."""
    number = state.winner or 0
    after = [_counted(evaluation) for evaluation in winner]
    test: JsonObject = {
        "baseline": None,
        "winner": mean(after),
        "difference": None,
        "low": None,
        "high": None,
        "n": len(after),
        "failed_baseline": None,
        "failed_winner": _failures(winner),
        "method": "none: the baseline was not run on TEST (test_baseline is false)",
    }
    if number == 0 or state.settings.test_baseline:
        baseline = winner if number == 0 else _test_evaluations(state, journal, 0)
        before = [_counted(evaluation) for evaluation in baseline]
        difference = paired_difference(before, after, state.settings.seed)
        test |= {
            "baseline": mean(before),
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "failed_baseline": _failures(baseline),
            "method": "none: the baseline is the winner" if number == 0 else difference.method,
        }
    return {"baseline_id": f"{run_id}.0", "winner_id": f"{run_id}.{number}", "test": test}


def _test_evaluations(state: SearchState, journal: Journal, number: int) -> list[Evaluation]:
    stored = journal.evaluations(state.candidates[number].tree, state.test_ids)
    return [stored[case_id] for case_id in state.test_ids]


def _counted(evaluation: Evaluation) -> float:
    return evaluation.objective or 0.0


def _failures(evaluations: Sequence[Evaluation]) -> int:
    return sum(evaluation.error is not None for evaluation in evaluations)


def _last_baseline_error(state: SearchState, journal: Journal) -> str:
    """When nothing of the baseline ran: the error of the last case in order, as the end of a sentence."""
    if len(state.candidates) > 1 or state.proposals:
        return ""
    stored = journal.evaluations(state.candidates[0].tree, state.train_ids)
    return _error_of([evaluation for evaluation in stored.values() if evaluation.error is not None][-1:])


def _error_of(evaluations: Sequence[Evaluation]) -> str:
    return "".join(f"; the last one: {one.error.kind}: {one.error.message}" for one in evaluations if one.error)
