"""`beaker candidate pull-request`: the draft pull request of a winner, opened by the service where there is none."""

import argparse
from typing import Any

from beaker.cli.candidate_names import add_candidate_name
from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, one_line


def add_pull_request(actions: Any) -> None:
    """Add `candidate pull-request`."""
    leaf = add_leaf(
        actions,
        "pull-request",
        help="open a draft pull request for the winner of a run, or show the one that there is",
        description="Has the service open a draft pull request with the winner's changes. Repeating it opens no second "
        "one. On this machine use `beaker candidate branch`.",
    )
    add_candidate_name(leaf)
    leaf.add_argument("--show", action="store_true", help="only look; open none")
    add_agent_option(leaf)


def pull_request(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when there is a pull request now, 1 when there is none (with --show), or none may be opened."""
    from beaker.cli.candidate_names import candidate_id
    from beaker.cli.place import opened
    from beaker.core.investigations import pull_request_in, pull_request_link, pull_request_refusal, pull_request_step

    with opened(arguments, io) as place:
        named = candidate_id(place, arguments.candidate, arguments.beside)
        answer = place.call("get_candidate_pull_request", candidate_id=named)
        step = pull_request_step(answer)
        opens = step == "open" and not arguments.show
        if opens:
            answer = place.call("create_candidate_pull_request", candidate_id=named)
    if step == "refused" and not arguments.show:
        return io.fail(pull_request_refusal(answer, named), code=NEGATIVE)
    found = None if step != "exists" and not opens else pull_request_in(answer)
    if io.json:
        io.json_line({"candidate_id": named, "pull_request": found, "opened": opens})
    elif found is None:
        io.out(f"beaker candidate pull-request: {one_line(named)} has none")
    else:
        link = one_line(pull_request_link(found) or "the service did not say where")
        io.out(f"beaker candidate pull-request: {'opened' if opens else 'there is one'}: {link}")
    return NEGATIVE if found is None else DONE
