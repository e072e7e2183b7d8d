"""Paths a project may name, entrypoints, and the packages an image may install."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.image_packages import apt_package_fault, pip_requirement_fault
from beaker.core.project_layout import (
    normalize_beaker_config_path,
    normalize_integration_id,
    normalize_repository_directory,
    parse_entrypoint,
    suggest_integration_id,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "project_layout.json").read_text("utf-8"))
RULES = {"config_path": normalize_beaker_config_path, "directory": normalize_repository_directory}


@pytest.mark.parametrize("rule, text, expected", [(rule, *row) for rule in RULES for row in VECTORS[rule]])
def test_path_rules__vector__as_listed(rule: str, text: str, expected: str | None) -> None:
    """A path gives its normal form or is refused."""
    if expected is None:
        with pytest.raises(ValueError):
            RULES[rule](text)
    else:
        assert RULES[rule](text) == expected


@given(st.sampled_from(sorted(RULES)), st.text(st.sampled_from("a./ \\:\0~")))
def test_path_rules__any_text__give_a_fixed_point_inside(rule: str, text: str) -> None:
    """A normal form is its own normal form, relative, and leads nowhere else."""
    try:
        normal = RULES[rule](text)
    except ValueError:
        return
    assert RULES[rule](normal) == normal
    assert not normal.startswith("/")
    assert ".." not in normal.split("/")


@pytest.mark.parametrize("text, expected", VECTORS["entrypoint"])
def test_parse_entrypoint__vector__as_listed(text: str, expected: list[str] | None) -> None:
    """One dotted module, one attribute, and nothing else."""
    if expected is None:
        with pytest.raises(ValueError):
            parse_entrypoint(text)
    else:
        found = parse_entrypoint(text)
        assert [found.module, found.attribute] == expected


@pytest.mark.parametrize("text", ["a", "0", "my_app", "a.b-c_D9", " a ", "a" * 128])
def test_normalize_integration_id__fine__is_kept_without_blanks_around(text: str) -> None:
    """Letters, digits and three signs, beginning with a letter or digit."""
    assert normalize_integration_id(text) == text.strip()


@pytest.mark.parametrize("text", ["", " ", "_a", ".a", "-a", "a b", "a/b", "ä", "a" * 129, "a\n b"])
def test_normalize_integration_id__anything_else__is_refused(text: str) -> None:
    """What could not be written in a URL, a file name and a shell alike is no id."""
    with pytest.raises(ValueError, match="128"):
        normalize_integration_id(text)


@pytest.mark.parametrize(
    "project, id_",
    [("My App", "my_app"), ("@scope/x.y", "scope_x_y"), ("__", "prompt_optimization"), ("Zwölf", "zw_lf"), ("1", "1")],
)
def test_suggest_integration_id__project_name__is_made_an_id(project: str, id_: str) -> None:
    """Every run of other characters becomes one underscore."""
    assert suggest_integration_id(project) == id_


@given(st.text())
def test_suggest_integration_id__any_name__gives_an_id(project: str) -> None:
    """Whatever a project is called, there is an id for it."""
    made = suggest_integration_id(project)
    assert normalize_integration_id(made) == made


@pytest.mark.parametrize("text, fine", VECTORS["pip"])
def test_pip_requirement_fault__vector__as_listed(text: str, fine: bool) -> None:
    """A requirement is installable or has a reason why not."""
    assert (pip_requirement_fault(text) is None) == fine


@pytest.mark.parametrize("text, fine", VECTORS["apt"])
def test_apt_package_fault__vector__as_listed(text: str, fine: bool) -> None:
    """A Debian package with an optional version, and nothing a shell could read."""
    assert (apt_package_fault(text) is None) == fine


@given(st.text())
def test_package_faults__any_text__is_judged(text: str) -> None:
    """Both rules are total."""
    assert pip_requirement_fault(text) != ""
    assert apt_package_fault(text) != ""
