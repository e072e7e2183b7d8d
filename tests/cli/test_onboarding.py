"""`beaker onboarding status` in real repositories, against a loopback service and on this machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z"}
LETTERS = {"complete": "C", "todo": "T", "unknown": "?"}
MODULE = "async def run_case(case, runtime):\n    runtime.trace.model_call('m')\n\n\ni = 1\n"


@pytest.fixture
def status(desk: Any, git: Callable[..., str], conforms: Callable[[object, str], None]) -> Callable[..., Any]:
    """Ask in a whole project; `status(...)` gives the states of the steps, and the answer."""
    desk.begin(LOGIN)
    (desk.project / ".git").rmdir()
    git("init", "-q", "--initial-branch=work", cwd=desk.project)
    git("remote", "add", "origin", "git@github.com:Acme/invoices.git", cwd=desk.project)
    (desk.project / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["beaker-sdk"]\n')
    (desk.project / "m.py").write_text(MODULE)

    def call(*argv: str, **options: Any) -> tuple[str, dict[str, Any]]:
        options.setdefault("place", ("--base-url", desk.hosted.url))
        done = desk.run("onboarding", "status", "--json", *argv, **options)
        answer = json.loads(done["out"])
        conforms(answer, "cli-onboarding-status.json")
        answer["code"], answer["err"] = done["code"], done["err"]
        return "".join(LETTERS[step["state"]] for step in answer["steps"]), answer

    return call


def commit(desk: Any, git: Callable[..., str]) -> None:
    git("add", ".", cwd=desk.project)
    git("commit", "-qm", "all", cwd=desk.project)


def test_status__whole_project__lacks_the_push(status: Any, desk: Any, git: Any) -> None:
    """Everything is done but what Git says: uncommitted, then not to be reached without a network."""
    states, answer = status("--agent", "Invoices", environ={"PATH": "/usr/bin:/bin", "BEAKER_AGENT_KEY": "x"})
    assert (states, answer["code"]) == ("CCCCCCCCC??", 0)
    assert "nothing has been committed yet" in answer["steps"][9]["reason"]
    commit(desk, git)
    (desk.project / "m.py").write_text(MODULE.replace("i = 1", "i = 2"))
    states, answer = status("--agent", "inv-agent", "--fail-on-todo")
    assert (states, answer["next"]["id"], answer["code"]) == ("CCCCCCCCCT?", "integration_pushed", 1)
    assert answer["steps"][9]["reason"] == "not committed: m.py"
    assert "git push -u origin beaker/2027" in answer["next"]["action"]
    assert [one.path for one in desk.hosted.requests][-5:] == [
        "/v1/user/me", "/v1/user/agents", "/v1/user/github/connection", "/v1/user/github/repositories", "/v1/datasets",
    ]  # fmt: skip


def test_status__another_checkout__comes_first(status: Any, desk: Any, git: Any) -> None:
    """An agent is never pointed elsewhere; a new one is what helps."""
    git("remote", "set-url", "origin", "https://github.com/acme/other.git", cwd=desk.project)
    states, answer = status("--agent", "inv-agent")
    assert (states[4], answer["next"]["id"]) == ("T", "agent_selected")
    assert "`beaker --base-url {api} agent setup NEW_NAME`" in answer["next"]["action"]


def test_status__local__needs_a_commit_and_a_dataset(status: Any, desk: Any, git: Any) -> None:
    """No service is asked, no store is made by looking, and the exit code can stop a script."""
    local: dict[str, Any] = {"place": ("--local",)}
    states, answer = status("--fail-on-todo", **local)
    assert (states, answer["code"], answer["next"]["id"]) == ("CCCCCCCTCT?", 1, "dataset_available")
    assert not (desk.project / ".beaker/local").exists()
    commit(desk, git)
    config = desk.project / ".beaker/beaker.yaml"
    config.write_text(f"{config.read_text()}config_defaults: {{local_dataset_path: d}}\n")
    (desk.project / "d").mkdir()
    (desk.project / "d/train.jsonl").write_text("{}\n")
    states, answer = status(**local)
    assert (states[7], "lacks train.jsonl or test.jsonl" in answer["steps"][7]["reason"]) == ("T", True)
    (desk.project / "d/test.jsonl").write_text("{}\n")
    commit(desk, git)
    states, answer = status("--fail-on-todo", **local)
    assert (states, answer["next"]["id"], answer["code"]) == ("CCCCCCCCCCT", "experiment_launched", 1)
    desk.run("agent", "env", "set", "X", "--value", "1", place=("--local",))  # now there is a store to be looked at
    assert status(**local)[0] == states
    config.write_text(config.read_text().replace("local_dataset_path: d", "dataset_ref: inv"))
    assert status(**local)[0][7] == "T"
    assert desk.hosted.requests == []


def test_status__project_in_a_subfolder__hints_at_source_dir(status: Any, desk: Any) -> None:
    """A configuration below the Git root whose entry takes the whole repository."""
    service = desk.project / "services/api"
    (service / ".beaker").mkdir(parents=True)
    (desk.project / "pyproject.toml").unlink()
    (service / "pyproject.toml").write_text('[project]\nname = "api"\n')
    (desk.project / ".beaker/beaker.yaml").rename(service / ".beaker/beaker.yaml")
    desk.project = service
    states, answer = status("--agent", "inv-agent")
    assert (states[0], "set source_dir to services/api" in answer["steps"][0]["next_action"]) == ("T", True)


@pytest.mark.parametrize(
    ("config", "states", "said"),
    [
        ("integrations: [\n", "???????????", "beaker.yaml"),
        ("integrations:\n  a: {entrypoint: 'm:i', source_dir: ../x}\n", "CC???T?????", ""),
        ("integrations:\n  a: {entrypoint: 'm:i', package_import_root: gone}\n", "???????????", "gone"),
    ],
)
def test_status__what_cannot_be_read__is_told(status: Any, desk: Any, config: str, states: str, said: str) -> None:
    """Nothing is known where the configuration or its folders cannot be read: exit code 2, and that comes first."""
    (desk.project / ".beaker/beaker.yaml").write_text(config)
    found, answer = status(place=("--base-url", desk.hosted.url, "--api-key", "wrong"))
    if said:
        assert (found, answer["code"], answer["next"]["id"]) == (states, 2, "config_present")
        assert said in answer["errors"][0]
        assert said in json.loads(answer["err"])["error"]["problems"][0]["where"] + answer["errors"][0]
    else:
        assert (found[5], answer["code"]) == ("T", 0)


def test_status__variable_hides_the_configured_agent__is_warned_of(status: Any, desk: Any) -> None:
    """For people, once; an explicit agent needs no warning."""
    (desk.project / ".beaker/beaker.yaml").write_text("integrations: {a: {entrypoint: 'm:i', agent_key: mine}}\n")
    environ = {"BEAKER_AGENT_KEY": "inv-agent"}
    shown = desk.run("onboarding", "status", environ=environ)
    assert "warning: BK157" in shown["err"]
    assert "  PASS     agent_selected             developer\n" in shown["out"]
    assert "BK157" not in desk.run("onboarding", "status", "--agent", "inv-agent", environ=environ)["err"]


def test_status__outside_of_everything__begins_at_the_beginning(beaker: Any, tmp_path: Path) -> None:
    """No project, no repository: the first two steps, and no request."""
    done = beaker("onboarding", "status", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["next"]["id"]) == (0, "beaker_dependency_declared")
    assert [step["state"] for step in answer["steps"][:3]] == ["todo", "todo", "unknown"]
