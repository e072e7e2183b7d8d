"""`beaker run debug`: what the service found out about a run that failed."""

import argparse
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf, agent_words
from beaker.cli.run_view import styled_status
from beaker.cli.shell import DONE, Io, Styled, one_line


def add_debug(actions: Any) -> None:
    """Add `run debug`."""
    leaf = add_leaf(
        actions,
        "debug",
        help="show what the service found out about a run that failed",
        description="Shows the service's investigations of a failed run, each with instructions for a coding agent.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--retry", metavar="JOB_ID", help="ask for one more investigation; the run is not started again")
    add_agent_option(leaf)


def debug(arguments: argparse.Namespace, io: Io) -> int:
    """Show the investigations of a run, or ask for another one."""
    from beaker.cli.place import answered, opened
    from beaker.core.investigations import read_investigations

    run_id, retried = arguments.run_id, arguments.retry
    with opened(arguments, io) as place:
        if retried is not None:
            answer = place.call("retry_run_debug", run_id=run_id, job_id=retried)
        else:
            answer = place.call("get_run_debug", run_id=run_id)
            jobs = answered(read_investigations(answer))
    if io.json:
        io.json_line(answer)
        return DONE
    if retried is not None:
        again = io.command("run", "debug", run_id, *agent_words(arguments))
        io.out(f"beaker run debug: {one_line(retried)} is investigated again: ", styled_status(answer.get("status")))
        io.note(f"look at it: {again}")
        return DONE
    if not jobs:
        io.out(f"beaker run debug: the service has investigated nothing about {one_line(run_id)}")
    for job in jobs:
        parts = [f"failed at {one_line(job.failure_at)}"] if job.failure_at else []
        parts += ["of an earlier attempt"] if job.historical else []
        io.out(Styled(one_line(job.id or "investigation"), "heading"), "  ", styled_status(job.status), *_told(parts))
        for line in (job.instructions or "").splitlines():
            io.out("  ", line)
    return DONE


def _told(parts: list[str]) -> list[str]:
    return ["  ", ", ".join(parts)] if parts else []
