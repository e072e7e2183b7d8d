"""Answers as values: what is known is read, what is odd is left out, and nothing but a missing id is a fault."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.results import (
    Candidate,
    Dataset,
    EvalReport,
    Run,
    read_all,
    read_candidate,
    read_dataset,
    read_eval_report,
    read_run,
)

READERS: dict[str, tuple[Any, str]] = {
    "a run": (read_run, "id"),
    "a candidate": (read_candidate, "id"),
    "an eval report": (read_eval_report, "id"),
    "a dataset": (read_dataset, "artifact_id"),
}
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
RUN = {
    "id": "r1",
    "status": "completed",
    "created_at": "2026-01-02T12:00:00Z",
    "started_at": "2026-01-02T13:00:00+01:00",
    "completed_at": "2026-01-02T12:00:00",
    "finish_reason": "budget",
    "error_message": "none",
    "result": {"baseline_id": "c0", "winner_id": "c1", "test": {"difference": 0.5, "low": 0, "high": 1.0}},
    "web_url": "https://w",
    "app_url": "https://a",
}


def test_read_run__whole_answer__has_every_field() -> None:
    """Times get a zone, statuses upper case, numbers are floats; the answer is kept as it was."""
    assert read_run(RUN).unwrap() == Run(
        id="r1", status="COMPLETED", created_at=NOON, started_at=NOON, completed_at=NOON, finish_reason="budget",
        error_message="none", baseline_id="c0", winner_id="c1", difference=0.5, low=0.0, high=1.0,
        web_url="https://w", body=RUN,
    )  # fmt: skip


@pytest.mark.parametrize("key", ["web_url", "app_url", "url"])
def test_read_run__address__is_the_first_that_is_there(key: str) -> None:
    """A place may call the address of a run's page by three names."""
    assert read_run({"id": "r1", key: "https://x"}).unwrap().web_url == "https://x"


@pytest.mark.parametrize(
    ("body", "ended", "needs_review", "completed"),
    [
        ({}, False, False, False),
        ({"status": "COMPLETED"}, True, False, True),
        ({"status": "HELDOUT_FAILED"}, True, False, False),
        ({"status": "RUNNING", "baseline_review": {"participants": {"m": {"paused": True}}}}, False, True, False),
    ],
)
def test_run__status__tells_what_to_wait_for(
    body: dict[str, Any], ended: bool, needs_review: bool, completed: bool
) -> None:
    """As `run status` reads it."""
    run = read_run({"id": "r1", **body}).unwrap()
    assert (run.ended, run.needs_review, run.completed) == (ended, needs_review, completed)
    assert run.outcome.ended is ended


def test_read_candidate__whole_answer__has_every_field() -> None:
    """A split without scores has no mean."""
    body = {
        "id": "c1", "status": "accepted", "parent_id": "c0", "origin": "proposal", "reason": "better",
        "created_at": "2026-01-02T12:00:00Z", "scores": {"train": {"objective": 1}, "test": None},
    }  # fmt: skip
    assert read_candidate(body).unwrap() == Candidate(
        id="c1", status="accepted", parent_id="c0", origin="proposal", reason="better", created_at=NOON, train=1.0,
        test=None, body=body,
    )  # fmt: skip
    assert read_candidate({"id": "c1", "scores": {"test": {"objective": 0.25}}}).unwrap().test == 0.25
    assert read_candidate({"id": "c1", "scores": {"test": {"objective": 10**400}}}).unwrap().test is None


def test_read_eval_report__whole_answer__has_every_field() -> None:
    """Fields without a mean are left out."""
    body = {
        "id": "e1", "candidate_id": "c1", "split": "test", "objective": 0.5, "objective_scored": 0.75,
        "cases_total": 4, "scored": 3, "failed": 1,
        "field_scores": {"a": {"mean": 0.5, "n": 3}, "b": {"mean": None}, "c": 1, "d": {"mean": True}},
    }  # fmt: skip
    assert read_eval_report(body).unwrap() == EvalReport(
        id="e1", candidate_id="c1", split="test", objective=0.5, objective_scored=0.75, cases_total=4, scored=3,
        failed=1, field_scores={"a": 0.5}, body=body,
    )  # fmt: skip


def test_read_dataset__whole_record__has_every_field() -> None:
    """The reference names exactly this revision; files that are not described are left out."""
    body = {
        "artifact_id": "a1", "name": "inv", "revision": "sha256:00", "status": "COMPLETE", "is_production": True,
        "sample_counts": {"train": 1, "test": True, "total": "2"}, "created_at": "2026-01-02T12:00:00Z",
        "completed_at": "2026-01-02T12:00:00Z", "metadata": {"k": [1]},
        "files": [{"path": "train.jsonl", "size_bytes": 51}, {"path": "x"}, {"size_bytes": 1}, 7],
    }  # fmt: skip
    dataset = read_dataset(body).unwrap()
    assert dataset == Dataset(
        artifact_id="a1", name="inv", revision="sha256:00", status="COMPLETE", is_production=True,
        sample_counts={"train": 1}, created_at=NOON, completed_at=NOON, metadata={"k": [1]},
        files={"train.jsonl": 51}, body=body,
    )  # fmt: skip
    assert dataset.reference == "inv@sha256:00"


@pytest.mark.parametrize("known", [{}, {"name": "inv"}, {"revision": "r"}, {"files": {"path": "x"}}])
def test_dataset__known_in_part__has_no_reference(known: dict[str, Any]) -> None:
    """Half of a reference names nothing."""
    dataset = read_dataset({"artifact_id": "a1", **known}).unwrap()
    assert dataset.reference is None
    assert dataset.files == {}
    assert dataset.is_production is False


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("body", [None, [], "r1", {}, {"id": 7, "artifact_id": " "}])
def test_read__without_an_id__is_refused(what: str, body: object) -> None:
    """What cannot be named cannot be used."""
    read, key = READERS[what]
    problem = read(body).failure()
    assert (problem.code, problem.message) == ("BK825", f"the place described {what} without its {key}")


@given(st.sampled_from(sorted(READERS)), st.data())
def test_read__any_answer_with_an_id__is_read(what: str, data: st.DataObject) -> None:
    """Whatever a place says beside the id, nothing is raised, and nothing of the answer is lost."""
    read, key = READERS[what]
    keys = st.sampled_from([*RUN, "scores", "field_scores", "sample_counts", "files", "metadata", "cases_total"])
    body = data.draw(st.dictionaries(keys, ODD)) | {key: "x1"}
    found = read(body).unwrap()
    assert getattr(found, key) == "x1"
    assert dict(found.body) == body
    assert "body" not in repr(found)


def test_read_all__list__is_read_or_its_first_fault_told() -> None:
    """All or nothing."""
    assert [run.id for run in read_all([{"id": "a"}, {"id": "b"}], read_run).unwrap()] == ["a", "b"]
    assert read_all((), read_run).unwrap() == ()
    assert read_all([{"id": "a"}, {}], read_run).failure().code == "BK825"
    refused = read_all({"id": "a"}, read_run)
    assert not is_successful(refused)
    assert refused.failure().message == "the place answered with something other than a list"
