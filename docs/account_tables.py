"""Draws the decisions about logins and agents into `accounts.md`, from the vectors that the tests go by.

Run `python docs/account_tables.py` after a vector has changed; a test fails until it was done.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("accounts.md")
VECTORS = Path(__file__).parents[1] / "tests" / "vectors"
VENDOR = "https://api.withbeaker.ai/"


def drawn() -> dict[str, str]:
    """Each table by the name of its markers."""
    credentials = json.loads((VECTORS / "credentials.json").read_text(encoding="utf-8"))
    agents = json.loads((VECTORS / "agents.json").read_text(encoding="utf-8"))
    tables = {"logins": _logins(credentials["login"]), "agents": _agents(agents["agents"]), "setup": _setups(agents)}
    return {name: "\n".join(dict.fromkeys(lines)) for name, lines in tables.items()}


def replaced(page: str) -> str:
    """`page` with every table drawn anew between its markers; `ValueError` when it lacks one."""
    for name, table in drawn().items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"the page needs {begin} and, after it, {end}")
        page = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return page


def _logins(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("| logins that are kept | a command is about | so it |", "|---|---|---|")
    for row in rows:
        stored = row["stored"]
        kept = [] if stored is None else [stored, *stored.get("others", ())]
        said = ", ".join(map(_login, kept)) or "none"
        outcome = "uses the login" if row["refused"] is None else f"says: {row['refused']}"
        yield f"| {said} | {row['base_url']} | {outcome} |"


def _login(login: dict[str, Any]) -> str:
    expires, token = login.get("expires_at"), str(login.get("token", "")).strip()
    lacking = "" if token else " (its token is gone)"
    until = f" until {expires}" if expires else ""
    return f"{login.get('base_url', VENDOR)}{until}{lacking}"


def _agents(agents: list[Any]) -> Iterator[str]:
    yield from ("| key | name | repository | configuration |", "|---|---|---|---|")
    for agent in agents:
        if isinstance(agent, dict) and isinstance(agent.get("key"), str) and "name" in agent:
            config = agent.get("beaker_config_path") or ".beaker/beaker.yaml"
            yield f"| {agent['key']} | {agent['name']} | {agent.get('github_repository') or 'none'} | {config} |"


def _setups(agents: dict[str, Any]) -> Iterator[str]:
    yield from ("| NAME_OR_KEY | --repo | configuration here | so `agent setup` |", "|---|---|---|---|")
    for row in agents["setups"]:
        given = "not given" if row["repository"] is None else f"`{row['repository'].strip()}`"
        yield f"| `{row['text'].strip()}` | {given} | {row['config_path']} | {_outcome(row['plan'])} |"


def _outcome(plan: Any) -> str:
    match plan:
        case str(code):
            return f"refuses ({code})"
        case ["adopt", key, None]:
            return f"records {key}"
        case ["adopt", key, repository]:
            return f"verifies access to {repository}, records {key}"
        case ["associate", key, repository]:
            return f"binds {key} to {repository} once it can be read, records {key}"
        case ["create", name, repository]:
            return f"makes the agent {name} for {repository} once it can be read, records its key"
    raise ValueError(plan)


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
