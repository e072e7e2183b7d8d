"""What one case gave under one candidate: a score or an error, and what was measured on the way."""

from typing import Any

from beaker.core.cases import CaseScore, OutputKind
from beaker.core.values import value


@value
class CaseError:
    """Why a case has no score.

    `kind` is one of `raised` (`run_case` raised), `retryable` (it still asked for a retry after the last one allowed),
    `timed_out`, `crashed` (the process died), `infrastructure` (no process could be started, or it was killed from
    outside, each time that was allowed), `open_candidate`, `invalid_result` (what `run_case` returned is no
    `CaseResult`), `scorer` (`score_case` failed), `import` (the candidate's code could not be imported) and
    `installed_copy` (it loaded a module of the repository target from the environment instead).
    `traceback` is text, empty when there is none.
    """

    kind: str
    message: str
    traceback: str = ""


@value
class Evaluation:
    """One evaluation, the unit of the budget: the outcome of one case under one candidate, retries included.

    Exactly one of `score` and `error` is set, else `ValueError`. `output` is the JSON value that `run_case` returned,
    `trace` JSON or `None`. `duration_ms` is the wall time of the last attempt's `run_case` in milliseconds; `attempts`
    counts the attempts, 1 when nothing was retried.

    `convert.to_json` and `convert.from_json` are its stored form.
    """

    case_id: str
    output: Any = None
    output_kind: OutputKind | None = None
    score: CaseScore | None = None
    error: CaseError | None = None
    duration_ms: float = 0.0
    attempts: int = 1
    trace: Any = None

    def __attrs_post_init__(self) -> None:
        if (self.score is None) == (self.error is None):
            raise ValueError(f"the evaluation of case {self.case_id!r} must have either a score or an error")

    @property
    def objective(self) -> float | None:
        """The objective in [0, 1], `None` when the case failed."""
        return None if self.score is None else self.score.objective
