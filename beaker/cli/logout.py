"""`beaker logout`: end logins, here and at the API."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, Io, one_line

if TYPE_CHECKING:
    from beaker.cli.session import Target
    from beaker.core.credentials import StoredSession


def add_parser(subparsers: Any) -> None:
    """Add `beaker logout`."""
    leaf = add_leaf(
        subparsers,
        "logout",
        help=HELP["logout"],
        description="Tells the API that the login is over, and forgets it here whether or not the API could be told.",
    )
    leaf.add_argument("--all", action="store_true", help="end the logins to every API")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0: afterwards there is no login."""
    from dataclasses import replace

    from beaker.cli.place import answered
    from beaker.cli.session import target
    from beaker.core.credentials import login_to
    from beaker.core.logins import without_login

    where = target(arguments, io, command="logout")
    logins = where.store.logins()
    if arguments.all:
        wanted = [login.base_url for login in logins]
    else:
        kept = without_login(logins, where.base_url)
        wanted = [] if where.local else [login.base_url for login in logins if login not in kept]
    ended = []
    for base_url in wanted:
        one = replace(where, base_url=base_url)
        login = login_to(one.store.logins_for(base_url).value_or(()), base_url)
        revoked = login is not None and _revoke(arguments, io, one, login)
        answered(one.store.remove(base_url))
        ended.append({"base_url": base_url, "revoked": revoked})
    left = sorted(login.base_url for login in where.store.logins())
    if io.json:
        io.json_line({"logged_out": ended, "others": left})
        return DONE
    for one_ended in ended:
        io.out(f"beaker logout: logged out of {one_line(str(one_ended['base_url']))}")
    if where.local and not arguments.all:
        io.out("beaker logout: there is no login to this machine")
    elif not ended:
        io.out("beaker logout: not logged in" + ("" if arguments.all else f" to {one_line(where.base_url)}"))
    if left:
        io.note(f"still logged in to {', '.join(map(one_line, left))}; --all ends every login")
    return DONE


def _revoke(arguments: argparse.Namespace, io: Io, where: "Target", login: "StoredSession") -> bool:
    """Whether the login is over at the API too. Of one that has expired there is nothing to say."""
    from datetime import UTC, datetime

    from returns.pipeline import is_successful

    from beaker.cli.session import calling
    from beaker.core.logins import over_already
    from beaker.core.problems import Problem, Refused

    if not login.live(datetime.fromtimestamp(io.now(), UTC)):
        return False
    try:
        with calling(arguments, io, where, login.token) as api:
            told = api.once("logout_user")
        problem = None if is_successful(told) else told.failure()
    except Refused as refused:
        problem = refused.problems[0]
    if problem is not None and over_already(problem):
        return True
    if problem is not None:
        message = f"{one_line(where.base_url)} could not be told, the login is forgotten here only: {problem.message}"
        io.warn(Problem(problem.code, message))
    return problem is None
