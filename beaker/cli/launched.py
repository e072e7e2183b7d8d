"""What `run trigger` prints: the request that would be sent, or the run that was started and where it is shown."""

import argparse
from typing import TYPE_CHECKING

from beaker.cli.parser import agent_words
from beaker.cli.run_view import mapping, styled_status
from beaker.cli.shell import DONE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.place import Answer, Place
    from beaker.core.launch import LaunchRequest
    from beaker.core.preflight import Preview

_LINKS = ("web_url", "app_url", "url")


def show_request(request: "LaunchRequest", ahead: "Preview", io: Io) -> int:
    """Print the request of a dry run, and what the run may take."""
    if io.json:
        asked = {"method": "POST", "path": "/v1/optimization-runs", "body": request.body()}
        io.json_line({"dry_run": True, **asked, "preview": ahead.json()})
        return DONE
    import json

    io.out("beaker run trigger: would send, nothing was sent")
    io.out("POST /v1/optimization-runs")
    io.out(json.dumps(request.body(), indent=2, ensure_ascii=False))
    io.out(f"preview: {ahead.text()}")
    return DONE


def show_launched(
    arguments: argparse.Namespace, io: Io, place: "Place", request: "LaunchRequest", run: "Answer"
) -> int:
    """Print the run that was started, and how to watch it."""
    link = _link(arguments, io, place, run)
    if io.json:
        io.json_line(run if link is None or any(run.get(key) for key in _LINKS) else {**run, "web_url": link})
        return DONE
    run_id = one_line(str(run.get("id", "-")))
    code = _code_text(request, run)
    io.out("beaker run trigger: ", styled_status(run.get("status", "QUEUED")), f" {run_id} {code}")
    if link is not None:
        io.out(one_line(link))
    io.note()
    io.note(Styled("Next:", "heading"))
    watch = io.command("run", "status", str(run.get("id", "-")), "--watch", *agent_words(arguments))
    io.note(f"  1. watch it: {watch}")
    return DONE


def _code_text(request: "LaunchRequest", run: "Answer") -> str:
    """What code runs: the commit and whether it is a snapshot, where a checkout is run; elsewhere the ref on GitHub."""
    ref = mapping(run.get("config")).get("github_ref") or request.ref or "the default branch"
    commit = mapping(run.get("github_source")).get("commit")
    from_checkout = "web_url" in run and run["web_url"] is None
    if not from_checkout or not isinstance(commit, str):
        return f"github={one_line(str(ref))}"
    return f"commit={commit[:12]}" + (" (the checkout as it stands)" if request.allow_dirty else "")


def _link(arguments: argparse.Namespace, io: Io, place: "Place", run: "Answer") -> str | None:
    """Where a browser shows the run: as the service says, else below the web application; none for this machine, and
    for a service that says it has no pages."""
    from urllib.parse import quote

    from beaker.core.credentials import DEFAULT_APP_BASE_URL

    for key in _LINKS:
        if isinstance(run.get(key), str) and run[key]:
            return str(run[key])
    said = (arguments.app_base_url or io.environ.get("BEAKER_APP_BASE_URL", "")).strip()
    without_pages = "web_url" in run and not said
    if place.local or without_pages or not isinstance(run.get("id"), str):
        return None
    base = said or DEFAULT_APP_BASE_URL
    quoted = quote(run["id"], safe="")
    return f"{base.rstrip('/')}/ai-engineer/runs/{quoted}?agent_key={quote(place.agent_key, safe='')}"
