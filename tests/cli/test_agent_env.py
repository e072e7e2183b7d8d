"""`beaker agent env`: what is set is checked before it is sent, and reaches runs on this machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOGIN = {"token": "bkr_cli_hosted_1", "expires_at": "2099-01-01T00:00:00Z"}
SECRET = "kept-s3cret-value"
FILE = f"export A={SECRET}\nB='{SECRET} b'\n# C=1\nBEAKER_AGENT_KEY=inv-agent\n"


@pytest.fixture
def env(desk: Any) -> Callable[..., dict[str, Any]]:
    """Run an `agent env` command of somebody who is logged in; no value is ever shown."""
    desk.begin(LOGIN)
    (desk.project / "vars.env").write_text(FILE)

    def call(*argv: str, **options: Any) -> dict[str, Any]:
        done: dict[str, Any] = desk.run("agent", "env", *argv, **options)
        assert SECRET not in done["out"] + done["err"]
        return done

    return call


def sent(desk: Any) -> list[tuple[str, str]]:
    """Path and value of every variable that was sent."""
    return [(one.path, one.body["value"]) for one in desk.hosted.requests if one.method == "PUT"]


def test_set__file__sends_what_is_named(env: Any, desk: Any) -> None:
    """In the order of the names; an id needs no look-up and is encoded."""
    done = env("set", "B", "A", "--from-file", "vars.env", "--agent-id", "ag/1", "--json")
    assert (done["code"], json.loads(done["out"])) == (0, {"agent_id": "ag/1", "set": ["B", "A"]})
    assert sent(desk) == [("/v1/agents/ag%2F1/env-vars/B", f"{SECRET} b"), ("/v1/agents/ag%2F1/env-vars/A", SECRET)]
    assert all(one.method == "PUT" for one in desk.hosted.requests)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--from-file", "vars.env"), "BEAKER_AGENT_KEY"),
        (("A", "C", "--from-file", "vars.env"), "does not set C"),
        (("A", "PATH", "--from-file", "vars.env"), "'PATH'"),
        (("--from-file", "gone.env"), "BK701"),
        (("--from-file", "."), "BK701"),
        (("lower", "--value", SECRET), "upper-case"),
        (("BEAKER_API_KEY", "--value-stdin"), "reserved"),
        (("A", "B", "--value", SECRET), "2 names are given"),
        (("--value", SECRET), "no name is given"),
        (("A", "--value", f"{SECRET}\0"), "NUL"),
        (("A",), "one of the arguments --value --value-stdin --from-file is required"),
        (("A", "--value", "x", "--value-stdin"), "not allowed with argument"),
    ],
)
def test_set__what_cannot_be_set__sends_nothing(env: Any, desk: Any, argv: tuple[str, ...], said: str) -> None:
    """Names and values are checked before the service is asked anything, the agent's id included."""
    done = env("set", *argv, "--agent", "inv-agent", stdin=SECRET)
    assert (done["code"], said in done["err"], desk.hosted.requests) == (2, True, [])


def test_set__fails_half_way__says_what_is_set(env: Any, desk: Any) -> None:
    """So that nobody has to guess."""
    desk.hosted.answer("PUT", "/v1/agents/ag_1/env-vars/B", 503, {"detail": "busy"})
    done = env("set", "A", "B", "--from-file", "vars.env", "--agent", "inv-agent")
    assert (done["code"], "set before that: A\n" in done["err"]) == (2, True)


def test_set__empty_input__warns_and_sets_it(env: Any, desk: Any) -> None:
    """A pipe with nothing in it is more often a fault than meant; who means it says so."""
    for stdin, warned in (("", True), ("\n", True), ("x", False)):
        done = env("set", "A", "--value-stdin", "--agent", "inv-agent", stdin=stdin)
        assert (done["code"], "standard input is empty, so A is set to nothing" in done["err"]) == (0, warned)
    empty = env("set", "A", "--value", "", "--agent", "inv-agent")
    assert (empty["code"], empty["err"]) == (0, "")


@pytest.mark.parametrize("action", [("list",), ("list", "--json")])
def test_list__rubbish_in_the_answer__is_a_broken_answer(env: Any, desk: Any, action: tuple[str, ...]) -> None:
    """An answer that holds no variables is not told as one that has none."""
    desk.hosted.answer("GET", "/v1/agents/ag_1/env-vars", 200, {"env_vars": [{"nome": "A"}, 7]})
    done = env(*action, "--agent", "inv-agent")
    assert (done["code"], done["out"], "BK804" in done["err"]) == (2, "", True)


@pytest.mark.parametrize(
    ("data", "said"), [(b"\xff=1\n", "not UTF-8"), (b"", "sets no variable"), (b"#" * (8 * 1024 * 1024 + 1), "bytes")]
)
def test_set__file_that_is_none__is_refused(env: Any, desk: Any, data: bytes, said: str) -> None:
    """Whatever is in it."""
    (desk.project / "vars.env").write_bytes(data)
    done = env("set", "--from-file", "vars.env", "--agent", "inv-agent")
    assert (done["code"], said in done["err"], desk.hosted.requests) == (2, True, [])


def test_check__local__counts_what_is_set_here(env: Any, desk: Any, conforms: Callable[[object, str], None]) -> None:
    """Values kept for the agent, a provider's key of another one, this environment and `.beaker/.env`."""
    local: dict[str, Any] = {"place": ("--local",)}
    (desk.project / ".beaker/beaker.yaml").write_text(
        "integrations:\n  a:\n    entrypoint: m:i\n    required_env: [KEPT, OPENAI_API_KEY, HERE, FILE, GONE]\n"
    )
    (desk.project / ".beaker/.env").write_text("FILE=x\n")
    assert env("set", "KEPT", "--value-stdin", stdin=f"{SECRET}\n", **local)["code"] == 0
    env("set", "OPENAI_API_KEY", "--value", SECRET, "--agent", "other", **local)
    done = env("check", "--json", environ={"HERE": "x"}, **local)
    answer = json.loads(done["out"])
    conforms(answer, "cli-agent-env-check.json")
    assert (done["code"], answer["ready"]) == (1, False)
    assert {one["name"]: one["source"] for one in answer["names"]} == {
        "KEPT": "agent", "OPENAI_API_KEY": "organization", "HERE": "environment", "FILE": "dotenv", "GONE": None,
    }  # fmt: skip
    done = env("check", environ={"HERE": "x", "GONE": ""}, **local)
    assert (done["code"], done["out"].splitlines()[-1]) == (
        0,
        "beaker agent env check: everything that is needed is set",
    )


@pytest.mark.parametrize(
    ("config", "argv", "code"),
    [
        ("integrations: {}\n", (), "BK119"),
        ("integrations:\n  a: {entrypoint: 'a:b'}\n  b: {entrypoint: 'a:b'}\n", (), "BK112"),
        ("integrations:\n  a: {entrypoint: 'a:b'}\n", ("--integration-id", "c"), "BK110"),
        ("integrations:\n  a: {entrypoint: 'a:b', required_env: [PATH]}\n", (), "BK1"),
        ("integrations: [\n", (), "BK101"),
    ],
)
def test_check__nothing_to_check__is_refused_unasked(
    env: Any, desk: Any, config: str, argv: tuple[str, ...], code: str
) -> None:
    """Exit code 2 before any request."""
    (desk.project / ".beaker/beaker.yaml").write_text(config)
    done = env("check", "--agent", "inv-agent", *argv)
    assert (done["code"], f"error: {code}" in done["err"], desk.hosted.requests) == (2, True, [])


def test_check__no_variable__is_ready(env: Any, desk: Any) -> None:
    """The service is asked all the same, so that the answer means that it could be."""
    done = env("check", "--agent", "inv-agent")
    assert (done["code"], "needs no variable" in done["out"]) == (0, True)
    assert [one.path for one in desk.hosted.requests][-1] == "/v1/llm/credentials"


def test_agent__answer_without_an_id__is_refused(env: Any, desk: Any) -> None:
    """Nothing is sent to nobody."""
    desk.hosted.answer("GET", "/v1/agents/current", 200, {"key": "inv-agent"})
    done = env("list", "--agent", "inv-agent")
    assert (done["code"], "BK804" in done["err"]) == (2, True)


def test_agent__none_is_named__is_refused(env: Any, desk: Any) -> None:
    """All three places are named."""
    done = env("list")
    assert (done["code"], "BEAKER_AGENT_KEY" in done["err"], desk.hosted.requests) == (2, True, [])


def test_smoke__kept_value__is_granted(beaker: Any, tmp_path: Path) -> None:
    """What is set for the agent of this machine is there when the integration is tried out."""
    project = tmp_path / "project"
    (project / ".beaker").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / ".beaker/beaker.yaml").write_text(
        "integrations: {a: {entrypoint: 'm:i', required_env: [TOKEN]}}\nconfig_defaults: {local_dataset_path: d}\n"
    )
    from argparse import Namespace

    from beaker.cli.kept_values import granted_here
    from beaker.cli.place import look_around
    from beaker.cli.shell import Io

    assert beaker("--local", "agent", "env", "set", "TOKEN", "--value", SECRET, cwd=project).code == 0
    io = Io(stdout=None, stderr=None, stdin=None, environ={"TOKEN": "shell"}, cwd=project)  # type: ignore[arg-type]
    around = look_around(Namespace(config_file=None), io)
    assert around.config is not None
    granted = granted_here(Namespace(), io, around, around.config.integrations["a"])
    assert (granted.values, granted.sources) == ({"TOKEN": SECRET}, {"TOKEN": "secrets"})
