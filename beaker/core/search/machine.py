"""The state machine: `start` makes a search, `step` takes what happened and says what to do next."""

import math
from collections.abc import Sequence
from typing import get_args

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.search.budget import minimum_rollouts
from beaker.core.search.deciding import decide_first, is_perfect
from beaker.core.search.front import Front
from beaker.core.search.issuing import issue_evaluations, issue_finish
from beaker.core.search.messages import (
    BLOCK_SIZE,
    SEARCH_VERSION,
    Cancelled,
    Command,
    Evaluate,
    Evaluated,
    Event,
    LogEntry,
    Opened,
    Propose,
    Proposed,
    ProposerOutcome,
    Started,
)
from beaker.core.search.points import points
from beaker.core.search.preparing import open_slot, prepare_next, stop_proposing, take_parent_results
from beaker.core.search.settings import SearchSettings, check_settings
from beaker.core.search.spending import charge, exhausted, for_test
from beaker.core.search.state import Candidate, Results, SearchState, Slot
from beaker.core.search.trials import take_child_results, take_proposed

_OUTCOMES = get_args(ProposerOutcome)


def start(
    settings: SearchSettings, train_ids: Sequence[str], test_ids: Sequence[str], baseline_tree: str
) -> Result[SearchState, Problem]:
    """A search that has not begun. Its first event is `Started`.

    Refused: settings out of range (BK541), ids that stand twice or an empty split (BK542), and a `max_rollouts` below
    what the baseline on S, one proposal and TEST need (BK540, naming the minimum).
    """
    problem = check_settings(settings) or _check_ids(train_ids, test_ids)
    if problem is not None:
        return Failure(problem)
    minimum = minimum_rollouts(len(train_ids), len(test_ids), settings)
    if settings.max_rollouts < minimum:
        return Failure(
            Problem(
                "BK540",
                f"max_rollouts is {settings.max_rollouts}, and the smallest run over {len(train_ids)} TRAIN and "
                f"{len(test_ids)} TEST cases needs {minimum}: the baseline, one proposal, and TEST",
                hint=f"set max_rollouts to {minimum} or more",
            )
        )
    state = SearchState(settings, tuple(train_ids), tuple(test_ids))
    state.trees[baseline_tree] = 0
    state.results.append(Results())
    state.tried.append([])
    state.candidates.append(Candidate(0, baseline_tree, None, None, "baseline", "the baseline", None))
    return Success(state)


def step(state: SearchState, event: Event) -> tuple[SearchState, tuple[LogEntry, ...]]:
    """Take one thing that happened; the state to go on with, and what to append to the log.

    Completions may come in any order: one whose turn has not come waits inside the state. The entries are each event
    that was taken followed by the commands it caused, and do not depend on the order of arrival. They must be stored
    before a command among them is acted on.

    `step` owns the state it is given and hands it back changed: go on with the returned one only. It costs O(block)
    per result and O(|TRAIN| + front) per decision, however long the log is. After the end nothing changes any more.

    Raises `ValueError` for an event that answers nothing outstanding or does not fit what was asked (other cases, a
    score outside [0, 1], a child without a tree); the state is then unchanged.
    """
    out: list[LogEntry] = []
    match event:
        case _ if state.phase == "finished":
            pass
        case Started():
            _begin(state, out)
        case Cancelled():
            if state.phase == "new":
                raise ValueError("a search that has not started cannot be cancelled")
            out.append(event)
            issue_finish(state, out, "cancelled")
        case _:
            _check(state, event)
            state.arrived[event.seq] = event
            while (taken := state.arrived.pop(_turn(state), None)) is not None:
                out.append(taken)
                _take(state, out, taken)
    return state, tuple(out)


def _turn(state: SearchState) -> int:
    """The number of the command whose answer is taken next: the lowest outstanding one.

    But a parent is measured before any proposer's answer is taken: measuring is short, and the next proposer, who waits
    for it, can then work beside those before it. What decides is the state alone, never the order of arrival.
    """
    first = next(iter(state.commands), -1)
    if isinstance(state.commands.get(first), Propose):
        return next((seq for seq, slot in state.owners.items() if slot.stage == "measuring"), first)
    return first


def _check_ids(train_ids: Sequence[str], test_ids: Sequence[str]) -> Problem | None:
    if not train_ids or not test_ids:
        return Problem("BK542", f"the {'TEST' if train_ids else 'TRAIN'} split has no case")
    seen: set[str] = set()
    for case_id in (*train_ids, *test_ids):
        if case_id in seen:
            return Problem("BK542", f"the case id {case_id!r} stands twice")
        seen.add(case_id)
    return None


def _check(state: SearchState, event: Evaluated | Proposed) -> None:
    command = state.commands.get(event.seq)
    if command is None or event.seq in state.arrived:
        raise ValueError(f"nothing outstanding has the number {event.seq}")
    if event.spend is not None and event.spend.usd is not None and not 0.0 <= event.spend.usd < math.inf:
        raise ValueError(f"what command {event.seq} cost must be an amount of at least 0, not {event.spend.usd!r}")
    match event, command:
        case Evaluated(objectives=objectives), Evaluate(case_ids=case_ids):
            if tuple(case_id for case_id, _ in objectives) != case_ids:
                raise ValueError(f"the results of command {event.seq} are not those of its cases, in their order")
            for case_id, objective in objectives:
                if objective is not None and not 0.0 <= objective <= 1.0:
                    raise ValueError(f"the objective of case {case_id!r} must lie in [0, 1], not {objective!r}")
        case Proposed(outcome=outcome, tree=tree), Propose():
            if outcome not in _OUTCOMES:
                raise ValueError(f"a proposer's outcome is one of {', '.join(_OUTCOMES)}, not {outcome!r}")
            if (outcome == "child") != (tree is not None):
                raise ValueError("a tree comes with the outcome 'child', and only with it")
        case _:
            raise ValueError(f"command {event.seq} asked for something else")


def _begin(state: SearchState, out: list[LogEntry]) -> None:
    if state.phase != "new":
        raise ValueError("a search starts once")
    baseline = state.candidates[0].tree
    out.append(Opened(SEARCH_VERSION, state.settings, state.train_ids, state.test_ids, baseline))
    state.move("baseline")
    state.pending = issue_evaluations(state, out, tree=baseline, case_ids=state.split.selection, purpose="selection")


def _take(state: SearchState, out: list[LogEntry], event: Evaluated | Proposed) -> None:
    command, slot = state.commands.pop(event.seq), state.owners.pop(event.seq, None)
    _pay(state, event, command, slot)
    if isinstance(event, Proposed):
        assert slot is not None
        take_proposed(state, out, slot, event)
    elif slot is None:
        assert isinstance(command, Evaluate)
        if command.purpose == "test":
            _take_test(state, out, command.tree, event)
        else:
            _take_baseline(state, out, event)
    elif slot.stage == "measuring":
        take_parent_results(state, out, slot, event)
    else:
        take_child_results(state, out, slot, event)
    while state.phase == "searching" and (decide_first(state, out) or prepare_next(state, out)):
        pass
    if state.phase == "searching" and not state.slots:
        _begin_test(state, out)


def _pay(state: SearchState, event: Evaluated | Proposed, command: Command, slot: Slot | None) -> None:
    """Count what an event cost; while proposals are worked on, see whether the rest is just enough for TEST."""
    charge(state, event, _account(state, command, slot))
    if state.phase == "searching" and not state.broke:
        over = exhausted(state, ahead=for_test(state))
        if over is not None:
            reason, state.broke = over
            if state.ending is None:
                stop_proposing(state, reason)


def _account(state: SearchState, command: Command, slot: Slot | None) -> Results | None:
    """Whose TRAIN cases a command evaluates; `None` for TEST."""
    if slot is not None:
        return state.results[slot.chosen] if slot.stage == "measuring" else slot.child
    return None if isinstance(command, Evaluate) and command.purpose == "test" else state.results[0]


def _take_baseline(state: SearchState, out: list[LogEntry], event: Evaluated) -> None:
    """A block of the baseline is in: on S, or on evidence while nothing of it has run."""
    baseline = state.results[0]
    state.enter(baseline, event.objectives)
    state.pending -= 1
    if (over := exhausted(state)) is not None:
        issue_finish(state, out, *over)
        return
    if state.pending:
        return
    if state.phase == "baseline":
        selection = state.split.selection
        tree, train = state.candidates[0].tree, baseline.mean_over(selection)
        state.candidates[0] = Candidate(0, tree, None, None, "baseline", "the baseline", train, rollouts=state.issued)
        state.scored_front = Front.of(0, [points(baseline.scores[case_id]) for case_id in selection], baseline.total)
    if all(score is None for score in baseline.scores.values()):
        _probe(state, out)
        return
    if (over := exhausted(state, ahead=for_test(state))) is not None:
        issue_finish(state, out, *over)
        return
    state.move("searching")
    if is_perfect(state):
        stop_proposing(state, "perfect")
    for proposal in range(1, state.settings.max_proposals_in_flight + 1):
        open_slot(state, proposal)


def _probe(state: SearchState, out: list[LogEntry]) -> None:
    """Nothing of the baseline has run: look for a TRAIN case that does, as far as TEST stays paid for."""
    known, tree = state.results[0].scores, state.candidates[0].tree
    left = [case_id for case_id in state.split.evidence if case_id not in known][:BLOCK_SIZE]
    if not left or not state.affords(len(left)):
        every = "none" if len(known) == len(state.train_ids) else f"none of the {len(known)} tried"
        message = f"the baseline runs on no TRAIN case: of {len(state.train_ids)} cases, {every} could be scored"
        issue_finish(state, out, "error", message)
        return
    if state.phase == "baseline":
        state.move("probing")
    state.pending = issue_evaluations(state, out, tree=tree, case_ids=left, purpose="parent_minibatch")


def _begin_test(state: SearchState, out: list[LogEntry]) -> None:
    """Every proposal is decided: score the winner on TEST and, if it is another candidate, the baseline."""
    state.ending = state.ending or "proposals"
    state.move("testing")
    state.winner = state.best
    state.test_reserve = 0
    tested = [state.winner, 0] if state.winner and state.settings.test_baseline else [state.winner]
    for n in tested:
        tree = state.candidates[n].tree
        state.pending += issue_evaluations(state, out, tree=tree, case_ids=state.test_ids, purpose="test")


def _take_test(state: SearchState, out: list[LogEntry], tree: str, event: Evaluated) -> None:
    n = state.trees[tree]
    assert n is not None
    state.results[n].test.update(event.objectives)
    state.pending -= 1
    if not state.pending:
        assert state.ending is not None
        over = exhausted(state)
        reason = state.ending if over is None or over[0] == "budget" else over[0]
        issue_finish(state, out, reason, state.broke if over is None else over[1])
