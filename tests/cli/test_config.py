"""`beaker config check|show`: exit codes, what is printed, and that secrets are not."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

CONFIG = """\
integrations:
  app:
    entrypoint: m:x
    required_env: [OPENAI_API_KEY, FROM_FILE, MISSING]
    agent_key: from-config
    config_defaults: {max_concurrency: 2}
  other: {entrypoint: 'm:y', agent_key: theirs}
default_integration: app
config_defaults:
  dataset_ref: d
  harness_optimization: {command: ['true']}
"""
SECRETS = {"OPENAI_API_KEY": "hush-environment", "BEAKER_API_KEY": "hush-api-key"}

Config = Callable[..., Any]


@pytest.fixture
def config(beaker: Callable[..., Any], tmp_path: Path) -> Config:
    """Run `beaker [options] config ...` in a project; nothing secret may be printed."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".beaker").mkdir()
    (tmp_path / "m.py").touch()
    (tmp_path / ".beaker" / ".env").write_text("FROM_FILE=hush-dotenv\n")

    def call(*argv: str, text: str | None = CONFIG, environ: Mapping[str, str] = SECRETS) -> Any:
        if text is not None:
            (tmp_path / ".beaker" / "beaker.yaml").write_text(text)
        done = beaker(*argv, environ=environ)
        assert "hush" not in done.out + done.err
        return done

    return call


def values(done: Any) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in json.loads(done.out)["values"]}


def test_check__good_file__says_so(config: Config, conforms: Callable[[object, str], None]) -> None:
    """Exit code 0 and one line; under --json one compact line of the published shape."""
    done = config("config", "check")
    line = "beaker config check: .beaker/beaker.yaml is valid (2 integrations: app, other)\n"
    assert (done.code, done.out, done.err) == (0, line, "")
    done = config("--json", "config", "check")
    conforms(json.loads(done.out), "cli-config-check.json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert json.loads(done.out)["ids"] == ["app", "other"]


def test_check__faults_and_warnings__are_all_told(config: Config, conforms: Callable[[object, str], None]) -> None:
    """The answer is no: exit code 1, every problem and warning with its line on the error stream."""
    text = CONFIG.replace("default_integration: app", "default_integration: ap\nagent: x").replace("m:y", "m.y")
    done = config("config", "check", text=text)
    assert (done.code, done.out) == (1, "")
    told = [line for line in done.err.splitlines() if not line.startswith("hint:")]
    assert [line.split(": ")[:2] for line in told] == [
        ["warning", "BK106 .beaker/beaker.yaml:9"],
        ["error", "BK102 .beaker/beaker.yaml:7"],
        ["error", "BK111 .beaker/beaker.yaml:8"],
    ]
    done = config("config", "check", "--json", text=text)
    answer = json.loads(done.out)
    conforms(answer, "cli-config-check.json")
    assert (done.code, answer["valid"], len(answer["problems"]), len(answer["warnings"])) == (1, False, 2, 1)
    assert json.loads(done.err)["error"]["problems"] == answer["problems"]


def test_check__unreadable_file__is_a_negative_answer(config: Config) -> None:
    """A file that is no YAML is judged, not tripped over."""
    done = config("config", "check", text="integrations:\n\t- x\n")
    assert (done.code, done.out) == (1, "")
    assert "BK101 .beaker/beaker.yaml:2:1" in done.err


@pytest.mark.parametrize("action", ["check", "show"])
def test_config__no_file__cannot_be_done(config: Config, action: str) -> None:
    """Without a file there is nothing to judge or show; one that was named and is not there is said to be missing."""
    done = config("config", action, text=None)
    assert (done.code, done.out) == (2, "")
    assert "error: BK119 " in done.err
    done = config("--config-file", "gone.yaml", "config", action, text=None)
    assert (done.code, done.out) == (2, "")
    assert "error: BK118 " in done.err


def test_show__origin__says_where_each_value_is_from(config: Config) -> None:
    """Every value that counts is there once, with the place that it comes from."""
    done = config("config", "show", "--origin")
    assert done.code == 0
    assert done.out.splitlines() == [
        "beaker config show: .beaker/beaker.yaml",
        "  api: https://api.withbeaker.ai/  (default)",
        "  agent_key: from-config  (.beaker/beaker.yaml:5)",
        "  credential: (set, not shown)  (environment: BEAKER_API_KEY)",
        "  id: app  (.beaker/beaker.yaml:8)",
        "  integrations.app.entrypoint: m:x  (.beaker/beaker.yaml:3)",
        "  integrations.app.source_dir: .  (default)",
        "  integrations.app.package_import_root: .  (default)",
        '  integrations.app.required_env: ["OPENAI_API_KEY","FROM_FILE","MISSING"]  (.beaker/beaker.yaml:4)',
        "  env.OPENAI_API_KEY: (set, not shown)  (environment: OPENAI_API_KEY)",
        "  env.FROM_FILE: (set, not shown)  (.beaker/.env)",
        "  env.MISSING: (none)  (default)",
        "  config_defaults.dataset_ref: d  (.beaker/beaker.yaml:10)",
        '  config_defaults.harness_optimization.command: ["true"]  (.beaker/beaker.yaml:11)',
        "  config_defaults.max_concurrency: 2  (.beaker/beaker.yaml:6)",
    ]
    assert config("config", "show").out.splitlines()[2] == "  agent_key: from-config"


def test_show__json__obeys_its_schema(config: Config, conforms: Callable[[object, str], None]) -> None:
    """One compact line; the places come with --origin, and the defaults of a run with --local."""
    plain, full = config("config", "show", "--json"), config("--local", "config", "show", "--json", "--origin")
    for done in (plain, full):
        conforms(json.loads(done.out), "cli-config-show.json")
        assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert set(values(plain)["api"]) == {"key", "value"}
    assert values(full)["api"] == {"key": "api", "value": "local", "source": "flag", "where": "--local"}
    assert "credential" not in values(full)
    assert values(full)["config_defaults.test_baseline"]["source"] == "default"
    assert "config_defaults.test_baseline" not in values(plain)


def test_show__options_and_variables__come_before_the_file(config: Config) -> None:
    """The explicit id, agent, address and key are what counts, each with its option or variable."""
    argv = ("config", "show", "--integration-id", "other", "--agent", "mine", "--json", "--origin")
    done = config("--base-url", "https://h.example", "--api-key", "hush-flag", *argv)
    found = values(done)
    assert [found[key]["where"] for key in ("api", "agent_key", "credential", "id")] == [
        "--base-url", "--agent", "--api-key", "--integration-id",
    ]  # fmt: skip
    assert found["id"]["value"] == "other"
    variables = {"BEAKER_AGENT_KEY": "theirs", "BEAKER_API_BASE_URL": "https://e.example"}
    found = values(config("config", "show", "--json", "--origin", environ=variables))
    assert [found[key]["value"] for key in ("api", "agent_key", "credential")] == ["https://e.example", "theirs", None]


def test_show__nothing_or_too_much_to_choose__is_said(config: Config) -> None:
    """A file without entries shows its settings; several without a default, or a broken entry, are refused."""
    done = config("config", "show", "--json", text="config_defaults: {max_concurrency: 3}\n")
    assert (done.code, json.loads(done.out)["id"]) == (0, None)
    assert config("config", "show", text=CONFIG.replace("default_integration: app\n", "")).code == 2
    broken = config("config", "show", text=CONFIG.replace("m:x", "m.x"))
    assert (broken.code, broken.out) == (2, "")
    assert "BK102" in broken.err
    assert config("config", "show", text="a: b: c\n").code == 2


def test_check__entries_of_both_kinds__are_told_apart(
    beaker: Callable[..., Any], tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """A Spec is no integration, also where one of each has the same id."""
    (tmp_path / ".beaker").mkdir(exist_ok=True)
    file = tmp_path / ".beaker" / "beaker.yaml"
    both = 'spec: {target: "a:b"}\nintegrations:\n  spec: {entrypoint: "a:b"}\n  app: {entrypoint: "a:b"}\n'
    for text, said in (
        (both, "(2 integrations: spec, app; 1 Spec: spec; "),
        ('specs: {one: {target: "a:b"}, two: {target: "a:b"}}\n', "(2 Specs: one, two; "),
        ("integrations: {}\n", "(0 integrations)\n"),
    ):
        file.write_text(text)
        assert f"is valid {said}" in beaker("config", "check").out
    file.write_text(both)
    answer = json.loads(beaker("config", "check", "--json").out)
    conforms(answer, "cli-config-check.json")
    named = (answer["ids"], answer["integrations"], answer["specs"])
    assert named == (["spec", "app"], ["spec", "app"], ["spec"])
