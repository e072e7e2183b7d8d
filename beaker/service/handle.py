"""The service: one request in, one response out, the world behind ports."""

import errno
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

from returns.pipeline import is_successful

from beaker.core.api import Request, Response, allowed_methods, match_request, read_arguments
from beaker.core.problems import Problem, Refused
from beaker.files.atomic import os_problem
from beaker.service.agents import agent_of
from beaker.service.database import database_fault
from beaker.service.place import Place, deleted
from beaker.service.ports import Call, Caller, Ports, refuse
from beaker.service.unavailable import unavailable

HANDLERS: Mapping[str, str] = {
    "get_current_agent": "agents:get_current_agent",
    "list_agents": "agents:list_all_agents",
    "list_agent_env_vars": "agent_values:list_agent_env_vars",
    "set_agent_env_var": "agent_values:set_agent_env_var",
    "delete_agent_env_var": "agent_values:delete_agent_env_var",
    "list_llm_credentials": "agent_values:list_llm_credentials",
    "create_agent": "agents:create_agent",
    "list_integrations": "integrations:list_integrations",
    "list_integration_versions": "integrations:list_integration_versions",
    "get_integration_version": "integrations:get_integration_version",
    "create_dataset_upload": "uploads:create_dataset_upload",
    "complete_dataset_upload": "uploads:complete_dataset_upload",
    "create_artifact_upload": "artifacts:create_artifact_upload",
    "complete_artifact_upload": "artifacts:complete_artifact_upload",
    "list_artifacts": "artifacts:list_artifacts",
    "list_datasets": "datasets:list_agent_datasets",
    "resolve_dataset": "datasets:resolve_dataset",
    "get_dataset_download_urls": "datasets:get_dataset_download_urls",
    "promote_dataset": "datasets:promote_dataset",
    "create_optimization_run": "launch:create_optimization_run",
    "list_optimization_runs": "runs:list_optimization_runs",
    "get_optimization_run": "runs:get_optimization_run",
    "cancel_optimization_run": "runs:cancel_optimization_run",
    "list_candidates": "candidates:list_candidates",
    "list_eval_reports": "candidates:list_eval_reports",
    "get_optimization_candidate": "candidates:get_optimization_candidate",
    "list_eval_reports_for_candidate": "candidates:list_eval_reports_for_candidate",
    "create_candidate_download": "downloads:create_candidate_download",
}
"""Endpoint name to `module:function` below `beaker.service`, imported when it is called: looking at a run must not pay
for reading YAML or replaying a search. Every other endpoint is answered with 501 and the reason."""

MAX_KEY_CHARACTERS = 255


def handle(request: Request, caller: Caller, ports: Ports) -> Response:
    """Answer one request of the API. Never raises for what a caller sends or for a disk that fails."""
    matched = match_request(request.method, request.path)
    if not is_successful(matched):
        refused = refuse(matched.failure().status, matched.failure())
        # RFC 9110 section 15.5.6: a method that is not taken is refused with those that are.
        allowed = {"allow": ", ".join(allowed_methods(request.path))} if refused.status == 405 else {}
        return replace(refused, headers={**refused.headers, **allowed})
    match = matched.unwrap()
    if match.endpoint.name not in HANDLERS:
        return refuse(501, unavailable(match.endpoint.name))
    read = read_arguments(match, request)
    if not is_successful(read):
        return refuse(422, read.failure())
    arguments = read.unwrap()
    key = request.headers.get("idempotency-key", "").strip() or None
    if key is not None and (len(key) > MAX_KEY_CHARACTERS or not key.isprintable()):
        return refuse(422, Problem("BK450", f"an Idempotency-Key has 1 to {MAX_KEY_CHARACTERS} printable characters"))

    def answered() -> Response:
        call = Call(
            arguments=arguments,
            caller=caller,
            ports=ports,
            agent=agent_of(ports, caller, arguments["agent_key"]) if match.endpoint.agent_key else None,
            idempotency_key=key if match.endpoint.repeatable else None,
        )
        return handler_of(match.endpoint.name)(call)

    return guarded(answered)


def answered(place: Place, work: Callable[[], Response]) -> Response:
    """What `work` answers about a place; 410 (BK743) once the place was deleted."""
    # A request that meets the deletion half-way fails in some way; why is what counts.
    response = None if place.gone() else work()
    if response is None or (response.status >= 400 and place.gone()):
        return refuse(410, deleted(place.state_dir))
    return response


def handler_of(name: str) -> Callable[[Call], Response]:
    """What answers the endpoint `name`; `KeyError` when nothing does."""
    module, _, function = HANDLERS[name].partition(":")
    handler: Callable[[Call], Response] = getattr(import_module(f"beaker.service.{module}"), function)
    return handler


def guarded(work: Callable[[], Response]) -> Response:
    """What `work` answers, or what its failing disk, database or kept content means."""
    try:
        return work()
    except Refused as refused:
        return refuse(500, refused.problems)
    except sqlite3.Error as error:
        status, problem = database_fault(error)
        return refuse(status, problem)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return refuse(507 if full else 500, os_problem(error, "keep Beaker's state"))
