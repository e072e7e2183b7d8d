"""The file of logins: for its owner alone, replaced as a whole, several at once, and the keyring beside it."""

import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.credentials import StoredSession
from beaker.files.credential_store import CredentialStore, credential_store

NOW = datetime(2031, 4, 1, 10, 0, 0, 5)
A, B = StoredSession("bkr_cli_a", "https://a", "2099-01-01T00:00:00Z"), StoredSession("bkr_cli_b", "https://b/")


@pytest.fixture
def store(tmp_path: Path) -> CredentialStore:
    return credential_store({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_save__first_login__is_for_its_owner_alone(store: CredentialStore, tmp_path: Path) -> None:
    """The file reads as versions with a single login wrote it; file and folder are closed to others."""
    assert is_successful(store.save(A, now=NOW))
    assert store.path == tmp_path / ".beaker" / "credentials.json"
    assert store.path.read_text() == (
        '{\n  "base_url": "https://a",\n  "expires_at": "2099-01-01T00:00:00Z",\n'
        '  "saved_at": "2031-04-01T10:00:00",\n  "token": "bkr_cli_a"\n}\n'
    )
    assert (mode(store.path), mode(store.path.parent)) == (0o600, 0o700)
    assert [path.name for path in store.path.parent.iterdir()] == ["credentials.json"]


def test_save__several_apis__keeps_a_login_for_each(store: CredentialStore) -> None:
    """The latest is the first; one to the same API replaces the earlier one."""
    for login in (A, B, StoredSession("bkr_cli_a2", "https://a/")):
        assert is_successful(store.save(login, now=NOW))
    assert [(login.token, login.base_url) for login in store.logins()] == [
        ("bkr_cli_a2", "https://a/"),
        ("bkr_cli_b", "https://b/"),
    ]
    assert is_successful(store.remove("https://a"))
    assert [login.token for login in store.logins()] == ["bkr_cli_b"]
    assert is_successful(store.remove("https://b"))
    assert (store.logins(), store.path.exists()) == ((), False)


def test_save__loose_modes__are_repaired(store: CredentialStore) -> None:
    """A file and a folder that an earlier version left open are closed by the next login."""
    store.path.parent.mkdir(mode=0o755)
    store.path.write_text(json.dumps({"token": "bkr_cli_b", "base_url": "https://b"}))
    store.path.chmod(0o644)
    assert is_successful(store.save(A, now=NOW))
    assert (mode(store.path), mode(store.path.parent)) == (0o600, 0o700)
    assert len(store.logins()) == 2


def test_logins__file_that_others_may_read__is_closed_again(store: CredentialStore) -> None:
    """By whatever looks at it first; the logins in it still count."""
    store.save(A, now=NOW)
    store.path.chmod(0o666)
    assert [login.token for login in store.logins()] == [A.token]
    assert mode(store.path) == 0o600


def test_save__at_the_same_time__loses_no_login(store: CredentialStore) -> None:
    """Commands that log in to different APIs at once all keep theirs."""
    logins = [StoredSession(f"t{number}", f"https://h{number}") for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert all(map(is_successful, pool.map(lambda login: store.save(login, now=NOW), logins)))
    assert {login.token for login in store.logins()} == {login.token for login in logins}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"t"', b"\xff\xfe", b'{"token": 7}', b'{"token": "a", "token": "b"}', b"[" * 5000, None],
    ids=["empty", "cut", "list", "text", "bytes", "number", "twice", "deep", "folder"],
)
def test_logins__content_that_is_none__is_no_login_and_replaced(store: CredentialStore, content: bytes | None) -> None:
    """Whatever stands there, nobody is logged in, and logging in sets it right."""
    store.path.parent.mkdir(parents=True)
    if content is None:
        store.path.mkdir()
    else:
        store.path.write_bytes(content)
    assert store.logins() == ()
    assert is_successful(store.logins_for("https://a"))
    saved = store.save(A, now=NOW)
    if content is None:
        assert saved.failure().code == "BK701"
    else:
        assert [login.token for login in store.logins()] == ["bkr_cli_a"]
        kept = saved.unwrap()
        assert (kept is None) == (content == b"")
        assert kept is None or (kept.read_bytes(), kept.parent) == (content, store.path.parent)


def test_save__unreadable_file_again__keeps_each_of_them(store: CredentialStore) -> None:
    """No copy takes the place of an earlier one, and a file with logins is not copied."""
    store.path.parent.mkdir(parents=True)
    for number in (1, 2):
        store.path.write_text(f"broken {number}")
        assert store.save(A, now=NOW).unwrap().name == f"credentials.json.unreadable-{number}"
    assert store.save(B, now=NOW).unwrap() is None
    assert sorted(path.read_text() for path in store.path.parent.glob("*.unreadable-*")) == ["broken 1", "broken 2"]


def test_remove__unreadable_file__leaves_it_alone(store: CredentialStore) -> None:
    """Who is not logged in has nothing to forget."""
    store.path.parent.mkdir(parents=True)
    store.path.write_text("broken")
    assert is_successful(store.remove("https://a"))
    assert store.path.read_text() == "broken"


def test_ready__store_that_can_be_written__leaves_nothing_behind(store: CredentialStore) -> None:
    """No folder where there was none, and no file in one that was there."""
    assert is_successful(store.ready())
    assert not store.path.parent.exists()
    store.path.parent.mkdir()
    assert is_successful(store.ready())
    assert list(store.path.parent.iterdir()) == []


def test_ready__folder_that_cannot_be_made__is_said_before_anything(tmp_path: Path) -> None:
    """A login that could not be kept is no use to anybody."""
    (tmp_path / ".beaker").write_text("a file")
    store = credential_store({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)})
    assert store.ready().failure().code == "BK701"


def test_logins__folder_open_to_others__is_closed(store: CredentialStore) -> None:
    """Looking closes the folder as well as the file."""
    assert is_successful(store.save(A, now=NOW))
    store.path.parent.chmod(0o755)
    store.path.chmod(0o666)
    assert len(store.logins()) == 1
    assert (mode(store.path.parent), mode(store.path)) == (0o700, 0o600)


def test_logins__pipe__is_not_waited_for(store: CredentialStore) -> None:
    """What is no regular file is no login."""
    store.path.parent.mkdir()
    os.mkfifo(store.path)
    assert store.logins() == ()


def test_save__folder_that_cannot_be_made__is_a_problem_without_the_token(tmp_path: Path) -> None:
    """The reason names the file, and nothing that was to be kept."""
    (tmp_path / ".beaker").write_text("a file")
    store = credential_store({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)})
    problem = store.save(A, now=NOW).failure()
    assert problem.code == "BK701"
    assert "bkr_cli_a" not in repr(problem)


class Backend:
    """A keyring in place of the system's, as the package `keyring` offers it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def set_password(self, service: str, user: str, password: str) -> None:
        if self.locked:
            raise RuntimeError(f"locked; will not keep {password}")
        self.kept[service, user] = password

    def get_password(self, service: str, user: str) -> str | None:
        if self.locked:
            raise RuntimeError("locked")
        return self.kept.get((service, user))

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Backend:
    backend = Backend()
    monkeypatch.setitem(sys.modules, "keyring", backend)  # type: ignore[arg-type]  # what is imported is its interface
    return backend


def test_ready__keyring_that_is_locked__is_said_before_anything(store: CredentialStore, keyring: Backend) -> None:
    """A keyring that would not keep the login is found out before somebody logs in."""
    assert is_successful(store.ready(keyring=True))
    keyring.locked = True
    assert store.ready(keyring=True).failure().code == "BK155"
    assert is_successful(store.ready())


def test_keyring__keeps_the_token_out_of_the_file(store: CredentialStore, keyring: Backend) -> None:
    """The file says that there is a login and to which API; only the keyring knows the token."""
    assert is_successful(store.save(A, now=NOW, keyring=True))
    assert is_successful(store.save(B, now=NOW))
    assert "bkr_cli_a" not in store.path.read_text()
    assert keyring.kept == {("beaker", "https://a"): "bkr_cli_a"}
    assert [login.token for login in store.logins_for("https://a/").unwrap()] == ["bkr_cli_b", "bkr_cli_a"]
    assert [login.token for login in store.logins_for("https://b").unwrap()] == ["bkr_cli_b", ""]


def test_keyring__login_that_ends_or_moves__is_forgotten_there(store: CredentialStore, keyring: Backend) -> None:
    """A login that goes back to the file, or ends, leaves no token in the keyring."""
    assert is_successful(store.save(A, now=NOW, keyring=True))
    assert is_successful(store.save(A, now=NOW))
    assert keyring.kept == {}
    assert is_successful(store.save(A, now=NOW, keyring=True))
    assert is_successful(store.remove("https://a"))
    assert (keyring.kept, store.logins()) == ({}, ())


def test_keyring__lost_token__is_no_login_and_can_be_removed(store: CredentialStore, keyring: Backend) -> None:
    """A keyring that was emptied means that nobody is logged in."""
    assert is_successful(store.save(A, now=NOW, keyring=True))
    keyring.kept.clear()
    assert [login.token for login in store.logins_for("https://a").unwrap()] == [""]
    assert is_successful(store.remove("https://a"))
    assert store.logins() == ()


def test_keyring__locked__is_said_without_the_token(store: CredentialStore, keyring: Backend) -> None:
    """What the keyring raises may hold what it was given, and is not shown; nothing is kept then."""
    keyring.locked = True
    problem = store.save(A, now=NOW, keyring=True).failure()
    assert problem.code == "BK155"
    assert "bkr_cli_a" not in repr(problem)
    assert store.logins() == ()
    keyring.locked = False
    assert is_successful(store.save(A, now=NOW, keyring=True))
    keyring.locked = True
    assert store.logins_for("https://a").failure().code == "BK155"
    assert is_successful(store.logins_for("https://b")), "a login elsewhere does not need the keyring"


def test_keyring__file_that_cannot_be_written__leaves_no_token_there(tmp_path: Path, keyring: Backend) -> None:
    """A token without its login would be lost in the keyring."""
    (tmp_path / ".beaker").write_text("a file")
    store = credential_store({"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)})
    assert store.save(A, now=NOW, keyring=True).failure().code == "BK701"
    assert keyring.kept == {}


def test_keyring__not_installed__names_the_extra(store: CredentialStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package there is a hint how to get it."""
    monkeypatch.setitem(sys.modules, "keyring", None)
    problem: Any = store.save(A, now=NOW, keyring=True).failure()
    assert (problem.code, "beaker-sdk[keyring]" in problem.hint) == ("BK155", True)
