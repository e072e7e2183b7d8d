"""Agents from the command line: made, bound, changed, and recorded in the configuration."""

import json
from typing import Any

import pytest

STORED = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z"}
AGENTS, REPOSITORY = "/v1/user/agents", "/v1/user/agents/{agent_id}/github-repository"
UNBOUND = {"agents": [{"id": "ag/9", "key": "web-agent", "name": "Website", "github_repository": None}]}


def config(desk: Any) -> str:
    return str((desk.project / ".beaker/beaker.yaml").read_bytes().decode())


def test_setup__agent_that_is_bound__verifies_and_records(desk: Any) -> None:
    """By name or key; nothing is changed at the service; a second time nothing is changed here."""
    desk.begin(STORED)
    done = desk.run("agent", "setup", "INVOICES")
    assert (done["code"], "its key recorded as integrations.invoices.agent_key" in done["out"]) == (0, True)
    assert config(desk) == "integrations:\n  invoices:\n    agent_key: inv-agent\n    entrypoint: m:i # one\n"
    assert {one.method for one in desk.hosted.requests} == {"GET"}
    assert (desk.project / ".beaker/.gitignore").read_text().splitlines()[0] == ".env"
    again = json.loads(desk.run("agent", "setup", "inv-agent", "--json")["out"])
    assert (again["recorded"], again["agent"]["key"]) == (False, "inv-agent")


def test_setup__agent_without_a_repository__is_bound_to_the_one_that_is_named(desk: Any) -> None:
    """The repository is spelled as the service lists it, the configuration counts from the Git root."""
    desk.begin(STORED)
    desk.hosted.answer("GET", AGENTS, 200, UNBOUND)
    desk.hosted.answer("PUT", REPOSITORY, 200, {"key": "web-agent", "name": "Website"})
    assert desk.run("agent", "setup", "website", "--repo", "ACME/Website")["code"] == 0
    (put,) = desk.hosted.asked("PUT", REPOSITORY)
    assert put.path == "/v1/user/agents/ag%2F9/github-repository"
    assert put.body == {"github_repository": "acme/website", "beaker_config_path": ".beaker/beaker.yaml"}
    assert "agent_key: web-agent" in config(desk)


def test_setup__agent_that_was_bound__is_answered_as_it_is_now(desk: Any) -> None:
    """What the service answers counts, and what it leaves out is what was asked of it."""
    desk.begin(STORED)
    desk.hosted.answer("GET", AGENTS, 200, UNBOUND)
    desk.hosted.answer("PUT", REPOSITORY, 200, {"key": "web-agent"})
    done = json.loads(desk.run("agent", "setup", "website", "--repo", "acme/website", "--json")["out"])
    assert done["agent"] == {
        "id": "ag/9",
        "key": "web-agent",
        "name": "Website",
        "github_repository": "acme/website",
        "beaker_config_path": ".beaker/beaker.yaml",
    }


def test_setup__agent_without_a_repository_and_none_named__is_recorded_as_it_is(desk: Any) -> None:
    """GitHub is not asked then."""
    desk.begin(STORED)
    desk.hosted.answer("GET", AGENTS, 200, UNBOUND)
    assert desk.run("agent", "setup", "website")["code"] == 0
    assert [one.path for one in desk.hosted.requests] == [AGENTS]


def test_setup__new_agent__is_made_once_its_repository_can_be_read(desk: Any) -> None:
    """Named as it was typed, its key as the service chose it."""
    desk.begin(STORED)
    done = desk.run("agent", "setup", "New one", "--repo", "acme/WEBSITE", environ={"BEAKER_AGENT_KEY": "other"})
    assert done["code"] == 0
    (post,) = desk.hosted.asked("POST", "/v1/agents")
    assert post.body == {
        "name": "New one",
        "github_repository": "acme/website",
        "beaker_config_path": ".beaker/beaker.yaml",
    }
    assert "agent_key: new-agent" in config(desk)
    assert "warning: BK157 BEAKER_AGENT_KEY of the environment names another agent, other" in done["err"]
    (desk.project / ".beaker/.env").write_text("BEAKER_AGENT_KEY=third\n")
    assert ".beaker/.env names another agent, third" in desk.run("agent", "setup", "inv-agent")["err"]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("inv-agent", "--repo", "acme/website"), "BK153"),
        (("nobody",), "BK154"),
        (("nobody", "--repo", "acme"), "BK154"),
        (("inv-agent", "--integration-id", "other"), "BK110"),
    ],
)
def test_setup__what_does_not_fit__is_refused_before_anything_is_changed(
    desk: Any, argv: tuple[str, ...], code: str
) -> None:
    """Neither the service nor the configuration is touched, and no browser opened."""
    desk.begin(STORED)
    before = config(desk)
    done = desk.run("agent", "setup", *argv)
    assert (done["code"], f"error: {code} " in done["err"]) == (2, True)
    assert ({one.path for one in desk.hosted.requests} <= {AGENTS}, config(desk)) == (True, before)


def test_setup__ambiguous_configuration__is_refused_before_anything_is_sent(desk: Any) -> None:
    """Which integration is meant has to be said; with it, only that one is written to."""
    desk.begin(STORED)
    several = "integrations:\n  a: {entrypoint: 'm:a'}\n  b: {entrypoint: 'm:b'}\n"
    (desk.project / ".beaker/beaker.yaml").write_text(several)
    done = desk.run("agent", "setup", "inv-agent")
    assert (done["code"], "BK112" in done["err"], desk.hosted.requests) == (2, True, [])
    assert desk.run("agent", "setup", "inv-agent", "--integration-id", "b")["code"] == 0
    first, second, third = config(desk).splitlines()
    assert [first, second] == several.splitlines()[:2]
    assert "agent_key: inv-agent" in third


def test_setup__configuration_that_cannot_be_edited__is_refused_with_the_line(desk: Any) -> None:
    """The agent is there then, which is said; exit code 2, and the line to write by hand."""
    desk.begin(STORED)
    text = "one: &one {entrypoint: 'm:i'}\nintegrations:\n  invoices: *one\n"
    (desk.project / ".beaker/beaker.yaml").write_text(text)
    done = desk.run("agent", "setup", "inv-agent")
    assert (done["code"], config(desk)) == (2, text)
    assert "the agent inv-agent is ready, but its key was not recorded" in done["err"]
    assert "BK123" in done["err"]
    assert "agent_key: inv-agent" in done["err"]


def test_setup__no_configuration__chooses_the_agent_and_says_what_comes_next(desk: Any) -> None:
    """Nothing is written; the path is the one that a configuration would have."""
    desk.begin(STORED)
    (desk.project / ".beaker/beaker.yaml").unlink()
    desk.hosted.answer("GET", AGENTS, 200, UNBOUND)
    done = desk.run("agent", "setup", "website", "--repo", "acme/website")
    assert (done["code"], "its key was not recorded" in done["out"], "init" in done["err"]) == (0, True, True)
    assert desk.hosted.asked("PUT", REPOSITORY)[0].body["beaker_config_path"] == ".beaker/beaker.yaml"
    assert list((desk.project / ".beaker").iterdir()) == []


def test_setup__configuration_that_is_no_good__is_refused(desk: Any) -> None:
    """Its faults are shown, and nothing is sent."""
    desk.begin(STORED)
    (desk.project / ".beaker/beaker.yaml").write_text("integrations: [\n")
    done = desk.run("agent", "setup", "inv-agent")
    assert (done["code"], "BK101" in done["err"], desk.hosted.requests) == (2, True, [])


@pytest.mark.parametrize("status", [409, 422])
def test_create__repository_that_cannot_be_read__hints_at_access(desk: Any, status: int) -> None:
    """With an API key GitHub is not asked first, so the service's refusal comes with advice."""
    desk.begin(None)
    desk.hosted.answer("POST", "/v1/agents", status, {"detail": "the App cannot read acme/x"})
    done = desk.run(
        "agent",
        "create",
        "X",
        "--repo",
        "acme/x",
        place=("--base-url", desk.hosted.url, "--api-key", "bkr_live_hosted_1"),
    )
    assert done["code"] == 2
    assert "the App cannot read acme/x" in done["err"]
    assert "beaker --base-url {api} github connect --repo acme/x" in done["err"]
    assert [one.path for one in desk.hosted.requests] == ["/v1/agents"]


def test_edit__changes__only_what_is_given(desk: Any) -> None:
    """The body holds the given keys, the path normalised; without any there is nothing to do."""
    desk.begin(STORED)
    assert desk.run("agent", "edit", "Invoices", "--name", " Bills ")["code"] == 0
    assert desk.run("agent", "edit", "inv-agent", "--config-path", "./svc//.beaker/beaker.yaml")["code"] == 0
    bodies = [one.body for one in desk.hosted.asked("PATCH", "/v1/user/agents/{agent_id}")]
    assert bodies == [{"name": "Bills"}, {"beaker_config_path": "svc/.beaker/beaker.yaml"}]
    before = len(desk.hosted.requests)
    for argv in ((), ("--name", " "), ("--config-path", "/etc/x"), ("--config-path", "../x")):
        done = desk.run("agent", "edit", "inv-agent", *argv)
        assert (done["code"], "BK905" in done["err"]) == (2, True), argv
    assert len(desk.hosted.requests) == before


def test_list__strange_agents__are_refused_or_made_visible(desk: Any) -> None:
    """An entry without key or name is no agent, and the list then no list of them; control characters cannot act."""
    desk.begin(STORED)
    odd = {"key": "k\x1b[2J", "name": "n\nm", "github_repository": "a/b\x07"}
    for rubbish in (7, {"key": "k"}):
        desk.hosted.answer("GET", "/v1/agents", 200, {"agents": [odd, rubbish]})
        for more in ((), ("--json",)):
            done = desk.run("agent", "list", *more)
            assert (done["code"], done["out"], "BK804" in done["err"]) == (2, "", True)
    desk.hosted.answer("GET", "/v1/agents", 200, {"agents": [odd]})
    done = desk.run("agent", "list")
    assert (done["code"], len(done["out"].splitlines())) == (0, 2)
    assert not any(one in done["out"] for one in ("\x1b", "\x07"))


def test_model_list__available_only__keeps_what_is_exactly_so(desk: Any) -> None:
    """A key that is configured is `true`, nothing else."""
    desk.begin(STORED)
    odd = [
        {"canonical_model_id": f"p:{number}", "credential_configured": said}
        for number, said in enumerate((True, 1, "yes", None))
    ]
    desk.hosted.answer("GET", "/v1/model-catalog", 200, {"models": odd, "more": 7})
    done = desk.run("model", "list", "--available-only", "--agent", "inv-agent", "--json")
    assert json.loads(done["out"]) == {"models": odd[:1]}
    desk.hosted.answer("GET", "/v1/model-catalog", 200, {"models": odd[1:]})
    done = desk.run("model", "list", "--available-only", "--agent", "inv-agent")
    assert (done["code"], done["out"]) == (0, "no models whose provider's key the organization has\n")
