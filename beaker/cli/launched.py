"""What `run trigger` prints: the request that would be sent, or the run that was started and where it is shown."""

import argparse
from typing import TYPE_CHECKING

from beaker.cli.parser import agent_words
from beaker.cli.run_view import styled_status
from beaker.cli.shell import DONE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.place import Answer, Place
    from beaker.core.launch import LaunchRequest
    from beaker.core.preflight import Preview


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
    from beaker.core.launching import launched_code, run_link, with_link

    said: str = arguments.app_base_url or io.environ.get("BEAKER_APP_BASE_URL", "")
    link = run_link(run, agent_key=place.agent_key, app_base_url=said, local=place.local)
    if io.json:
        io.json_line(with_link(run, link))
        return DONE
    run_id, code = one_line(str(run["id"])), one_line(launched_code(request, run))
    io.out("beaker run trigger: ", styled_status(run.get("status", "QUEUED")), f" {run_id} {code}")
    if link is not None:
        io.out(one_line(link))
    io.note()
    io.note(Styled("Next:", "heading"))
    watch = io.command("run", "status", str(run["id"]), "--watch", *agent_words(arguments))
    io.note(f"  1. watch it: {watch}")
    return DONE
