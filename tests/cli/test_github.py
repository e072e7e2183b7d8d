"""Access to GitHub from the command line: pages that are opened, and waits that survive what happens meanwhile."""

import json
from typing import Any

import pytest

CONNECTION, CONNECT = "/v1/user/github/connection", "/v1/user/github/connect"
REPOSITORIES = "/v1/user/github/repositories"
NO: dict[str, Any] = {"connected": False, "installations": []}
STORED = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z"}


def test_connect__wait__survives_503s_dropped_connections_and_a_closed_lid(desk: Any) -> None:
    """Through all of that the wait goes on, opens each page once, and ends when the repository can be read."""
    desk.begin(STORED)
    hosted = desk.hosted
    hosted.answer("GET", CONNECTION, 200, NO, times=1)
    hosted.answer("POST", CONNECT, 503, {"detail": "later"}, times=1)
    hosted.answer("GET", CONNECTION, 0, times=2)
    hosted.answer("GET", CONNECTION, 200, NO, times=2)
    hosted.answer("GET", CONNECTION, 502, b"<html>bad gateway</html>", times=2)
    hosted.answer("GET", REPOSITORIES, 200, {"repositories": []}, times=2)
    hosted.answer("GET", REPOSITORIES, 0, times=1)
    hosted.answer("GET", REPOSITORIES, 429, {"detail": "slow down"}, headers={"retry-after": "11"}, times=1)

    def lid() -> None:
        if len(desk.sleeps) in (2, 6):
            desk.now += 12 * 3600
        if len(desk.sleeps) == 4:
            desk.now -= 3600

    desk.asleep = lid
    done = desk.run("github", "connect", "--repo", "ACME/invoices", "--timeout", "400")
    assert done["code"] == 0, done
    assert done["out"].splitlines()[-1] == "beaker github connect: ready acme/invoices"
    assert done["out"].count("{api}/apps/beaker/installations/new") == 2, "once to connect, once for the repository"
    assert set(desk.sleeps) == {2.0, 11.0}
    assert all(one.headers["authorization"] == "Bearer bkr_cli_hosted_1" for one in hosted.asked("POST", CONNECT))


PASSING = (
    "drop before headers", "drop in headers", "drop in body", "reset", "no HTTP", "length too long", "429", "500",
    "502", "503", "504", "echo", "clock skew",
)  # fmt: skip


@pytest.mark.parametrize("path", [CONNECTION, REPOSITORIES])
def test_connect__every_fault_that_passes__is_waited_out(desk: Any, faulty: Any, path: str) -> None:
    """One after the other, whatever the network and the gateways do; the token is shown by none."""
    desk.at(faulty)
    desk.begin(STORED)
    if path == CONNECTION:
        faulty.answer("GET", CONNECTION, 200, NO, times=1)
    for fault in PASSING:
        faulty.fault(fault, "GET", path)
    if path == REPOSITORIES:
        # The first look has to be answered, which is the one at the connection here.
        faulty.answer("GET", REPOSITORIES, 200, {"repositories": []}, times=1)
    done = desk.run("github", "connect", "--repo", "acme/invoices")
    assert done["code"] == 0, done
    assert done["out"].count("/installations/new") == 1
    assert len(faulty.asked("GET", path)) >= len(PASSING) + 1
    assert faulty.visitors == 0


@pytest.mark.parametrize("fault", ["login page", "truncated JSON", "length too short", "redirect"])
def test_connect__fault_that_stays__ends_the_wait(desk: Any, faulty: Any, fault: str) -> None:
    """What is no answer of this API, or leads elsewhere, is said at once; nothing goes elsewhere."""
    desk.at(faulty)
    desk.begin(STORED)
    faulty.answer("GET", CONNECTION, 200, NO, times=1)
    faulty.fault(fault, "GET", CONNECTION)
    done = desk.run("github", "connect")
    assert (done["code"], faulty.visitors) == (2, 0)


def test_connect__last_trouble__is_shown_without_the_token(desk: Any, faulty: Any) -> None:
    """A gateway that answers with what it was sent does not get the token onto the screen."""
    desk.at(faulty)
    desk.begin(STORED)
    faulty.answer("GET", CONNECTION, 200, NO, times=1)
    faulty.fault("echo", "GET", CONNECTION, times=None)
    done = desk.run("github", "connect", "--timeout", "3")
    assert (done["code"], "at last: you sent" in done["err"]) == (2, True)


def test_connect__nobody_acts__ends_after_the_timeout(desk: Any) -> None:
    """Looks come every two seconds, the last one at the very end."""
    desk.begin(STORED)
    desk.hosted.answer("GET", CONNECTION, 200, NO)
    began = desk.now
    done = desk.run("github", "connect", "--timeout", "7")
    assert (done["code"], "BK823 GitHub was not connected within 7 seconds" in done["err"]) == (2, True)
    assert desk.sleeps == [2.0, 2.0, 2.0, 1.0]
    assert desk.now - began == 7.0
    assert len(desk.hosted.asked("GET", CONNECTION)) == 5


def test_connect__forbidden__says_who_may(desk: Any) -> None:
    """Rights that lack are said, and nothing is waited for."""
    desk.begin(STORED)
    desk.hosted.answer("GET", CONNECTION, 200, NO)
    desk.hosted.answer("POST", CONNECT, 403, {"detail": "admins only"})
    done = desk.run("github", "connect")
    assert (done["code"], desk.sleeps) == (2, [])
    assert "BK822 you may not connect GitHub for this organization (admins only)" in done["err"]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:alert(1)", "", 7])
def test_connect__address_that_is_no_page__is_neither_opened_nor_printed_as_one(desk: Any, address: Any) -> None:
    """A browser gets web pages only."""
    desk.begin(STORED)
    desk.hosted.answer("GET", CONNECTION, 200, NO)
    desk.hosted.answer("POST", CONNECT, 200, {"install_url": address})
    done = desk.run("github", "connect", environ={"BROWSER": "false"})
    assert (done["code"], "open this page" in done["out"]) == (2, False)


def test_connect__json__is_a_line_for_each_page_and_one_in_the_end(desk: Any, conforms: Any) -> None:
    """Whoever reads along can show the pages."""
    desk.begin(None)
    desk.hosted.answer("GET", CONNECTION, 200, NO, times=1)
    desk.hosted.answer("GET", REPOSITORIES, 200, {"repositories": []}, times=1)
    done = desk.run("github", "connect", "--repo", "acme/website", "--json")
    lines = [json.loads(line) for line in done["out"].splitlines()]
    for line in lines:
        conforms(line, "cli-github-connect.json")
    assert [line["event"] for line in lines] == ["confirm", "install", "install", "ready"]


def test_status__earlier_service__names_one_installation(desk: Any) -> None:
    """Services that knew one installation are understood."""
    desk.begin(STORED)
    desk.hosted.answer("GET", CONNECTION, 200, {"connected": True, "installation_id": "77"})
    done = desk.run("github", "status")
    assert (done["code"], "-  installation 77  repositories 0" in done["out"]) == (0, True)


def test_status__control_characters__are_made_visible(desk: Any) -> None:
    """A service cannot move the cursor."""
    desk.begin(STORED)
    named = {"account_login": "ac\x1b[2Jme", "installation_id": "1\n2", "repositories": 7}
    desk.hosted.answer("GET", CONNECTION, 200, {"connected": True, "installations": [named]})
    done = desk.run("github", "status")
    assert (done["code"], "\x1b" in done["out"], len(done["out"].splitlines())) == (0, False, 2)


@pytest.mark.parametrize("action", ["status", "connect", "branches"])
@pytest.mark.parametrize("repository", ["acme", "a/b/c", "https://github.com/a/b", " "])
def test_repository__that_is_none__is_refused_before_anything_is_sent(desk: Any, action: str, repository: str) -> None:
    """OWNER/NAME, exactly."""
    desk.begin(STORED)
    done = desk.run("github", action, "--repo", repository)
    assert (done["code"], "BK154" in done["err"], desk.hosted.requests) == (2, True, [])
