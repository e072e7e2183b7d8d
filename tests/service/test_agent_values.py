"""`secrets.json` of a place, and the endpoints that change it."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from beaker.core.agent_values import AgentValues, with_value
from beaker.core.problems import Refused
from beaker.service.agent_values import SECRETS, SecretsFile
from beaker.service.embedded import open_embedded
from beaker.service.local_workers import GRANTED

SECRET = "planted-s3cret-value"


@pytest.fixture
def agent_id(world: Any) -> str:
    """The id of the place's agent."""
    return str(world.api.call("get_current_agent").unwrap()["id"])


def test_env_vars__set_listed_deleted__as_asked(world: Any, agent_id: str) -> None:
    """Values are kept by name, and never answered."""
    for name, text in (("TOKEN", SECRET), ("EMPTY", ""), ("TOKEN", f"{SECRET}2")):
        world.api.call("set_agent_env_var", agent_id=agent_id, name=name, value=text).unwrap()
    response = world.raw("list_agent_env_vars", agent_id=agent_id)
    assert json.loads(response.body) == {
        "env_vars": [
            {"name": "EMPTY", "value_last_four": None, "value_length": 0},
            {"name": "TOKEN", "value_last_four": "lue2", "value_length": len(SECRET) + 1},
        ]
    }
    world.api.call("delete_agent_env_var", agent_id=agent_id, name="TOKEN").unwrap()
    assert [item["name"] for item in world.api.call("list_agent_env_vars", agent_id=agent_id).unwrap()["env_vars"]] == [
        "EMPTY"
    ]
    assert SECRET not in (world.place.state_dir / SECRETS).read_text()


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code"),
    [
        ("set_agent_env_var", {"name": "lower", "value": SECRET}, 422, "BK147"),
        ("set_agent_env_var", {"name": "BEAKER_API_KEY", "value": SECRET}, 422, "BK147"),
        ("set_agent_env_var", {"name": "TOKEN", "value": f"{SECRET}\0"}, 422, "BK147"),
        ("set_agent_env_var", {"name": "TOKEN", "value": SECRET, "agent_id": "no"}, 404, "BK453"),
        ("delete_agent_env_var", {"name": "TOKEN"}, 404, "BK453"),
        ("delete_agent_env_var", {"name": "TOKEN", "agent_id": "no"}, 404, "BK453"),
        ("list_agent_env_vars", {"agent_id": "no"}, 404, "BK453"),
    ],
)
def test_env_vars__what_cannot_be__is_refused(
    world: Any, agent_id: str, name: str, arguments: dict[str, Any], status: int, code: str
) -> None:
    """Nothing is kept then, and the value is in no answer."""
    response = world.raw(name, **{"agent_id": agent_id, **arguments})
    said = response.body.decode()
    assert (response.status, code in said, SECRET in said) == (status, True, False)
    assert world.ports.secrets.read() == AgentValues()


def test_llm_credentials__providers_key_of_an_agent__is_the_organizations(world: Any, agent_id: str) -> None:
    """It counts for every agent of the place; other variables do not."""
    world.api.call("set_agent_env_var", agent_id=agent_id, name="OPENAI_API_KEY", value=SECRET).unwrap()
    answer = world.api.call("list_llm_credentials").unwrap()
    assert [item["provider"] for item in answer["credentials"] if item["configured"]] == ["openai"]
    assert answer["platform_routing_providers"] == []
    assert world.ports.granted(["OPENAI_API_KEY"], "another").values == {"OPENAI_API_KEY": SECRET}


def test_secrets_file__new__is_its_owners_alone(tmp_path: Path) -> None:
    """From the first byte on, whatever the umask; a file that others could read is narrowed by the next change."""
    before = os.umask(0)
    try:
        file = SecretsFile(tmp_path / SECRETS)
        for number in range(2):
            file.change(lambda kept: with_value(kept, "a", "N", SECRET))
            assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
            file.path.chmod(0o644 if number == 0 else 0o600)
    finally:
        os.umask(before)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"format": "x"}', f'["{SECRET}"]'.encode()])
def test_secrets_file__damaged__is_refused_and_kept(tmp_path: Path, data: bytes) -> None:
    """Nothing is written over it, and nothing of it is shown."""
    (tmp_path / SECRETS).write_bytes(data)
    with pytest.raises(Refused) as refused:
        SecretsFile(tmp_path / SECRETS).change(lambda kept: with_value(kept, "a", "N", "v"))
    assert (refused.value.problems[0].code, SECRET in str(refused.value)) == ("BK748", False)
    assert (tmp_path / SECRETS).read_bytes() == data


def test_secrets_file__many_writers__lose_nothing(tmp_path: Path) -> None:
    """Each change is made on what the one before left."""
    file = SecretsFile(tmp_path / SECRETS)

    def put(number: int) -> None:
        SecretsFile(file.path).change(lambda kept: with_value(kept, "a", f"N{number}", "v"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(24)))
    assert len(file.read().agents["a"]) == 24


def test_secrets_file__unreadable__is_a_problem(tmp_path: Path) -> None:
    """A folder in its place is told, not raised."""
    (tmp_path / SECRETS).mkdir()
    with pytest.raises(Refused) as refused:
        SecretsFile(tmp_path / SECRETS).read()
    assert refused.value.problems[0].code == "BK701"
    with pytest.raises(Refused) as refused:
        SecretsFile(tmp_path / "gone" / SECRETS).change(lambda kept: kept)
    assert refused.value.problems[0].code == "BK701"


def test_granted__kept_value__comes_first(project: Path) -> None:
    """Before the caller's environment, which comes before the dotenv file."""
    (project / ".beaker" / ".env").write_text("A=file\nB=file\nC=file\n", encoding="utf-8")
    with open_embedded(project, None, {**os.environ, "A": "shell", "B": "shell"}) as transport:
        transport.ports.secrets.change(lambda kept: with_value(kept, "mine", "A", "kept"))
        granted = transport.ports.granted(["A", "B", "C"], "mine")
        assert granted.values == {"A": "kept", "B": "shell", "C": "file"}
        assert granted.sources == {"A": "secrets", "B": "environment", "C": "dotenv"}
        assert transport.ports.granted(["A"], "other").values == {"A": "shell"}


def test_launch__declared_name__is_found_among_kept_values(world: Any, agent_id: str) -> None:
    """The gate passes, and the worker gets the value; one that is nowhere is refused with the command that sets it."""
    world.write(".beaker/beaker.yaml", "integrations: {demo: {entrypoint: 'a:b', required_env: [DEMO_TOKEN]}}\n")
    world.commit()
    world.dataset()
    refused = world.raw("create_optimization_run", config={}, dataset_ref="inv")
    assert (refused.status, b"beaker agent env set DEMO_TOKEN" in refused.body) == (422, True)
    world.api.call("set_agent_env_var", agent_id=agent_id, name="DEMO_TOKEN", value=SECRET).unwrap()
    run = world.launch()
    assert world.workers.started == [(run["id"], {"DEMO_TOKEN": SECRET})]
    assert SECRET not in json.dumps(run)


def test_worker__granted_value__is_not_under_its_own_name(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposer that is passed a name gets the caller's value of it, never the kept one."""
    import subprocess

    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: started.append(options["env"]))
    world.transport.workers.start("r", {"TOKEN": SECRET})
    (env,) = started
    assert (env.get("TOKEN"), env[f"{GRANTED}TOKEN"]) == (None, SECRET)
