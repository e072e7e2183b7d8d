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
    normalize_repository_directory,
    parse_entrypoint,
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
