"""Three precedences, every result with its source: the agent key, the API's base URL, the API credential.

A blank value is none. Blanks around a value do not count.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.environment import AGENT_KEY_VARIABLE
from beaker.core.problems import Problem
from beaker.core.values import value

Source: TypeAlias = Literal["flag", "environment", "dotenv", "config", "session", "default"]
"""Where a value came from: an option, the process environment, the repository's `.beaker/.env`, the configuration
file, the stored login, or nowhere."""

DEFAULT_API_BASE_URL = "https://api.withbeaker.ai/"
DEFAULT_APP_BASE_URL = "https://app.withbeaker.ai"
API_BASE_URL_VARIABLE = "BEAKER_API_BASE_URL"
API_KEY_VARIABLE = "BEAKER_API_KEY"
SESSION_TOKEN_PREFIX = "bkr_cli_"

LOCAL = "local"
"""The base URL of the place that is this machine."""


@value
class AgentKey:
    """The key of an agent, a public selector, and where it came from."""

    key: str
    source: Source


@value
class BaseUrl:
    """Where the API is, and who said so; `local` is this machine."""

    url: str
    source: Source

    @property
    def is_local(self) -> bool:
        """Whether runs take place on this machine."""
        return self.url == LOCAL


@value
class Credential:
    """A bearer token and where it came from; the token is in no representation of the value."""

    token: str = attrs.field(repr=False)
    source: Source

    @property
    def names_a_person(self) -> bool:
        """Whether it is the token of a login, rather than an organization's key."""
        return self.token.startswith(SESSION_TOKEN_PREFIX)


def is_usable_token(token: str) -> bool:
    """Whether a header can carry a credential: ASCII that prints, and something of it."""
    return bool(token) and token.isascii() and token.isprintable()


@value
class StoredSession:
    """A login kept on this machine, for one API. An expiry that cannot be read is none: the server decides.

    `saved_at` is local time, for people. With `in_keyring` the system's keyring has the token, which is empty here
    until it was asked for.
    """

    token: str = attrs.field(repr=False)
    base_url: str = DEFAULT_API_BASE_URL
    expires_at: str = ""
    saved_at: str = ""
    in_keyring: bool = False

    def live(self, now: datetime) -> bool:
        """Whether its expiry, if any, lies after `now` (which has a time zone)."""
        expiry = _instant(self.expires_at)
        return expiry is None or expiry > now


def choose_agent_key(
    flag: str | None, environ: Mapping[str, str], configured: str | None, *, dotenv: Mapping[str, str] | None = None
) -> Result[AgentKey, Problem]:
    """The agent key: the option, else `BEAKER_AGENT_KEY`, else the selected integration's; BK131 when there is none.

    The variable may also come from the repository's dotenv file; set in the environment, even to nothing, it is not
    looked for there.
    """
    variable, said = _variable(AGENT_KEY_VARIABLE, environ, dotenv)
    options: tuple[tuple[str | None, Source], ...] = ((flag, "flag"), (variable, said), (configured, "config"))
    for given, source in options:
        if key := (given or "").strip():
            return Success(AgentKey(key, source))
    message = "no agent is named"
    hint = (
        f"pass --agent, set {AGENT_KEY_VARIABLE}, or set integrations.<id>.agent_key in the configuration file; "
        "work on this machine with --local needs none"
    )
    return Failure(Problem("BK131", message, hint=hint))


def overridden_key(
    environ: Mapping[str, str], configured: str | None, *, dotenv: Mapping[str, str] | None = None
) -> Problem | None:
    """A warning (BK157) when a variable hides the key that the configuration names; both as `choose_agent_key` reads
    them."""
    named = (configured or "").strip()
    chosen = choose_agent_key(None, environ, named, dotenv=dotenv).value_or(None)
    if not named or chosen is None or chosen.key == named:
        return None
    place = "the environment" if chosen.source == "environment" else ".beaker/.env"
    message = f"{AGENT_KEY_VARIABLE} of {place} names another agent, {chosen.key}, and comes before {named}"
    return Problem("BK157", message, hint=f"unset it, give it the value {named}, or pass --agent")


def choose_base_url(
    flag: str | None, environ: Mapping[str, str], *, local: bool = False, configured: str | None = None
) -> Result[BaseUrl, Problem]:
    """Where the API is: the option, else `BEAKER_API_BASE_URL`, else `api:` of the configuration, else the vendor's.

    `local` is the option `--local`, the same as `--base-url local`. BK132 when both options are given and differ, or
    the choice is no http(s) URL. A blank option is refused: it would silently mean the vendor's API.
    """
    if flag is not None and not flag.strip():
        return Failure(Problem("BK132", "the API's address is blank", "--base-url", _URL_HINT))
    wanted = None if flag is None else flag.strip()
    if local and wanted not in (None, LOCAL):
        return Failure(Problem("BK132", f"--local and --base-url {wanted} name two places", hint="pass one of them"))
    options: tuple[tuple[str | None, Source, str], ...] = (
        (LOCAL if local else wanted, "flag", "--base-url"),
        (environ.get(API_BASE_URL_VARIABLE), "environment", API_BASE_URL_VARIABLE),
        (configured, "config", "api"),
    )
    for given, source, name in options:
        if url := (given or "").strip():
            fault = _url_fault(url)
            return Success(BaseUrl(url, source)) if fault is None else Failure(Problem("BK132", fault, name, _URL_HINT))
    return Success(BaseUrl(DEFAULT_API_BASE_URL, "default"))


def choose_credential(
    flag: str | None, logins: Iterable[StoredSession], environ: Mapping[str, str], *, base_url: str, now: datetime
) -> Result[Credential, Problem]:
    """The token for `base_url`: the option, else a live login to that API, else `BEAKER_API_KEY`; BK133 without one,
    which also says why no login counts."""
    if key := (flag or "").strip():
        return Success(Credential(key, "flag"))
    login = choose_login(logins, base_url, now=now)
    if is_successful(login):
        return Success(Credential(login.unwrap().token.strip(), "session"))
    if key := environ.get(API_KEY_VARIABLE, "").strip():
        return Success(Credential(key, "environment"))
    why = login.failure()
    hint = f"{why.hint}; or pass --api-key, set {API_KEY_VARIABLE}, or work on this machine with --local"
    return Failure(Problem("BK133", f"no credential for {base_url}: {why.message}", hint=hint))


def choose_login(logins: Iterable[StoredSession], base_url: str, *, now: datetime) -> Result[StoredSession, Problem]:
    """The login to the API at `base_url`, if it lives; BK150 otherwise.

    Every command judges logins by this: one that has expired, or belongs to another API, is none.
    """
    known = tuple(logins)
    login = login_to(known, base_url)
    if login is not None and login.live(now):
        return Success(login)
    if login is not None:
        message = f"the login to {base_url} expired at {login.expires_at.strip()}"
        return Failure(Problem("BK150", message, hint="run `beaker login` again"))
    others = sorted({one.base_url for one in known if one.token.strip()})
    if not others:
        return Failure(Problem("BK150", f"not logged in to {base_url}", hint="run `beaker login`"))
    message = f"not logged in to {base_url}, only to {', '.join(others)}"
    return Failure(Problem("BK150", message, hint="run `beaker login`, or name the other API with --base-url"))


def login_to(logins: Iterable[StoredSession], base_url: str) -> StoredSession | None:
    """The login to the API at `base_url` that has a token, whether or not it lives."""
    return next((one for one in logins if one.token.strip() and same_api(one.base_url, base_url)), None)


def same_api(left: str | None, right: str | None) -> bool:
    """Whether two base URLs are one API: equal as text, but for blanks around and slashes at the end.

    Nothing given is the vendor's API.
    """
    return _compared(left) == _compared(right)


_URL_HINT = "give an http(s) URL, or `local` for this machine"


def _variable(name: str, environ: Mapping[str, str], dotenv: Mapping[str, str] | None) -> tuple[str | None, Source]:
    if name in environ:
        return environ[name], "environment"
    return (dotenv or {}).get(name), "dotenv"


def _url_fault(url: str) -> str | None:
    if url == LOCAL:
        return None
    if not url.isprintable() or " " in url:
        return f"{url!r} holds blanks or control characters"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises when it is no number
    except ValueError as error:
        return f"{url!r} is no URL: {error}"
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return f"{url!r} is no http(s) URL"
    if parts.username is not None or parts.password is not None:
        return "the API's address holds a user name or password"  # not shown: it may be a secret
    if parts.query or parts.fragment:
        return f"{url!r} has a query or a fragment"
    return None


def _compared(url: str | None) -> str:
    return ((url or "").strip() or DEFAULT_API_BASE_URL).rstrip("/")


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
