"""`beaker auth status`: whether there is a login, whose it is, and until when."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.run_view import mapping
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line
from beaker.cli.tables import labelled

if TYPE_CHECKING:
    from beaker.cli.session import Target
    from beaker.core.problems import Problem


def add_parser(subparsers: Any) -> None:
    """Add `auth` with its action."""
    group = subparsers.add_parser("auth", help=HELP["auth"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_leaf(
        actions,
        "status",
        help="say who is logged in",
        description="Asks the API whose login this machine has. Exit code 1 when there is none, or it has expired.",
    )


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 for a login that the API takes, 1 when there is none."""
    from returns.pipeline import is_successful

    from beaker.cli.login import NEEDLESS
    from beaker.cli.session import logged_in, target
    from beaker.core.logins import expiry, without_login

    where = target(arguments, io, command="auth status")
    if where.local:
        if io.json:
            io.json_line({"logged_in": False, "needed": False, "base_url": where.base_url})
        else:
            io.out(f"beaker auth status: {NEEDLESS}")
        return DONE
    found = where.login(io)
    others = sorted(one.base_url for one in without_login(where.store.logins(), where.base_url))
    if not is_successful(found):
        return not_logged_in("auth status", io, where, found.failure(), {"others": others})
    with logged_in(arguments, io, where) as person:
        me = person.call("get_user_me")
        session = person.session
    email = mapping(me.get("user")).get("email")
    organization = mapping(me.get("organization")).get("name")
    expires_at = expiry(me, session)
    if io.json:
        answer = {"logged_in": True, "needed": True, "base_url": where.base_url, "user": email}
        more = {"organization": organization, "expires_at": expires_at, "keyring": session.in_keyring}
        io.json_line(answer | more | {"credentials": str(where.store.path), "others": others})
        return DONE
    io.out(Styled("beaker auth status:", "ok"), f" logged in to {one_line(where.base_url)}")
    pairs: list[tuple[str, object]] = [
        ("user", email),
        ("organization", organization),
        ("expires_at", expires_at or "unknown"),
        ("credentials", f"{where.store.path}{' (token in the keyring)' if session.in_keyring else ''}"),
    ]
    for line in labelled(pairs + [("also logged in to", other) for other in others]):
        io.out("  ", line)
    return DONE


def not_logged_in(command: str, io: Io, where: "Target", problem: "Problem", more: dict[str, object]) -> int:
    """Say that there is no login that counts: an answer, not a failure; exit code 1."""
    if io.json:
        answer = {"logged_in": False, "needed": True, "base_url": where.base_url, "reason": problem.message}
        io.json_line(answer | more | {"credentials": str(where.store.path)})
        return NEGATIVE
    io.out(Styled(f"beaker {command}:", "warn"), f" {one_line(problem.message)}")
    io.out(f"  credentials  {one_line(str(where.store.path))}")
    io.note(Styled("Next:", "heading"))
    io.note(f"  1. log in: {io.command('login')}")
    io.note(f"  what is left then: {io.command('onboarding', 'status')}")
    return NEGATIVE
