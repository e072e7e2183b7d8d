"""The port through which the engine remembers: whatever stores a run implements `Journal`.

The engine stores a result before it uses it, and appends to the log before it acts on what the log says. Whatever
moment the process dies at, replaying the log and asking for stored results rebuilds the run exactly.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from beaker.core.evaluations import Evaluation
from beaker.core.strict_json import JsonObject
from beaker.engine.candidates import CandidateTree


class Journal(Protocol):
    """The memory of one run. Every writing method is durable against a killed process when it returns.

    Methods are called from one thread, and are expected to return within milliseconds.
    """

    def log(self) -> list[JsonObject]:
        """The search's log, in the order it was appended."""
        ...

    def append(self, entries: Sequence[JsonObject], progress: JsonObject) -> None:
        """Append `entries` to the log and replace the run's progress, in one transaction; `entries` may be empty."""
        ...

    def evaluations(self, tree: str, case_ids: Sequence[str]) -> dict[str, Evaluation]:
        """The stored evaluations of the candidate with digest `tree`, by case id, of those in `case_ids` that exist."""
        ...

    def store_evaluation(self, tree: str, evaluation: Evaluation) -> None:
        """Store what one case gave. There is at most one evaluation per (tree, case); the first one stays."""
        ...

    def proposal(self, seq: int) -> JsonObject | None:
        """What the proposal with the command number `seq` gave, if it was stored."""
        ...

    def store_proposal(self, seq: int, result: JsonObject, files: Iterable[bytes] = ()) -> None:
        """Store what a proposal gave, and the files that `result` names by SHA-256; the tree of a child is stored
        before it.
        """
        ...

    def tree(self, digest: str) -> CandidateTree:
        """The tree with this digest; `KeyError` when it was never stored."""
        ...

    def store_tree(self, digest: str, tree: CandidateTree) -> None:
        """Store a tree; storing the same digest again changes nothing."""
        ...

    def facts(self) -> JsonObject:
        """What is known about the run besides the log: see `set_facts`."""
        ...

    def set_facts(self, **facts: Any) -> None:
        """Set the named facts, each a JSON value, leaving the others.

        The engine writes: `targets_imported` (the declaration that the Integration made; always), `fingerprint` (of
        the cases), `seed_hashes` (per document target, in order of declaration), `seed_documents` (see
        `engine.seeds`), `settings` (the search's settings with defaults resolved), `selection` (`{"cases",
        "shared_with_evidence"}`), `rollouts_retried`, `rollouts_lost`, `barren_attempts`.
        """
        ...

    def cancelled(self) -> bool:
        """Whether somebody asked to cancel the run."""
        ...

    def finish(
        self, status: str, *, finish_reason: str | None, error_message: str | None, result: JsonObject | None
    ) -> None:
        """End the run with a terminal status; nothing is written to the journal afterwards."""
        ...
