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
    read_session,
    same_api,
    session_json,
)

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
    session = read_session(row["session"])
    found = choose_credential(row["flag"], session, row["environ"], base_url=DEFAULT_API_BASE_URL, now=NOW)
    if row["result"] is None:
        assert found.failure().code == "BK133"
        assert "--local" in found.failure().hint
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(max_size=3), inner)
)


@given(JSON | st.fixed_dictionaries({}, optional={"token": JSON, "expires_at": JSON | st.datetimes().map(str)}))
def test_read_session__any_content__gives_a_login_or_none(stored: object) -> None:
    """Total; a login written back is the same login, and asking whether it lives never fails."""
    session = read_session(stored)
    if session is not None:
        session.live(NOW)
        again = read_session(json.loads(json.dumps(session_json(session, saved_at="2026-01-01T10:00:00"))))
        assert again == session
        assert "base_url" not in session_json(session, saved_at="")


def test_session_json__other_api__is_kept() -> None:
    """Only the vendor's API goes without saying."""
    session = StoredSession("bkr_cli_x1", "http://127.0.0.1:9/", "2031-05-01T00:00:00Z")
    assert session_json(session, saved_at="2031-04-01T10:00:00") == {
        "base_url": "http://127.0.0.1:9/",
        "expires_at": "2031-05-01T00:00:00Z",
        "saved_at": "2031-04-01T10:00:00",
        "token": "bkr_cli_x1",
    }


def test_tokens__in_a_representation__are_hidden() -> None:
    """Neither a credential nor a login shows its token."""
    for holder in (Credential("sekret", "flag"), StoredSession("sekret")):
        assert "sekret" not in f"{holder!r}{holder}"
