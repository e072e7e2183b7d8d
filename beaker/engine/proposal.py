"""The port of a proposer: what it is asked, what it answers, and the stored form of an answer."""

from typing import Literal, Protocol, TypeAlias

from beaker.core.strict_json import JsonObject
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree, tree_digest
from beaker.engine.evidence import Evidence

Outcome: TypeAlias = Literal[
    "child", "no_change", "crashed", "timed_out", "outside_targets", "special_file", "invalid_tree"
]
"""What a proposer's work came to. Whether a `child` is new, and better than its parent, the search decides."""


@value
class ProposalRequest:
    """`number` counts the run's proposals from 1; `seed` is for the proposer's own random choices."""

    number: int
    seed: int
    parent: CandidateTree
    evidence: Evidence


@value
class Proposal:
    """`tree` is set exactly for a `child`. `changed` names what differs from the parent (`group/name`), sorted.

    `message` says why there is no child; `stdout` and `stderr` are what the proposer printed, bounded and without
    secrets.
    """

    outcome: Outcome
    message: str = ""
    tree: CandidateTree | None = None
    changed: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""


class Proposer(Protocol):
    """Makes a child of a parent. What goes wrong in it is an outcome, never an exception."""

    async def propose(self, request: ProposalRequest) -> Proposal:
        """Propose once. Cancelling the call ends whatever it started."""
        ...


def proposal_record(number: int, proposal: Proposal) -> JsonObject:
    """What is stored of the run's proposal `number`: its tree by digest, everything else as it is."""
    return {
        "proposal": number,
        "outcome": proposal.outcome,
        "tree": None if proposal.tree is None else tree_digest(proposal.tree),
        "message": proposal.message,
        "changed": list(proposal.changed),
        "stdout": proposal.stdout,
        "stderr": proposal.stderr,
    }
