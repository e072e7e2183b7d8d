"""Looking at runs, listing them and cancelling them."""

from returns.pipeline import is_successful

from beaker.core.api import Response
from beaker.core.problems import Problem
from beaker.core.runs import next_status
from beaker.service.answers import run_json
from beaker.service.ports import Call, answer, page_of, refuse, timestamp
from beaker.service.run_table import RunRecord, end_run, find_run, list_runs


def get_optimization_run(call: Call) -> Response:
    """One run."""
    run = _run(call)
    return answer(run_json(call.ports.database, run)) if isinstance(run, RunRecord) else run


def list_optimization_runs(call: Call) -> Response:
    """A page of the agent's runs, newest first."""
    page = page_of(call)
    if isinstance(page, Response):
        return page
    limit, offset = page
    database = call.ports.database
    runs, total = list_runs(
        database,
        call.the_agent().id,
        limit=limit,
        offset=offset,
        status=call.arguments["status"],
        trigger_reason=call.arguments["trigger_reason"],
    )
    listed = [run_json(database, run) for run in runs]
    return answer({"runs": listed, "total": total, "offset": offset, "limit": limit})


def cancel_optimization_run(call: Call) -> Response:
    """Cancel a run that has not ended; cancelling a cancelled one changes nothing."""
    run = _run(call)
    if isinstance(run, Response):
        return run
    allowed = next_status(run.status, "cancelled")
    if not is_successful(allowed):
        return refuse(400, allowed.failure())
    ports = call.ports
    # The row says so first: a worker that is just starting finds a cancelled run and ends.
    end_run(ports.database, run.id, "cancelled", now=timestamp(ports.now()), finish_reason="cancelled")
    ports.workers.stop(run.id)
    return get_optimization_run(call)


def _run(call: Call) -> RunRecord | Response:
    run_id = call.arguments["run_id"]
    run = find_run(call.ports.database, run_id, agent_id=call.the_agent().id)
    if run is None:
        hint = "`beaker run list` shows the runs of this agent"
        return refuse(404, Problem("BK453", f"agent {call.the_agent().key!r} has no run {run_id!r}", hint=hint))
    return run
