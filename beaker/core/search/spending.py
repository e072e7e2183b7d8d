"""The budget in US dollars: what is set aside for TEST, whether a proposal can be paid, and when it is all over.

What a case will cost is not known before it has run, so it is taken from what the candidate's cases cost on average so
far. All of it is exact arithmetic on what was taken, in the order in which it was taken.
"""

from beaker.core.exact import ONE, exact
from beaker.core.search.messages import Evaluate, Evaluated, FinishReason, Proposed
from beaker.core.search.state import Results, SearchState, Slot


def charge(state: SearchState, event: Evaluated | Proposed, results: Results | None) -> None:
    """Count what an event cost, on account of the tree whose TRAIN cases it evaluated, if it did."""
    added = state.spending.add(event.spend)
    if isinstance(event, Proposed):
        state.spending.proposing += added
        state.spending.proposed += 1
    elif results is not None:
        results.spent += added


def exhausted(state: SearchState, *, ahead: int = 0, what: str = "TEST needs") -> tuple[FinishReason, str] | None:
    """Why nothing more may be spent when `ahead` still has to be, with a sentence about it; `None` while it may.

    `what` begins the words about `ahead`.
    """
    budget = state.settings.spend_budget_usd
    if budget is None:
        return None
    spending = state.spending
    if spending.unpriced:
        models = ", ".join(spending.unpriced)
        return "spend_unknown", (
            f"the cost of calls to {models} is not known (no price in `prices`, or no token counts in the trace), so "
            f"the budget of {dollars(exact(budget))} cannot be kept"
        )
    if spending.total + ahead > exact(budget):
        needed = f", and {what} about {dollars(ahead)} more" if ahead else ""
        return "budget", f"{dollars(spending.total)} of the budget of {dollars(exact(budget))} are spent{needed}"
    return None


def unrecorded(state: SearchState) -> tuple[FinishReason, str] | None:
    """Whether there is a budget and, although a proposal was decided, not one call of a model was recorded."""
    if state.settings.spend_budget_usd is None or state.spending.calls or not state.worked:
        return None
    return "spend_unknown", (
        "no call of a model was recorded, by the application or by the proposer, so the budget cannot be kept: record "
        "the calls with `runtime.trace.model_call`, or leave spend_budget_usd out"
    )


def for_test(state: SearchState) -> int:
    """What TEST will cost if nothing better is found, the baseline beside the winner included."""
    tested = [state.best, 0] if state.settings.test_baseline else [state.best]
    return sum(_expected(state.results[n], len(state.test_ids)) for n in tested)


def unpayable(state: SearchState, slot: Slot, rollouts: int) -> str:
    """Why a proposal with so many evaluations cannot be paid beside those in flight and TEST; empty when it can."""
    if state.settings.spend_budget_usd is None:
        return ""
    parent = state.results[slot.chosen]
    held = sum(_held(state, one) for one in state.slots if one is not slot)
    ahead = _expected(parent, rollouts) + _per_proposal(state) + held + for_test(state)
    over = exhausted(state, ahead=ahead, what="another proposal and TEST need")
    return "" if over is None else over[1]


def dollars(amount: int) -> str:
    """An exact amount in words; small ones with more digits."""
    usd = amount / ONE
    places = 2 if usd >= 0.1 else 4 if usd >= 0.001 else 8
    whole, _, cents = f"{usd:.{places}f}".partition(".")
    return f"${whole}.{cents.rstrip('0'):0<2}"


def _held(state: SearchState, slot: Slot) -> int:
    """What a proposal in flight may still cost."""
    if slot.parent is None:
        return 0
    work = _per_proposal(state) if slot.stage == "proposing" else 0
    out = (state.commands[seq] for seq, owner in state.owners.items() if owner is slot)
    cases = slot.held + sum(len(command.case_ids) for command in out if isinstance(command, Evaluate))
    return _expected(state.results[slot.parent], cases) + work


def _per_proposal(state: SearchState) -> int:
    spending = state.spending
    return spending.proposing // spending.proposed if spending.proposed else 0


def _expected(results: Results, cases: int) -> int:
    return results.spent * cases // len(results.scores) if results.scores else 0
