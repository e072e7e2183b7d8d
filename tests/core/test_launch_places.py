"""Where a launch setting was written."""

from typing import Any

import pytest

from beaker.core.launch_places import SettingsFile, place_settings
from beaker.core.problems import Problem

TEXT = """integrations:
  a.b:
    config_defaults:
      maxConcurrency: two
  other:
    config_defaults: {extra: 1}
config_defaults:
  max_concurrency: 3
  harness_optimization:
    command:
      - python
      - ""
    a.b: 1
"""


def tree_of(text: str) -> Any:
    """The tree of a YAML text; skipped where its reader, which is not part of the core, is absent."""
    return pytest.importorskip("beaker.files.yaml_tree").parse_yaml(text.encode(), "f").unwrap()


def placed(where: str, *, given: dict[str, Any] | None = None, integration_id: str | None = "a.b") -> tuple[str, str]:
    """Where a problem is said to stand, and what it says."""
    source = SettingsFile(file="f", tree=tree_of(TEXT), integration_id=integration_id)
    (problem,) = place_settings([Problem("BK410", "is wrong", where, "hint")], source, given=given or {})
    assert (problem.code, problem.hint) == ("BK410", "hint")
    return problem.where, problem.message


ENTRY = "integrations.a.b.config_defaults"


@pytest.mark.parametrize(
    ("where", "line", "path"),
    [
        ("config.maxConcurrency", 4, f"{ENTRY}.maxConcurrency"),
        ("config.max_concurrency", 8, "config_defaults.max_concurrency"),
        ("config.harness_optimization", 9, "config_defaults.harness_optimization"),
        ("config.harness_optimization.command", 10, "config_defaults.harness_optimization.command"),
        ("config.harness_optimization.command[1]", 12, "config_defaults.harness_optimization.command[1]"),
        ("config.harness_optimization.command[7]", 10, "config_defaults.harness_optimization.command[7]"),
        ("config.harness_optimization.command.x", 10, "config_defaults.harness_optimization.command.x"),
        ("config.max_concurrency.x", 8, "config_defaults.max_concurrency.x"),
        ("config.harness_optimization.a.b", 13, "config_defaults.harness_optimization.a.b"),
        ("config.harness_optimization.seed", 9, "config_defaults.harness_optimization.seed"),
        ("config.nowhere", 8, "config_defaults.nowhere"),
    ],
)
def test_place_settings__written_in_the_file__is_its_line(where: str, line: int, path: str) -> None:
    """The deepest part that stands in the file has the line; the entry comes before the top."""
    assert placed(where) == (f"f:{line}", f"{path}: is wrong")


def test_place_settings__given_by_the_launch__keeps_its_place() -> None:
    """What the launch gave is its own, in either spelling, unless it says what the file says."""
    assert placed("config.max_concurrency", given={"max_concurrency": 9}) == ("config.max_concurrency", "is wrong")
    assert placed("config.max_concurrency", given={"max_concurrency": 3})[0] == "f:8"
    assert placed("config.tenant", given={"tenant": 1}) == ("config.tenant", "is wrong")
    assert placed("config.maxConcurrency", given={"max_concurrency": 9})[0] == "config.maxConcurrency"


@pytest.mark.parametrize(
    ("section", "text", "place"),
    [
        ("specs", "specs:\n  one: {config_defaults: {model: 1}}\n", "specs.one"),
        ("spec", "spec:\n  config_defaults: {model: 1}\n", "spec"),
    ],
)
def test_place_settings__of_a_spec__stands_in_its_entry(section: str, text: str, place: str) -> None:
    """A Spec's own defaults are looked for where its entry stands."""
    source = SettingsFile(file="f", tree=tree_of(text), integration_id="one", section=section)
    (problem,) = place_settings([Problem("BK410", "is wrong", "config.model")], source, given={})
    assert (problem.where, problem.message) == ("f:2", f"{place}.config_defaults.model: is wrong")


def test_place_settings__other_problems__stay_as_they_are() -> None:
    """Problems of something else are handed on."""
    assert placed("github_source.ref") == ("github_source.ref", "is wrong")
    assert placed("") == ("", "is wrong")


def test_place_settings__file_without_defaults__is_named_whole() -> None:
    """A missing setting belongs into the file, wherever there."""
    source = SettingsFile(file="f", tree=tree_of("integrations: {}\n"))
    (problem,) = place_settings([Problem("BK410", "is missing", "config.x")], source, given={})
    assert (problem.where, problem.message) == ("f", "config_defaults.x: is missing")
