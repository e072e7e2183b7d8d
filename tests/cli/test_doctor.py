"""`beaker doctor` against real folders, a real repository and a loopback service."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}


def states(done: dict[str, Any]) -> dict[str, str]:
    """How each check came out."""
    return {check["name"]: check["state"] for check in json.loads(done["out"])["checks"]}


@pytest.fixture
def doctor(desk: Any, conforms: Callable[[object, str], None]) -> Callable[..., dict[str, Any]]:
    """Run `beaker doctor --json` at somebody's desk."""

    def call(*more: str, stored: Any = LOGIN, **options: Any) -> dict[str, Any]:
        desk.begin(stored)
        done: dict[str, Any] = desk.run("doctor", "--json", *more, **options)
        conforms(json.loads(done["out"]), "cli-doctor.json")
        return done

    return call


def test_doctor__hosted__asks_the_service_with_the_credential(doctor: Any, desk: Any) -> None:
    """A login asks who it is, a key lists agents; a credential that is refused is a fault of the service's answer."""
    (desk.project / "m.py").write_text("i = 1\n")
    (desk.home / ".beaker").mkdir(parents=True)
    found = doctor()
    assert states(found)["credentials"] == "warning"  # the file of the test is readable by others
    (desk.home / ".beaker/credentials.json").chmod(0o600)
    done = desk.run("doctor", "--json")
    assert (states(done)["credentials"], states(done)["service"]) == ("ok", "ok")
    key = ("--base-url", desk.hosted.url, "--api-key", desk.hosted.api_key)
    assert states(doctor(place=key))["service"] == "ok"
    assert [one.path for one in desk.hosted.requests] == ["/v1/user/me", "/v1/user/me", "/v1/agents"]
    refused = doctor(place=("--base-url", desk.hosted.url, "--api-key", "other"))
    assert (states(refused)["service"], refused["code"]) == ("fault", 1)


def test_doctor__nobody_answers__is_a_fault_and_the_rest_is_looked_at(doctor: Any) -> None:
    """One check keeps no other from being made."""
    done = doctor(place=("--base-url", "http://127.0.0.1:9", "--api-key", "k"))
    found = states(done)
    assert (found["service"], found["disk"], found["sandbox"], done["code"]) == ("fault", "ok", "ok", 1)
    assert "no answer from http://127.0.0.1:9" in done["out"]


def test_doctor__no_credential__skips_the_service(doctor: Any) -> None:
    """What cannot be asked is not called broken."""
    done = doctor(stored=None)
    assert (states(done)["credentials"], states(done)["service"], done["code"]) == ("fault", "skipped", 1)


def test_doctor__local__needs_nothing(doctor: Any, desk: Any) -> None:
    """On this machine nothing is asked, and nothing is made."""
    done = doctor(place=("--local",))
    assert (states(done)["credentials"], states(done)["service"]) == ("ok", "ok")
    assert desk.hosted.requests == []
    assert not (desk.project / ".beaker/local").exists()
    refused = doctor(place=("--local", "--api-key", "k"))
    assert (states(refused)["service"], "credentials" in states(refused)) == ("fault", False)


def test_doctor__broken_configuration__is_told_with_its_line(doctor: Any, desk: Any) -> None:
    """And everything else is looked at."""
    desk.begin(LOGIN)
    (desk.project / ".beaker/beaker.yaml").write_text("integrations: [\n")
    done = desk.run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done["out"])["checks"]}
    assert (checks["configuration"]["state"], done["code"]) == ("fault", 1)
    assert ".beaker/beaker.yaml:" in checks["configuration"]["message"]
    assert checks["service"]["state"] == "ok"


def test_doctor__environment_of_the_project__is_named_when_it_is_another(doctor: Any, desk: Any) -> None:
    """An active one counts before `.venv`. What an environment says of itself is read; nothing of it is started."""
    python, notes = desk.project / ".venv/bin/python", desk.project / ".venv/pyvenv.cfg"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {desk.project}/started\n")
    python.chmod(0o755)
    told = "{project}/.venv/bin/python, the project's .venv, runs the project's code"
    for version in (".".join(map(str, sys.version_info[:3])), None):
        notes.write_text("home = /usr/bin\n" if version is None else f"version_info = {version}\n")
        done = doctor()
        assert (states(done)["python"], told in done["out"]) == ("ok", True)
    notes.write_text("home = /usr/bin\nversion = 3.9.1\n")
    done = doctor()
    assert (states(done)["python"], "it is Python 3.9.1, and Beaker runs on" in done["out"]) == ("fault", True)
    active = doctor(environ={"VIRTUAL_ENV": sys.prefix})
    assert states(active)["python"] == "ok"
    gone = doctor(environ={"VIRTUAL_ENV": "/nowhere"})
    assert (states(gone)["python"], "/nowhere has no interpreter" in gone["out"]) == ("fault", True)
    assert not (desk.project / "started").exists()


def test_doctor__repository__is_looked_at(beaker: Any, git: Any, tmp_path: Path) -> None:
    """A commit makes the difference; for people every fault has its hint."""
    git("init", "-q")
    assert "nothing has been committed yet" in beaker("--local", "doctor").out
    (tmp_path / "a").write_text("a")
    git("add", ".")
    git("commit", "-qm", "a")
    done = beaker("--local", "doctor")
    assert "  OK    git            Git " in done.out
    assert (done.code, done.out.splitlines()[-1]) == (0, "beaker doctor: nothing was found that does not work")
