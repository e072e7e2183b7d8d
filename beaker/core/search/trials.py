"""The trial of a child: on the minibatch against its parent, then on the selection set in a race against the best."""

from beaker.core.search.issuing import issue_evaluations
from beaker.core.search.messages import BLOCK_SIZE, Evaluated, LogEntry, Proposed
from beaker.core.search.points import FULL, mean_objective, points
from beaker.core.search.state import SearchState, Slot


def take_proposed(state: SearchState, out: list[LogEntry], slot: Slot, event: Proposed) -> None:
    """The proposer is done: try its child on the minibatch; settle what is no child, or one that is known."""
    slot.message = event.message
    if event.outcome != "child" or event.tree is None:
        _settle(slot, event.outcome, "")
        return
    slot.tree, slot.changed = event.tree, event.changed
    if event.tree in state.trees:
        _settle(slot, "duplicate", "")
        return
    state.trees[event.tree] = None
    if state.broke:
        _settle(slot, "rejected", f"not tried: {state.broke}")
        return
    slot.move("minibatch")
    slot.pending = issue_evaluations(
        state, out, tree=slot.tree, case_ids=slot.minibatch, purpose="minibatch", slot=slot
    )


def take_child_results(state: SearchState, out: list[LogEntry], slot: Slot, event: Evaluated) -> None:
    """A block of the child is in: after the last of the minibatch it must have beaten its parent; on S it races."""
    state.enter(slot.child, event.objectives)
    _note_leads(state, slot, event)
    slot.pending -= 1
    if slot.pending:
        return
    if slot.stage == "minibatch":
        child, parent = slot.child.sum_over(slot.minibatch), state.results[slot.chosen].sum_over(slot.minibatch)
        if child <= parent:
            size = len(slot.minibatch)
            means = f"{mean_objective(child, size):.4g} on the minibatch, its parent {mean_objective(parent, size):.4g}"
            _settle(slot, "rejected", means)
            return
        if state.broke:
            _settle(slot, "rejected", f"not tried on the selection set: {state.broke}")
            return
        slot.move("selection")
    _continue_race(state, out, slot)


def _continue_race(state: SearchState, out: list[LogEntry], slot: Slot) -> None:
    selection = state.split.selection
    if slot.child.counted == len(selection):
        _settle(slot, "accepted", f"{mean_objective(slot.child.total, len(selection)):.4g} on the selection set")
        return
    if _is_beaten(state, slot):
        reach = mean_objective(_possible(state, slot), len(selection))
        best = mean_objective(state.front.best_total, len(selection))
        behind = f"it could have reached {reach:.4g}, candidate {state.best} has {best:.4g}"
        _settle(slot, "rejected", f"stopped after {slot.child.counted} of {len(selection)} selection cases: {behind}")
        return
    if state.broke:
        _settle(
            slot, "rejected", f"stopped after {slot.child.counted} of {len(selection)} selection cases: {state.broke}"
        )
        return
    block: list[str] = []
    while len(block) < BLOCK_SIZE and slot.next_place < len(selection):
        case_id = selection[slot.next_place]
        slot.next_place += 1
        if case_id not in slot.child.scores:
            block.append(case_id)
    slot.pending = issue_evaluations(state, out, tree=slot.tree, case_ids=block, purpose="selection", slot=slot)


def _is_beaten(state: SearchState, slot: Slot) -> bool:
    """Whether the child cannot reach the best mean any more and leads on no case scored so far.

    A lead that is lost never comes back (leaders only get better, and what the child can reach only falls), so each
    case is looked at once when it comes in and once when it is lost.
    """
    possible = _possible(state, slot)
    if possible >= state.front.best_total:
        return False
    while slot.leading:
        last = slot.leading[-1]
        if state.front.would_lead(state.place[last], points(slot.child.scores[last]), possible):
            return False
        slot.leading.pop()
    return True


def _note_leads(state: SearchState, slot: Slot, event: Evaluated) -> None:
    possible = _possible(state, slot)
    for case_id, objective in event.objectives:
        place = state.place.get(case_id)
        if place is not None and state.front.would_lead(place, points(objective), possible):
            slot.leading.append(case_id)


def _possible(state: SearchState, slot: Slot) -> int:
    """The sum over S if the child solved every case that is still missing."""
    return slot.child.total + (len(state.place) - slot.child.counted) * FULL


def _settle(slot: Slot, outcome: str, reason: str) -> None:
    slot.outcome, slot.reason = outcome, reason
    slot.move("settled")
