"""The file with the logins of this machine, `~/.beaker/credentials.json`, and the system's keyring beside it.

The file is for its owner alone (0600, in a folder with 0700) from the first byte on, also when something else opened
it to others since: every look at it closes it again. It is replaced as a whole. A file that
cannot be read as logins has none: it is moved aside when a new one takes its place.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core import strict_json
from beaker.core.credentials import StoredSession, same_api
from beaker.core.logins import Logins, logins_json, read_logins, with_login, with_token, without_login
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.files.atomic import os_problem, write_bytes
from beaker.files.reading import read_regular

T = TypeVar("T")

KEYRING_SERVICE = "beaker"
"""The name under which the keyring has tokens; the user of each is the API's base URL."""


@value
class CredentialStore:
    """Where logins are kept. `path` need not exist."""

    path: Path

    def logins(self) -> Logins:
        """The logins there are, the latest first; a token that the keyring has is empty."""
        try:
            parsed = strict_json.parse(read_regular(self.path), "the stored logins")
        except OSError:
            return ()
        with suppress(OSError):  # somebody else's file, say: read it all the same
            _close_to_others(self.path, 0o600)
            _close_to_others(self.path.parent, 0o700)
        return read_logins(parsed.unwrap()) if is_successful(parsed) else ()

    def logins_for(self, base_url: str) -> Result[Logins, Problem]:
        """The logins, the one to this API with its token; BK155 when the keyring has it and does not give it."""
        logins = self.logins()
        kept = next((one for one in logins if one.in_keyring and same_api(one.base_url, base_url)), None)
        if kept is None:
            return Success(logins)
        user = _user(kept)
        asked = _keyring("read the login", lambda keyring: keyring.get_password(KEYRING_SERVICE, user))
        if not is_successful(asked):
            return Failure(asked.failure())
        token = asked.unwrap()
        return Success(with_token(logins, base_url, token if isinstance(token, str) else ""))

    def ready(self, *, keyring: bool = False) -> Result[None, Problem]:
        """Whether a login could be kept: asked before somebody takes the trouble of logging in. Problems as of
        `save`."""
        asked = _keyring("keep the login", lambda ring: ring.get_password(KEYRING_SERVICE, "")) if keyring else None
        if asked is not None and not is_successful(asked):
            return Failure(asked.failure())
        folder = self.path.parent
        before = folder.exists()
        try:
            _make_private(folder)
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"{}")
            if not before:
                folder.rmdir()  # who goes no further has nothing more than before
        except OSError as error:
            return Failure(os_problem(error, "keep a login", self.path))
        return Success(None)

    def save(self, login: StoredSession, *, now: datetime, keyring: bool = False) -> Result[Path | None, Problem]:
        """Keep a login, in place of an older one to the same API; `now` is local time. What stood in place of the file
        and could not be read as logins is moved aside first, to the path that is returned.

        With `keyring` the token goes to the system's keyring and only the rest to the file. BK155 when there is none,
        BK701 when the file cannot be written; then everything is as it was.
        """
        token, saved_at = login.token, now.replace(tzinfo=None, microsecond=0).isoformat()
        kept = StoredSession("" if keyring else token, login.base_url, login.expires_at, saved_at, keyring)
        if keyring:
            put = _keyring("keep the login", lambda ring: ring.set_password(KEYRING_SERVICE, _user(kept), token))
            if not is_successful(put):
                return Failure(put.failure())
        else:
            self._forget_in_keyring(login.base_url)
        changed = self._change(lambda logins: with_login(logins, kept))
        if keyring and not is_successful(changed):
            _keyring("forget the login", partial(_delete, user=_user(kept)))
        return changed

    def remove(self, base_url: str) -> Result[None, Problem]:
        """Forget the login to an API, if there is one, also in the keyring; BK701 when the file cannot be changed."""
        self._forget_in_keyring(base_url)
        return self._change(lambda logins: without_login(logins, base_url)).map(lambda _: None)

    def _forget_in_keyring(self, base_url: str) -> None:
        for login in self.logins():
            if login.in_keyring and same_api(login.base_url, base_url):
                # A token that the keyring does not have any more is as good as removed.
                _keyring("forget the login", partial(_delete, user=_user(login)))

    def _change(self, change: Callable[[Logins], Logins]) -> Result[Path | None, Problem]:
        try:
            _make_private(self.path.parent)
            with _alone(self.path.parent):
                before = self.logins()
                logins = change(before)
                aside = self._move_aside() if logins and not before else None
                if logins:
                    text = json.dumps(logins_json(logins), indent=2, sort_keys=True)
                    write_bytes(self.path, f"{text}\n".encode(), mode=0o600)
                elif before:
                    self.path.unlink(missing_ok=True)
        except OSError as error:
            return Failure(os_problem(error, "keep the login", self.path))
        return Success(aside)

    def _move_aside(self) -> Path | None:
        """Move a file without a login that can be read out of the way, unless there is nothing in it."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return None
        names = (self.path.with_name(f"{self.path.name}.unreadable-{number}") for number in count(1))
        aside = next(path for path in names if not os.path.lexists(path))
        os.rename(self.path, aside)
        return aside


def credential_store(environ: Mapping[str, str]) -> CredentialStore:
    """The store of whoever runs this process."""
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
    return CredentialStore(Path(home, ".beaker", "credentials.json"))


def _user(login: StoredSession) -> str:
    return login.base_url.rstrip("/")


def _keyring(action: str, ask: Callable[[Any], T]) -> Result[T, Problem]:
    """What the keyring answers; BK155 when there is none, or it refuses. Whatever it raises is its own."""
    hint = "install beaker-sdk[keyring], unlock the keyring, or log in again without --keyring"
    try:
        return Success(ask(import_module("keyring")))
    except Exception as error:
        said = "it is not installed" if isinstance(error, ImportError) else f"{type(error).__name__}"
        return Failure(Problem("BK155", f"the system's keyring cannot {action}: {said}", hint=hint))


def _delete(keyring: Any, *, user: str) -> None:
    keyring.delete_password(KEYRING_SERVICE, user)


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _close_to_others(folder, 0o700)


def _close_to_others(path: Path, mode: int) -> None:
    if path.stat().st_mode & 0o077 and os.name != "nt":
        path.chmod(mode)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder, so that two commands that log in at once keep both logins."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
