"""The Python of a hosted build: the decision table, Poetry's constraints, and laws of the choice."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.python_version import (
    DEFAULT_ENVIRONMENT_BASE,
    DEFAULT_PYTHON_VERSION,
    HOSTED_PYTHON_PATCH_VERSIONS,
    SUPPORTED_PYTHON_VERSIONS,
    ProjectMetadata,
    base_python,
    choose_hosted_python,
    refuses_python,
    translate_poetry,
)
from beaker.core.version_specifiers import parse_specifiers

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "python_version.json").read_text("utf-8"))

SPECIFIERS = st.sampled_from(
    ["", ">=3.10", ">=3.12", ">=3.13", "<3.13", "==3.12.*", "!=3.12.10", ">=3.14", "<3.12", "~=3.13.1", "three"]
)
METADATA_KEYS = ["project", "requires-python", "tool", "poetry", "dependencies", "python"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(METADATA_KEYS), inner, max_size=4),
    max_leaves=8,
)


def project(pyproject: Any, setup_cfg: Any = None) -> ProjectMetadata:
    return ProjectMetadata("svc/pyproject.toml", pyproject, setup_cfg)


def asking(specifier: str) -> ProjectMetadata:
    return project({"project": {"requires-python": specifier}})


@pytest.mark.parametrize("row", VECTORS["choice"])
def test_choose_hosted_python__decision_table__as_listed(row: dict[str, Any]) -> None:
    """Each row gives the listed image, Python and inference, or the listed problem."""
    chosen = choose_hosted_python(row["base"], [project(one["pyproject"], one["setup_cfg"]) for one in row["projects"]])
    if row["result"] is None:
        assert chosen.failure().code == row["code"]
        assert chosen.failure().where
    else:
        found = chosen.unwrap()
        assert [found.environment_base, found.python, found.inferred] == row["result"]


@pytest.mark.parametrize("text, expected", VECTORS["poetry"])
def test_translate_poetry__vector__as_listed(text: str, expected: str | None) -> None:
    """Each constraint has the listed specifier or asks for nothing."""
    assert translate_poetry(text) == expected


@given(st.text() | st.text(st.sampled_from("^~<>=!*|., 0123")))
def test_translate_poetry__any_text__gives_a_specifier_or_nothing(text: str) -> None:
    """What a translation gives can be read."""
    translated = translate_poetry(text)
    assert translated is None or (translated and is_successful(parse_specifiers(translated)))


RELEASES = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)


@given(st.sampled_from("^~"), RELEASES, RELEASES)
def test_translate_poetry__caret_and_tilde__keep_what_they_name(
    sign: str, release: tuple[int, ...], other: tuple[int, ...]
) -> None:
    """`^` keeps everything up to the first part that is not zero, `~` the first two parts; both only go upwards."""
    specifiers = parse_specifiers(translate_poetry(sign + ".".join(map(str, release))) or "").unwrap()
    if sign == "^":
        kept = next((index for index, part in enumerate(release) if part), len(release) - 1) + 1
    else:
        kept = min(2, len(release))
    padded, floor = ((*one, 0, 0, 0)[:3] for one in (other, release))
    assert specifiers.accept(other) == (padded >= floor and padded[:kept] == floor[:kept])


@given(st.none() | st.text(), st.lists(st.builds(ProjectMetadata, st.just("f"), JSON, JSON), max_size=2))
def test_choose_hosted_python__any_input__gives_one_answer(base: str | None, projects: list[ProjectMetadata]) -> None:
    """The choice is total; a Python that is chosen is one there is."""
    chosen = choose_hosted_python(base, projects)
    if is_successful(chosen):
        assert chosen.unwrap().python in SUPPORTED_PYTHON_VERSIONS
    else:
        assert chosen.failure().code in {"BK140", "BK141", "BK142"}


@given(st.sampled_from([None, "X", "X:3.12", "X:3.13"]), st.lists(SPECIFIERS, max_size=3))
def test_choose_hosted_python__chosen__satisfies_every_project(base: str | None, specifiers: list[str]) -> None:
    """The chosen release is one that each requirement takes; the order of the projects does not matter."""
    chosen = choose_hosted_python(base, [asking(specifier) for specifier in specifiers])
    if is_successful(chosen):
        release = tuple(map(int, HOSTED_PYTHON_PATCH_VERSIONS[chosen.unwrap().python].split(".")))
        assert all(parse_specifiers(specifier).unwrap().accept(release) for specifier in specifiers)
        assert chosen == choose_hosted_python(base, [asking(specifier) for specifier in reversed(specifiers)])


@given(st.lists(SPECIFIERS.filter(lambda specifier: specifier != "three"), max_size=3))
def test_choose_hosted_python__inferred__is_accepted_when_written_down(specifiers: list[str]) -> None:
    """What is inferred, written as `environment_base`, is chosen again; so is what a refusal proposes."""
    projects = [asking(specifier) for specifier in specifiers]
    chosen = choose_hosted_python(None, projects)
    if not is_successful(chosen):
        return
    again = choose_hosted_python(chosen.unwrap().environment_base, projects).unwrap()
    assert (again.python, again.inferred) == (chosen.unwrap().python, False)
    for base in ("X:3.12", "X:3.13"):
        refused = choose_hosted_python(base, projects)
        if not is_successful(refused):
            assert is_successful(choose_hosted_python(refused.failure().hint.rpartition("base: ")[2], projects))


def test_choose_hosted_python__problems__name_files_and_versions() -> None:
    """An unsatisfiable requirement shows the releases and every file; setup.cfg stands beside pyproject.toml."""
    both = [asking(">=3.14"), project(None, ">=3.12")]
    problem = choose_hosted_python(None, both).failure()
    assert all(patch in problem.message for patch in HOSTED_PYTHON_PATCH_VERSIONS.values())
    assert "svc/pyproject.toml [project] requires-python" in problem.where
    assert "svc/setup.cfg [options] python_requires" in problem.where
    beside = choose_hosted_python(None, [ProjectMetadata("pyproject.toml", None, "x")]).failure()
    assert beside.where == "setup.cfg [options] python_requires"


def test_base_python__version_for_an_image__is_told_what_to_write() -> None:
    """`environment_base: 3.13` names no image; the hint says how the version is meant to be written."""
    assert "debian_slim:VERSION with 3.13," in base_python("3.13").failure().hint
    assert "3.12 or 3.13" in base_python("X:3.11").failure().hint


def test_defaults__agree() -> None:
    """The default is a version there is, and the default image has it."""
    assert base_python(DEFAULT_ENVIRONMENT_BASE).unwrap() == DEFAULT_PYTHON_VERSION
    assert sorted(SUPPORTED_PYTHON_VERSIONS) == list(SUPPORTED_PYTHON_VERSIONS)


@pytest.mark.parametrize(
    ("pyproject", "python_requires", "release", "said"),
    [
        ({"project": {"requires-python": ">=3.12"}}, None, (3, 11, 7), ">=3.12"),
        ({"project": {"requires-python": ">=3.12"}}, None, (3, 12, 0), None),
        ({"tool": {"poetry": {"dependencies": {"python": "^3.12"}}}}, None, (4, 0, 0), ">=3.12,<4.0"),
        ({}, "<3.12", (3, 12, 1), "<3.12"),
        ({}, None, (3, 12, 1), None),
        ({"project": {"requires-python": "what?"}}, None, (3, 12, 1), None),
    ],
)
def test_refuses_python__requirement__is_held_against_the_version(
    pyproject: object, python_requires: str | None, release: tuple[int, ...], said: str | None
) -> None:
    """What cannot be read asks for nothing; what is asked for is named with its place."""
    found = refuses_python(ProjectMetadata("p/pyproject.toml", pyproject, python_requires), release)
    assert (found is None) == (said is None)
    if found is not None:
        assert (found.code, found.message) == ("BK149", f"the project asks for Python {said}")
        assert found.where.startswith("p/")
