"""Why a place on one's own machine does not answer a route, and what to use instead."""

from collections.abc import Mapping

from beaker.core.problems import Problem

_LOGIN = (
    "there is no login on this machine",
    "leave it out: --local needs no account and no key, `beaker serve` only its token",
)
_GITHUB = (
    "nothing on this machine asks GitHub",
    "a run takes its code from this checkout; name a branch, tag or commit with --ref",
)
_DEBUG = ("nothing on this machine investigates a failed run", "see error_message of the run, and its worker.log")
_PULL_REQUEST = (
    "no pull request can be opened from this machine",
    "`beaker run pull` brings the changes of every candidate",
)

REASONS: Mapping[str, tuple[str, str]] = {
    "start_cli_login": _LOGIN,
    "poll_cli_login": _LOGIN,
    "get_user_me": _LOGIN,
    "logout_user": _LOGIN,
    "list_user_agents": ("there is no login on this machine", "list the agents of this place with GET /v1/agents"),
    "update_user_agent": _LOGIN,
    "associate_user_agent_repository": _GITHUB,
    "create_user_api_key": _LOGIN,
    "get_user_github_connection": _GITHUB,
    "start_user_github_connect": _GITHUB,
    "list_user_github_repositories": _GITHUB,
    "list_user_github_branches": _GITHUB,
    "list_models": ("this place offers no models", "the integration calls its own model with its own key"),
    "resume_optimization_run": ("no run of this place waits for a review", "a run that was cut off goes on by itself"),
    "get_run_debug": _DEBUG,
    "retry_run_debug": _DEBUG,
    "get_candidate_pull_request": _PULL_REQUEST,
    "create_candidate_pull_request": _PULL_REQUEST,
}
"""Endpoint name to (reason, hint), for every endpoint without a handler."""


def unavailable(name: str) -> Problem:
    """The problem (BK452) with which the endpoint `name` is answered, status 501."""
    reason, hint = REASONS[name]
    return Problem("BK452", reason, hint=hint)
