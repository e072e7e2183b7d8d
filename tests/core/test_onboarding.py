"""The way to a first run: what files and answers say of each step, what is asked, and which step comes next."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.launch import DatasetChoice
from beaker.core.onboarding import (
    DONE_ACTION,
    RETRY_ACTION,
    STEPS,
    Finding,
    onboarding,
    onboarding_json,
    unreadable,
)
from beaker.core.onboarding_hosted import errors, findings
from beaker.core.onboarding_local import ProjectFacts, local_dataset
from beaker.core.onboarding_questions import PUSH, next_question
from beaker.core.onboarding_replies import Replies, Reply, nothing_kept
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "onboarding.json").read_text("utf-8"))
IDS = [kind.id for kind in STEPS]
LETTERS = {"complete": "C", "todo": "T", "unknown": "?"}


def facts_of(given: dict[str, Any]) -> ProjectFacts:
    """The facts of a whole project, with those of a row in their place."""
    made = {**VECTORS["project"], **given}
    for key in ("selection", "tracing", "dataset"):
        if isinstance(made.get(key), dict) and "problem" in made[key]:
            made[key] = Problem(*made[key]["problem"])
    if isinstance(made.get("dataset"), dict):
        made["dataset"] = DatasetChoice(**made["dataset"])
    made["entry_problems"] = tuple(Problem(*one) for one in made.get("entry_problems", ()))
    for key in ("gaps", "required_env"):
        made[key] = tuple(made.get(key, ()))
    return ProjectFacts(**made)


def reply_of(given: Any) -> Reply:
    """A body, or for a number the refusal with that status; 0 is no answer, 1 one that breaks the contract."""
    if isinstance(given, dict):
        return given
    code = {0: "BK803", 1: "BK804"}.get(given, "BK805")
    return ApiProblem(code, f"the place says {given}", status=given if given > 1 else 0)


def played(facts: ProjectFacts, replies: Replies, answers: dict[str, Any], push: str) -> tuple[Replies, list[str]]:
    """The dialog: every question, answered as the row says, until nothing more is asked."""
    asked: list[str] = []
    while (question := next_question(facts, replies)) is not None:
        assert question.name not in asked
        asked.append(question.name)
        half = findings(facts, replies)  # what is not known yet is never taken for done
        assert {step: found.state for step, found in half.items()}["experiment_launched"] == "unknown"
        assert half["integration_pushed"].state == (push if PUSH in asked[:-1] else "unknown")
        if question.name == PUSH:
            replies = replies.with_push(Finding(push, "?" if push == "unknown" else None, retry=push == "unknown"))  # type: ignore[arg-type]
            continue
        given = answers.get(question.name, VECTORS["answers"].get(question.name))
        replies = replies.with_reply(question.name, reply_of(given))
    return replies, asked


@pytest.mark.parametrize("row", VECTORS["dialogs"], ids=lambda row: row["about"])
def test_dialog__table__as_listed(row: dict[str, Any]) -> None:
    """What is asked and in which order, the state of each step, which comes next, and what is said of one step."""
    facts = facts_of(row.get("project", {}))
    who = row.get("who", "session")
    denied = Problem("BK133", "no credential") if who is None else None
    environ = frozenset(row.get("environ", ()))
    replies = Replies(who=who, denied=denied, environ=environ, dotenv=row.get("dotenv", {}))
    replies, asked = played(facts, replies, row.get("answers", {}), row.get("push", "complete"))
    report = onboarding(findings(facts, replies), errors(facts, replies))
    assert "".join(LETTERS[step.state] for step in report.steps) == row["states"]
    assert " ".join(asked) == row["asked"]
    assert report.next.id == row["next"]
    assert len(report.errors) == row.get("errors", 0)
    for step_id, words in row.get("says", {}).items():
        step = report.steps[IDS.index(step_id)]
        assert words in f"{step.reason} -> {step.next_action}"
    assert report.unfinished == (row["next"] not in (None, "tracing_wired"))


def test_dialog__agents_given_by_name__later_calls_carry_its_key() -> None:
    """A name is resolved once; every question about the agent's things has its id or its key."""
    facts = facts_of({"agent": "invoices", "required_env": ["DB_URL"], "dataset": None})
    replies = Replies(who="session")
    arguments: dict[str, Any] = {}
    while (question := next_question(facts, replies)) is not None:
        arguments[question.name] = (question.endpoint, dict(question.arguments))
        if question.name == PUSH:
            replies = replies.with_push(Finding("complete"))
        else:
            replies = replies.with_reply(question.name, reply_of(VECTORS["answers"][question.name]))
    about = {"agent_key": "inv-agent"}
    assert arguments == {
        "me": ("get_user_me", {}),
        "agents": ("list_user_agents", {}),
        "connection": ("get_user_github_connection", {}),
        "repositories": ("list_user_github_repositories", {}),
        PUSH: ("", {}),
        "credentials": ("list_llm_credentials", {}),
        "env_vars": ("list_agent_env_vars", {"agent_id": "ag_1"}),
        "datasets": ("list_datasets", {**about, "limit": 1, "offset": 0}),
        "runs": ("list_optimization_runs", {**about, "limit": 1, "offset": 0}),
    }


def test_dialog__selected_dataset__is_asked_for_by_what_selects_it() -> None:
    """A reference is resolved, an id is looked for in full pages; an organization lists its own agents."""
    first = Replies(who="key")
    agents = next_question(facts_of({}), first)
    assert agents is not None
    assert agents.endpoint == "list_agents"
    known = first.with_reply("agents", VECTORS["answers"]["agents"]).with_push(Finding("complete"))
    by_name = next_question(facts_of({}), known)
    by_id = next_question(facts_of({"dataset": {"artifact_id": "art_1"}}), known)
    assert by_name is not None
    assert by_id is not None
    assert (by_name.endpoint, dict(by_name.arguments)) == (
        "resolve_dataset",
        {"agent_key": "inv-agent", "reference": "invoices"},
    )
    assert (by_id.endpoint, dict(by_id.arguments)) == (
        "list_datasets",
        {"agent_key": "inv-agent", "limit": 100, "offset": 0},
    )


def test_findings__nothing_is_there__begins_with_the_first_step() -> None:
    """An empty folder has everything before it."""
    report = onboarding(findings(ProjectFacts(), Replies()))
    assert [step.state for step in report.steps] == ["todo", "todo", *["unknown"] * 9]
    assert ProjectFacts() == ProjectFacts(declares_beaker=False, local_dataset="absent", entrypoint="")


def test_dialog__dataset_by_id__is_looked_for_page_by_page() -> None:
    """A full page leads to the next one, ten at most; a dataset that is not complete does not count."""
    facts = facts_of({"dataset": {"artifact_id": "art_9"}})
    full = {"datasets": [{"artifact_id": "other", "status": "COMPLETE"}] * 100}
    pages = {f"datasets {page}": full for page in range(10)}
    replies, asked = played(facts, Replies(who="key"), pages, "complete")
    assert asked[-10:] == [f"datasets {page}" for page in range(10)]
    assert findings(facts, replies)["dataset_available"].state == "todo"
    last = {"datasets": [{"artifact_id": "art_9", "status": "PENDING"}, {"artifact_id": "art_9", "status": "COMPLETE"}]}
    replies, asked = played(facts, Replies(who="key"), pages | {"datasets 3": last}, "complete")
    assert "datasets 3" in asked
    assert "datasets 4" not in asked
    assert findings(facts, replies)["dataset_available"] == Finding("complete", "art_9")
    pages["datasets 1"] = 500
    replies, _ = played(facts, Replies(who="key"), pages, "complete")
    assert findings(facts, replies)["dataset_available"].retry


@pytest.mark.parametrize("row", VECTORS["next"], ids=lambda row: row["about"])
def test_next__table__as_listed(row: dict[str, Any]) -> None:
    """The first rule that finds a step decides; `todo!` comes first of all, `unknown!` is worth asking again."""
    found = dict.fromkeys(IDS, Finding("complete"))
    for step_id, state in row["found"].items():
        plain = state.rstrip("!")
        found[step_id] = Finding(plain, action=f"do {step_id}", retry=state == "unknown!", first=state == "todo!")  # type: ignore[arg-type]
    report = onboarding(found)
    assert report.next.id == row["next"]
    wanted = {"retry": RETRY_ACTION, "done": DONE_ACTION}.get(row.get("action", ""), f"do {row['next']}")
    assert report.next.action == wanted
    owners = {kind.id: kind.owner for kind in STEPS}
    assert report.next.owner == owners.get(row["next"], "agent")


FINDINGS = st.dictionaries(
    st.sampled_from(IDS),
    st.builds(
        Finding,
        st.sampled_from(["complete", "todo", "unknown"]),
        st.none() | st.just("why"),
        st.none() | st.just("do it"),
        st.booleans(),
        st.booleans(),
    ),
)


@given(FINDINGS, st.lists(st.sampled_from("xy")))
def test_onboarding__any_findings__report_agrees_with_itself(found: dict[str, Finding], said: list[str]) -> None:
    """Every step is there once, in order; the next one is not done, and there is one while something is to be done."""
    report = onboarding(found, said)
    assert [step.id for step in report.steps] == IDS
    states = {step.id: step.state for step in report.steps}
    assert states == {step: found.get(step, Finding("unknown")).state for step in IDS}
    if report.next.id is None:
        assert "todo" not in states.values()
    else:
        assert states[report.next.id] in ("todo", "unknown")
    assert [one["id"] for one in onboarding_json(report)["blocked_on_developer"]] == [
        step.id for step in report.steps if step.state == "todo" and step.owner == "developer"
    ]
    assert report.errors == tuple(dict.fromkeys(said))


def test_unreadable__problems__nothing_is_known() -> None:
    """The configuration comes first, whatever else there may be."""
    report = unreadable(["beaker.yaml:3: bad"])
    assert {step.state for step in report.steps} == {"unknown"}
    assert (report.next.id, report.next.owner, report.unfinished) == ("config_present", "agent", True)
    assert report.errors == ("beaker.yaml:3: bad",)


def test_onboarding_json__report__has_the_keys_of_the_contract() -> None:
    """What a script reads, in its order."""
    report = onboarding({"logged_in": Finding("todo", "no login"), "github_connected": Finding("todo", None, "do it")})
    answer = onboarding_json(report)
    assert list(answer) == ["steps", "next", "blocked_on_developer", "errors"]
    assert answer["steps"][2] == {
        "id": "logged_in",
        "state": "todo",
        "owner": "agent",
        "next_action": STEPS[2].action,
        "blocking": True,
        "reason": "no login",
    }
    assert answer["blocked_on_developer"] == [{"id": "github_connected", "action": "do it"}]
    assert answer["next"] == {"id": "logged_in", "owner": "agent", "action": STEPS[2].action}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.id)
def test_steps__tracing_alone__is_advice(step: Any) -> None:
    """Everything else is needed for a run."""
    assert step.blocking == (step.id != "tracing_wired")


@given(
    st.dictionaries(
        st.sampled_from(["me", "agents", "connection", "repositories", "credentials", "env_vars", "dataset", "runs"]),
        st.sampled_from([0, 1, 400, 401, 403, 404, 500]) | st.just({}) | st.dictionaries(
            st.sampled_from(["agents", "connected", "repositories", "credentials", "env_vars", "runs"]),
            st.none() | st.booleans() | st.text(max_size=2) | st.lists(st.none() | st.just({}), max_size=2),
        ),
    ),
    st.sampled_from(["session", "key", "local"]),
)  # fmt: skip
def test_dialog__answers_of_any_shape__ends_with_a_report(answers: dict[str, Any], who: Any) -> None:
    """Whatever a place says, the dialog ends, and no step is complete on the strength of a refusal."""
    facts = facts_of({"required_env": ["DB_URL"]})
    replies, asked = played(facts, Replies(who=who), answers, "complete")
    assert len(asked) == len(set(asked))
    found = findings(facts, replies)
    report = onboarding(found, errors(facts, replies))
    problems = [name for name, reply in replies.answers.items() if isinstance(reply, Problem)]
    if "dataset" in problems:
        assert found["dataset_available"].state != "complete"
    if {"credentials", "env_vars"} & set(problems):
        assert found["required_env_configured"].state != "complete"
    assert len(report.steps) == 11


def test_local_dataset__nothing_selected__leaves_it_to_the_place() -> None:
    """A folder that is named and not there counts as not named."""
    facts = facts_of({"dataset": None})
    assert local_dataset(facts) is None
    assert local_dataset(attrs.evolve(facts, local_dataset="absent", local_dataset_named="data")) is None


@pytest.mark.parametrize("who", ["session", "key", "local", None])
def test_findings__nothing_asked_yet__is_known_of_the_files_alone(who: Any) -> None:
    """Before the first answer a place's steps are unknown, but for what its kind settles."""
    found = findings(facts_of({"required_env": ["DB_URL"]}), Replies(who=who))
    states = {step: finding.state for step, finding in found.items()}
    settled = {"logged_in", "github_connected", "agent_selected"} if who == "local" else set()
    for step in ("logged_in", "github_connected", "agent_selected", "dataset_available", "required_env_configured"):
        wanted = "complete" if step in settled else "todo" if (step, who) == ("logged_in", None) else "unknown"
        assert (step, states[step]) == (step, wanted)


def test_nothing_kept__dataset_is_unknown__everything_else_is_empty() -> None:
    """A machine that keeps nothing answers like a place without anything in it."""
    reply = nothing_kept("dataset")
    assert isinstance(reply, ApiProblem)
    assert (reply.code, reply.status) == ("BK453", 404)
    for name in ("agents", "runs"):
        assert nothing_kept(name) == {"agents": [], "credentials": [], "datasets": [], "runs": []}


def test_findings__rubbish_among_the_agents__leaves_it_open_and_names_it() -> None:
    """A list that cannot be read is neither one without the agent nor one with it."""
    facts = facts_of({"agent": "invoices"})
    replies = Replies(who="session").with_reply("me", reply_of(VECTORS["answers"]["me"]))
    replies = replies.with_reply("agents", {"agents": [{"key": "inv-agent"}]})
    found = findings(facts, replies)["agent_selected"]
    assert (found.state, "no key or no name" in str(found.reason)) == ("unknown", True)
