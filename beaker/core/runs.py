"""The life of a run: its statuses as a transition table, and what a watcher reads from a run's answer.

`TRANSITIONS` is the machine; `next_status` looks it up. Statuses are compared ignoring case, and one we do not know
counts as not ended, so that a newer service can add some.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

RunStatus: TypeAlias = Literal[
    "PREPARING_BUILD", "QUEUED", "RUNNING", "COMPLETED", "HELDOUT_FAILED", "FAILED", "CANCELLED"
]

RunEvent: TypeAlias = Literal["built", "started", "completed", "heldout_failed", "failed", "cancelled"]
"""What happens to a run. `started` comes again with every new attempt of a resumed run; `heldout_failed` is a search
that ended without one TEST case that could be scored."""

TRANSITIONS: Mapping[RunStatus, Mapping[RunEvent, RunStatus]] = {
    "PREPARING_BUILD": {"built": "QUEUED", "failed": "FAILED", "cancelled": "CANCELLED"},
    "QUEUED": {"started": "RUNNING", "failed": "FAILED", "cancelled": "CANCELLED"},
    "RUNNING": {
        "started": "RUNNING",
        "completed": "COMPLETED",
        "heldout_failed": "HELDOUT_FAILED",
        "failed": "FAILED",
        "cancelled": "CANCELLED",
    },
    "COMPLETED": {},
    "HELDOUT_FAILED": {},
    "FAILED": {},
    "CANCELLED": {"cancelled": "CANCELLED"},  # cancelling twice is no error
}

RUN_STATUSES: tuple[RunStatus, ...] = tuple(TRANSITIONS)

TERMINAL_RUN_STATUSES: tuple[RunStatus, ...] = ("COMPLETED", "HELDOUT_FAILED", "FAILED", "CANCELLED")

UNKNOWN_STATUS = "UNKNOWN"

FINISH_REASONS = ("budget", "proposals", "exhausted", "perfect", "spend_unknown", "cancelled", "error")
"""Why a run ended: its evaluations or its proposals were used up, nothing was left to improve or to learn from, a call
had no price, somebody cancelled it, or it failed."""


FAR_INTERVAL, NEAR_INTERVAL = 15.0, 0.5
"""Seconds between two looks at a run elsewhere, and at one on this machine."""


MAX_RESUMES = 3
"""Times one command starts the worker of one run again. A run that never gets further ends FAILED before that."""


@value
class RunOutcome:
    """What one answer about a run says to somebody waiting for it.

    `exit_code` is that of `run status`: 0 completed, 1 ended otherwise, 3 not ended. `settled` tells whether watching
    on makes sense no more: the run has ended, or `needs_review` (somebody has to look at a paused baseline).
    """

    status: str
    ended: bool
    needs_review: bool
    exit_code: int
    error_message: str | None

    @property
    def settled(self) -> bool:
        """Whether a watch ends here."""
        return self.ended or self.needs_review


def next_status(status: RunStatus, event: RunEvent) -> Result[RunStatus, Problem]:
    """The status after `event`; BK401 when a run in `status` cannot take it."""
    following = TRANSITIONS[status].get(event)
    if following is not None:
        return Success(following)
    said = {"cancelled": "cancelled", "started": "started", "built": "queued"}.get(event, "ended")
    hint = f"there is nothing left to do: {_ENDED_HINT}" if has_ended(status) else "wait until it has got further"
    return Failure(Problem("BK401", f"a run that is {status} cannot be {said}", hint=hint))


_ENDED_HINT = "it has ended, and `run status` and `run pull` show what it found"


def normal_status(status: object) -> str:
    """A status as we spell it; `UNKNOWN` when it is missing or no text."""
    return status.strip().upper() or UNKNOWN_STATUS if isinstance(status, str) else UNKNOWN_STATUS


def has_ended(status: object) -> bool:
    """Whether nothing more will happen to a run with this status."""
    return normal_status(status) in TERMINAL_RUN_STATUSES


def outcome(run: Mapping[str, Any]) -> RunOutcome:
    """Read one answer of `GET .../optimization-runs/{id}`. Total: whatever is missing or odd counts as not ended."""
    status = normal_status(run.get("status"))
    ended = status in TERMINAL_RUN_STATUSES
    message = run.get("error_message")
    shown = message.strip() if isinstance(message, str) else ""
    return RunOutcome(
        status=status,
        ended=ended,
        needs_review=not ended and _paused(run.get("baseline_review")),
        exit_code=0 if status == "COMPLETED" else 1 if ended else 3,
        error_message=shown if shown and status == "FAILED" else None,
    )


def _paused(review: object) -> bool:
    participants = review.get("participants") if isinstance(review, Mapping) else None
    if not isinstance(participants, Mapping):
        return False
    return any(isinstance(one, Mapping) and bool(one.get("paused")) for one in participants.values())


def watch_interval(given: float | None, *, near: bool) -> float:
    """Seconds between two looks at a run: as `given`, else as asking costs; `near` is a place on this machine."""
    return given if given is not None else NEAR_INTERVAL if near else FAR_INTERVAL


def cancelled(run: Mapping[str, Any]) -> Problem | None:
    """What is wrong with the answer to a cancellation (BK804): it must say that the run is CANCELLED."""
    status = normal_status(run.get("status"))
    return None if status == "CANCELLED" else Problem("BK804", f"the answer says the run is {status}, not CANCELLED")


def worker_lost_too_often(run_id: str, restarts: int, log: str) -> Problem | None:
    """Why one command starts the worker of a run no more (BK722), after that many `restarts`; its `log` says more."""
    if restarts <= MAX_RESUMES:
        return None
    return Problem("BK722", f"the worker of the run {run_id} ends again and again", hint=f"its log says more: {log}")
