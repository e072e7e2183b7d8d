"""Logging in and out: the browser, patient polls, several APIs at once, and which credential a command takes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.browser import open_page

START, POLL = "/v1/web/auth/cli/start", "/v1/web/auth/cli/poll"
PENDING = {"status": "pending"}
STORED = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z"}


def logins(desk: Any) -> Any:
    """The content of the file of logins, `None` when there is none."""
    file = desk.home / ".beaker/credentials.json"
    return json.loads(file.read_text()) if file.exists() else None


@pytest.fixture
def browser(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """An environment with a browser that notes what it was given; `status` is how it ends."""

    def make(status: int = 0) -> dict[str, str]:
        program = tmp_path / "browser"
        program.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {tmp_path}/opened\npwd > {tmp_path}/from\nexit {status}\n')
        program.chmod(0o755)
        return {"BROWSER": f"{program} %s", "PATH": "/usr/bin:/bin"}

    return make


@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")
def test_login__browser__gets_the_page_that_knows_the_code(
    desk: Any, browser: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """The browser of `BROWSER` is asked from a folder of nobody's; `--no-browser` asks none."""
    desk.begin(None)
    done = desk.run("login", "--no-browser", environ=browser())
    assert (done["code"], "opened" in done["out"] + done["err"]) == (0, False)
    assert not (tmp_path / "opened").exists()
    desk.begin(None)
    done = desk.run("login", environ=browser())
    assert "a page was opened in your browser; it knows the code already" in done["out"]
    assert "{api}/cli\n  code: ABCD-1234" in done["out"]
    assert (tmp_path / "opened").read_text() == f"{desk.hosted.url}/cli#code=ABCD-1234"
    assert (tmp_path / "from").read_text().strip() == "/"
    assert open_page("https://app.example/", browser(1)) is False


def test_open_page__without_a_screen__asks_no_browser_of_the_terminal() -> None:
    """Text browsers would take the terminal."""
    if sys.platform not in ("darwin", "win32"):
        assert open_page("https://app.example/", {"PATH": "/usr/bin:/bin", "TERM": "xterm"}) is False


def test_login__trouble_between_polls__is_waited_out(desk: Any) -> None:
    """503s, a full service, dropped connections and a closed lid do not end a login; the pauses are the API's."""
    desk.begin(None)
    desk.hosted.answer("POST", POLL, 200, PENDING, times=1)
    desk.hosted.answer("POST", POLL, 503, {"detail": "later"}, times=2)
    desk.hosted.answer("POST", POLL, 429, {"detail": "slow down"}, headers={"retry-after": "7"}, times=1)
    desk.hosted.answer("POST", POLL, 0, times=2)

    def lid() -> None:
        if len(desk.sleeps) == 3:
            desk.now += 8 * 3600

    desk.asleep = lid
    assert desk.run("login", "--timeout", "100")["code"] == 0
    assert desk.sleeps == [0.2, 0.2, 0.2, 7.0, 0.2, 0.2]
    assert logins(desk)["token"] == "bkr_cli_hosted_1"
    assert all("authorization" not in one.headers for one in desk.hosted.asked("POST", POLL))


def test_login__every_fault_that_passes__is_waited_out(desk: Any, faulty: Any) -> None:
    """One after the other between two polls, whatever the network and the gateways do."""
    desk.at(faulty)
    desk.begin(None)
    faults = ("drop before headers", "drop in body", "reset", "no HTTP", "429", "500", "503", "clock skew")
    for fault in faults:
        faulty.fault(fault, "POST", POLL)
    assert desk.run("login")["code"] == 0
    assert len(faulty.asked("POST", POLL)) == len(faults) + 1


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (200, {"status": "denied"}, "BK820"),
        (200, {"status": "expired"}, "BK820"),
        (200, {"status": "consumed"}, "BK820"),
        (200, {"status": "approved"}, "BK821"),
        (200, PENDING, "BK820"),
        (503, {"detail": "later"}, "BK820"),
        (404, {"detail": "unknown challenge"}, "BK807"),
        (200, [], "BK804"),
    ],
)
def test_login__bad_end__leaves_the_logins_as_they_were(desk: Any, status: int, answer: Any, code: str) -> None:
    """Exit code 2 with the reason; an older login to another API stays."""
    desk.begin({**STORED, "base_url": "https://other.example"})
    before = logins(desk)
    desk.hosted.answer("POST", POLL, status, answer)
    done = desk.run("login", "--timeout", "3")
    assert (done["code"], f"error: {code} " in done["err"]) == (2, True)
    assert logins(desk) == before


def test_login__stored_one_that_works__is_kept(desk: Any) -> None:
    """Nothing is asked for but who it is; one that does not work, or has expired, is replaced."""
    desk.begin(STORED)
    assert "still logged in" in desk.run("login")["out"]
    assert desk.hosted.asked("POST", START) == []
    desk.begin({**STORED, "token": "bkr_cli_elsewhere"})
    assert "beaker login: logged in" in desk.run("login")["out"]
    assert (logins(desk)["token"], "others" in logins(desk)) == ("bkr_cli_hosted_1", False)
    desk.begin({**STORED, "expires_at": "2020-01-01T00:00:00Z"})
    before = len(desk.hosted.asked("GET", "/v1/user/me"))
    assert "beaker login: logged in" in desk.run("login")["out"]
    assert len(desk.hosted.asked("GET", "/v1/user/me")) == before, "a token that has expired is not sent"


def test_login__several_apis__each_has_its_own(desk: Any, hosted_service: Callable[[], Any]) -> None:
    """Tokens go to the API that they are from; one ends without the others, or all at once."""
    other = hosted_service()
    other.session = "bkr_cli_elsewhere"
    other.answer("POST", POLL, 200, {"status": "approved", "token": "bkr_cli_elsewhere"})
    there = ("--base-url", other.url)
    try:
        desk.begin(None)
        for place in (None, there):
            assert desk.run("login", place=place)["code"] == 0
        assert (desk.run("auth", "status")["code"], desk.run("auth", "status", place=there)["code"]) == (0, 0)
        assert json.loads(desk.run("auth", "status", "--json")["out"])["others"] == [other.url]
        done = desk.run("logout", place=there)
        assert (done["code"], "still logged in to {api}; --all ends every login" in done["err"]) == (0, True)
        assert (desk.run("auth", "status")["code"], desk.run("auth", "status", place=there)["code"]) == (0, 1)
        assert desk.run("login", place=there)["code"] == 0
        ended = json.loads(desk.run("logout", "--all", "--json")["out"])
        assert [one["revoked"] for one in ended["logged_out"]] == [True, True]
        assert logins(desk) is None
        tokens = {one.headers.get("authorization") for one in other.requests} - {None}
        assert tokens == {"Bearer bkr_cli_elsewhere"}
        assert {one.headers.get("authorization") for one in desk.hosted.requests} - {None} == {
            "Bearer bkr_cli_hosted_1"
        }
    finally:
        other.close()


def test_login__keyring__has_the_token_and_the_file_has_not(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command finds the token there; logging out takes it from there too."""
    kept: dict[tuple[str, str], str] = {}

    class Keyring:
        set_password = staticmethod(lambda service, user, token: kept.update({(service, user): token}))
        get_password = staticmethod(lambda service, user: kept.get((service, user)))
        delete_password = staticmethod(lambda service, user: kept.pop((service, user)))

    monkeypatch.setitem(sys.modules, "keyring", Keyring)  # type: ignore[arg-type]  # what is imported is its interface
    desk.begin(None)
    assert desk.run("login", "--keyring")["code"] == 0
    assert kept == {("beaker", desk.hosted.url): "bkr_cli_hosted_1"}
    assert "token" not in logins(desk)
    assert "(token in the keyring)" in desk.run("auth", "status")["out"]
    assert desk.run("agent", "list")["code"] == 0
    assert "still logged in" in desk.run("login")["out"]
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "BK155" in desk.run("agent", "list")["err"]
    monkeypatch.setitem(sys.modules, "keyring", Keyring)  # type: ignore[arg-type]
    assert desk.run("logout")["code"] == 0
    assert (kept, logins(desk)) == ({}, None)


@pytest.mark.parametrize(
    ("stored", "place", "environ", "bearer"),
    [
        (STORED, (), {}, "bkr_cli_hosted_1"),
        (STORED, (), {"BEAKER_API_KEY": "bkr_live_hosted_1"}, "bkr_cli_hosted_1"),
        (STORED, ("--api-key", "bkr_live_hosted_1"), {}, "bkr_live_hosted_1"),
        ({**STORED, "expires_at": "2020-01-01"}, (), {"BEAKER_API_KEY": "bkr_live_hosted_1"}, "bkr_live_hosted_1"),
        ({**STORED, "base_url": "https://a.example"}, (), {"BEAKER_API_KEY": "bkr_live_hosted_1"}, "bkr_live_hosted_1"),
        (None, (), {"BEAKER_API_KEY": "bkr_live_hosted_1"}, "bkr_live_hosted_1"),
    ],
    ids=["login", "login before variable", "option before login", "expired", "foreign", "variable"],
)
def test_credential__of_a_command_that_takes_either__is_chosen_in_order(
    desk: Any, stored: Any, place: tuple[str, ...], environ: dict[str, str], bearer: str
) -> None:
    """The option, a live login to this very API, the variable: runs, models and agents alike."""
    desk.begin(stored)
    for argv in (("run", "list", "--agent", "inv-agent"), ("model", "list", "--agent", "inv-agent"), ("agent", "list")):
        done = desk.run(*argv, place=("--base-url", desk.hosted.url, *place), environ=environ)
        assert done["code"] == 0, done
        assert desk.hosted.requests[-1].headers["authorization"] == f"Bearer {bearer}"


NEEDING = [
    ("run", "list", "--agent", "inv-agent"),
    ("dataset", "list", "--agent", "inv-agent"),
    ("model", "list", "--agent", "inv-agent"),
    ("agent", "list"),
    ("agent", "create", "New", "--repo", "acme/website"),
    ("agent", "setup", "inv-agent"),
    ("agent", "edit", "inv-agent", "--name", "x"),
    ("agent", "env", "list", "--agent", "inv-agent"),
    ("auth", "status"),
    ("github", "status"),
    ("github", "branches", "--repo", "acme/invoices"),
]


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({**STORED, "expires_at": "2020-01-01T00:00:00Z"}, "the login to {api} expired at 2020-01-01T00:00:00Z"),
        ({**STORED, "base_url": "https://a.example"}, "not logged in to {api}, only to https://a.example"),
        (None, "not logged in to {api}"),
    ],
    ids=["expired", "foreign", "none"],
)
def test_login_that_counts_for_nothing__is_treated_alike_by_every_command(desk: Any, stored: Any, said: str) -> None:
    """Each says the same of it and sends nothing; only the questions whether there is one answer no (1)."""
    desk.begin(stored)
    for argv in NEEDING:
        done = desk.run(*argv)
        assert said in done["out"] + done["err"], argv
        assert done["code"] == (1 if argv[1] == "status" else 2), argv
    assert desk.hosted.requests == []


def test_repository_of_a_stranger__gets_no_token(desk: Any, hosted_service: Callable[[], Any], tmp_path: Path) -> None:
    """Neither its dotenv file nor its configuration moves the API, names a browser, or supplies a credential."""
    thief, opened = hosted_service(), tmp_path / "opened"
    try:
        desk.begin(STORED)
        (desk.project / ".beaker/.env").write_text(
            f"BEAKER_API_BASE_URL={thief.url}\nBEAKER_API_KEY=theirs\nBROWSER=touch {opened} %s\nHOME={tmp_path}\n"
            f"HTTP_PROXY={thief.url}\nBEAKER_CONFIG_FILE=../x\n"
        )
        environ = {"BEAKER_API_BASE_URL": desk.hosted.url}
        assert desk.run("auth", "status", place=(), environ=environ)["code"] == 0
        assert desk.run("agent", "list", place=(), environ=environ)["code"] == 0
        (desk.home / ".beaker/credentials.json").unlink()
        assert "BK133" in desk.run("agent", "list", place=(), environ=environ)["err"], "no key from the repository"
        assert desk.run("login", place=(), environ=environ)["code"] == 0
        (desk.project / ".beaker/beaker.yaml").write_text(f"api: {thief.url}\nintegrations: {{}}\n")
        assert desk.run("auth", "status", place=(), environ=environ)["code"] == 0
        assert (thief.requests, opened.exists()) == ([], False)
    finally:
        thief.close()
