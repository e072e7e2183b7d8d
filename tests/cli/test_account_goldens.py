"""What every command about accounts prints and answers, in every situation a person meets: golden.

The goldens are `vectors/golden/accounts.json`. Where a change of words is meant, run these tests with BEAKER_RECORD=1,
which writes them anew, and read the difference before it is committed.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).parents[1] / "vectors" / "golden" / "accounts.json"
USUAL = json.loads((GOLDEN.parents[1] / "hosted" / "organization.json").read_text(encoding="utf-8"))["answers"]
LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}


@attrs.frozen
class Command:
    """A command line, the route whose answer decides, what that answers when there is nothing, and its schema."""

    argv: tuple[str, ...]
    route: str
    nothing: Any
    schema: str
    logged_in: bool = True


COMMANDS = {
    "login": Command(("login",), "POST /v1/web/auth/cli/start", {}, "cli-login.json", logged_in=False),
    "logout": Command(("logout",), "POST /v1/user/logout", {}, "cli-logout.json"),
    "auth status": Command(("auth", "status"), "GET /v1/user/me", {}, "cli-auth-status.json"),
    "github status": Command(
        ("github", "status", "--repo", "ACME/invoices"),
        "GET /v1/user/github/connection",
        {"connected": False, "installations": []},
        "cli-github-status.json",
    ),
    "github connect": Command(
        ("github", "connect", "--repo", "acme/invoices", "--timeout", "3"),
        "GET /v1/user/github/repositories",
        {"repositories": []},
        "cli-github-connect.json",
    ),
    "github branches": Command(
        ("github", "branches", "--repo", "acme/invoices"),
        "GET /v1/user/github/branches",
        {"default_branch": "main", "branches": []},
        "cli-github-branches.json",
    ),
    "agent list": Command(("agent", "list"), "GET /v1/agents", {"agents": []}, "agents.json"),
    "agent create": Command(
        ("agent", "create", "New", "--repo", "acme/website"), "POST /v1/agents", {}, "cli-agent-create.json"
    ),
    "agent setup": Command(
        ("agent", "setup", "invoices"), "GET /v1/user/agents", {"agents": []}, "cli-agent-setup.json"
    ),
    "agent edit": Command(
        ("agent", "edit", "inv-agent", "--name", "Bills"), "GET /v1/user/agents", {"agents": []}, "cli-agent-edit.json"
    ),
    "model list": Command(
        ("model", "list", "--agent", "inv-agent"), "GET /v1/model-catalog", {"models": []}, "models.json"
    ),
}

ANSWERS: Mapping[str, tuple[int, Any]] = {
    "refused": (403, {"detail": "not for you"}),
    "unauthorized": (401, {"detail": "Invalid or expired credential"}),
    "broken": (500, {"detail": "oh no"}),
    "dropped": (0, None),
    "list": (200, []),
    "page": (200, b"<html>log in to this network</html>"),
}
"""What goes wrong at the route that decides."""

STORED = {
    "logged out": None,
    "expired": {**LOGIN, "expires_at": "2020-01-01T00:00:00Z"},
    "foreign": {**LOGIN, "base_url": "https://elsewhere.example", "token": "bkr_cli_elsewhere"},
}
"""Logins that count for nothing here."""


def situations(desk: Any, command: Command) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every situation by its name, with what the command does in it."""
    method, _, path = command.route.partition(" ")
    usual = LOGIN if command.logged_in else None

    def run(*more: str, stored: Any = usual, place: tuple[str, ...] | None = None) -> dict[str, Any]:
        desk.begin(stored)
        return desk.run(*command.argv, *more, place=place)

    yield "success", run()
    yield "success --json", run("--json")
    yield "api key", run(place=("--base-url", desk.hosted.url, "--api-key", desk.hosted.api_key))
    yield "local", run(place=("--local",))
    yield "local --json", run("--json", place=("--local",))
    nowhere = "http://127.0.0.1:9"
    yield "unreachable", run(stored={**LOGIN, "base_url": nowhere}, place=("--base-url", nowhere))
    for name, stored in STORED.items():
        if command.logged_in:
            yield name, run(stored=stored)
    if command.logged_in:
        yield "logged out --json", run("--json", stored=None)
    else:
        yield "in the clear", run(place=("--base-url", "http://192.0.2.1:9"))
    status, body = USUAL[command.route]
    desk.hosted.answer(method, path, status, desk.located(body), delay=0.05, times=1)
    yield "slow", run()
    desk.hosted.answer(method, path, 200, command.nothing)
    yield "empty", run()
    yield "empty --json", run("--json")
    for name, (failing, said) in ANSWERS.items():
        desk.hosted.answer(method, path, failing, said)
        yield name, run()
    yield "page --json", run("--json")


@pytest.mark.parametrize("name", COMMANDS)
def test_command__every_situation__is_golden(name: str, desk: Any, conforms: Callable[[object, str], None]) -> None:
    """Exit code, both streams and JSON are as recorded; nothing secret appears; JSON obeys the published schema."""
    command = COMMANDS[name]
    found = dict(situations(desk, command))
    assert found["slow"] == found["success"]
    for situation, done in found.items():
        if situation.endswith("--json"):
            for line in done["out"].splitlines():
                conforms(json.loads(line), command.schema)
            for line in done["err"].splitlines():
                conforms(json.loads(line), "cli-error.json")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("BEAKER_RECORD"):
        golden[name] = found
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert found == golden[name]
