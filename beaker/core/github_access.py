"""Getting access to GitHub, as a state machine: a connection of the organization, and a repository that it can read.

`TRANSITIONS` is the machine. `begin` makes it, `step` takes what happened and says what to do next; whoever runs it
does the commands and hands back what came of them. Somebody has to act in a browser meanwhile, so what passes by (no
answer, 429, 5xx) does not end the wait once the service has answered at all, and neither does a clock that jumps.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.api import ApiProblem
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.core.waiting import Answered, CallFailed, Patience, Wait, Waited, WaitingEvent, passes_by
from beaker.core.web_pages import is_web_page

AccessPhase: TypeAlias = Literal[
    "connection", "listing", "requesting", "waiting", "ready", "forbidden", "timed_out", "failed"
]

AccessMove: TypeAlias = Literal[
    "connected", "unconnected", "satisfied", "listed", "unlisted", "asked", "pending", "troubled", "waited", "resumed",
    "refused", "late", "failed",
]  # fmt: skip
"""What was found: GitHub is `connected` or not (`unconnected` the first time, `pending` later), and with no repository
wanted that is all (`satisfied`); the repository is `listed` or not (`unlisted` the first time); a page was `asked` for,
or that was `refused`; trouble passes by (`troubled`); the wait is over, and the connection (`waited`) or the list
(`resumed`) is looked at again; the time is up (`late`); a call `failed`."""

TRANSITIONS: Mapping[AccessPhase, Mapping[AccessMove, AccessPhase]] = {
    "connection": {
        "satisfied": "ready",
        "connected": "listing",
        "unconnected": "requesting",
        "pending": "waiting",
        "troubled": "waiting",
        "late": "timed_out",
        "failed": "failed",
    },
    "listing": {
        "listed": "ready",
        "unlisted": "requesting",
        "pending": "waiting",
        "troubled": "waiting",
        "late": "timed_out",
        "failed": "failed",
    },
    "requesting": {
        "asked": "waiting",
        "troubled": "waiting",
        "refused": "forbidden",
        "late": "timed_out",
        "failed": "failed",
    },
    "waiting": {"waited": "connection", "resumed": "listing"},
    "ready": {},
    "forbidden": {},
    "timed_out": {},
    "failed": {},
}

DEFAULT_TIMEOUT, INTERVAL = 600.0, 2.0

Purpose: TypeAlias = Literal["connect", "repository"]
"""Why GitHub's page is opened: to connect the organization, or to let the App read one more repository."""


@value
class AskConnection:
    """Ask whether GitHub is connected (`get_user_github_connection`)."""


@value
class ListRepositories:
    """Ask which repositories can be read (`list_user_github_repositories`)."""


@value
class RequestPage:
    """Ask for the page on which access is given (`start_user_github_connect`)."""


@value
class OpenPage:
    """Open GitHub's page, and print its address whether or not one opened."""

    url: str
    purpose: Purpose


AccessCommand: TypeAlias = AskConnection | ListRepositories | RequestPage | OpenPage | Wait


@value(kw_only=True)
class GithubAccess:
    """Access under way, or ended: `ready` with the repository as the service spells it, else with a `problem`.

    `opened` are the purposes for which a page was opened; `heard` tells that the service has answered.
    """

    phase: AccessPhase
    repository: str | None
    patience: Patience
    connected: bool = False
    heard: bool = False
    opened: frozenset[Purpose] = frozenset()
    found: str | None = None
    problem: Problem | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return not TRANSITIONS[self.phase]


AccessStep: TypeAlias = tuple[GithubAccess, tuple[AccessCommand, ...]]


@value
class Connection:
    """Whether GitHub is connected, and by which installations of the App, as they were answered."""

    connected: bool
    installations: tuple[Mapping[str, Any], ...] = ()


def begin(repository: str | None = None, *, timeout: float = DEFAULT_TIMEOUT) -> AccessStep:
    """Access to `repository` (`owner/name`), or to GitHub at all, and the first command; `timeout` in seconds."""
    access = GithubAccess(phase="connection", repository=repository, patience=Patience(limit=timeout))
    return access, (AskConnection(),)


def step(access: GithubAccess, event: WaitingEvent) -> Result[AccessStep, Problem]:
    """The access after `event`, and what to do next; no command when it has ended.

    BK829 for an event that answers nothing this access waits for; it is then as it was. The time is up after a call
    that found nothing, so that every wait ends with a last look.
    """
    if (access.phase == "waiting") != isinstance(event, Waited) or access.ended:
        message = f"access that is {access.phase} does not wait for {type(event).__name__}"
        return Failure(Problem("BK829", message))
    now = replace(access, patience=access.patience.at(event.at))
    match event:
        case CallFailed(problem):
            return Success(_failed(now, problem))
        case Answered(answer) if now.phase == "connection":
            return Success(_connection(replace(now, heard=True), answer))
        case Answered(answer) if now.phase == "listing":
            return Success(_listing(now, answer))
        case Answered(answer):
            return Success(_page(now, answer))
        case _ if now.connected:
            return Success((_moved(now, "resumed"), (ListRepositories(),)))
        case _:
            return Success((_moved(now, "waited"), (AskConnection(),)))


def read_connection(answer: Mapping[str, Any]) -> Result[Connection, Problem]:
    """The connection in an answer of `get_user_github_connection`; BK824 when it says nothing of one.

    Earlier services name one `installation_id` in place of `installations`.
    """
    connected, installations = answer.get("connected"), answer.get("installations")
    if installations is None and "installation_id" in answer:
        installations = [{"installation_id": answer["installation_id"]}] if connected else []
    if isinstance(connected, bool) and isinstance(installations, list):
        listed = tuple(one for one in installations if isinstance(one, Mapping))
        if len(listed) == len(installations):
            return Success(Connection(connected, listed))
    return Failure(Problem("BK824", "the answer about the GitHub connection is malformed", hint=_HINT))


def find_repository(answer: Mapping[str, Any], wanted: str) -> Result[str | None, Problem]:
    """`wanted` as an answer of `list_user_github_repositories` spells it, `None` when it is not listed; BK824 when the
    answer has no list. Case does not count."""
    listed = answer.get("repositories")
    if not isinstance(listed, list):
        return Failure(Problem("BK824", "the answer about GitHub repositories is malformed", hint=_HINT))
    names = (name for name in listed if isinstance(name, str))
    return Success(next((name for name in names if name.casefold() == wanted.casefold()), None))


def parse_repository(text: str, where: str = "--repo") -> Result[str, Problem]:
    """A repository's `owner/name`, blanks around it removed; BK154 for anything else."""
    if _REPOSITORY.fullmatch(text.strip()):
        return Success(text.strip())
    return Failure(Problem("BK154", f"a repository is named OWNER/NAME, not {text!r}", where))


_REPOSITORY = re.compile(r"[^/\s\x00-\x1f\x7f]+/[^/\s\x00-\x1f\x7f]+")
_HINT = "check the base URL, and try again"


def _connection(access: GithubAccess, answer: Mapping[str, Any]) -> AccessStep:
    read = read_connection(answer)
    if not is_successful(read):
        return _moved(access, "failed", problem=read.failure()), ()
    if not read.unwrap().connected:
        return _wanting(access, "connect", "unconnected")
    if access.repository is None:
        return _moved(access, "satisfied", connected=True), ()
    return _moved(access, "connected", connected=True), (ListRepositories(),)


def _listing(access: GithubAccess, answer: Mapping[str, Any]) -> AccessStep:
    assert access.repository is not None  # nothing is listed unless one is wanted
    found = find_repository(answer, access.repository)
    if not is_successful(found):
        return _moved(access, "failed", problem=found.failure()), ()
    if (name := found.unwrap()) is not None:
        return _moved(access, "listed", found=name), ()
    return _wanting(access, "repository", "unlisted")


def _wanting(access: GithubAccess, purpose: Purpose, first: AccessMove) -> AccessStep:
    """Somebody has to act: open the page for it, once, then wait."""
    if access.patience.over:
        return _late(access, None)
    if purpose not in access.opened:
        return _moved(access, first), (RequestPage(),)
    return _waiting(access, "pending", None)


def _page(access: GithubAccess, answer: Mapping[str, Any]) -> AccessStep:
    url = answer.get("install_url")
    if not isinstance(url, str) or not is_web_page(url):
        problem = Problem("BK824", "GitHub cannot be connected: the answer names no web page to open", hint=_HINT)
        return _moved(access, "failed", problem=problem), ()
    purpose: Purpose = "repository" if access.connected else "connect"
    access, commands = _waiting(replace(access, opened=access.opened | {purpose}), "asked", None)
    return access, (OpenPage(url, purpose), *commands)


def _failed(access: GithubAccess, problem: Problem) -> AccessStep:
    if access.heard and passes_by(problem):
        return _late(access, problem) if access.patience.over else _waiting(access, "troubled", problem)
    if access.phase == "requesting" and isinstance(problem, ApiProblem) and problem.status == 403:
        hint = "ask an administrator of the organization to connect GitHub"
        message = f"you may not connect GitHub for this organization ({problem.message})"
        return _moved(access, "refused", problem=Problem("BK822", message, hint=hint)), ()
    return _moved(access, "failed", problem=problem), ()


def _late(access: GithubAccess, trouble: Problem | None) -> AccessStep:
    lacking = f"GitHub has not let us read {access.repository}" if access.connected else "GitHub was not connected"
    last = "" if trouble is None else f"; at last: {trouble}"
    hint = "finish in the browser, then run this again, with a longer --timeout if need be"
    problem = Problem("BK823", f"{lacking} within {access.patience.limit:g} seconds{last}", hint=hint)
    return _moved(access, "late", problem=problem), ()


def _waiting(access: GithubAccess, move: AccessMove, trouble: Problem | None) -> AccessStep:
    patience = access.patience.pausing(INTERVAL, trouble)
    return _moved(access, move, patience=patience), (Wait(patience.pause),)


def _moved(access: GithubAccess, move: AccessMove, **changes: Any) -> GithubAccess:
    return replace(access, phase=TRANSITIONS[access.phase][move], **changes)
