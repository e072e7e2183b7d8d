"""What evaluating needs to remember: the part of a `Journal` it uses, and one that lasts as long as the process."""

from collections.abc import Sequence
from typing import Any, Protocol

from beaker.core.evaluations import Evaluation
from beaker.core.strict_json import JsonObject
from beaker.engine.candidates import CandidateTree


class Results(Protocol):
    """Evaluations by candidate and case; see `Journal`."""

    def evaluations(self, tree: str, case_ids: Sequence[str]) -> dict[str, Evaluation]:
        """See `Journal.evaluations`."""
        ...

    def store_evaluation(self, tree: str, evaluation: Evaluation) -> None:
        """See `Journal.store_evaluation`."""
        ...


class Facts(Protocol):
    """What the first attempt found, for the next ones to hold against; see `Journal`."""

    def facts(self) -> JsonObject:
        """See `Journal.facts`."""
        ...

    def set_facts(self, **facts: Any) -> None:
        """See `Journal.set_facts`."""
        ...


class EvaluationMemory(Results, Facts, Protocol):
    """All of it, with the trees of the candidates."""

    def tree(self, digest: str) -> CandidateTree:
        """See `Journal.tree`."""
        ...


class ShortMemory:
    """An `EvaluationMemory` that is gone with the process. `trees` are the candidates by digest."""

    def __init__(self, trees: dict[str, CandidateTree]) -> None:
        self._trees = trees
        self._facts: JsonObject = {}
        self._evaluations: dict[tuple[str, str], Evaluation] = {}

    def evaluations(self, tree: str, case_ids: Sequence[str]) -> dict[str, Evaluation]:
        """See `Journal.evaluations`."""
        known = self._evaluations
        return {case_id: known[tree, case_id] for case_id in case_ids if (tree, case_id) in known}

    def store_evaluation(self, tree: str, evaluation: Evaluation) -> None:
        """See `Journal.store_evaluation`."""
        self._evaluations.setdefault((tree, evaluation.case_id), evaluation)

    def facts(self) -> JsonObject:
        """See `Journal.facts`."""
        return dict(self._facts)

    def set_facts(self, **facts: Any) -> None:
        """See `Journal.set_facts`."""
        self._facts |= facts

    def tree(self, digest: str) -> CandidateTree:
        """See `Journal.tree`."""
        return self._trees[digest]
