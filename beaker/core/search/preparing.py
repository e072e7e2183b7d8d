"""Before a proposal is made: its slot, its budget, its parent, its minibatch and its evidence.

Only the first proposal that is not made yet prepares itself, so minibatches are dealt, proposers are asked and
duplicates are recognised in the order of proposals, however many are in flight.
"""

from bisect import bisect_right
from itertools import accumulate, islice

from beaker.core.keyed import below
from beaker.core.search.issuing import issue_evaluations, issue_proposal, release, reserve
from beaker.core.search.messages import Evaluated, FinishReason, LogEntry, Propose
from beaker.core.search.spending import unpayable
from beaker.core.search.state import Results, SearchState, Slot

EVIDENCE_LIMIT = 100
"""The most results beside the minibatch that a proposer is shown."""


def open_slot(state: SearchState, proposal: int) -> None:
    """Let proposal number `proposal` begin, seeing the decisions made up to this moment, if there is to be one."""
    if state.ending is None and proposal <= state.settings.max_proposals:
        state.slots.append(Slot(proposal, len(state.proposals), state.front.members()))


def stop_proposing(state: SearchState, reason: FinishReason) -> None:
    """Make no more proposals; those made run to their decision. One whose parent is being measured is dropped then."""
    state.ending = reason
    while state.slots and state.slots[-1].stage == "waiting":
        state.slots.pop()


def prepare_next(state: SearchState, out: list[LogEntry]) -> bool:
    """Move the first proposal that is not made yet on; whether anything changed."""
    slot = next((one for one in state.slots if one.stage in ("waiting", "measuring")), None)
    if slot is None or slot.stage == "measuring":
        return False
    if not slot.minibatch and not _choose_minibatch(state, slot):
        stop_proposing(state, "exhausted")
        return True
    parent = state.results[slot.chosen]
    unknown = tuple(case_id for case_id in slot.minibatch if case_id not in parent.scores)
    outside = sum(case_id not in state.place for case_id in slot.minibatch)
    needed = len(unknown) + outside + len(state.place)
    too_dear = unpayable(state, slot, needed)
    if too_dear or not state.affords(needed):
        if state.slots[0] is not slot:
            return False  # what the proposals before it hold comes back when they are decided
        state.broke = too_dear
        stop_proposing(state, "budget")
        return True
    reserve(state, slot, needed)
    if unknown:
        slot.move("measuring")
        tree = state.candidates[slot.chosen].tree
        slot.pending = issue_evaluations(state, out, tree=tree, case_ids=unknown, purpose="parent_minibatch", slot=slot)
    else:
        _propose(state, out, slot)
    return True


def take_parent_results(state: SearchState, out: list[LogEntry], slot: Slot, event: Evaluated) -> None:
    """A block of the parent on the minibatch is in. After the last: propose, or skip what the parent solves."""
    state.enter(state.results[slot.chosen], event.objectives)
    slot.pending -= 1
    if slot.pending:
        return
    if state.ending is not None:
        release(state, slot)
        state.slots.pop()  # it is the last one: those behind it were waiting
    elif state.results[slot.chosen].solves(slot.minibatch):
        release(state, slot)
        slot.minibatch = ()
        slot.move("waiting")
    else:
        _propose(state, out, slot)


def _choose_minibatch(state: SearchState, slot: Slot) -> bool:
    """Deal until a minibatch comes that the parent is not known to solve; `False` when no parent is left to draw.

    It ends: a parent that has not left has a case it is not known to solve, and every case comes within an epoch.
    """
    while not slot.minibatch:
        if slot.parent is None or _has_left(state, slot.parent):
            if not _draw_parent(state, slot):
                return False
        elif not state.results[slot.parent].solves(batch := state.walk.deal()):
            slot.minibatch = batch
    return True


def _draw_parent(state: SearchState, slot: Slot) -> bool:
    """Draw a parent from the front that the slot saw, by the places each leads in; `False` when all have left."""
    pool = [(n, places) for n, places in slot.view if not _has_left(state, n)]
    if not pool:
        return False
    up_to = list(accumulate(places for _, places in pool))
    drawn = below(up_to[-1], state.settings.seed, "parent", slot.proposal, slot.draws)
    slot.draws += 1
    slot.parent, _ = pool[bisect_right(up_to, drawn)]
    return True


def _has_left(state: SearchState, n: int) -> bool:
    """Whether a candidate is known to solve the whole evidence set, so that nothing is left to learn from it."""
    return len(state.results[n].solved) == len(state.split.evidence)


def _propose(state: SearchState, out: list[LogEntry], slot: Slot) -> None:
    slot.move("proposing")
    command = Propose(
        seq=state.next_seq,
        proposal=slot.proposal,
        parent=slot.chosen,
        parent_tree=state.candidates[slot.chosen].tree,
        minibatch=slot.minibatch,
        evidence=_evidence(state.results[slot.chosen], slot.minibatch),
        seen=slot.seen,
        rollouts_left=state.settings.max_rollouts - state.issued - state.test_reserve,
        seed=below(2**31, state.settings.seed, "proposal", slot.proposal),
    )
    issue_proposal(state, out, command, slot)


def _evidence(parent: Results, minibatch: tuple[str, ...]) -> tuple[str, ...]:
    """The parent's other results on the evidence set: unsolved ones first, of each the latest first."""
    others = (
        case_id
        for case_ids in (parent.unsolved, parent.solved)
        for case_id in reversed(case_ids)
        if case_id not in minibatch
    )
    return tuple(islice(others, EVIDENCE_LIMIT))
