"""What the search says and what it is told: commands and events, both values with a JSON form.

Commands are numbered (`seq`) from 1 in the order in which they are issued; an event answers the command of its number.
A log is the sequence of what was taken and what it caused: `Opened` first, then each event followed by its commands.
"""

from typing import Literal, TypeAlias

from beaker.core.search.settings import SearchSettings
from beaker.core.usage import Spend
from beaker.core.values import value

SEARCH_VERSION = 1
"""Names the rules by which a log is replayed: another order of commands, another draw, another block size is another
version."""

BLOCK_SIZE = 8
"""The most cases one `Evaluate` asks for."""

Purpose: TypeAlias = Literal["selection", "minibatch", "parent_minibatch", "test"]
"""Why cases are evaluated: a candidate on S, a child on its minibatch, a parent on evidence, TEST at the end."""

FinishReason: TypeAlias = Literal["budget", "proposals", "exhausted", "perfect", "spend_unknown", "cancelled", "error"]

ProposerOutcome: TypeAlias = Literal[
    "child", "no_change", "crashed", "timed_out", "outside_targets", "special_file", "invalid_tree"
]
"""What a proposer gave. What becomes of a `child` the search decides: `accepted`, `rejected` or `duplicate`."""


@value
class Evaluate:
    """Run and score these cases of the candidate whose tree has this digest. None of them was asked for before."""

    seq: int
    tree: str
    case_ids: tuple[str, ...]
    purpose: Purpose


@value
class Propose:
    """Make a child of candidate `parent`.

    `proposal` counts from 1. The evidence is the parent's results on `minibatch` and on `evidence` (up to 100 other
    cases of the evidence set), all of them stored before this command. `seen` is the number of the last proposal whose
    decision this one may know, `rollouts_left` the evaluations left for the search, TEST not counted. `seed`, in
    [0, 2**31), is the proposer's own.
    """

    seq: int
    proposal: int
    parent: int
    parent_tree: str
    minibatch: tuple[str, ...]
    evidence: tuple[str, ...]
    seen: int
    rollouts_left: int
    seed: int


@value
class Finish:
    """The search has ended; nothing outstanding matters any more.

    `message` says what went wrong, for `error`, and why money ended it, for `spend_unknown` and often for `budget`.
    """

    seq: int
    reason: FinishReason
    message: str = ""


@value
class Started:
    """Begin."""


@value
class Evaluated:
    """Every case of an `Evaluate`, in its order, with its objective in [0, 1]; `None` for a failed case.

    `spend` is what the models cost that were called, `None` when no call was recorded.
    """

    seq: int
    objectives: tuple[tuple[str, float | None], ...]
    spend: Spend | None = None


@value
class Proposed:
    """What came of a `Propose`: a `ProposerOutcome`, and for a `child` the digest of its tree.

    `message` says more about it, for people; `changed` names what the child changed. `spend` is what the proposer's
    own models cost, `None` when it counts none.
    """

    seq: int
    outcome: str
    tree: str | None = None
    message: str = ""
    changed: tuple[str, ...] = ()
    spend: Spend | None = None


@value
class Cancelled:
    """Somebody asked to stop. It is taken at once, before anything that waits for its turn."""


@value
class Opened:
    """The head of a log: what the search was started with, under which version."""

    search_version: int
    settings: SearchSettings
    train_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    baseline_tree: str


Command: TypeAlias = Evaluate | Propose | Finish
Event: TypeAlias = Started | Evaluated | Proposed | Cancelled
LogEntry: TypeAlias = Opened | Evaluated | Proposed | Cancelled | Evaluate | Propose | Finish
