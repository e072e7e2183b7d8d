"""Agents by their key or name, and what setting one up takes: decision tables, and that foreign answers never fail."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful
from returns.result import Success

from beaker.core.agent_matching import (
    Adopt,
    AgentPlan,
    Associate,
    Create,
    HostedAgent,
    created_agent,
    creation_refused,
    match_agent,
    named_agent,
    plan_edit,
    plan_setup,
    read_agent,
    read_agents,
    the_agent,
)
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "agents.json").read_text("utf-8"))
AGENTS = read_agents(VECTORS).unwrap()


def listed(plan: AgentPlan) -> list[Any]:
    match plan:
        case Adopt(agent, repository):
            return ["adopt", agent.key, repository]
        case Associate(agent, repository):
            return ["associate", agent.key, repository]
        case Create(name, repository):
            return ["create", name, repository]


@pytest.mark.parametrize("text, expected", VECTORS["matches"])
def test_match_agent__decision_table__as_listed(text: str, expected: str | None) -> None:
    """The exact key first, then the name in any case; a name that two have is refused."""
    found = match_agent(AGENTS, text)
    if expected == "BK151":
        assert (found.failure().code, found.failure().hint) == ("BK151", "name one by its key: twin-a, twin-b")
        assert the_agent(AGENTS, text).failure() == found.failure()
    else:
        agent = found.unwrap()
        assert (agent.key if agent is not None else None) == expected
        only = the_agent(AGENTS, text)
        assert only.failure().code == "BK152" if expected is None else only.unwrap().key == expected


@pytest.mark.parametrize("row", VECTORS["setups"])
def test_plan_setup__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed plan, or a refusal before anything is asked of GitHub."""
    plan = plan_setup(AGENTS, row["text"], repository=row["repository"], config_path=row["config_path"])
    if isinstance(row["plan"], str):
        assert plan.failure().code == row["plan"]
    else:
        assert listed(plan.unwrap()) == row["plan"]


def test_plan_setup__new_agent_without_repository__proposes_that_of_the_checkout() -> None:
    """Who stands in a checkout of GitHub is told what to write."""
    refused = plan_setup(AGENTS, "New", repository=None, config_path="c", checkout="acme/invoices").failure()
    assert refused.hint.endswith("--repo acme/invoices")
    assert plan_setup(AGENTS, "New", repository=None, config_path="c").failure().hint.endswith("--repo OWNER/NAME")


def test_plan_setup__refusals__name_what_differs() -> None:
    """An agent that is somebody else's says whose it is."""
    other = plan_setup(AGENTS, "inv-agent", repository="a/b", config_path=".beaker/beaker.yaml").failure()
    assert other.message == "the agent inv-agent is bound to Acme/Invoices, not to a/b"
    config = plan_setup(AGENTS, "inv-agent", repository=None, config_path="x.yaml").failure()
    assert config.message == "the agent inv-agent is for the configuration .beaker/beaker.yaml, not x.yaml"


def test_read_agent__what_is_left_out__has_its_usual_meaning() -> None:
    """No repository is none, no path is the usual one, no id is an empty one."""
    assert read_agent({"key": "k", "name": "n"}) == HostedAgent(id="", key="k", name="n")
    full = {"id": "i", "key": "k", "name": "n", "github_repository": "a/b", "beaker_config_path": "x/c.yaml"}
    assert read_agent(full) == HostedAgent(id="i", key="k", name="n", repository="a/b", config_path="x/c.yaml")
    blank = {"id": 1, "key": "k", "name": "n", "github_repository": " ", "beaker_config_path": " "}
    assert read_agent(blank) == read_agent({"key": "k", "name": "n"})


@pytest.mark.parametrize(
    "name, config_path, changes",
    [
        (" Bills ", None, {"name": "Bills"}),
        (None, "./svc//.beaker/beaker.yaml", {"beaker_config_path": "svc/.beaker/beaker.yaml"}),
        ("Bills", "c.yaml", {"name": "Bills", "beaker_config_path": "c.yaml"}),
        (" ", "c.yaml", "--name: an agent needs a name"),
        ("Bills", "../c.yaml", "--config-path"),
        (None, "", "--config-path"),
        (None, None, "nothing is to be changed"),
    ],
)
def test_plan_edit__options__as_listed(name: str | None, config_path: str | None, changes: Any) -> None:
    """Only what is given is sent; the path is one of the repository."""
    plan = plan_edit(name, config_path)
    if isinstance(changes, str):
        assert (plan.failure().code, str(plan.failure()).startswith(changes)) == ("BK905", True)
    else:
        assert plan.unwrap() == changes


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["agents", "key", "name", "github_repository"]), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.just("agents"), JSON), st.text(max_size=4), st.none() | st.text(max_size=4))
def test_agents__any_answer__is_read_and_planned_with(answer: Any, text: str, repository: str | None) -> None:
    """Total: whatever a service answers, there is a plan or a reason."""
    read = read_agents(answer)
    agents = read.value_or(())
    assert is_successful(read) or read.failure().code == "BK804"
    assert all(agent.key and agent.name for agent in agents)
    plan = plan_setup(agents, text, repository=repository, config_path=".beaker/beaker.yaml")
    assert is_successful(plan) or plan.failure().code in ("BK151", "BK152", "BK153", "BK154")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "no list of agents"),
        ({"agents": {"key": "a", "name": "A"}}, "no list of agents"),
        ({"agents": [{"key": "a", "name": "A"}, {"key": "b"}, 7]}, "agent 2 of the answer has no key or no name"),
        ({"agents": ["a"]}, "agent 1 of the answer"),
    ],
)
def test_read_agents__what_is_no_agent__is_a_broken_answer(answer: Any, said: str) -> None:
    """A list with rubbish in it is not told as a shorter one."""
    problem = read_agents(answer).failure()
    assert problem.code == "BK804"
    assert said in problem.message


def test_new_agent__needs_a_name__and_gets_a_key() -> None:
    """Blanks around a name are none of it; the answer may call the agent otherwise."""
    assert named_agent(" New ") == Success("New")
    problem = named_agent(" ").failure()
    assert (problem.code, problem.message, problem.where) == ("BK905", "the agent needs a name", "NAME")
    assert created_agent("New", {"key": "k", "id": "a"}).unwrap() == HostedAgent(id="a", key="k", name="New")
    assert created_agent("New", {"key": "k", "id": "a", "name": "Newer"}).unwrap().name == "Newer"
    problem = created_agent("New", {"id": "a"}).failure()
    assert (problem.code, problem.message) == ("BK804", "the answer does not say the key of the new agent")


@pytest.mark.parametrize(("status", "helps"), [(409, True), (422, True), (403, False), (404, False)])
def test_creation_refused__repository_that_cannot_be_read__says_how(status: int, helps: bool) -> None:
    """Where that may be the reason, and nothing else was advised; every stated problem is kept otherwise."""
    (told,) = creation_refused(ApiProblem("BK805", "no", status=status), "o/r")
    hint = "if the Beaker App cannot read it yet: `beaker github connect --repo o/r`"
    assert (told.code, told.message, told.hint) == ("BK805", "no", hint if helps else "")
    (told,) = creation_refused(ApiProblem("BK805", "no", hint="do that", status=status), "o/r")
    assert told.hint == "do that"
    plain = Problem("BK803", "no answer")
    assert creation_refused(plain, "o/r") == (plain,)
