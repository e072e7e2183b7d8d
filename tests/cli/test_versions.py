"""What a command says of a service whose version does not fit: one warning, and nothing else changes."""

import json
from typing import Any

import pytest

import beaker as package
from beaker.core.versions import CLIENT_HEADER

PAGE = {"runs": [], "total": 0, "offset": 0}
LIST = "/v1/optimization-runs"


def listed(hosted: Any, desk: Any, version: str | None, *more: str) -> Any:
    """What `run list` does at a service that says this of itself."""
    headers = {} if version is None else {"X-Beaker-Service-Version": version}
    hosted.answer("GET", LIST, 200, PAGE, headers=headers)
    desk.begin(None)
    environ = {"BEAKER_API_KEY": hosted.api_key, "BEAKER_AGENT_KEY": hosted.agent_key}
    return desk.run("run", "list", *more, environ=environ)


@pytest.mark.parametrize(("version", "code"), [("99.0.0", "BK830"), ("0.0.1", "BK831")])
def test_service__that_does_not_fit__is_warned_of_once(hosted: Any, desk: Any, version: str, code: str) -> None:
    """The command does its work, and says on standard error which side is older; also under --quiet, not in JSON."""
    plain = listed(hosted, desk, package.__version__)
    for more in ((), ("--quiet",)):
        done = listed(hosted, desk, version, *more)
        assert (done["code"], done["out"]) == (0, plain["out"])
        assert (
            done["err"].count(f"warning: {code} the service is version {version}, this is {package.__version__}") == 1
        )
        assert done["err"].count("warning:") == 1
    assert json.loads(listed(hosted, desk, version, "--json")["out"]) == PAGE
    assert listed(hosted, desk, version, "--json")["err"] == ""


@pytest.mark.parametrize("version", [None, "", package.__version__, "nginx/1.27", "2 \u00e9"])
def test_service__that_fits_or_says_nothing__is_not_warned_of(hosted: Any, desk: Any, version: str | None) -> None:
    """Another product, an older proxy or our own version: not a word."""
    assert listed(hosted, desk, version)["err"] == ""
    assert hosted.asked("GET", LIST)[-1].headers[CLIENT_HEADER] == package.__version__


def test_service__that_does_not_fit__is_warned_of_once_in_many_calls(hosted: Any, desk: Any) -> None:
    """A command that asks again and again says it once, whatever it opens on the way."""
    headers = {"X-Beaker-Service-Version": "99.1"}
    for path in ("/v1/user/me", "/v1/user/github/connection", "/v1/user/github/repositories"):
        body = {"connected": True, "installations": [], "repositories": ["a/b"], "user": {}, "organization": {}}
        hosted.answer("GET", path, 200, body, headers=headers)
    desk.begin({"token": "bkr_cli_hosted_1", "expires_at": ""})
    done = desk.run("github", "connect", "--repo", "a/b")
    assert (done["code"], done["err"].count("BK830")) == (0, 1)
    assert len(hosted.requests) > 1
