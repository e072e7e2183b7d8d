"""Agent key, base URL and credential: precedence tables, sources, and that no token is shown."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.credentials import (
    DEFAULT_API_BASE_URL,
    Credential,
    StoredSession,
    choose_agent_key,
    choose_base_url,
    choose_credential,
    choose_login,
    login_to,
    overridden_key,
    same_api,
)
from beaker.core.logins import read_logins

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "credentials.json").read_text("utf-8"))
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("row", VECTORS["agent_key"])
def test_choose_agent_key__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed key and its source, or a refusal naming all three sources."""
    found = choose_agent_key(row["flag"], row["environ"], row["configured"], dotenv=row["dotenv"])
    if row["result"] is None:
        hint = found.failure().hint
        assert all(source in hint for source in ("--agent", "BEAKER_AGENT_KEY", "agent_key in the configuration"))
    else:
        assert [found.unwrap().key, found.unwrap().source] == row["result"]


@pytest.mark.parametrize("row", VECTORS["base_url"])
def test_choose_base_url__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed place and its source, or a refusal that shows no password."""
    found = choose_base_url(row["flag"], row["environ"], local=row["local"], configured=row["configured"])
    if row["result"] is None:
        assert found.failure().code == "BK132"
        assert "pw" not in str(found.failure())
    else:
        assert [found.unwrap().url, found.unwrap().source] == row["result"]
        assert found.unwrap().is_local == (row["result"][0] == "local")


@pytest.mark.parametrize("left, right, same", VECTORS["same_api"])
def test_same_api__vector__as_listed(left: str | None, right: str | None, same: bool) -> None:
    """Slashes at the end and blanks around do not count, everything else does; either way round."""
    assert same_api(left, right) == same_api(right, left) == same
    assert same_api(left, left)


@pytest.mark.parametrize("row", VECTORS["credential"])
def test_choose_credential__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed token and its source, or a refusal that says how to get one."""
    logins = read_logins(row["session"])
    found = choose_credential(row["flag"], logins, row["environ"], base_url=DEFAULT_API_BASE_URL, now=NOW)
    if row["result"] is None:
        assert found.failure().code == "BK133"
        assert all(way in found.failure().hint for way in ("--local", "beaker login", "--api-key", "BEAKER_API_KEY"))
    else:
        credential = found.unwrap()
        assert [credential.token, credential.source] == row["result"]
        assert credential.names_a_person == row["result"][0].startswith("bkr_cli_")


TEXTS = st.none() | st.text(max_size=6) | st.sampled_from([" ", "K"])


@given(TEXTS, st.dictionaries(st.just("BEAKER_AGENT_KEY"), st.text(max_size=4)), TEXTS, TEXTS)
def test_choose_agent_key__any_input__gives_a_key_without_blanks_or_a_problem(
    flag: str | None, environ: dict[str, str], configured: str | None, dotenv: str | None
) -> None:
    """Total; the key is never blank, and comes from the place that is named."""
    supplied = {} if dotenv is None else {"BEAKER_AGENT_KEY": dotenv}
    found = choose_agent_key(flag, environ, configured, dotenv=supplied)
    places = {"flag": flag, "environment": environ.get("BEAKER_AGENT_KEY"), "dotenv": dotenv, "config": configured}
    if is_successful(found):
        chosen = found.unwrap()
        assert chosen.key == (places[chosen.source] or "").strip() != ""
    else:
        assert not any((places[place] or "").strip() for place in ("flag", "environment", "config"))


@given(TEXTS | st.text(), st.booleans())
def test_choose_base_url__any_flag__gives_a_place_or_a_problem(flag: str | None, local: bool) -> None:
    """Total; what is chosen is this machine or an http(s) URL."""
    found = choose_base_url(flag, {}, local=local)
    if is_successful(found):
        assert found.unwrap().url.lower().startswith(("http://", "https://", "local"))
    else:
        assert found.failure().hint


@pytest.mark.parametrize("row", VECTORS["login"])
def test_choose_login__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed login, or says why none counts; an expired and a foreign one are both none."""
    found = choose_login(read_logins(row["stored"]), row["base_url"], now=NOW)
    if row["refused"] is None:
        assert found.unwrap().token == row["token"]
    else:
        assert (found.failure().code, found.failure().message) == ("BK150", row["refused"])
        assert "beaker login" in found.failure().hint


def test_choose_login__elsewhere__hints_at_the_option_only_then() -> None:
    """Another API is proposed where there is a login to one."""
    there = StoredSession("t", "https://a")
    assert "--base-url" in choose_login([there], "https://b", now=NOW).failure().hint
    assert "--base-url" not in choose_login([], "https://b", now=NOW).failure().hint
    assert "--base-url" not in choose_login([StoredSession(" ", "https://a")], "https://b", now=NOW).failure().hint


def test_choose_credential__no_login__says_why() -> None:
    """The refusal of a command that takes a key too says what is wrong with the login."""
    expired = StoredSession("t", "https://a", "2020-01-01T00:00:00Z")
    said = choose_credential(None, [expired], {}, base_url="https://a/", now=NOW).failure().message
    assert said == "no credential for https://a/: the login to https://a/ expired at 2020-01-01T00:00:00Z"


def test_login_to__token_that_is_not_there__is_no_login() -> None:
    """A login whose token is elsewhere or blank does not count; its expiry plays no part."""
    old = StoredSession("t", "https://a", "2020-01-01T00:00:00Z")
    assert login_to([StoredSession(" ", "https://a"), old], "https://a/") == old
    assert login_to([old], "https://b") is None


def test_tokens__in_a_representation__are_hidden() -> None:
    """Neither a credential nor a login shows its token."""
    for holder in (Credential("sekret", "flag"), StoredSession("sekret")):
        assert "sekret" not in f"{holder!r}{holder}"


@pytest.mark.parametrize(
    ("environ", "configured", "dotenv", "said"),
    [
        ({"BEAKER_AGENT_KEY": "b"}, "a", {}, ("the environment", "b")),
        ({}, " a ", {"BEAKER_AGENT_KEY": "b"}, (".beaker/.env", "b")),
        ({"BEAKER_AGENT_KEY": "b"}, None, {}, None),
        ({"BEAKER_AGENT_KEY": "b"}, " ", {}, None),
        ({"BEAKER_AGENT_KEY": " a"}, "a ", {}, None),
        ({"BEAKER_AGENT_KEY": ""}, "a", {"BEAKER_AGENT_KEY": "b"}, None),
        ({}, None, {}, None),
    ],
)
def test_overridden_key__variable_with_another_key__is_told(
    environ: dict[str, str], configured: str | None, dotenv: dict[str, str], said: tuple[str, str] | None
) -> None:
    """Where the variable stands, which key it names, and what to do; nothing where both say the same."""
    problem = overridden_key(environ, configured, dotenv=dotenv)
    if said is None:
        assert problem is None
        return
    assert problem is not None
    assert problem.code == "BK157"
    assert problem.message == f"BEAKER_AGENT_KEY of {said[0]} names another agent, {said[1]}, and comes before a"
    assert problem.hint == "unset it, give it the value a, or pass --agent"
