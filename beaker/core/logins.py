"""The logins kept on this machine, as their file has them: one for each API, the latest first.

The file holds the latest login at its top, as versions that kept a single one wrote and read it, and the others in a
list beside it. A login whose token is in the system's keyring has `keyring` in place of `token`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from beaker.core.credentials import DEFAULT_API_BASE_URL, StoredSession, same_api
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

Logins: TypeAlias = tuple[StoredSession, ...]


def read_logins(stored: object) -> Logins:
    """The logins in the decoded file, at most one for each API. Total: what is no login adds none."""
    found: list[StoredSession] = []
    for item in _items(stored):
        login = _login(item)
        if login is not None and not any(same_api(login.base_url, other.base_url) for other in found):
            found.append(login)
    return tuple(found)


def logins_json(logins: Iterable[StoredSession]) -> dict[str, Any]:
    """The file's content: the first login, and the others where there are any; the vendor's API is left unsaid."""
    first, *others = map(_login_json, logins)
    return first | {"others": others} if others else first


def with_login(logins: Iterable[StoredSession], login: StoredSession) -> Logins:
    """The logins with this one at their head, in place of an older one to the same API."""
    return login, *without_login(logins, login.base_url)


def without_login(logins: Iterable[StoredSession], base_url: str) -> Logins:
    """The logins but the one to this API."""
    return tuple(one for one in logins if not same_api(one.base_url, base_url))


def with_token(logins: Iterable[StoredSession], base_url: str, token: str) -> Logins:
    """The logins, the one to this API with the token that the keyring gave."""
    return tuple(replace(one, token=token) if same_api(one.base_url, base_url) else one for one in logins)


def over_already(problem: Problem) -> bool:
    """Whether an API that could not end a login says that it does not know it: then it is over."""
    return isinstance(problem, ApiProblem) and problem.status == 401


def expiry(me: Mapping[str, Any], login: StoredSession) -> str | None:
    """Until when a login is good: as the API says of its caller (`me`), else as it is kept; `None` if unknown."""
    session = me.get("cli_session")
    said = session.get("expires_at") if isinstance(session, Mapping) else None
    return str(said) if said else login.expires_at or None


def _items(stored: object) -> Iterator[object]:
    yield stored
    others = stored.get("others") if isinstance(stored, Mapping) else None
    yield from others if isinstance(others, list | tuple) else ()


def _login(item: object) -> StoredSession | None:
    if not isinstance(item, Mapping):
        return None
    in_keyring = item.get("keyring") is True
    if not in_keyring and not isinstance(item.get("token"), str):
        return None
    if not isinstance(item.get("base_url"), str | None):
        return None  # of an API that nobody can tell: least of all the vendor's
    return StoredSession(
        token="" if in_keyring else item["token"],
        base_url=_text(item, "base_url") or DEFAULT_API_BASE_URL,
        expires_at=_text(item, "expires_at"),
        saved_at=_text(item, "saved_at"),
        in_keyring=in_keyring,
    )


def _login_json(login: StoredSession) -> dict[str, Any]:
    kept: dict[str, Any] = {"keyring": True} if login.in_keyring else {"token": login.token}
    kept |= {"expires_at": login.expires_at, "saved_at": login.saved_at}
    return kept if same_api(login.base_url, None) else kept | {"base_url": login.base_url}


def _text(item: Mapping[str, Any], key: str) -> str:
    found = item.get(key)
    return found if isinstance(found, str) else ""
