"""Getting access to GitHub: what the machine of the core commands is done here, while somebody acts in a browser."""

from collections import deque
from typing import TYPE_CHECKING

from beaker.cli.browser import open_page
from beaker.cli.login import called
from beaker.cli.place import answered
from beaker.cli.shell import Io, Styled, one_line
from beaker.core import github_access, waiting
from beaker.core.problems import Refused

if TYPE_CHECKING:
    from beaker.client.api import Api


def gain_access(
    api: "Api", io: Io, *, repository: str | None, timeout: float, no_browser: bool
) -> github_access.GithubAccess:
    """Access to GitHub, and to `repository` when one is given; `Refused` with the reason when there is none in the end.

    The first look must be answered; after that, trouble of the service or the network does not end the wait.
    """
    access, commands = github_access.begin(repository, timeout=timeout)
    todo = deque(commands)
    while todo:
        event = _perform(todo.popleft(), api, io, repository=repository, no_browser=no_browser)
        if event is not None:
            access, commands = answered(github_access.step(access, event))
            todo.extend(commands)
    if access.problem is not None:
        raise Refused(access.problem)
    return access


def _perform(
    command: github_access.AccessCommand, api: "Api", io: Io, *, repository: str | None, no_browser: bool
) -> waiting.WaitingEvent | None:
    """Do one command; what came of it, if anything is waited for."""
    match command:
        case github_access.AskConnection():
            return called(api, io, "get_user_github_connection")
        case github_access.ListRepositories():
            return called(api, io, "list_user_github_repositories")
        case github_access.RequestPage():
            return called(api, io, "start_user_github_connect")
        case github_access.OpenPage(url, purpose):
            _show(url, purpose, io, repository=repository, no_browser=no_browser)
            return None
        case waiting.Wait(pause):
            io.sleep(pause)
            return waiting.Waited(io.now())


def _show(url: str, purpose: github_access.Purpose, io: Io, *, repository: str | None, no_browser: bool) -> None:
    opened = not no_browser and open_page(url, io.environ)
    if io.json:
        io.json_line({"event": "install", "purpose": purpose, "install_url": url, "browser_opened": opened})
        return
    if purpose == "connect":
        io.out("beaker github: GitHub is not connected yet")
    else:
        io.out(f"beaker github: the Beaker App cannot read {one_line(repository or '')} yet")
    if opened:
        io.out("  a page was opened in your browser; if it did not come up, open:")
    else:
        if not no_browser:
            io.tell(Styled("warning:", "warn"), " no browser could be opened")
        io.out("  open this page in a browser:")
    io.out("  ", one_line(url))
    chosen = "the repositories to work with" if repository is None else one_line(repository)
    io.out(f"  choose {chosen} there, and leave this running")
