"""Launching a run, around the request: what a given setting says, what is launched of an entry, where it is shown."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config_entry import IntegrationEntry
from beaker.core.credentials import DEFAULT_APP_BASE_URL
from beaker.core.launch import LaunchPlan, LaunchRequest
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject, parse
from beaker.core.values import value

LINK_KEYS = ("web_url", "app_url", "url")
"""Under what a service says where a browser shows a run; the first that it says counts."""

SHOWN_COMMIT = 12
"""Characters of a commit that are shown."""


def given_settings(text: str | None) -> Result[JsonObject, Problem]:
    """The object that `--config` gives, empty without it; BK906 unless it is a JSON object."""
    if text is None:
        return Success({})
    parsed = parse(text, "--config")
    if not is_successful(parsed):
        return Failure(Problem("BK906", str(parsed.failure()), hint="pass one JSON object, quoted for the shell"))
    found = parsed.unwrap()
    return Success(found) if isinstance(found, dict) else Failure(Problem("BK906", "--config must be a JSON object"))


def agent_repository(agent: Mapping[str, Any], agent_key: str) -> Result[str, Problem]:
    """The repository in the answer about an agent, without which there is nothing to run: BK804."""
    repository = agent.get("github_repository")
    if isinstance(repository, str) and repository.strip():
        return Success(repository)
    return Failure(Problem("BK804", f"the agent {agent_key!r} has no repository to run"))


@value(kw_only=True)
class Launched:
    """What is launched: the entry of the configuration, if one is selected; the Spec that the command line named, if it
    did; the ref, `None` for the place's own choice; whether the checkout of this machine runs as it stands."""

    entry: IntegrationEntry | None
    spec_id: str | None
    ref: str | None
    allow_dirty: bool


def launch_request(plan: LaunchPlan, launched: Launched, *, agent_key: str, repository: str) -> LaunchRequest:
    """The launch of `plan`. An Integration is named whenever one is selected, a Spec only where the command line named
    it: by its configuration the service finds the others."""
    entry = launched.entry
    return LaunchRequest(
        agent_key=agent_key,
        config=plan.config,
        dataset=plan.dataset,
        repository=repository,
        ref=launched.ref,
        integration_id=entry.id if entry is not None and entry.kind == "integration" else None,
        spec_id=launched.spec_id,
        allow_dirty=launched.allow_dirty,
    )


def run_link(run: Mapping[str, Any], *, agent_key: str, app_base_url: str, local: bool) -> str | None:
    """Where a browser shows a run: as the service says, else below the web application.

    `app_base_url` is where somebody said that it is, empty when nobody did. `None` on this machine, and for a service
    that says it has no pages (a `web_url` of null) unless somebody knows some.
    """
    for key in LINK_KEYS:
        if isinstance(run.get(key), str) and run[key]:
            return str(run[key])
    said = app_base_url.strip()
    without_pages = "web_url" in run and not said
    if local or without_pages or not isinstance(run.get("id"), str):
        return None
    base = (said or DEFAULT_APP_BASE_URL).rstrip("/")
    return f"{base}/ai-engineer/runs/{quote(run['id'], safe='')}?agent_key={quote(agent_key, safe='')}"


def with_link(run: Mapping[str, Any], link: str | None) -> Mapping[str, Any]:
    """The answer to a launch with the link in it, unless the service said one itself."""
    return run if link is None or any(run.get(key) for key in LINK_KEYS) else {**run, "web_url": link}


def launched_code(request: LaunchRequest, run: Mapping[str, Any]) -> str:
    """What code runs: the commit and whether it is a snapshot, where a checkout is run; elsewhere the ref on GitHub."""
    config, source = (run.get(key) for key in ("config", "github_source"))
    said = config.get("github_ref") if isinstance(config, Mapping) else None
    commit = source.get("commit") if isinstance(source, Mapping) else None
    from_checkout = "web_url" in run and run["web_url"] is None
    if not from_checkout or not isinstance(commit, str):
        return f"github={said or request.ref or 'the default branch'}"
    return f"commit={commit[:SHOWN_COMMIT]}" + (" (the checkout as it stands)" if request.allow_dirty else "")
