"""Where each value of a configuration comes from: the file and its line, an option, a variable, or a default."""

from typing import Any

import pytest

from beaker.core.config import parse_config
from beaker.core.config_origin import (
    HIDDEN,
    Around,
    ConfigFile,
    Effective,
    effective_values,
    entry_values,
    settings_values,
)
from beaker.core.config_tree import MapNode, Node, Scalar, resolve_plain
from beaker.core.credentials import AgentKey, BaseUrl
from beaker.core.environment import GrantedEnvironment
from beaker.core.selection import choose

LOCAL_PLACE = BaseUrl("local", "config")
ELSEWHERE = BaseUrl("https://h/", "default")


def lined(text: str) -> Node:
    """A tree of block mappings and words, two blanks a level, each with the line that it stands on."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]

    def mapping(indent: int) -> MapNode:
        entries: list[tuple[Scalar, Node]] = []
        first = lines[0][0]
        while lines and len(lines[0][1]) - len(lines[0][1].lstrip()) == indent:
            number, line = lines.pop(0)
            key, _, written = line.strip().partition(":")
            word = written.strip()
            child: Node = Scalar(word, resolve_plain(word), number, 1) if word else mapping(indent + 2)
            entries.append((Scalar(key, key, number, 1), child))
        return MapNode(tuple(entries), first, 1)

    return mapping(0)


def file_of(text: str) -> ConfigFile:
    tree = lined(text)
    return ConfigFile(config=parse_config(tree, "f").unwrap(), tree=tree)


def rows(text: str, around: Around, explicit: str | None = None) -> dict[str, tuple[Any, str, str]]:
    file = file_of(text)
    found = effective_values(file, choose(file.config, explicit).unwrap(), around)
    assert len({row.key for row in found}) == len(found)
    return {row.key: (row.value, row.source, row.where) for row in found}


APP = """
api: local
integrations:
  app:
    entrypoint: m:x
    image_base: debian_slim:3.13
    agent_key: k1
default_integration: app
"""


def test_entry_values__keys_and_defaults__have_line_or_say_default() -> None:
    """What is written has its line, also under an older name; what a run needs anyway is told as a default."""
    file = file_of(APP)
    found = entry_values(file, file.config.integrations["app"])
    assert found == (
        Effective(key="integrations.app.entrypoint", value="m:x", source="config", where="f:5"),
        Effective(key="integrations.app.source_dir", value=".", source="default"),
        Effective(key="integrations.app.package_import_root", value=".", source="default"),
        Effective(key="integrations.app.required_env", value=[], source="default"),
        Effective(key="integrations.app.environment_base", value="debian_slim:3.13", source="config", where="f:6"),
    )


def test_entry_values__spec__is_named_by_its_target() -> None:
    """An entry of the Spec generation shows the key that it has, below its own section."""
    for text, place in (("specs:\n  s:\n    target: m:x\n", "specs.s"), ("spec:\n  target: m:x\n", "spec")):
        file = file_of(text)
        (entry,) = file.config.entries
        first = entry_values(file, entry)[0]
        assert (first.key, first.value, first.source) == (f"{place}.target", "m:x", "config")
        assert first.where == f"f:{text.count(chr(10))}"


SETTINGS = """
integrations:
  app:
    entrypoint: m:x
    config_defaults:
      maxConcurrency: 2
      extra:
        a:
          b: 1
config_defaults:
  max_concurrency: 9
  test_baseline: false
  harness_optimization:
    seed: 3
  dataset_ref: d
"""


def test_settings_values__two_layers__each_value_has_its_own_line() -> None:
    """The entry's settings lie over the file's, key by key, whatever the spelling; mappings are shown leaf by leaf."""
    file = file_of(SETTINGS)
    found = settings_values(file, file.config.integrations["app"])
    assert {row.key: (row.value, row.where) for row in found} == {
        "config_defaults.test_baseline": (False, "f:12"),
        "config_defaults.harness_optimization.seed": (3, "f:14"),
        "config_defaults.dataset_ref": ("d", "f:15"),
        "config_defaults.maxConcurrency": (2, "f:6"),
        "config_defaults.extra.a.b": (1, "f:9"),
    }
    assert {row.source for row in found} == {"config"}


def test_settings_values__defaults__fill_what_nobody_said() -> None:
    """A default is shown unless the file says it in either spelling, or says something of it or about it."""
    file = file_of(SETTINGS)
    defaults = {
        "max_concurrency": 4, "case_retry_limit": 2, "spend_budget_usd": None, "extra": {},
        "harness_optimization": {"seed": 0, "engine": "pareto", "timeouts": {"import": 60.0}, "prices": {}},
    }  # fmt: skip
    found = settings_values(file, file.config.integrations["app"], defaults=defaults)
    assert {row.key: row.value for row in found if row.source == "default"} == {
        "config_defaults.case_retry_limit": 2,
        "config_defaults.harness_optimization.engine": "pareto",
        "config_defaults.harness_optimization.timeouts.import": 60.0,
        "config_defaults.harness_optimization.prices": {},
    }
    assert all(not row.where for row in found if row.source == "default")


def test_settings_values__entry_without_any__has_those_of_the_file() -> None:
    """An entry that sets nothing takes everything from the top of the file."""
    file = file_of(f"{APP}config_defaults:\n  max_concurrency: 3\n")
    found = settings_values(file, file.config.integrations["app"])
    assert [(row.key, row.where) for row in found] == [("config_defaults.max_concurrency", "f:10")]


def test_settings_values__no_entry__are_those_of_the_file() -> None:
    """A file without integrations still has settings; one without settings has none."""
    file = file_of("config_defaults:\n  max_concurrency: 3\n")
    assert [(row.key, row.where) for row in settings_values(file, None)] == [("config_defaults.max_concurrency", "f:2")]
    assert settings_values(file_of("api: local\n"), None) == ()


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (LOCAL_PLACE, ("local", "config", "f:2")),
        (BaseUrl("local", "flag"), ("local", "flag", "--base-url")),
        (BaseUrl("https://e/", "environment"), ("https://e/", "environment", "BEAKER_API_BASE_URL")),
        (ELSEWHERE, ("https://h/", "default", "")),
    ],
)
def test_effective_values__api__says_who_chose_it(base_url: BaseUrl, expected: tuple[str, str, str]) -> None:
    """The place comes from an option, a variable, the file, or is the vendor's."""
    assert rows(APP, Around(base_url=base_url))["api"] == expected


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (AgentKey("k1", "config"), ("k1", "config", "f:7")),
        (AgentKey("k2", "flag"), ("k2", "flag", "--agent")),
        (AgentKey("k3", "environment"), ("k3", "environment", "BEAKER_AGENT_KEY")),
        (AgentKey("k4", "dotenv"), ("k4", "dotenv", ".beaker/.env")),
        (None, ("local", "default", "")),
    ],
)
def test_effective_values__agent__says_who_named_it(agent: AgentKey | None, expected: tuple[str, str, str]) -> None:
    """The agent's key comes from an option, a variable, the dotenv file, the entry, or on this machine from nowhere."""
    assert rows(APP, Around(base_url=LOCAL_PLACE, agent=agent))["agent_key"] == expected


def test_effective_values__agent_elsewhere__may_be_missing() -> None:
    """Another place has no agent of its own accord."""
    assert rows(APP, Around(base_url=ELSEWHERE))["agent_key"] == (None, "default", "")


def test_effective_values__agent_at_the_top_or_of_no_entry__has_its_place() -> None:
    """Specs may take the agent from the top of the file."""
    around = Around(base_url=LOCAL_PLACE, agent=AgentKey("k1", "config"))
    assert rows("specs:\n  s:\n    target: m:x\nagent_key: k1\n", around)["agent_key"] == ("k1", "config", "f:4")
    assert rows("api: local\n", around)["agent_key"] == ("k1", "config", "")


@pytest.mark.parametrize(
    ("credential", "expected"),
    [
        ("flag", (HIDDEN, "flag", "--api-key")),
        ("environment", (HIDDEN, "environment", "BEAKER_API_KEY")),
        ("session", (HIDDEN, "session", "~/.beaker/credentials.json")),
        (None, (None, "default", "")),
    ],
)
def test_effective_values__credential__is_never_shown(credential: Any, expected: tuple[str | None, str, str]) -> None:
    """Only where it comes from is told, and on this machine there is none."""
    around = Around(base_url=ELSEWHERE, credential=credential)
    assert rows(APP, around)["credential"] == expected
    assert "credential" not in rows(APP, Around(base_url=LOCAL_PLACE, credential=credential))


def test_effective_values__variables__say_where_from_and_not_what() -> None:
    """The values that the code is granted stay hidden; one that is nowhere is told as none."""
    sources = {"A": "environment", "B": "dotenv", "C": "secrets"}
    granted = GrantedEnvironment(dict.fromkeys(sources, "hush"), sources, ("D",))
    found = rows(APP, Around(base_url=LOCAL_PLACE, granted=granted))
    assert {key: row for key, row in found.items() if key.startswith("env.")} == {
        "env.A": (HIDDEN, "environment", "A"),
        "env.B": (HIDDEN, "dotenv", ".beaker/.env"),
        "env.C": (HIDDEN, "secrets", "agent env"),
        "env.D": (None, "default", ""),
    }


def test_effective_values__entry__says_why_it_is_the_one() -> None:
    """It was named by an option, is the file's default, or the only one; a file without entries has none."""
    assert rows(APP, Around(base_url=LOCAL_PLACE))["id"] == ("app", "config", "f:8")
    named = Around(base_url=LOCAL_PLACE, option="--integration-id")
    assert rows(APP, named, "app")["id"] == ("app", "flag", "--integration-id")
    sole = APP.replace("default_integration: app", "")
    assert rows(sole, Around(base_url=LOCAL_PLACE))["id"] == ("app", "default", "")
    specs = "specs:\n  s:\n    target: m:x\ndefault_spec: s\ndefault_integration: none\n"
    assert rows(specs, Around(base_url=LOCAL_PLACE))["id"] == ("s", "config", "f:4")
    assert set(rows("api: local\n", Around(base_url=ELSEWHERE))) == {"api", "agent_key", "credential"}


def test_effective_values__settings_of_a_run_here__come_with_their_defaults() -> None:
    """On this machine every setting is told, as long as the given ones are sound; elsewhere only the given ones are."""
    text = "config_defaults:\n  harness_optimization:\n    proposer: mine\n"
    found = rows(text, Around(base_url=LOCAL_PLACE))
    assert found["config_defaults.harness_optimization.proposer"] == ("mine", "config", "f:3")
    assert found["config_defaults.max_concurrency"] == (4, "default", "")
    assert found["config_defaults.harness_optimization.timeouts.import"] == (60.0, "default", "")
    assert "config_defaults.max_concurrency" not in rows(text, Around(base_url=ELSEWHERE))
    wrong = f"{text}  max_concurrency: 0\n"
    assert rows(wrong, Around(base_url=LOCAL_PLACE))["config_defaults.max_concurrency"] == (0, "config", "f:4")
    assert "config_defaults.test_baseline" not in rows(wrong, Around(base_url=LOCAL_PLACE))
