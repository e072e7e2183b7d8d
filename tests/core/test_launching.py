"""Launching around the request: what --config gives, what is launched of an entry, where a run is shown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Success

from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch import DatasetChoice, LaunchPlan, LaunchRequest
from beaker.core.launching import (
    Launched,
    agent_repository,
    given_settings,
    launch_request,
    launched_code,
    run_link,
    with_link,
)
from beaker.core.strict_json import dumps

PLAN = LaunchPlan({"max_concurrency": 2}, DatasetChoice(reference="d"))
COMMIT = "0123456789abcdef" * 2
REQUEST = LaunchRequest(agent_key="a", config={}, dataset=DatasetChoice(reference="d"), repository="o/r")


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=3))
def test_given__object__is_read_as_it_stands(settings: dict[str, Any]) -> None:
    """Whatever object is written is what is given."""
    assert given_settings(dumps(settings)) == Success(settings)


def test_given__anything_else__is_refused() -> None:
    """Nothing is an empty object; what is no JSON, or no object, says how to pass one."""
    assert given_settings(None) == Success({})
    problem = given_settings("{").failure()
    assert (problem.code, problem.hint) == ("BK906", "pass one JSON object, quoted for the shell")
    assert "--config is not valid JSON" in problem.message
    for text in ("[1]", "null", '"x"'):
        problem = given_settings(text).failure()
        assert (problem.code, problem.message, problem.hint) == ("BK906", "--config must be a JSON object", "")


def test_repository__agent_without_one__cannot_be_launched() -> None:
    """It must be a text that says something."""
    assert agent_repository({"github_repository": "o/r"}, "a") == Success("o/r")
    for agent in ({}, {"github_repository": None}, {"github_repository": 7}, {"github_repository": " "}):
        problem = agent_repository(agent, "a").failure()
        assert (problem.code, problem.message) == ("BK804", "the agent 'a' has no repository to run")


@pytest.mark.parametrize(
    ("entry", "spec_id", "named"),
    [
        (None, None, {}),
        (IntegrationEntry(id="i", section="integrations"), None, {"integration_id": "i"}),
        (IntegrationEntry(id="s", section="specs"), None, {}),
        (IntegrationEntry(id="s", section="specs"), "s", {"spec_id": "s"}),
    ],
)
def test_request__names_what_is_launched(
    entry: IntegrationEntry | None, spec_id: str | None, named: dict[str, str]
) -> None:
    """An Integration whenever one is selected, a Spec only where the command line named it."""
    launched = Launched(entry=entry, spec_id=spec_id, ref="main", allow_dirty=True)
    made = launch_request(PLAN, launched, agent_key="a", repository="o/r")
    assert made.body() == {
        "agent_key": "a",
        "config": {"max_concurrency": 2},
        "trigger_metadata": {},
        "github_source": {"repository": "o/r", "ref": "main", "allow_dirty": True, **named},
        "dataset_ref": "d",
    }


@pytest.mark.parametrize(
    ("run", "said", "local", "link"),
    [
        ({"id": "r/1"}, "", False, "https://app.withbeaker.ai/ai-engineer/runs/r%2F1?agent_key=a%2Fb"),
        ({"id": "r"}, " https://mine/ ", False, "https://mine/ai-engineer/runs/r?agent_key=a%2Fb"),
        ({"id": "r"}, "https://mine", True, None),
        ({"id": "r", "web_url": None}, "", False, None),
        ({"id": "r", "web_url": None}, "https://mine", False, "https://mine/ai-engineer/runs/r?agent_key=a%2Fb"),
        ({"id": "r", "web_url": "", "app_url": 7, "url": "https://u"}, "https://mine", True, "https://u"),
        ({"id": "r", "app_url": "https://b", "url": "https://u"}, "", False, "https://b"),
        ({"id": 7}, "", False, None),
        ({}, "", False, None),
    ],
)
def test_link__service_first__then_the_application(
    run: dict[str, Any], said: str, local: bool, link: str | None
) -> None:
    """What the service says wins; a service without pages and this machine have none."""
    assert run_link(run, agent_key="a/b", app_base_url=said, local=local) == link


def test_with_link__service_that_said_one__is_handed_on_unchanged() -> None:
    """The link is added only where there is none of its kind."""
    run = {"id": "r"}
    assert with_link(run, None) is run
    assert with_link(run, "https://l") == {"id": "r", "web_url": "https://l"}
    for key in ("web_url", "app_url", "url"):
        answer = {"id": "r", key: "https://x"}
        assert with_link(answer, "https://l") is answer
    assert with_link({"url": ""}, "https://l") == {"url": "", "web_url": "https://l"}


@pytest.mark.parametrize(
    ("run", "ref", "allow_dirty", "said"),
    [
        ({}, None, False, "github=the default branch"),
        ({}, "main", False, "github=main"),
        ({"config": {"github_ref": "x"}, "github_source": {"commit": COMMIT}}, "main", False, "github=x"),
        ({"config": 7, "github_source": 7, "web_url": None}, "main", False, "github=main"),
        ({"github_source": {"commit": 7}, "web_url": None}, "main", False, "github=main"),
        ({"github_source": {"commit": COMMIT}, "web_url": "https://x"}, "main", False, "github=main"),
        ({"github_source": {"commit": COMMIT}, "web_url": None}, "main", False, "commit=0123456789ab"),
        (
            {"github_source": {"commit": COMMIT}, "web_url": None},
            None,
            True,
            "commit=0123456789ab (the checkout as it stands)",
        ),
    ],
)
def test_code__is_a_ref_on_github_or_a_commit_here(
    run: dict[str, Any], ref: str | None, allow_dirty: bool, said: str
) -> None:
    """Where a checkout is run, the commit is what runs; elsewhere the service's word on the ref comes first."""
    from dataclasses import replace

    assert launched_code(replace(REQUEST, ref=ref, allow_dirty=allow_dirty), run) == said
