"""The stored logins as a file has them: one for each API, readable by versions that kept one, and back the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.credentials import DEFAULT_API_BASE_URL, StoredSession, same_api
from beaker.core.logins import expiry, logins_json, over_already, read_logins, with_login, with_token, without_login
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

URLS = st.sampled_from([DEFAULT_API_BASE_URL, "https://a", "https://a/", "http://127.0.0.1:9/", "https://b"])
LOGINS = st.builds(
    lambda token, url, expires_at, saved_at, keyring: StoredSession(
        "" if keyring else token, url, expires_at, saved_at, keyring
    ),
    st.text(max_size=5),
    URLS,
    st.text(max_size=5),
    st.text(max_size=5),
    st.booleans(),
)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("token", "base_url", "expires_at", "saved_at", "keyring", "others"), inner)
        )
    ),
)


def test_read_logins__file_of_one_login__is_that_login() -> None:
    """What versions with a single slot wrote is read, and what is written they read."""
    stored = {
        "base_url": "http://127.0.0.1:9/",
        "expires_at": "2031-05-01T00:00:00Z",
        "saved_at": "2031-04-01T10:00:00",
        "token": "bkr_cli_x1",
    }
    login = StoredSession("bkr_cli_x1", "http://127.0.0.1:9/", "2031-05-01T00:00:00Z", "2031-04-01T10:00:00")
    assert read_logins(stored) == (login,)
    assert logins_json([login]) == stored
    several = logins_json([login, StoredSession("bkr_cli_x2", saved_at="2031")])
    assert several == stored | {"others": [{"token": "bkr_cli_x2", "expires_at": "", "saved_at": "2031"}]}


def test_logins_json__token_in_the_keyring__is_not_in_the_file() -> None:
    """An earlier version finds no login there, rather than an empty one."""
    kept = StoredSession("", "https://a", in_keyring=True)
    assert logins_json([kept]) == {"keyring": True, "expires_at": "", "saved_at": "", "base_url": "https://a"}
    assert read_logins({"keyring": True, "token": "t", "base_url": "https://a"}) == (kept,)
    assert read_logins({"keyring": "yes", "base_url": "https://a"}) == ()


@pytest.mark.parametrize("base_url", [5, True, [], {}, 0])
def test_read_logins__api_that_is_no_text__is_no_login(base_url: Any) -> None:
    """Only where no API is said is it the vendor's; a token for who knows whom goes to nobody."""
    assert read_logins({"token": "t", "base_url": base_url}) == ()
    assert read_logins({"token": "t", "base_url": None}) == (StoredSession("t"),)


@given(JSON)
def test_read_logins__any_content__gives_one_login_for_each_api(stored: object) -> None:
    """Total; what is read and written again is the same."""
    logins = read_logins(stored)
    for number, login in enumerate(logins):
        assert not any(same_api(login.base_url, other.base_url) for other in logins[:number])
    if logins:
        assert read_logins(json.loads(json.dumps(logins_json(logins)))) == logins


@given(st.lists(LOGINS, max_size=4), LOGINS)
def test_with_login__is_first_and_alone_to_its_api(earlier: list[StoredSession], login: StoredSession) -> None:
    """The latest login replaces the one to the same API and leaves the others as they were."""
    logins = with_login(earlier, login)
    assert logins[0] == login
    assert list(logins[1:]) == [one for one in earlier if not same_api(one.base_url, login.base_url)]
    assert without_login(logins, login.base_url) == logins[1:]


def test_with_token__fills_the_login_it_is_meant_for() -> None:
    """The token that the keyring gave goes to its login alone."""
    here, there = StoredSession("", "https://a", in_keyring=True), StoredSession("", "https://b", in_keyring=True)
    filled = with_token([here, there], "https://a/", "t")
    assert [login.token for login in filled] == ["t", ""]


def test_repr__login__shows_no_token() -> None:
    """Neither read nor changed logins show their tokens."""
    assert "sekret" not in repr(with_login(read_logins({"token": "sekret"}), StoredSession("sekret", "https://a")))


def test_expiry__said_by_the_api__comes_before_what_is_kept() -> None:
    """What says nothing counts for nothing."""
    login = StoredSession(token="t", base_url="u", expires_at="2030", saved_at="")
    assert expiry({"cli_session": {"expires_at": "2031"}}, login) == "2031"
    for me in ({}, {"cli_session": None}, {"cli_session": {}}, {"cli_session": {"expires_at": ""}}):
        assert expiry(me, login) == "2030"
        assert expiry(me, StoredSession(token="t", base_url="u", expires_at="", saved_at="")) is None


def test_over_already__login_that_the_api_does_not_know__is_over() -> None:
    """Only 401 says so."""
    assert over_already(ApiProblem("BK806", "no", status=401))
    assert not over_already(ApiProblem("BK805", "no", status=403))
    assert not over_already(Problem("BK803", "no answer"))
