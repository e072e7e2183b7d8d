"""Answering about candidates and their eval reports."""

from typing import TYPE_CHECKING, Any

from beaker.core.api import Response
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.service.answers import read_candidate_id
from beaker.service.ports import Call, answer, refuse
from beaker.service.run_table import RunRecord, find_run

# Replaying a search needs a good part of the core, which looking at a run's status does not.
if TYPE_CHECKING:
    from beaker.core.search import SearchState


@value
class Found:
    """A candidate that was asked for: its run, the run's search, and its number."""

    run: RunRecord
    state: "SearchState"
    number: int


def list_candidates(call: Call) -> Response:
    """Every candidate and proposal of a run, and where the proposals' artifacts are."""
    from beaker.service.reports import candidates_json, search_of

    run = _run(call, call.arguments["run_id"])
    if run is None:
        return _no_run(call)
    body: Any = candidates_json(call.ports.database, run, search_of(call.ports.database, run))
    for artifact in (one for proposal in body["proposals"] for one in proposal["artifacts"]):
        artifact["download_url"] = call.ports.transfers.blob_url(artifact["sha256"], artifact["path"])
    return answer(body)


def list_eval_reports(call: Call) -> Response:
    """The eval reports of every candidate of a run."""
    from beaker.service.reports import reports_json, search_of

    run = _run(call, call.arguments["run_id"])
    if run is None:
        return _no_run(call)
    return answer(reports_json(call.ports.database, run, search_of(call.ports.database, run)))


def get_optimization_candidate(call: Call) -> Response:
    """One candidate."""
    from beaker.service.reports import candidate_json

    found = find_candidate(call)
    if isinstance(found, Response):
        return found
    return answer(candidate_json(call.ports.database, found.run, found.state, found.number))


def list_eval_reports_for_candidate(call: Call) -> Response:
    """The eval reports of one candidate."""
    from beaker.service.reports import eval_reports

    found = find_candidate(call)
    if isinstance(found, Response):
        return found
    reports = [*eval_reports(call.ports.database, found.run, found.state, found.number)]
    return answer({"eval_reports": reports})


def find_candidate(call: Call) -> Found | Response:
    """The candidate that the call names, among the agent's."""
    from beaker.service.reports import search_of

    named = call.arguments["candidate_id"]
    parts = read_candidate_id(named)
    run = _run(call, parts[0]) if parts is not None else None
    state = search_of(call.ports.database, run) if run is not None else None
    if parts is None or run is None or state is None or parts[1] >= len(state.candidates):
        hint = "`beaker run candidates RUN_ID` lists them"
        return refuse(404, Problem("BK453", f"agent {call.the_agent().key!r} has no candidate {named!r}", hint=hint))
    return Found(run, state, parts[1])


def _run(call: Call, run_id: str) -> RunRecord | None:
    return find_run(call.ports.database, run_id, agent_id=call.the_agent().id)


def _no_run(call: Call) -> Response:
    hint = "`beaker run list` shows the runs of this agent"
    message = f"agent {call.the_agent().key!r} has no run {call.arguments['run_id']!r}"
    return refuse(404, Problem("BK453", message, hint=hint))
