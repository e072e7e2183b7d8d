"""What a search shows of itself: its progress, and what was tried along the lineage of a candidate."""

from collections.abc import Iterator

from beaker.core.search.state import SearchState
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

LINEAGE_LIMIT = 100
"""The most trials that a lineage tells of, the latest ones."""

SHOWN_MESSAGE = 500
"""Characters of a failed proposal's message that progress carries; progress is stored with every step."""


@value
class Trial:
    """One proposal that was decided: what it set out from, what came of it, and what that scored.

    `outcome`, `candidate` and `message` are those of `Proposal`. `reason` says why a child was accepted or rejected,
    `changed` what it changed; the means are those of `Candidate`, `None` without a child of its own.
    """

    proposal: int
    parent: int
    outcome: str
    candidate: int | None
    message: str
    reason: str = ""
    changed: tuple[str, ...] = ()
    train: float | None = None
    minibatch_objective: float | None = None
    parent_objective: float | None = None


def lineage(state: SearchState, n: int, *, seen: int | None = None) -> tuple[Trial, ...]:
    """What was tried from candidate `n` and from each of its ancestors, in the order of proposals; the latest 100.

    `seen` (`Propose.seen`) leaves out the decisions of later proposals, so that a proposal that is run again after a
    restart is told what it was told before.
    """
    last = len(state.proposals) if seen is None else seen
    numbers = sorted(number for one in _ancestry(state, n) for number in state.tried[one] if number <= last)
    return tuple(_trial(state, number) for number in numbers[-LINEAGE_LIMIT:])


def progress(state: SearchState) -> JsonObject:
    """How far the search is, as JSON; costs O(1).

    `{"rollouts": {"issued", "limit"}, "proposals": {"made", "accepted", "rejected", "failed", "limit", "outcomes",
    "last_failed"}, "spend": {"usd", "tokens", "calls", "unpriced"}, "best": {"candidate", "train"}}`. `made` counts
    those in flight too; `rejected` are the decided ones that neither failed nor were accepted (duplicates and unchanged
    ones included); `outcomes` counts the decided ones by outcome; `last_failed` is `{"n", "outcome", "message"}` of the
    last one that failed, or null, its message cut to 500 characters. `spend` is what was taken so far: `usd` is null
    while no call was recorded or the cost of one is unknown (`unpriced` names the models), `tokens` null without calls.
    `train` is null until the baseline is scored.
    """
    return {
        "rollouts": {"issued": state.issued, "limit": state.settings.max_rollouts},
        "proposals": {
            "made": state.made,
            "accepted": state.accepted,
            "rejected": len(state.proposals) - state.accepted - state.failed,
            "failed": state.failed,
            "limit": state.settings.max_proposals,
            "outcomes": dict(state.outcomes),
            "last_failed": _last_failed(state),
        },
        "spend": {
            "usd": state.spending.usd,
            "tokens": state.spending.tokens,
            "calls": state.spending.calls,
            "unpriced": list(state.spending.unpriced),
        },
        "best": {"candidate": state.best, "train": state.train_objective(state.best)},
    }


def _last_failed(state: SearchState) -> JsonObject | None:
    if state.last_failed is None:
        return None
    proposal = state.proposals[state.last_failed - 1]
    return {"n": proposal.n, "outcome": proposal.outcome, "message": proposal.message[:SHOWN_MESSAGE]}


def _ancestry(state: SearchState, n: int) -> Iterator[int]:
    """`n`, its parent, and so on to the baseline."""
    at: int | None = n
    while at is not None:
        yield at
        at = state.candidates[at].parent


def _trial(state: SearchState, number: int) -> Trial:
    proposal = state.proposals[number - 1]
    told = (proposal.n, proposal.parent, proposal.outcome, proposal.candidate, proposal.message)
    if proposal.candidate is None or proposal.outcome == "duplicate":
        return Trial(*told)
    child = state.candidates[proposal.candidate]
    return Trial(
        *told,
        reason=child.reason,
        changed=child.changed,
        train=child.train,
        minibatch_objective=child.minibatch_objective,
        parent_objective=child.parent_objective,
    )
