"""The port of a proposer: what it is asked, what it answers, and the stored form of an answer."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import attrs

from beaker.core.strict_json import JsonObject
from beaker.core.usage import ModelUsage, usage_to_json
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
    """`tree` is set exactly for a `child`. `changed` names what differs from the parent: documents as
    `group/name`, then files of the repository.

    `message` says why there is no child; `stdout` and `stderr` are what the proposer printed, bounded and without
    secrets. `usage` is what models were used; `artifacts` are texts to look at later, such as prompts, by file name.
    """

    outcome: Outcome
    message: str = ""
    tree: CandidateTree | None = None
    changed: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""
    usage: tuple[ModelUsage, ...] = ()
    artifacts: Mapping[str, str] = attrs.field(factory=dict)


@value(kw_only=True)
class ProposalTask:
    """What a proposer that a package registers is asked (entry points `beaker.proposers`: name to a function).

    The function edits the working copy `workspace` in place, as a command does: `documents/<group>/`, and `repository/`
    when it is a target, where target paths count from `source_dir`. It returns nothing, or `ModelUsage` values that say
    what it used; it may be asynchronous. What it raises is a crash of this proposal.

    `summary` and `cases` are the evidence, `targets` the declaration as JSON, `project` a read-only checkout of the
    pinned commit, `options` the `proposer_options` of the settings. `seed` is for random choices of its own.
    """

    workspace: Path
    project: Path
    summary: Any
    cases: tuple[Any, ...]
    targets: Any
    source_dir: str
    seed: int
    options: Mapping[str, Any]


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
        "usage": list(usage_to_json(proposal.usage)),
        "artifacts": [
            {"path": path, "sha256": sha256(data).hexdigest(), "size_bytes": len(data)}
            for path, data in artifact_files(proposal).items()
        ],
    }


def artifact_files(proposal: Proposal) -> dict[str, bytes]:
    """The artifacts of a proposal as they are kept, by file name."""
    return {path: text.encode(errors="replace") for path, text in sorted(proposal.artifacts.items())}
