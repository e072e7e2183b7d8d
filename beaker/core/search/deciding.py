"""Decisions, made strictly in the order of proposals: candidates, the front, and when to stop proposing."""

from beaker.core.search.issuing import issue_finish, release
from beaker.core.search.messages import LogEntry
from beaker.core.search.points import FULL, points
from beaker.core.search.preparing import open_slot, stop_proposing
from beaker.core.search.spending import unrecorded
from beaker.core.search.state import Candidate, Proposal, SearchState, Slot

BARREN_LIMIT = 10
"""So many proposals in a row that crashed or timed out, while none ever succeeded, end the search as an error."""

_BARREN = ("crashed", "timed_out")
_FAILURES = (*_BARREN, "outside_targets", "special_file", "invalid_tree")


def decide_first(state: SearchState, out: list[LogEntry]) -> bool:
    """Decide the earliest proposal in flight if its fate is known, and open the one that waited for this decision.

    Returns whether there was something to decide.
    """
    if not state.slots or state.slots[0].stage != "settled":
        return False
    slot = state.slots.popleft()
    release(state, slot)
    _enter_proposal(state, slot)
    state.accepted += slot.outcome == "accepted"
    state.outcomes[slot.outcome] = state.outcomes.get(slot.outcome, 0) + 1
    if slot.outcome in _FAILURES:
        state.failed += 1
        state.last_failed = slot.proposal
    state.barren = state.barren + 1 if slot.outcome in _BARREN else 0
    state.worked = state.worked or slot.outcome not in _FAILURES
    if state.barren >= BARREN_LIMIT and not state.worked:
        last = slot.outcome.replace("_", " ") + (f": {slot.message}" if slot.message else "")
        message = f"{state.barren} proposals in a row crashed or timed out and none succeeded; the last one {last}"
        issue_finish(state, out, "error", message)
        return True
    if (over := unrecorded(state)) is not None:
        issue_finish(state, out, *over)
        return True
    if state.ending is None and is_perfect(state):
        stop_proposing(state, "perfect")
    open_slot(state, slot.proposal + state.settings.max_proposals_in_flight)
    return True


def is_perfect(state: SearchState) -> bool:
    """Whether the best candidate solves all of S, so that none can replace it."""
    return state.front.best_total == len(state.place) * FULL


def _enter_proposal(state: SearchState, slot: Slot) -> None:
    match slot.outcome:
        case "accepted" | "rejected":
            candidate: int | None = _enter_candidate(state, slot)
        case "duplicate":
            candidate = state.trees[slot.tree]
            slot.reason = f"the same tree as candidate {candidate}"
        case _:
            candidate = None
    message = slot.message or slot.reason
    state.proposals.append(Proposal(slot.proposal, slot.chosen, slot.outcome, candidate, message))
    state.tried[slot.chosen].append(slot.proposal)


def _enter_candidate(state: SearchState, slot: Slot) -> int:
    """Make the child a candidate, on the front if it was accepted and leads somewhere; its number."""
    n, selection, batch = len(state.candidates), state.split.selection, slot.minibatch
    scored = slot.child.counted == len(selection)
    candidate = Candidate(
        n=n,
        tree=slot.tree,
        parent=slot.chosen,
        proposal=slot.proposal,
        status="accepted" if slot.outcome == "accepted" else "rejected",
        reason=slot.reason,
        train=slot.child.mean_over(selection) if scored else None,
        minibatch_objective=slot.child.mean_over(batch) if slot.child.scores else None,  # no money was left for it
        parent_objective=state.results[slot.chosen].mean_over(batch),
        changed=slot.changed,
        rollouts=state.issued,
    )
    state.candidates.append(candidate)
    state.results.append(slot.child)
    state.tried.append([])
    state.trees[slot.tree] = n
    if slot.outcome == "accepted":
        state.front.add(n, [points(slot.child.scores[case_id]) for case_id in selection], slot.child.total)
    return n
