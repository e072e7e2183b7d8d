"""Issuing commands: numbers, charges, and who gets the answer."""

from collections.abc import Sequence

from beaker.core.search.messages import BLOCK_SIZE, Evaluate, Finish, FinishReason, LogEntry, Propose, Purpose
from beaker.core.search.state import SearchState, Slot


def issue_evaluations(
    state: SearchState,
    out: list[LogEntry],
    *,
    tree: str,
    case_ids: Sequence[str],
    purpose: Purpose,
    slot: Slot | None = None,
) -> int:
    """Ask for `case_ids` in blocks and return the number of blocks. A slot pays from what it holds."""
    for start in range(0, len(case_ids), BLOCK_SIZE):
        block = tuple(case_ids[start : start + BLOCK_SIZE])
        command = Evaluate(state.next_seq, tree, block, purpose)
        state.issued += len(block)
        if slot is not None:
            state.owners[command.seq] = slot
            slot.held -= len(block)
            state.reserved -= len(block)
        _issue(state, out, command)
    return -(-len(case_ids) // BLOCK_SIZE)


def issue_proposal(state: SearchState, out: list[LogEntry], command: Propose, slot: Slot) -> None:
    """Ask for the child of a slot."""
    state.owners[command.seq] = slot
    state.made += 1
    _issue(state, out, command)


def issue_finish(state: SearchState, out: list[LogEntry], reason: FinishReason, message: str = "") -> None:
    """End the search. Whatever is outstanding is dropped."""
    state.commands.clear()
    state.owners.clear()
    state.arrived.clear()
    state.slots.clear()
    state.reserved = 0
    state.move("finished")
    state.finish = Finish(state.next_seq, reason, message)
    _issue(state, out, state.finish)


def reserve(state: SearchState, slot: Slot, rollouts: int) -> None:
    """Set `rollouts` evaluations aside for a slot."""
    slot.held += rollouts
    state.reserved += rollouts


def release(state: SearchState, slot: Slot) -> None:
    """Give back what a slot still holds."""
    state.reserved -= slot.held
    slot.held = 0


def _issue(state: SearchState, out: list[LogEntry], command: Evaluate | Propose | Finish) -> None:
    state.commands[command.seq] = command
    state.next_seq += 1
    out.append(command)
