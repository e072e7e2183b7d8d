"""The configuration's schema: what every key becomes, and every way it is refused or warned about."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.config import LEGACY_CODE, ProjectConfig, config_problems, parse_config
from beaker.core.config_entry import ENTRY_KEYS, IntegrationEntry
from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, resolve_plain
from beaker.core.convert import from_json, to_json
from beaker.core.problems import Problems
from beaker.core.values import ReadOnlyDict

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "config.json").read_text("utf-8"))


def tree_of(text: str) -> Node:
    """A tree from YAML text. The core knows no YAML: the reader is asked for here, and the test skipped without it."""
    yaml_tree = pytest.importorskip("beaker.files.yaml_tree")
    made: Node = yaml_tree.parse_yaml(text.encode(), "f").unwrap()
    return made


def read(text: str) -> ProjectConfig:
    return parse_config(tree_of(text), "f").unwrap()


def problems_of(text: str) -> Problems:
    found = parse_config(tree_of(text), "f")
    return config_problems(found.unwrap()) if is_successful(found) else found.failure()


@pytest.mark.parametrize("text", VECTORS["empty"])
def test_parse_config__nothing_said__configures_nothing(text: str) -> None:
    """A file without content or without our keys is an empty configuration."""
    config = read(text)
    assert config.integrations == {}
    assert (config.default_integration, config.config_defaults, config.api) == (None, {}, None)


@pytest.mark.parametrize("text, expected", VECTORS["failures"])
def test_parse_config__unusable_file__names_every_line(text: str, expected: dict[str, str]) -> None:
    """What makes a file unusable is reported with everything else that is wrong with it, in the order of the file."""
    problems = parse_config(tree_of(text), "f").failure()
    assert list(dict.fromkeys(problem.where for problem in problems)) == list(expected)
    for where, says in expected.items():
        here = [problem.message for problem in problems if problem.where == where]
        assert all(any(part in message for message in here) for part in says.split("|"))


def entry_of(written: str) -> IntegrationEntry:
    return read(f"integrations:\n  i: {written}\n").integrations["i"]


@pytest.mark.parametrize("written, expected", VECTORS["entry_fields"])
def test_parse_config__entry_vector__fields_as_listed(written: str, expected: dict[str, Any]) -> None:
    """Where text is meant, text it is, and every default is the documented one."""
    entry = entry_of(written)
    assert entry.problems == ()
    assert {name: to_json(getattr(entry, name)) for name in expected} == expected


@pytest.mark.parametrize("written, says", VECTORS["entry_problems"])
def test_parse_config__unusable_entry__keeps_its_problems_to_itself(written: str, says: list[str]) -> None:
    """Each problem of an entry is reported with the entry, and its neighbour can be used."""
    config = read(f"integrations:\n  ok: {{entrypoint: a:b}}\n  i: {written}\n")
    assert config.integrations["ok"].problems == ()
    problems = config.integrations["i"].problems
    assert len(problems) == len(says)
    assert all(any(said in problem.message for problem in problems) for said in says)
    assert all(problem.where == "f:3" and "integrations.i" in problem.message for problem in problems)
    assert config_problems(config) == problems


@pytest.mark.parametrize("text, places, hint", VECTORS["warnings"])
def test_parse_config__unknown_keys__are_warnings_with_a_suggestion(text: str, places: list[str], hint: str) -> None:
    """A key that means nothing is said, never refused; one's own prefixes are left alone."""
    warnings = read(text).warnings
    assert [warning.where for warning in warnings] == places
    assert all(hint in warning.hint for warning in warnings)


def test_parse_config__problems_of_many_lines__come_in_the_order_of_the_file() -> None:
    """A reader fixes the file from top to bottom."""
    text = """
api: elsewhere
integrations:
  a:
    isolation: thread
    required_env:
      - OK
      - path
      - 7
    source_dir: /x
    entrypoint: a.py
    targets:
      - kind: repository
      - kind: nothing
config_defaults: 3
agent_key: k
"""
    problems = problems_of(text)
    assert [problem.where for problem in problems] == [f"f:{line}" for line in (2, 5, 8, 9, 10, 11, 14, 15, 16)]


def test_parse_config__whole_file__reads_everything() -> None:
    """A configuration as people write it."""
    config = read(
        """
api: local
default_integration: 007
integrations:
  '007':
    entrypoint: bond:agent
    config_defaults: {extra: {zip: 01234, on: off, when: 2024-01-01}}
  other: {entrypoint: o:o, agent_key: k}
config_defaults:
  dataset_ref: mi6
  max_concurrency: 8
"""
    )
    assert config.api == "local"
    assert config.default_integration == "007"
    assert list(config.integrations) == ["007", "other"]
    assert config.integrations["007"].config_defaults == {"extra": {"zip": "01234", "on": "off", "when": "2024-01-01"}}
    assert config.config_defaults == {"dataset_ref": "mi6", "max_concurrency": 8}
    assert config.warnings == ()


def test_parse_config__legacy_keys__have_a_code_of_their_own() -> None:
    """Commands that could do without a configuration can still tell a legacy key."""
    codes = {problem.code for problem in problems_of("project_key: y\nagent_key: x\n")}
    assert codes == {LEGACY_CODE}


def test_integration_entry__stored_as_json__comes_back() -> None:
    """A run keeps its entry: the value survives its JSON form."""
    entry = entry_of("{entrypoint: a:b, required_env: [A], targets: {kind: repository}, config_defaults: {extra: {}}}")
    stored = json.loads(json.dumps(to_json(entry)))
    assert from_json(stored, IntegrationEntry, code="BK999").unwrap() == entry
    assert isinstance(entry.config_defaults, ReadOnlyDict)


@pytest.mark.parametrize(
    "raw, value",
    [
        *[("", None), ("~", None), ("nUll", "nUll"), ("True", True), ("0x1f", 31), ("0o17", 15), ("-0", 0), ("+1", 1)],
        *[("01", "01"), ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("01.5", "01.5"), (".", "."), ("-.inf", -math.inf)],
    ],
)
def test_resolve_plain__core_rules__as_listed(raw: str, value: object) -> None:
    """The core rules of YAML 1.2, but that a leading zero makes text."""
    found = resolve_plain(raw)
    assert (type(found), found) == (type(value), value)


SCALARS = st.sampled_from(["", "a", "a:b", "true", "no", "7", "1.5", ".nan", "local", "~", "../x", "PATH", "A"]).map(
    lambda raw: Scalar(raw, resolve_plain(raw), 1, 1)
)
NODES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: ListNode(tuple(items), 1, 1))
        | st.dictionaries(
            st.sampled_from([*ENTRY_KEYS, "target", "kind", "paths", "groups", "unknown"]), inner, max_size=4
        ).map(lambda items: MapNode(tuple((Scalar(key, key, 1, 1), node) for key, node in items.items()), 1, 1))
    ),
    max_leaves=8,
)
TOPS = st.dictionaries(
    st.sampled_from(
        ["integrations", "default_integration", "config_defaults", "api", "spec", "specs", "agent_key", "other"]
    ),
    NODES,
).map(lambda items: MapNode(tuple((Scalar(key, key, 1, 1), node) for key, node in items.items()), 1, 1))


@given(NODES | TOPS)
def test_parse_config__any_tree__gives_a_configuration_or_problems(tree: Node) -> None:
    """The reading is total; an entry without problems names a module and an attribute."""
    found = parse_config(tree, "f")
    if is_successful(found):
        for entry in found.unwrap().entries:
            assert entry.problems or entry.entrypoint.count(":") == 1
    else:
        assert found.failure()
        assert all(problem.where == "f:1" for problem in found.failure())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", (None, False)),
        ("    isolation:\n    sandbox_network: false\n", (None, False)),
        ("    isolation: process\n", ("process", False)),
        ("    isolation: sandbox\n", ("sandbox", False)),
        ("    isolation: sandbox\n    sandbox_network: true\n", ("sandbox", True)),
    ],
)
def test_parse_config__isolation__is_a_process_or_a_sandbox(given: str, found: tuple[str | None, bool]) -> None:
    """The network is granted to a sandbox by a key of its own."""
    entry = read(f"integrations:\n  a:\n    entrypoint: a:b\n{given}").integrations["a"]
    assert (entry.problems, entry.isolation, entry.sandbox_network) == ((), *found)


@pytest.mark.parametrize("isolation", ["", "    isolation: process\n", "    isolation: [sandbox]\n"])
def test_parse_config__network_without_a_sandbox__is_refused(isolation: str) -> None:
    """Whoever grants something believes that it was withheld."""
    problems = problems_of(f"integrations:\n  a:\n    entrypoint: a:b\n{isolation}    sandbox_network: true\n")
    assert problems[-1].message == "integrations.a.sandbox_network needs isolation: sandbox"
    assert problems[-1].where == f"f:{4 + bool(isolation)}"
    assert "isolation: sandbox" in problems[-1].hint
