"""Draws the decisions about onboarding into `onboarding.md`, from the vectors that the tests go by.

Run `python docs/onboarding_tables.py` after a vector or a step has changed; a test fails until it was done.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beaker.core.onboarding import STEPS
from beaker.core.readiness import SOURCE_TEXTS

PAGE = Path(__file__).with_name("onboarding.md")
VECTORS = Path(__file__).parents[1] / "tests" / "vectors"
LETTERS = {"C": "done", "T": "to do", "?": "not known"}


def drawn() -> dict[str, str]:
    """Each table by the name of its markers."""
    onboarding = json.loads((VECTORS / "onboarding.json").read_text(encoding="utf-8"))
    readiness = json.loads((VECTORS / "readiness.json").read_text(encoding="utf-8"))
    tables = {
        "steps": _steps(),
        "dialogs": _dialogs(onboarding["dialogs"]),
        "next": _next(onboarding["next"]),
        "readiness": _readiness(readiness["table"]),
    }
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


def _steps() -> Iterator[str]:
    yield from ("| step | who | what to do |", "|---|---|---|")
    for step in STEPS:
        advice = "" if step.blocking else " (advice: a run works without)"
        yield f"| `{step.id}` | {step.owner} | {step.action}{advice} |"


def _dialogs(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("| situation | asked in this order | not done | next |", "|---|---|---|---|")
    for row in rows:
        open_steps = [f"{step.id} {LETTERS[letter]}" for step, letter in zip(STEPS, row["states"], strict=True)
                      if letter == "T"]  # fmt: skip
        unknown = row["states"].count("?")
        left = ", ".join(open_steps + ([f"{unknown} not known"] if unknown else [])) or "nothing"
        yield f"| {row['about']} | {row['asked'] or 'nothing'} | {left} | {row['next'] or 'nothing'} |"


def _next(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from ("| found | next |", "|---|---|")
    for row in rows:
        words = {"todo": "to do", "todo!": "in the way", "unknown": "not known", "unknown!": "could not be asked"}
        found = ", ".join(f"{step} {words[state]}" for step, state in row["found"].items()) or "everything done"
        again = ": ask again" if row.get("action") == "retry" else ""
        yield f"| {found} | {row['next'] or 'nothing'}{again} |"


def _readiness(rows: list[dict[str, Any]]) -> Iterator[str]:
    head = "| declared | variables of the agent | organization's keys | routed | comes from | missing |"
    yield from (head, "|---|---|---|---|---|---|")
    for row in rows:
        listed = [", ".join(row.get(key) or ()) or "none" for key in ("declared", "agent", "organization", "routing")]
        sources = ", ".join(f"{name}: {SOURCE_TEXTS[source]}" for name, source in row["sources"].items()) or "nothing"
        yield f"| {' | '.join(listed)} | {sources} | {', '.join(row['missing']) or 'nothing'} |"


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
