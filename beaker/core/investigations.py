"""Investigations of a failed run (`run debug`) and pull requests of candidates, read from what a service answers."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value


@value(kw_only=True)
class Investigation:
    """One investigation: `status` as the service says it, when the failure was, whether it belongs to an earlier
    attempt, and what it tells a coding agent to do (`None` while there is no report)."""

    id: str | None
    status: str
    failure_at: str | None
    historical: bool
    instructions: str | None


def read_investigations(answer: Mapping[str, Any]) -> Result[tuple[Investigation, ...], Problem]:
    """The investigations in the answer to `GET .../debug`; BK804 for a job without a status, or a report without
    instructions."""
    found = []
    for number, job in enumerate(answer["jobs"]):
        report = job.get("report") if isinstance(job, Mapping) else None
        told = report.get("coding_agent_instructions") if isinstance(report, Mapping) else None
        if not isinstance(job, Mapping) or not isinstance(job.get("status"), str) or (report and told is None):
            return Failure(Problem("BK804", "is no investigation as a service describes one", f"jobs[{number}]"))
        found.append(
            Investigation(
                id=_text(job.get("id")),
                status=job["status"],
                failure_at=_text(job.get("failure_at")),
                historical=job.get("historical") is True,
                instructions=_text(told),
            )
        )
    return Success(tuple(found))


def review_id(given: str) -> Result[str, Problem]:
    """The id of a review that was done, as it is sent; BK905 when it is blank."""
    return (
        Success(given) if given.strip() else Failure(Problem("BK905", "the id of the review is blank", "--review-id"))
    )


PullRequestStep: TypeAlias = Literal["exists", "open", "refused"]
"""What to do about a pull request: show the one that there is, open one, or say that none may be opened."""


def pull_request_step(answer: Mapping[str, Any]) -> PullRequestStep:
    """What the answer to `GET .../pull-request` comes to. Only a plain `allowed: false` forbids: opening is repeatable,
    and a service that does not say has the last word when it is asked to."""
    if isinstance(answer.get("pull_request"), Mapping):
        return "exists"
    return "refused" if answer.get("allowed") is False else "open"


def pull_request_refusal(answer: Mapping[str, Any], candidate_id: str) -> Problem:
    """Why no pull request may be opened (BK494), in the service's words when it gives some."""
    said = next((text for key in ("reason", "detail", "message") if (text := _text(answer.get(key)))), None)
    message = f"no pull request may be opened for {candidate_id}" + (f": {said}" if said else "")
    return Problem("BK494", message, hint="only the winner of a run gets one; `beaker candidate branch` needs none")


def pull_request_in(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pull request of an answer, which some services wrap and others do not."""
    inner = answer.get("pull_request")
    return inner if isinstance(inner, Mapping) else answer


def pull_request_link(pull_request: Mapping[str, Any]) -> str | None:
    """Where a browser shows it."""
    return next((text for key in ("url", "html_url", "web_url") if (text := _text(pull_request.get(key)))), None)


def _text(given: object) -> str | None:
    return given if isinstance(given, str) and given.strip() else None
