"""Answers on record of decisions about accounts: which login counts, which agent is meant, access to GitHub."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from beaker.core import github_access
from beaker.core.agent_matching import plan_setup, read_agents, the_agent
from beaker.core.api import ApiProblem
from beaker.core.credentials import choose_login
from beaker.core.logins import read_logins
from beaker.core.waiting import Answered, CallFailed, Waited

VECTORS = Path(__file__).parents[1] / "vectors"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
AGENTS = json.loads((VECTORS / "agents.json").read_text(encoding="utf-8"))
LOGINS = json.loads((VECTORS / "credentials.json").read_text(encoding="utf-8"))["login"]

YES: dict[str, Any] = {"connected": True, "installations": []}
NO: dict[str, Any] = {"connected": False, "installations": []}
PAGE = {"install_url": "https://g/i"}
EMPTY, LISTED = {"repositories": []}, {"repositories": ["Acme/Invoices"]}
BUSY, FORBIDDEN = ApiProblem("BK808", "later", status=503), ApiProblem("BK805", "admins only", status=403)


def accessed(repository: str | None, *events: Any) -> list[object]:
    """Every phase and command on the way; `None` is the end of a wait, two seconds later."""
    access, commands = github_access.begin(repository, timeout=5.0)
    said: list[object] = [access.phase, *commands]
    for event in events:
        happened = (
            Waited(0.0)
            if event is None
            else Answered(event, 0.0)
            if isinstance(event, dict)
            else CallFailed(event, 0.0)
        )
        access, commands = github_access.step(access, happened).unwrap()
        said += [access.phase, *commands]
    return [*said, access.found, access.problem]


TABLES: dict[str, tuple[Callable[..., object], list[Any]]] = {
    "login": (
        lambda row: choose_login(read_logins(row["stored"]), row["base_url"], now=NOW),
        [[row] for row in LOGINS],
    ),
    "agent": (lambda text: the_agent(read_agents(AGENTS).unwrap(), text), [[text] for text, _ in AGENTS["matches"]]),
    "agent setup": (
        lambda row: plan_setup(
            read_agents(AGENTS).unwrap(), row["text"], repository=row["repository"], config_path=row["config_path"]
        ),
        [[row] for row in AGENTS["setups"]],
    ),
    "github access": (
        accessed,
        [
            [None, YES],
            [None, NO, PAGE, None, NO, None, BUSY, None, NO],
            ["acme/invoices", YES, LISTED],
            ["acme/invoices", YES, EMPTY, PAGE, None, LISTED],
            ["acme/invoices", YES, EMPTY, PAGE, None, EMPTY, None, EMPTY, None, BUSY],
            ["acme/invoices", NO, FORBIDDEN],
            ["acme/invoices", NO, {}],
            ["acme/invoices", BUSY],
            ["acme/invoices", {}],
            ["acme/invoices", YES, {}],
        ],
    ),
    "repository": (github_access.parse_repository, [["a/b"], ["a"], [""], [" a/b/c "]]),
}


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
