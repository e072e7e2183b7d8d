"""`beaker github status|connect|branches`: what the Beaker App may read on GitHub."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.login import add_login_options
from beaker.cli.parser import HELP, add_leaf
from beaker.cli.run_view import mapping
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line
from beaker.cli.tables import show_table

if TYPE_CHECKING:
    from beaker.cli.session import Target

NEEDLESS = "GitHub is not needed on this machine: a run takes its code from this checkout"

_COLUMNS = (("BRANCH", 44), ("LAST COMMIT", 26), ("MERGED", 6))


def add_parser(subparsers: Any) -> None:
    """Add `github` with its actions."""
    group = subparsers.add_parser("github", help=HELP["github"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = add_leaf(
        actions,
        "status",
        help="say what is connected",
        description="Says whether GitHub is connected, and whether a repository can be read: exit code 1 when not. "
        "Never opens a browser.",
    )
    status.add_argument("--repo", metavar="OWNER/NAME", help="a repository that should be readable")
    connect = add_leaf(
        actions,
        "connect",
        help="connect GitHub, in a browser",
        description="Logs in if need be, opens GitHub's page for the Beaker App, and waits until it may read.",
    )
    connect.add_argument("--repo", metavar="OWNER/NAME", help="wait until this repository can be read")
    add_login_options(connect)
    branches = add_leaf(actions, "branches", help="list the branches of a repository, as the service sees them")
    branches.add_argument("--repo", required=True, metavar="OWNER/NAME", help="the repository")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    from beaker.cli.place import answered
    from beaker.cli.session import target
    from beaker.core.github_access import parse_repository
    from beaker.core.needless import NO_BRANCHES_HERE
    from beaker.core.problems import Refused

    repository = None if arguments.repo is None else answered(parse_repository(arguments.repo))
    where = target(arguments, io, command=f"github {arguments.action}")
    if where.local and arguments.action == "branches":
        raise Refused(NO_BRANCHES_HERE)
    if where.local:
        if io.json:
            io.json_line({"needed": False, "base_url": where.base_url})
        else:
            io.out(f"beaker github {arguments.action}: {NEEDLESS}")
        return DONE
    actions = {"status": _status, "connect": _connect, "branches": _branches}
    return actions[arguments.action](arguments, io, where, repository)


def _status(arguments: argparse.Namespace, io: Io, where: "Target", repository: str | None) -> int:
    from returns.pipeline import is_successful

    from beaker.cli.auth import not_logged_in
    from beaker.cli.place import answered
    from beaker.cli.session import logged_in
    from beaker.core.github_access import find_repository, read_connection

    login = where.login(io)
    if not is_successful(login):
        return not_logged_in("github status", io, where, login.failure(), {"connected": None})
    found: str | None = None
    with logged_in(arguments, io, where) as person:
        connection = answered(read_connection(person.call("get_user_github_connection")))
        if connection.connected and repository is not None:
            found = answered(find_repository(person.call("list_user_github_repositories"), repository))
    satisfied = connection.connected and (repository is None or found is not None)
    if io.json:
        answer = {"logged_in": True, "needed": True, "base_url": where.base_url, "connected": connection.connected}
        asked = None if repository is None else {"name": found or repository, "readable": found is not None}
        io.json_line(answer | {"installations": [dict(one) for one in connection.installations], "repository": asked})
        return DONE if satisfied else NEGATIVE
    if not connection.connected:
        io.out(Styled("beaker github status:", "warn"), " GitHub is not connected")
    else:
        io.out(Styled("beaker github status:", "ok"), " GitHub is connected")
    for one in connection.installations:
        repositories = one.get("repositories")
        count = len(repositories) if isinstance(repositories, list) else 0
        account, number = (one_line(str(one.get(key) or "-")) for key in ("account_login", "installation_id"))
        io.out(f"  {account}  installation {number}  repositories {count}")
    if found is not None:
        io.out(f"  {one_line(found)} can be read")
    elif connection.connected and repository is not None:
        io.out("  ", Styled("warning:", "warn"), f" {one_line(repository)} cannot be read")
    if not satisfied:
        wanted = () if repository is None else ("--repo", repository)
        io.note(Styled("Next:", "heading"))
        io.note(f"  1. give access, in a browser: {io.command('github', 'connect', *wanted)}")
        io.note(f"  what is left then: {io.command('onboarding', 'status')}")
    return DONE if satisfied else NEGATIVE


def _connect(arguments: argparse.Namespace, io: Io, where: "Target", repository: str | None) -> int:
    from beaker.cli.github_access import gain_access
    from beaker.cli.login import log_in
    from beaker.cli.session import logged_in

    login = log_in(arguments, io, where)
    if not io.json:
        said = "still logged in" if login.phase == "reused" else "logged in"
        io.out(f"beaker github connect: {said} to {one_line(where.base_url)}")
    with logged_in(arguments, io, where) as person:
        access = gain_access(
            person.api, io, repository=repository, timeout=arguments.timeout, no_browser=arguments.no_browser
        )
    if io.json:
        io.json_line({"event": "ready", "needed": True, "base_url": where.base_url, "repository": access.found})
        return DONE
    io.out(Styled("beaker github connect: ready", "ok"), f" {one_line(access.found or 'organization')}")
    return DONE


def _branches(arguments: argparse.Namespace, io: Io, where: "Target", repository: str | None) -> int:
    from beaker.cli.session import logged_in

    with logged_in(arguments, io, where) as person:
        answer = person.call("list_user_github_branches", repository=repository)
    if io.json:
        io.json_line(answer)
        return DONE
    io.out(f"default branch: {one_line(str(answer['default_branch']))}")
    rows = (
        [branch.get("name"), branch.get("last_commit_at"), _yes(branch.get("is_merged"))]
        for branch in map(mapping, answer["branches"])
    )
    show_table(io, _COLUMNS, rows)
    return DONE


def _yes(given: object) -> str | None:
    return {True: "yes", False: "no"}.get(given) if isinstance(given, bool) else None
