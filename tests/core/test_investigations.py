"""Investigations and pull requests: what answers come to."""

from typing import Any

import pytest
from returns.result import Success

from beaker.core.investigations import (
    Investigation,
    pull_request_in,
    pull_request_link,
    pull_request_refusal,
    pull_request_step,
    read_investigations,
    review_id,
)
from beaker.core.problems import Problem

JOB = {"id": "j", "status": "COMPLETED", "failure_at": "2026-01-02T03:04:05Z", "historical": True}


def test_read__whole_job__is_a_value() -> None:
    """Every key that a person sees is read; a report is its instructions."""
    read = read_investigations({"jobs": [{**JOB, "report": {"coding_agent_instructions": "Pin it."}}]}).unwrap()
    when = "2026-01-02T03:04:05Z"
    assert read == (
        Investigation(id="j", status="COMPLETED", failure_at=when, historical=True, instructions="Pin it."),
    )


@pytest.mark.parametrize("report", [None, {}])
def test_read__job_without_a_report__has_no_instructions(report: Any) -> None:
    """An investigation that goes on says only that; what is no text is as good as not said."""
    read = read_investigations(
        {"jobs": [{"id": 3, "status": "RUNNING", "report": report, "historical": "no"}]}
    ).unwrap()
    assert read == (Investigation(id=None, status="RUNNING", failure_at=None, historical=False, instructions=None),)


@pytest.mark.parametrize("job", [None, {}, {"status": 3}, {**JOB, "report": {"else": 1}}, {**JOB, "report": "text"}])
def test_read__malformed_job__is_refused_with_its_place(job: Any) -> None:
    """One job that is none makes the whole answer unusable, and is named."""
    problem = read_investigations({"jobs": [JOB, job]}).failure()
    assert (problem.code, problem.where) == ("BK804", "jobs[1]")
    assert problem.message == "is no investigation as a service describes one"


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        ({"allowed": True, "pull_request": None}, "open"),
        ({}, "open"),
        ({"allowed": False, "pull_request": None}, "refused"),
        ({"allowed": False, "pull_request": {"url": "u"}}, "exists"),
    ],
)
def test_pull_request__answer__says_what_to_do(answer: dict[str, Any], step: str) -> None:
    """One that exists is shown, whatever else is said; only a plain no forbids."""
    assert pull_request_step(answer) == step


@pytest.mark.parametrize("key", ["reason", "detail", "message"])
def test_pull_request__refused__tells_why(key: str) -> None:
    """The service's words are kept."""
    hint = "only the winner of a run gets one; `beaker candidate branch` needs none"
    said = pull_request_refusal({key: "no winner"}, "c")
    assert said == Problem("BK494", "no pull request may be opened for c: no winner", hint=hint)
    assert pull_request_refusal({}, "c") == Problem("BK494", "no pull request may be opened for c", hint=hint)


def test_pull_request__wrapped_or_not__is_found_with_its_link() -> None:
    """Both shapes of an answer are read, and any name of the address."""
    assert pull_request_in({"pull_request": {"url": "u"}}) == {"url": "u"}
    assert pull_request_in({"html_url": "h"}) == {"html_url": "h"}
    links = [pull_request_link(one) for one in ({"url": "u"}, {"html_url": "h"}, {"web_url": "w"}, {"url": " "}, {})]
    assert links == ["u", "h", "w", None, None]


def test_review_id__blank__is_refused() -> None:
    """What is sent is what was given."""
    assert review_id(" r ") == Success(" r ")
    problem = review_id(" ").failure()
    assert (problem.code, problem.message, problem.where) == ("BK905", "the id of the review is blank", "--review-id")
