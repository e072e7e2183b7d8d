"""`beaker login`: a code that is confirmed in a browser becomes a login kept on this machine."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf, seconds
from beaker.cli.shell import DONE, Io, Styled, one_line

if TYPE_CHECKING:
    from beaker.cli.session import Target
    from beaker.client.api import Api
    from beaker.core.login import Challenge, Login, LoginCommand, LoginEvent

NEEDLESS = "no login is needed on this machine: nobody has to be asked"


def add_parser(subparsers: Any) -> None:
    """Add `beaker login`."""
    leaf = add_leaf(
        subparsers,
        "login",
        help=HELP["login"],
        description="Shows a code and opens the page on which it is confirmed, then keeps the login, for its owner "
        "alone, in ~/.beaker/credentials.json: one for each API. A login that still works is left as it is.",
    )
    add_login_options(leaf)


def add_login_options(leaf: argparse.ArgumentParser) -> None:
    """How to log in, and how to wait for it."""
    add_waiting_options(leaf)
    leaf.add_argument(
        "--keyring", action="store_true", help="keep the token in the system's keyring (needs beaker-sdk[keyring])"
    )


def add_waiting_options(leaf: argparse.ArgumentParser) -> None:
    """How to wait for somebody who acts in a browser."""
    leaf.add_argument(
        "--timeout", type=seconds, default=600.0, metavar="SECONDS", help="how long to wait for you (600)"
    )
    leaf.add_argument("--no-browser", action="store_true", help="open no browser, only print the address")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when there is a login that works."""
    from beaker.cli.session import target

    where = target(arguments, io, command="login")
    if where.local:
        if io.json:
            io.json_line({"event": "logged_in", "needed": False, "base_url": where.base_url})
        else:
            io.out(f"beaker login: {NEEDLESS}")
        return DONE
    login = log_in(arguments, io, where)
    session = login.session
    assert session is not None  # every other end was refused
    reused = login.phase == "reused"
    if io.json:
        answer = {"event": "logged_in", "needed": True, "base_url": where.base_url, "reused": reused}
        io.json_line(answer | {"expires_at": session.expires_at or None, "credentials": str(where.store.path)})
        return DONE
    said = "still logged in" if reused else "logged in"
    until = f" until {one_line(session.expires_at)}" if session.expires_at else ""
    io.out(Styled("beaker login:", "ok"), f" {said} to {one_line(where.base_url)}{until}")
    if not reused:
        io.out(f"  kept in {one_line(str(where.store.path))}")
        io.note(Styled("Next:", "heading"))
        io.note(f"  1. let a project know its agent: {io.command('agent', 'setup', 'NAME')}")
    return DONE


def log_in(arguments: argparse.Namespace, io: Io, where: "Target") -> "Login":
    """A login that ended well, kept on this machine; `Refused` with the reason for any other end."""
    from collections import deque
    from datetime import UTC, datetime
    from socket import gethostname

    from beaker.cli.place import answered
    from beaker.cli.session import calling
    from beaker.core.credentials import login_to
    from beaker.core.login import begin, step
    from beaker.core.problems import Refused

    # A token that the keyring does not give is replaced like any other that does not work.
    stored = login_to(where.store.logins_for(where.base_url).value_or(()), where.base_url)
    live = stored is not None and stored.live(datetime.fromtimestamp(io.now(), UTC))
    login, commands = begin(
        where.base_url, host=gethostname(), stored=stored if live else None, timeout=arguments.timeout
    )
    waiting = deque(commands)
    with calling(arguments, io, where, None) as api:
        while waiting:
            event = _perform(waiting.popleft(), api, arguments, io, where)
            if event is not None:
                login, commands = answered(step(login, event))
                waiting.extend(commands)
    if login.problem is not None:
        raise Refused(login.problem)
    return login


def _perform(
    command: "LoginCommand", api: "Api", arguments: argparse.Namespace, io: Io, where: "Target"
) -> "LoginEvent | None":
    """Do one command; what came of it, if anything is waited for."""
    from beaker.cli.place import answered
    from beaker.cli.session import calling
    from beaker.core import login

    match command:
        case login.CheckSession(session):
            with calling(arguments, io, where, session.token) as theirs:
                return called(theirs, io, "get_user_me")
        case login.StartChallenge(name):
            answered(where.store.ready(keyring=arguments.keyring))
            return called(api, io, "start_cli_login", name=name)
        case login.PollChallenge(challenge_id, poll_token):
            return called(api, io, "poll_cli_login", challenge_id=challenge_id, poll_token=poll_token)
        case login.OpenBrowser(challenge):
            _show(challenge, arguments, io)
            return None
        case login.Wait(pause):
            io.sleep(pause)
            return login.Waited(io.now())
        case login.SaveSession(session):
            from datetime import datetime

            now = datetime.fromtimestamp(io.now())
            aside = answered(where.store.save(session, now=now, keyring=arguments.keyring))
            if aside is not None:
                io.tell(f"what {one_line(str(where.store.path))} held could not be read; it is kept as {aside.name}")
            return None


def called(api: "Api", io: Io, endpoint: str, /, **given: Any) -> "LoginEvent":
    """What came of one call, for a machine that waits: it is made once, since the machine comes back anyway."""
    from returns.pipeline import is_successful

    from beaker.core.waiting import Answered, CallFailed

    came = api.once(endpoint, **given)
    return Answered(came.unwrap(), io.now()) if is_successful(came) else CallFailed(came.failure(), io.now())


def _show(challenge: "Challenge", arguments: argparse.Namespace, io: Io) -> None:
    """Open the page, and say where it is and which code it wants, whether or not a browser opened."""
    from beaker.cli.browser import open_page

    opened = not arguments.no_browser and open_page(challenge.browser_url, io.environ)
    if io.json:
        told = {"approval_url": challenge.approval_url, "user_code": challenge.user_code, "browser_opened": opened}
        io.json_line({"event": "confirm"} | told)
        return
    if opened:
        known = "it knows the code already" if challenge.prefilled else "enter the code there"
        io.out(f"beaker login: a page was opened in your browser; {known}")
        io.out("  if it did not come up, open:")
    else:
        if not arguments.no_browser:
            io.tell(Styled("warning:", "warn"), " no browser could be opened")
        io.out("beaker login: open this page in a browser, on any machine, and enter the code:")
    io.out("  ", one_line(challenge.approval_url))
    io.out("  code: ", Styled(one_line(challenge.user_code), "key"))
    io.note("waiting for you to confirm it ...")
