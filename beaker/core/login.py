"""Logging in through a browser, as a state machine: a challenge, a code to confirm, polls until the answer.

`TRANSITIONS` is the machine. `begin` makes a login, `step` takes what happened and says what to do next; whoever runs
it does the commands and hands back what came of them. A poll that meets trouble which passes by is made again, and a
clock that jumps does not end the wait (`beaker.core.waiting`).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias
from urllib.parse import urldefrag, urlencode

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.credentials import StoredSession, is_usable_token, same_api
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.core.waiting import Answered as Answered
from beaker.core.waiting import CallFailed as CallFailed
from beaker.core.waiting import Patience, WaitingEvent, passes_by
from beaker.core.waiting import Wait as Wait
from beaker.core.waiting import Waited as Waited
from beaker.core.web_pages import is_web_page

LoginPhase: TypeAlias = Literal[
    "checking", "starting", "polling", "waiting",
    "reused", "approved", "denied", "expired", "consumed", "timed_out", "failed",
]  # fmt: skip

LoginMove: TypeAlias = Literal[
    "valid", "invalid", "opened", "pending", "troubled", "waited",
    "approved", "denied", "expired", "consumed", "late", "failed",
]  # fmt: skip
"""What was found in an answer: a stored login that is `valid` or not, a challenge that was `opened`, a poll that says
`pending` or met trouble that passes by (`troubled`), either of them after the time is up (`late`), or names an end; a
call that `failed`, also by its answer."""

TRANSITIONS: Mapping[LoginPhase, Mapping[LoginMove, LoginPhase]] = {
    "checking": {"valid": "reused", "invalid": "starting"},
    "starting": {"opened": "polling", "failed": "failed"},
    "polling": {
        "pending": "waiting",
        "troubled": "waiting",
        "approved": "approved",
        "denied": "denied",
        "expired": "expired",
        "consumed": "consumed",
        "late": "timed_out",
        "failed": "failed",
    },
    "waiting": {"waited": "polling"},
    "reused": {},
    "approved": {},
    "denied": {},
    "expired": {},
    "consumed": {},
    "timed_out": {},
    "failed": {},
}

DEFAULT_TIMEOUT = 600.0
DEFAULT_INTERVAL, SHORTEST_INTERVAL = 2.0, 0.2


@value
class Challenge:
    """A login that waits for somebody to confirm `user_code` in a browser."""

    challenge_id: str
    poll_token: str = attrs.field(repr=False)
    user_code: str
    approval_url: str
    browser_url: str
    interval: float

    @property
    def prefilled(self) -> bool:
        """Whether the page in the browser knows the code already."""
        return "#code=" in self.browser_url


@value
class CheckSession:
    """Ask who the holder of `session` is (`get_user_me`, with its token)."""

    session: StoredSession


@value
class StartChallenge:
    """Ask for a challenge (`start_cli_login`); `name` is what the page calls this client."""

    name: str


@value
class OpenBrowser:
    """Open the page of a challenge, and print its plain address and code whether or not one opened."""

    challenge: Challenge


@value
class PollChallenge:
    """Ask what became of a challenge (`poll_cli_login`)."""

    challenge_id: str
    poll_token: str = attrs.field(repr=False)


@value
class SaveSession:
    """Keep the login on this machine, in place of an older one for the same API."""

    session: StoredSession


LoginCommand: TypeAlias = CheckSession | StartChallenge | OpenBrowser | PollChallenge | Wait | SaveSession

LoginEvent: TypeAlias = WaitingEvent


@value(kw_only=True)
class Login:
    """A login under way, or ended: with a `session` when `reused` or `approved`, with a `problem` otherwise."""

    phase: LoginPhase
    base_url: str
    name: str
    patience: Patience
    challenge: Challenge | None = None
    session: StoredSession | None = None
    problem: Problem | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return not TRANSITIONS[self.phase]


Step: TypeAlias = tuple[Login, tuple[LoginCommand, ...]]


def begin(base_url: str, *, host: str, stored: StoredSession | None = None, timeout: float = DEFAULT_TIMEOUT) -> Step:
    """A login to the API at `base_url`, and the first command.

    `host` names this machine on the page. A `stored` login to the same API is tried first. `timeout` (seconds) counts
    from the moment the challenge is there.
    """
    name = f"Beaker CLI on {host}" if host else "Beaker CLI"
    login = Login(phase="starting", base_url=base_url, name=name, patience=Patience(limit=timeout))
    if stored is not None and stored.token.strip() and same_api(stored.base_url, base_url):
        return replace(login, phase="checking", session=stored), (CheckSession(stored),)
    return login, (StartChallenge(name),)


def step(login: Login, event: LoginEvent) -> Result[Step, Problem]:
    """The login after `event`, and what to do next; no command when it has ended.

    BK829 for an event that answers nothing this login waits for; the login is then as it was.
    """
    match login.phase, event:
        case "checking", Answered():
            return Success((_moved(login, "valid"), ()))
        case "checking", CallFailed():
            # Whatever was wrong with it, a new login sets it right.
            fresh = _moved(login, "invalid", session=None)
            return Success((fresh, (StartChallenge(login.name),)))
        case "polling", CallFailed(problem, at) if passes_by(problem):
            return Success(_again(login, at, "troubled", problem))
        case "starting" | "polling", CallFailed(problem):
            return Success((_moved(login, "failed", problem=problem), ()))
        case "starting", Answered(answer, at):
            return Success(_opened(login, answer, at))
        case "polling", Answered(answer, at):
            return Success(_polled(login, answer, at))
        case "waiting", Waited(at):
            return Success((_moved(login, "waited", patience=login.patience.at(at)), (_poll(login),)))
        case _:
            message = f"a login that is {login.phase} does not wait for {type(event).__name__}"
            return Failure(Problem("BK829", message))


def read_challenge(answer: Mapping[str, Any]) -> Result[Challenge, Problem]:
    """The challenge in an answer of `start_cli_login`; BK821 when it lacks something or its page is no web page.

    The browser gets the page that knows the code, else the plain one with the code as its fragment.
    """
    for key in ("challenge_id", "poll_token", "user_code", "approval_url"):
        if not _text(answer, key):
            return Failure(Problem("BK821", f"the login could not begin: the answer lacks {key}", hint=_HINT))
    plain, complete = answer["approval_url"], _text(answer, "approval_url_complete")
    for url in filter(None, (plain, complete)):
        if not is_web_page(url):
            return Failure(Problem("BK821", f"the login could not begin: {url!r} is no web page", hint=_HINT))
    code = urlencode({"code": answer["user_code"]})
    return Success(
        Challenge(
            challenge_id=answer["challenge_id"],
            poll_token=answer["poll_token"],
            user_code=answer["user_code"],
            approval_url=plain,
            browser_url=complete or f"{urldefrag(plain).url}#{code}",
            interval=_interval(answer.get("poll_interval_seconds")),
        )
    )


_HINT = "check the base URL, and try again"


def _opened(login: Login, answer: Mapping[str, Any], at: float) -> Step:
    read = read_challenge(answer)
    if not is_successful(read):
        return _moved(login, "failed", problem=read.failure()), ()
    challenge = read.unwrap()
    opened = _moved(login, "opened", challenge=challenge, patience=login.patience.at(at))
    return opened, (OpenBrowser(challenge), _poll(opened))


def _polled(login: Login, answer: Mapping[str, Any], at: float) -> Step:
    match answer.get("status"):
        case "approved":
            if not (token := _text(answer, "token").strip()):
                problem = Problem("BK821", "the login was approved, but the answer has no token", hint=_HINT)
                return _moved(login, "failed", problem=problem), ()
            if not is_usable_token(token):
                message = "the login was approved, but its token holds characters that no request can carry"
                return _moved(login, "failed", problem=Problem("BK821", message, hint=_HINT)), ()
            session = StoredSession(token, login.base_url, _text(answer, "expires_at"))
            return _moved(login, "approved", session=session), (SaveSession(session),)
        case "denied" | "expired" | "consumed" as end:
            message = {
                "denied": "the login was denied",
                "expired": "the code expired before it was confirmed",
                "consumed": "the code was used already",
            }[end]
            return _moved(login, end, problem=Problem("BK820", message, hint="run `beaker login` again")), ()
        case _:
            return _again(login, at, "pending", None)


def _again(login: Login, at: float, move: LoginMove, trouble: Problem | None) -> Step:
    """Wait before the next poll, unless the time is up."""
    patience = login.patience.at(at)
    if patience.over:
        hint = "run `beaker login` again, with a longer --timeout"
        last = "" if trouble is None else f"; at last: {trouble}"
        problem = Problem("BK820", f"nobody confirmed the code within {patience.limit:g} seconds{last}", hint=hint)
        return _moved(login, "late", problem=problem, patience=patience), ()
    patience = patience.pausing(_challenge(login).interval, trouble)
    return _moved(login, move, patience=patience), (Wait(patience.pause),)


def _moved(login: Login, move: LoginMove, **changes: Any) -> Login:
    return replace(login, phase=TRANSITIONS[login.phase][move], **changes)


def _poll(login: Login) -> PollChallenge:
    challenge = _challenge(login)
    return PollChallenge(challenge.challenge_id, challenge.poll_token)


def _challenge(login: Login) -> Challenge:
    assert login.challenge is not None  # every phase after `starting` has one
    return login.challenge


def _text(answer: Mapping[str, Any], key: str) -> str:
    found = answer.get(key)
    return found if isinstance(found, str) else ""


def _interval(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return DEFAULT_INTERVAL
    return max(float(min(given, 3600)), SHORTEST_INTERVAL)
