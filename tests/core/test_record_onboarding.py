"""Answers on record of decisions about onboarding: the words of every step in every situation, and of the doctor."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.core import agent_values, doctor
from beaker.core.launch import DatasetChoice
from beaker.core.onboarding import DONE_ACTION, RETRY_ACTION, STEPS, Finding, onboarding, unreadable
from beaker.core.onboarding_hosted import errors, findings
from beaker.core.onboarding_local import ProjectFacts
from beaker.core.onboarding_replies import Replies
from beaker.core.problems import Problem
from beaker.core.readiness import SOURCE_TEXTS
from beaker.core.responses import ApiProblem

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "onboarding.json").read_text("utf-8"))
PROBLEMS = ("selection", "tracing", "dataset")


def fact(name: str, given: Any) -> Any:
    if name == "entry_problems":
        return tuple(Problem(*one) for one in given)
    if name in PROBLEMS and isinstance(given, dict):
        return Problem(*given["problem"]) if "problem" in given else DatasetChoice(**given)
    return tuple(given) if isinstance(given, list) else given


def told(row: dict[str, Any]) -> object:
    """Every step that is not done, with its words, and what comes next."""
    facts = ProjectFacts(**{name: fact(name, item) for name, item in {**VECTORS["project"], **row["project"]}.items()})
    answers: dict[str, Any] = {}
    for name in row["asked"].split():
        given = row["answers"].get(name, VECTORS["answers"].get(name))
        status = given if isinstance(given, int) else 0
        code = {0: "BK803", 1: "BK804"}.get(status, "BK805")
        failed = ApiProblem(code, f"the place says {given}", status=status if status > 1 else 0)
        answers[name] = given if isinstance(given, dict) else failed
    push = answers.pop("push", None) and Finding(row["push"])
    denied = Problem("BK133", "no credential") if row["who"] is None else None
    known = Replies(who=row["who"], denied=denied, answers=answers, push=push)
    report = onboarding(findings(facts, known), errors(facts, known))
    return [
        *(f"{step.id} {step.reason}" for step in report.steps if step.state != "todo" and step.reason is not None),
        *(f"{step.id} to do: {step.reason} -> {step.next_action}" for step in report.steps if step.state == "todo"),
        f"next {report.next.id}: {report.next.action}",
        *report.errors,
    ]


ROWS = [
    {"project": {}, "answers": {}, "who": "session", "push": "complete"} | row
    for row in VECTORS["dialogs"]
    if not set(row["asked"].split()) & {"datasets", "0"}
]
KEPT = agent_values.with_value(agent_values.AgentValues(), "a", "DB_URL", "x")
TABLES: dict[str, tuple[Callable[..., object], list[Any]]] = {
    "steps": (lambda number: STEPS[number], [[number] for number in range(len(STEPS))]),
    "words": (lambda item: item, [[DONE_ACTION], [RETRY_ACTION], [unreadable(["b"]).next], [dict(SOURCE_TEXTS)]]),
    "situations": (told, [[row] for row in ROWS]),
    "values": (
        lambda call, arguments: getattr(agent_values, call)(*arguments),
        [
            ["agent_values_json", [KEPT]], ["name_problem", ["lower"]], ["name_problem", ["PATH"]],
            ["value_problem", ["A", "\0"]], ["value_problem", ["A", "\ud800"]], ["value_problem", ["A", "x" * 65537]],
            ["read_agent_values", [{}, "f"]], ["read_agent_values", [{"format": "beaker.secrets/1", "agents": 1}, "f"]],
            ["values_in", ["", [], "f"]], ["values_in", ["a=1\nB=2", [], "f"]], ["values_in", ["A=1", ["B"], "f"]],
            ["described", ["A", "x" * 16]], ["described_value", [{}]],
        ],
    ),
    "doctor": (
        lambda call, given, named: getattr(doctor, call)(*given, **named),
        [
            ["check_git", [None], {"repository": True, "committed": True}],
            ["check_git", ["git version 2.1.0"], {"repository": True, "committed": True}],
            ["check_disk", ["/d", 1, None], {}],
            ["check_sandbox", ["win32", None], {}],
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_decision__every_row__answers_as_on_record(name: str, on_record: Callable[..., None]) -> None:
    """Values, codes, places, messages and hints are those that were read and found good."""
    on_record(name, *TABLES[name])
