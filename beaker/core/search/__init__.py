"""The search as a pure state machine: what to evaluate and propose next, and when to stop.

`start` makes a state, `step` takes an event and returns the log entries it caused, `replay` rebuilds a state from its
log. Nothing here runs a case or a proposer; `docs/optimization.md` describes the algorithm and its sources.
"""

from beaker.core.search.budget import default_max_rollouts, minimum_rollouts
from beaker.core.search.log import entries_to_json, entry_from_json, replay
from beaker.core.search.machine import start, step
from beaker.core.search.messages import (
    BLOCK_SIZE,
    SEARCH_VERSION,
    Cancelled,
    Command,
    Evaluate,
    Evaluated,
    Event,
    Finish,
    FinishReason,
    LogEntry,
    Opened,
    Propose,
    Proposed,
    ProposerOutcome,
    Purpose,
    Started,
)
from beaker.core.search.settings import SearchSettings
from beaker.core.search.split import Split, split_train
from beaker.core.search.state import Candidate, Proposal, SearchState
from beaker.core.search.views import Trial, lineage, progress

__all__ = [
    "BLOCK_SIZE",
    "SEARCH_VERSION",
    "Cancelled",
    "Candidate",
    "Command",
    "Evaluate",
    "Evaluated",
    "Event",
    "Finish",
    "FinishReason",
    "LogEntry",
    "Opened",
    "Proposal",
    "Propose",
    "Proposed",
    "ProposerOutcome",
    "Purpose",
    "SearchSettings",
    "SearchState",
    "Split",
    "Started",
    "Trial",
    "default_max_rollouts",
    "entries_to_json",
    "entry_from_json",
    "lineage",
    "minimum_rollouts",
    "progress",
    "replay",
    "split_train",
    "start",
    "step",
]
