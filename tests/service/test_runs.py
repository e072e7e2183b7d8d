"""Runs: looked at, listed in a stable order, cancelled once."""

import json
from typing import Any

import pytest

from beaker.service.run_table import end_run, find_run, open_runs, start_attempt


def test_get__unknown_or_anothers__is_404(world: Any) -> None:
    """A run is seen by its own agent."""
    world.dataset()
    run = world.launch()
    assert world.api.call("get_optimization_run", run_id=run["id"]).unwrap() == run
    assert world.raw("get_optimization_run", run_id="run_99").status == 404
    assert world.raw("get_optimization_run", run_id=run["id"], agent_key="stranger").status == 404
    assert world.raw("cancel_optimization_run", run_id=run["id"], agent_key="stranger").status == 404


def test_list__pages_and_filters__cover_everything_once(world: Any, conforms: Any) -> None:
    """Newest first; by status in any case and by the reason of the trigger."""
    world.dataset()
    made = [
        world.launch(trigger_metadata={"trigger_reason": "nightly" if number % 2 else "manual"})["id"]
        for number in range(5)
    ]
    seen = []
    for offset in (0, 2, 4, 6):
        page = world.api.call("list_optimization_runs", limit=2, offset=offset).unwrap()
        conforms(page, "runs.json")
        assert (page["total"], page["offset"], page["limit"]) == (5, offset, 2)
        seen += [run["id"] for run in page["runs"]]
    assert seen == made[::-1]
    world.api.call("cancel_optimization_run", run_id=made[1]).unwrap()
    cancelled = world.api.call("list_optimization_runs", status="cancelled").unwrap()
    nightly = world.api.call("list_optimization_runs", trigger_reason="nightly", status="QUEUED").unwrap()
    assert [run["id"] for run in cancelled["runs"]] == [made[1]]
    assert [run["id"] for run in nightly["runs"]] == [made[3]]
    assert world.raw("list_optimization_runs", limit=0).status == 422


def test_cancel__open_run__ends_it_and_its_worker(world: Any, conforms: Any) -> None:
    """The row says CANCELLED at once, the worker is asked to end, and cancelling again is no error."""
    world.dataset()
    run_id = world.launch()["id"]
    for _ in range(2):
        cancelled = world.api.call("cancel_optimization_run", run_id=run_id).unwrap()
        conforms(cancelled, "run.json")
        assert (cancelled["status"], cancelled["finish_reason"]) == ("CANCELLED", "cancelled")
    assert world.workers.stopped == [run_id, run_id]
    assert world.journal(run_id).cancelled()


def test_cancel__ended_run__is_refused(world: Any) -> None:
    """400: what has ended otherwise cannot be cancelled."""
    world.dataset()
    run_id = world.launch()["id"]
    world.journal(run_id).finish("FAILED", finish_reason="error", error_message="no", result=None)
    refused = world.raw("cancel_optimization_run", run_id=run_id)
    assert (refused.status, json.loads(refused.body)["detail"]["code"]) == (400, "BK401")
    assert world.workers.stopped == []


def test_start_attempt__counts_and_starts_once(world: Any) -> None:
    """Each worker is an attempt; the start stays that of the first; an ended run is not started."""
    world.dataset()
    run_id = world.launch()["id"]
    database = world.place.database
    first = start_attempt(database, run_id, now="2026-01-01T00:00:00.000000Z")
    second = start_attempt(database, run_id, now="2026-01-02T00:00:00.000000Z")
    assert first is not None
    assert second is not None
    assert (first.status, first.attempts, second.attempts) == ("RUNNING", 1, 2)
    assert second.started_at == "2026-01-01T00:00:00.000000Z"
    assert [run.id for run in open_runs(database)] == [run_id]
    world.api.call("cancel_optimization_run", run_id=run_id).unwrap()
    assert start_attempt(database, run_id, now="2026-01-03T00:00:00.000000Z") is None
    assert start_attempt(database, "run_99", now="2026-01-03T00:00:00.000000Z") is None
    assert open_runs(database) == []


@pytest.mark.parametrize(
    ("status", "event"),
    [
        ("COMPLETED", "completed"),
        ("HELDOUT_FAILED", "heldout_failed"),
        ("FAILED", "failed"),
        ("CANCELLED", "cancelled"),
    ],
)
def test_finish__terminal_status__stays(world: Any, status: str, event: str) -> None:
    """The first end counts, whoever comes later."""
    world.dataset()
    run_id = world.launch()["id"]
    database = world.place.database
    start_attempt(database, run_id, now="2026-01-01T00:00:00.000000Z")
    journal = world.journal(run_id)
    journal.finish(status, finish_reason="budget", error_message=None, result={"winner_id": f"{run_id}.0"})
    journal.finish("FAILED", finish_reason="error", error_message="late", result=None)
    assert end_run(database, run_id, "cancelled", now="2026-01-05T00:00:00.000000Z", finish_reason="cancelled") is None
    run = find_run(database, run_id)
    assert run is not None
    assert (run.status, run.finish_reason, run.error_message) == (status, "budget", None)


def test_finish__completing_what_never_started__is_a_fault(world: Any) -> None:
    """The transition table decides; what it does not allow is no quiet nothing."""
    world.dataset()
    with pytest.raises(ValueError, match="QUEUED"):
        world.journal(world.launch()["id"]).finish("COMPLETED", finish_reason="budget", error_message=None, result=None)


def test_answer__declaration_mismatch__shows_both(world: Any, conforms: Any) -> None:
    """What the Integration declares is shown beside the pinned declaration when they differ, and only then."""
    world.dataset()
    run_id = world.launch()["id"]
    journal = world.journal(run_id)
    journal.set_facts(targets_imported={"groups": ["playbooks"], "kind": "documents"})
    assert "targets_imported" not in world.api.call("get_optimization_run", run_id=run_id).unwrap()
    journal.set_facts(targets_imported={"kind": "documents", "groups": ["other"]})
    run = world.api.call("get_optimization_run", run_id=run_id).unwrap()
    conforms(run, "run.json")
    assert (run["targets"]["groups"], run["targets_imported"]["groups"]) == (["playbooks"], ["other"])
