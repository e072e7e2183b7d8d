"""How long the cases of each candidate took, those of TRAIN and of TEST each for themselves."""

from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.limits import Limits, candidate_is_late


class CandidateClock:
    """Adds up what is stored, so that an attempt that goes on where another was killed counts what that one took."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken: dict[tuple[str, bool], float] = {}
        self._counted: set[tuple[str, str]] = set()

    def note(self, tree: str, evaluation: Evaluation, *, held_out: bool) -> None:
        """Count one evaluation of the candidate with the digest `tree`; a second time it counts for nothing."""
        key = tree, evaluation.case_id
        if self._limits.candidate_seconds is not None and key not in self._counted:
            self._counted.add(key)
            self._taken[tree, held_out] = self._taken.get((tree, held_out), 0.0) + evaluation.duration_ms

    def error(self, tree: str, *, held_out: bool) -> CaseError | None:
        """The error of a further case of the candidate; `None` when there is time for it."""
        message = candidate_is_late(self._taken.get((tree, held_out), 0.0), self._limits)
        return None if message is None else CaseError("timed_out", message)
