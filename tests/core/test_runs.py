"""The life of a run, and what its answers say to a watcher."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.runs import (
    FAR_INTERVAL,
    MAX_RESUMES,
    NEAR_INTERVAL,
    RUN_STATUSES,
    TERMINAL_RUN_STATUSES,
    RunEvent,
    RunStatus,
    cancelled,
    has_ended,
    next_status,
    normal_status,
    outcome,
    watch_interval,
    worker_lost_too_often,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "runs.json").read_text("utf-8"))
EVENTS: tuple[RunEvent, ...] = get_args(RunEvent)


@pytest.mark.parametrize("run, status, exit_code, settled, message", VECTORS["exit_codes"])
def test_outcome__vector__as_listed(
    run: dict[str, Any], status: str, exit_code: int, settled: bool, message: str | None
) -> None:
    """Each answer gives the listed status, exit code, end of the watch and error text."""
    read = outcome(run)
    assert (read.status, read.exit_code, read.settled, read.error_message) == (status, exit_code, settled, message)
    assert read.needs_review == (settled and exit_code == 3)


@pytest.mark.parametrize("status", RUN_STATUSES)
@pytest.mark.parametrize("event", EVENTS)
def test_next_status__every_pair__as_listed(status: RunStatus, event: RunEvent) -> None:
    """The machine is the listed table and nothing else; a refusal names the status."""
    expected = VECTORS["transitions"][status].get(event)
    found = next_status(status, event)
    if expected is None:
        assert (found.failure().code, found.failure().hint != "") == ("BK401", True)
        assert status in found.failure().message
    else:
        assert found.unwrap() == expected


@given(st.lists(st.sampled_from(EVENTS)))
def test_next_status__any_history__never_leaves_an_end(events: list[RunEvent]) -> None:
    """A terminal status stays, whatever comes; a run that has ended never runs again."""
    status: RunStatus = "PREPARING_BUILD"
    for event in events:
        found = next_status(status, event)
        if status in TERMINAL_RUN_STATUSES and is_successful(found):
            assert found.unwrap() == status
        status = found.value_or(status)
    assert has_ended(status) == (status in TERMINAL_RUN_STATUSES)


def test_statuses__types_and_tables__agree() -> None:
    """The table covers the type, and every status can be reached."""
    assert get_args(RunStatus) == RUN_STATUSES
    reached = {end for row in VECTORS["transitions"].values() for end in row.values()} | {"PREPARING_BUILD"}
    assert reached == set(RUN_STATUSES)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(["status", "error_message", "baseline_review"]), JSON))
def test_outcome__any_answer__is_read(run: dict[str, Any]) -> None:
    """The reading is total, and the exit code follows from the status alone."""
    read = outcome(run)
    assert read.exit_code == (0 if read.status == "COMPLETED" else 1 if read.ended else 3)
    assert normal_status(read.status) == read.status


def test_watch_interval__given__counts() -> None:
    """An interval that is given counts, 0 too; else a place on this machine is looked at more often."""
    assert watch_interval(None, near=False) == FAR_INTERVAL == 15
    assert watch_interval(None, near=True) == NEAR_INTERVAL == 0.5
    assert [watch_interval(given, near=near) for given in (0.0, 3.0) for near in (True, False)] == [0, 0, 3, 3]


def test_cancelled__answer_of_another_status__breaks_the_contract() -> None:
    """Only an answer that says CANCELLED, however it is spelled, is one to a cancellation."""
    assert cancelled({"status": "CANCELLED"}) is None
    assert cancelled({"status": " cancelled"}) is None
    for status, said in (("RUNNING", "RUNNING"), (None, "UNKNOWN")):
        problem = cancelled({"status": status})
        assert problem is not None
        assert (problem.code, problem.message) == ("BK804", f"the answer says the run is {said}, not CANCELLED")


def test_worker_lost_too_often__is_started_no_more() -> None:
    """After three restarts by one command, its log has to say why."""
    assert worker_lost_too_often("r", MAX_RESUMES, "l") is None
    problem = worker_lost_too_often("r", MAX_RESUMES + 1, "the log")
    assert problem is not None
    assert (problem.code, problem.hint) == ("BK722", "its log says more: the log")
    assert problem.message == "the worker of the run r ends again and again"
