"""Entries that name a Spec: how they are read, what is said about them, and which one is meant."""

import json
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.config import DEPRECATED_CODE, ProjectConfig, config_problems, parse_config
from beaker.core.config_entry import IntegrationEntry, Section, entry_place, kind_of_section
from beaker.core.config_tree import Node
from beaker.core.convert import from_json, to_json
from beaker.core.problems import Problem
from beaker.core.project_layout import parse_spec_target
from beaker.core.selection import choose, select

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "specs.json").read_text("utf-8"))


def tree_of(text: str) -> Node:
    """A tree from YAML text; the test is skipped where there is no reader for it."""
    yaml_tree = pytest.importorskip("beaker.files.yaml_tree")
    made: Node = yaml_tree.parse_yaml(text.encode(), "f").unwrap()
    return made


def read(text: str) -> ProjectConfig:
    return parse_config(tree_of(text), "f").unwrap()


@pytest.mark.parametrize("text, places, agent_key", VECTORS["accepted"])
def test_parse_config__specs__are_entries_with_the_agent_of_the_file(
    text: str, places: dict[str, str], agent_key: str | None
) -> None:
    """Each entry knows where it stands and what it names; one without an agent's key has that of the file."""
    config = read(text)
    assert {entry.place: entry.entrypoint for entry in config.entries} == places
    assert config_problems(config) == ()
    for entry in config.entries:
        assert entry.kind == ("integration" if entry.place.startswith("integrations.") else "spec")
        assert entry.agent_key == ("own" if entry.id == "b" else agent_key)


@pytest.mark.parametrize("text, where, said, hint", VECTORS["warned"])
def test_parse_config__spec_generation__is_told_once(text: str, where: str, said: str, hint: str) -> None:
    """However many keys of that generation a file has, there is one warning, with the change to make."""
    (warning,) = read(text).warnings
    assert (warning.code, warning.where) == (DEPRECATED_CODE, where)
    assert said in warning.message
    assert hint in warning.hint


def test_parse_config__unknown_keys_of_a_spec__are_warned_about_as_in_any_entry() -> None:
    """`entrypoint` is told where it belongs, and a misspelt key what was meant."""
    warnings = read("spec:\n  target: m:f\n  entrypoint: m:i\n  sorce_dir: x\n").warnings
    assert [warning.where for warning in warnings] == ["f:1", "f:3", "f:4"]
    assert "named by `target`" in warnings[1].hint
    assert "source_dir" in warnings[2].hint


@pytest.mark.parametrize("text, says", VECTORS["entry_problems"])
def test_parse_config__unusable_spec__keeps_its_problems_to_itself(text: str, says: list[str]) -> None:
    """What is wrong with a Spec's entry is told when that one is meant."""
    config = read(text)
    problems = config_problems(config)
    assert len(problems) == len(says)
    assert all(said in problem.message for said, problem in zip(says, problems, strict=True))
    assert all(problem.hint for problem in problems if "missing" in problem.message or "mapping" in problem.message)
    found = select(config, None).failure()
    assert found in problems or all(said in found.message for said in (*says, "the Spec 'a' has 2 problems"))


@pytest.mark.parametrize("text, said, hint", VECTORS["failures"])
def test_parse_config__malformed_spec_keys__make_the_file_unusable(text: str, said: str, hint: str) -> None:
    """A key whose kind is wrong is refused, as any other of the file."""
    (problem,) = parse_config(tree_of(text), "f").failure()
    assert said in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize("text, expected", VECTORS["targets"])
def test_parse_spec_target__vector__as_listed(text: str, expected: list[str] | None) -> None:
    """A factory may stand in a class; a file is none."""
    if expected is None:
        with pytest.raises(ValueError, match="must"):
            parse_spec_target(text)
    else:
        found = parse_spec_target(text)
        assert [found.module, found.attribute] == expected


def entry(entry_id: str, section: Section, **more: Any) -> IntegrationEntry:
    return IntegrationEntry(id=entry_id, section=section, entrypoint="m:f", **more)


def config_of(told: dict[str, Any]) -> ProjectConfig:
    return ProjectConfig(
        file="f",
        integrations={name: entry(name, "integrations") for name in told.get("integrations", ())},
        specs={name: entry(name, "specs") for name in told.get("specs", ())},
        default_spec=told.get("default_spec"),
        spec=entry("spec", "spec") if told.get("spec") else None,
    )


@pytest.mark.parametrize("told, integration_id, spec_id, expected", VECTORS["selection"])
def test_choose__file_with_specs__as_listed(
    told: dict[str, Any] | None, integration_id: str | None, spec_id: str | None, expected: str | list[str]
) -> None:
    """The named one, else `default_spec`, the only one, `spec`; only then Integrations."""
    config = None if told is None else config_of(told)
    found = choose(config, integration_id, spec_id)
    if isinstance(expected, str):
        chosen = found.unwrap()
        assert chosen is not None
        assert chosen.place == expected
    else:
        code, said, hint = expected
        problem = found.failure()
        assert problem.code == code
        assert said in problem.message
        assert hint in problem.hint
        assert problem.where == ("" if config is None else "f")
    assert is_successful(found) == is_successful(select(config, integration_id, spec_id))


def test_select__spec_with_problems__is_called_one() -> None:
    """Several problems come together, in words that fit."""
    faults = (Problem("BK102", "one"), Problem("BK102", "two"))
    found = select(ProjectConfig(file="f", specs={"a": entry("a", "specs", problems=faults)}), None).failure()
    assert found.code == "BK113"
    assert found.message.startswith("the Spec 'a' has 2 problems")


def test_spec_entry__stored_as_json__comes_back_as_one() -> None:
    """A run keeps its entry, and what was kept before there were Specs names an Integration."""
    made = entry("a", "specs", required_env=("A",))
    assert from_json(json.loads(json.dumps(to_json(made))), IntegrationEntry, code="BK999").unwrap() == made
    earlier = {key: item for key, item in to_json(made).items() if key != "section"}
    assert from_json(earlier, IntegrationEntry, code="BK999").unwrap().kind == "integration"
    assert (entry_place("spec", "spec"), kind_of_section("spec")) == ("spec", "spec")
