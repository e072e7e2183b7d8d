"""What the commands about variables and onboarding print and answer, in every situation a person meets: golden.

The goldens are `vectors/golden/onboarding.json`; BEAKER_RECORD=1 writes them anew.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

pytestmark = pytest.mark.once

GOLDEN = Path(__file__).parents[1] / "vectors" / "golden" / "onboarding.json"
LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z", "saved_at": "2026-01-01T10:00:00"}
PLANTED = "kept-s3cret-value-wxyz"
CONFIG = "integrations:\n  invoices:\n    entrypoint: m:i\n    required_env: [OPENAI_API_KEY, DB_URL]\n"


@attrs.frozen
class Command:
    """A command line, the route whose answer decides, what that answers when there is nothing, and its schema."""

    argv: tuple[str, ...]
    route: str
    nothing: Any
    schema: str
    stdin: str = ""


COMMANDS = {
    "agent env list": Command(
        ("agent", "env", "list", "--agent", "inv-agent"),
        "GET /v1/agents/{agent_id}/env-vars",
        {"env_vars": []},
        "env_vars.json",
    ),
    "agent env check": Command(
        ("agent", "env", "check", "--agent-id", "ag/1"),
        "GET /v1/llm/credentials",
        {"credentials": []},
        "cli-agent-env-check.json",
    ),
    "agent env set": Command(
        ("agent", "env", "set", "TOKEN", "--value-stdin", "--agent-key", "inv-agent"),
        "PUT /v1/agents/{agent_id}/env-vars/{name}",
        {},
        "cli-agent-env-set.json",
        f"{PLANTED}\n",
    ),
    "agent env delete": Command(
        ("agent", "env", "delete", "TOKEN", "--agent", "inv-agent"),
        "DELETE /v1/agents/{agent_id}/env-vars/{name}",
        {},
        "cli-agent-env-delete.json",
    ),
    "onboarding status": Command(
        ("onboarding", "status", "--agent", "inv-agent", "--fail-on-todo"),
        "GET /v1/user/agents",
        {"agents": []},
        "cli-onboarding-status.json",
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

STORED = {
    "logged out": None,
    "expired": {**LOGIN, "expires_at": "2020-01-01T00:00:00Z"},
    "foreign": {**LOGIN, "base_url": "https://elsewhere.example", "token": "bkr_cli_elsewhere"},
}


def situations(desk: Any, command: Command) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every situation by its name, with what the command does in it."""
    method, _, path = command.route.partition(" ")

    def run(*more: str, stored: Any = LOGIN, place: tuple[str, ...] | None = None) -> dict[str, Any]:
        desk.begin(stored)
        (desk.project / ".beaker/beaker.yaml").write_text(CONFIG)
        (desk.project / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["beaker-sdk"]\n')
        done: dict[str, Any] = desk.run(*command.argv, *more, place=place, stdin=command.stdin)
        return {key: re.sub(r"agent_[0-9a-f]{16}", "{agent}", text) if key != "code" else text
                for key, text in done.items()}  # fmt: skip

    yield "success", run()
    yield "success --json", run("--json")
    yield "api key", run(place=("--base-url", desk.hosted.url, "--api-key", desk.hosted.api_key))
    yield "local", run(place=("--local",))
    yield "local --json", run("--json", place=("--local",))
    yield "local and an API key", run(place=("--local", "--api-key", desk.hosted.api_key))
    nowhere = "http://127.0.0.1:9"
    yield "unreachable", run(stored={**LOGIN, "base_url": nowhere}, place=("--base-url", nowhere))
    for name, stored in STORED.items():
        yield name, run(stored=stored)
    yield "logged out --json", run("--json", stored=None)
    desk.hosted.answer(method, path, 200, command.nothing)
    yield "empty", run()
    yield "empty --json", run("--json")
    for name, (failing, said) in ANSWERS.items():
        desk.hosted.answer(method, path, failing, said)
        yield name, run()
    yield "page --json", run("--json")


@pytest.mark.parametrize("name", COMMANDS)
def test_command__every_situation__is_golden(name: str, desk: Any, conforms: Callable[[object, str], None]) -> None:
    """Exit code, both streams and JSON are as recorded; no value is shown; JSON obeys the published schema."""
    command = COMMANDS[name]
    found = dict(situations(desk, command))
    for situation, done in found.items():
        assert PLANTED not in f"{done['out']}{done['err']}"
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
