"""Integrations of the checkout, their versions, and agents that are made by name."""

import json
from typing import Any

import pytest

CONFIG = ".beaker/beaker.yaml"


def test_integrations__of_the_checkout__are_listed_at_its_commit(world: Any, conforms: Any) -> None:
    """As the configuration names them there, faulty ones too; by status."""
    answer = world.api.call("list_integrations").unwrap()
    conforms(answer, "integrations.json")
    (demo,) = answer["integrations"]
    assert (demo["name"], demo["status"], demo["kind"]) == ("demo", "READY", "integration")
    assert demo["version"] == world.ports.repository.commit(None).unwrap()
    text = (world.root / CONFIG).read_text(encoding="utf-8")
    world.write(CONFIG, f"{text}  bad:\n    entrypoint: 7\n")
    assert world.api.call("list_integrations").unwrap() == answer  # not committed
    world.commit()
    listed = world.api.call("list_integrations").unwrap()
    conforms(listed, "integrations.json")
    assert {one["name"]: one["status"] for one in listed["integrations"]} == {"demo": "READY", "bad": "FAULTY"}
    faulty = world.api.call("list_integrations", status="faulty").unwrap()["integrations"]
    assert ([one["name"] for one in faulty], bool(faulty[0]["problems"])) == (["bad"], True)


def test_integrations__of_an_unreadable_configuration__are_refused(world: Any, conforms: Any) -> None:
    """With what is wrong with it."""
    world.write(CONFIG, "integrations: [")
    world.commit()
    refused = world.raw("list_integrations")
    conforms(json.loads(refused.body), "error.json")
    assert refused.status == 422


def test_versions__are_the_commits_that_runs_took_it_from(world: Any, conforms: Any) -> None:
    """The current one first, then those of runs; each can be looked at."""
    world.dataset()
    first = world.launch()["github_source"]["commit"]
    world.write("more.txt", "more")
    second = world.commit()
    listed = world.api.call("list_integration_versions", name="demo").unwrap()
    conforms(listed, "integration_versions.json")
    assert [one["version"] for one in listed["versions"]] == [second, first]
    for version in (first, second):
        one = world.api.call("get_integration_version", name="demo", version=version).unwrap()
        conforms(one, "integration.json")
        assert (one["name"], one["version"]) == ("demo", version)
    world.launch()
    again = world.api.call("list_integration_versions", name="demo").unwrap()
    assert [one["version"] for one in again["versions"]] == [second, first]
    other = world.api.call("list_integration_versions", name="demo", agent_key="other").unwrap()
    assert [one["version"] for one in other["versions"]] == [second]


@pytest.mark.parametrize("version", ["HEAD", "0" * 40, "v1", "-x"])
def test_version__that_is_no_commit_of_it__is_not_found(world: Any, version: str) -> None:
    """A branch is no version, nor is a commit that is not there; nor is there another integration."""
    assert world.raw("get_integration_version", name="demo", version=version).status == 404
    commit = world.ports.repository.commit(None).unwrap()
    assert world.raw("get_integration_version", name="other", version=commit).status == 404
    assert world.raw("list_integration_versions", name="other").status == 404


def test_agent__made_by_name__has_a_key_of_it(world: Any, conforms: Any) -> None:
    """For the checkout of this place alone; one that is there already is said to be."""
    given = {"name": " Invoice Reader, 2 ", "github_repository": "local/PROJECT", "beaker_config_path": CONFIG}
    made = world.api.call("create_agent", **given).unwrap()
    conforms(made, "agent.json")
    assert (made["key"], made["name"], made["github_repository"]) == (
        "invoice-reader-2",
        "Invoice Reader, 2",
        "local/project",
    )
    assert world.api.call("get_current_agent", agent_key="invoice-reader-2").unwrap() == made
    assert world.raw("create_agent", **given).status == 409
    for changes in ({"name": "--"}, {"name": "a\x07b"}, {"github_repository": "a/b"}, {"beaker_config_path": "x"}):
        assert world.raw("create_agent", **given | {"name": "new"} | changes).status == 422
    assert len(world.api.call("list_agents").unwrap()["agents"]) == 1
