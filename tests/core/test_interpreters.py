"""Which Python runs a project's code, and what keeps one from it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from beaker.core.interpreters import (
    SOURCES,
    ChosenPython,
    FoundPython,
    OwnPython,
    ProbedPython,
    PythonSource,
    choose_python,
    described_python,
    distribution_of,
    install_hint,
    judge_python,
    make_command,
    missing_module_hint,
)
from beaker.core.problems import Problem

OWN = OwnPython(program="/tools/bin/python", prefix="/tools", version=(3, 12, 4), release="1.2.3")
THEIRS = ChosenPython(program="/p/.venv/bin/python", source=".venv", is_own=False)
NAMED = "/p/.venv/bin/python (the project's .venv)"
PIP = (
    "/p/.venv/bin/python -m pip install PATH, with the wheel or the checkout of Beaker 1.2.3 as PATH; from a folder of "
    "wheels: "
    "/p/.venv/bin/python -m pip install --no-index --find-links WHEELS beaker-sdk==1.2.3"
)


def found(source: PythonSource, **more: Any) -> FoundPython:
    return FoundPython(**{"source": source, "place": f"/{source}", "program": f"/{source}/bin/python", **more})


def test_choose__nothing_found__is_the_one_that_runs_beaker() -> None:
    """A project without an environment of its own is run by Beaker's."""
    assert choose_python((), OWN) == Success(ChosenPython(program="/tools/bin/python", source="beaker", is_own=True))


@given(st.lists(st.sampled_from([name for name in SOURCES if name != "beaker"]), min_size=1))
def test_choose__several__takes_the_first_by_precedence(sources: list[PythonSource]) -> None:
    """What was named beats what is active, and that what lies in the project, in whatever order they were found."""
    first = min(sources, key=list(SOURCES).index)
    chosen = ChosenPython(program=f"/{first}/bin/python", source=first, is_own=False)
    assert choose_python(map(found, sources), OWN) == Success(chosen)


def test_choose__two_of_one_source__takes_the_nearer() -> None:
    """The `.venv` beside the configuration comes before the one at the root of the repository."""
    near, far = found(".venv", program="/p/a/.venv/bin/python"), found(".venv", program="/p/.venv/bin/python")
    assert choose_python((near, far), OWN).unwrap().program == "/p/a/.venv/bin/python"


def test_sources__are_in_the_documented_order() -> None:
    """The order is a promise."""
    assert list(SOURCES) == [
        "--python", "BEAKER_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", ".venv", "poetry",
        "beaker",
    ]  # fmt: skip


@pytest.mark.parametrize("more", [{"prefix": "/tools"}, {"program": "/tools/bin/python", "prefix": None}])
def test_choose__environment_that_runs_beaker__is_its_own(more: dict[str, Any]) -> None:
    """An active environment from which Beaker was started is not asked what it is, whatever its program is called."""
    chosen = ChosenPython(program="/tools/bin/python", source="VIRTUAL_ENV", is_own=True)
    assert choose_python((found("VIRTUAL_ENV", **more),), OWN) == Success(chosen)


def test_choose__what_is_not_trusted__is_refused_and_not_passed_over() -> None:
    """Going on with the next would run the code with another interpreter than somebody set up."""
    refused = choose_python((found(".venv", fault="it is committed"), found("poetry")), OWN)
    hint = "name the interpreter that you mean with --python"
    assert refused == Failure(Problem("BK306", "/.venv is not used: it is committed", ".venv", hint))


@pytest.mark.parametrize(
    ("source", "manager", "hint"),
    [
        (".venv", "uv", "make it anew: uv venv --python 3.12 && uv sync"),
        ("UV_PROJECT_ENVIRONMENT", "uv", "make it anew: uv venv --python 3.12 && uv sync"),
        ("poetry", "poetry", "make it anew: poetry env use 3.12 && poetry install"),
        ("--python", "uv", "name an interpreter, or the folder of an environment"),
        ("BEAKER_PYTHON", "pip", "name an interpreter, or the folder of an environment"),
        ("VIRTUAL_ENV", "pip", "unset VIRTUAL_ENV, or name the interpreter that you mean with --python"),
        ("CONDA_PREFIX", "pip", "unset CONDA_PREFIX, or name the interpreter that you mean with --python"),
    ],
)
def test_choose__no_interpreter_there__says_what_makes_one(source: PythonSource, manager: Any, hint: str) -> None:
    """An environment whose Python was removed is made anew; a name that leads nowhere is corrected."""
    refused = choose_python((found(source, program=None),), OWN, manager=manager)
    assert refused == Failure(Problem("BK306", f"/{source} has no interpreter", source, hint))


def test_choose__without_a_manager__advises_pip() -> None:
    """Where no metadata says otherwise, the standard library makes environments."""
    refused = choose_python((found(".venv", program=None),), OWN)
    assert refused.failure().hint == "make it anew: python3.12 -m venv .venv"


TABLE: list[tuple[ProbedPython, Problem | None]] = [
    (ProbedPython(version=(3, 12, 4), release="1.2.3"), None),
    (ProbedPython(version=(3, 12, 0), release="1.2.3"), None),
    (ProbedPython(version=(3, 11, 9), release=None, missing=("attrs",)),
     Problem("BK307", "it is Python 3.11.9, and Beaker runs on 3.12.4: both must be 3.12", NAMED,
             "python3.12 -m venv .venv; or install Beaker there")),
    (ProbedPython(version=(2, 12, 0), release="1.2.4"),
     Problem("BK307", "it is Python 2.12.0, and Beaker runs on 3.12.4: both must be 3.12", NAMED,
             "python3.12 -m venv .venv; or install Beaker there")),
    (ProbedPython(version=(3, 13, 4), release="1.2.3"),
     Problem("BK307", "it is Python 3.13.4, and Beaker runs on 3.12.4: both must be 3.12", NAMED,
             "python3.12 -m venv .venv; or start Beaker with that Python (/p/.venv/bin/python -m beaker.cli)")),
    (ProbedPython(version=(3, 12, 4), release=None),
     Problem("BK308", "it has no Beaker, which the project's code imports", NAMED, PIP)),
    (ProbedPython(version=(3, 12, 4), release="1.2.2"),
     Problem("BK309", "it has Beaker 1.2.2, and this is Beaker 1.2.3: they do not fit together", NAMED, PIP)),
    (ProbedPython(version=(3, 12, 4), release=""),
     Problem("BK309", "it has another beaker-sdk, and this is Beaker 1.2.3: they do not fit together", NAMED, PIP)),
    (ProbedPython(version=(3, 12, 4), release="1.2.3", missing=("attrs", "PyYAML")),
     Problem("BK308", "it lacks what Beaker needs: attrs, PyYAML", NAMED, PIP)),
]  # fmt: skip


@pytest.mark.parametrize(("probed", "problem"), TABLE)
def test_judge__what_an_interpreter_has__is_compared(probed: ProbedPython, problem: Problem | None) -> None:
    """The same Python, the same release, and all that it needs; a patch release of Python may differ."""
    assert judge_python(THEIRS, probed, OWN) == problem


def test_judge__manager__decides_the_command() -> None:
    """The command is the one that the project's own tool understands, offline too."""
    probed = ProbedPython(version=(3, 12, 4), release=None)
    path = "PATH, with the wheel or the checkout of Beaker 1.2.3 as PATH; from a folder of wheels:"
    offline = "--no-index --find-links WHEELS beaker-sdk==1.2.3"
    told = {manager: judge_python(THEIRS, probed, OWN, manager=manager) for manager in ("uv", "poetry")}
    assert told["uv"] is not None
    assert told["poetry"] is not None
    assert told["uv"].hint == (f"uv add --dev {path} uv pip install --python /p/.venv/bin/python {offline}")
    assert told["poetry"].hint == (f"poetry add --group dev {path} /p/.venv/bin/python -m pip install {offline}")
    lacking = judge_python(THEIRS, ProbedPython(version=(3, 12, 4), release="1.2.3", missing=("x",)), OWN, manager="uv")
    assert lacking is not None
    assert lacking.hint == told["uv"].hint
    other = judge_python(THEIRS, ProbedPython(version=(3, 12, 4), release="1"), OWN, manager="uv")
    assert other is not None
    assert other.hint == told["uv"].hint
    older = judge_python(THEIRS, ProbedPython(version=(3, 11, 4), release="1"), OWN, manager="poetry")
    assert older is not None
    assert older.hint.startswith("poetry env use 3.12 && poetry install; or ")


def test_described__says_version_program_and_source() -> None:
    """Whoever reads the line knows which interpreter it was, and why that one."""
    said = described_python((3, 12, 4), "/p/.venv/bin/python", ".venv")
    assert said == "Python 3.12.4 (/p/.venv/bin/python), the project's .venv"
    assert described_python((3, 11, 0), "/x", "beaker") == "Python 3.11.0 (/x), the one that runs Beaker"


def test_commands__odd_paths__are_one_word_for_a_shell() -> None:
    """A command that is copied must do what it says, also below a folder with a space or a quote."""
    assert install_hint("pip", "/a b/it's", "1").startswith("'/a b/it'\"'\"'s' -m pip install PATH, with ")
    assert make_command("uv", (3, 13, 0)) == "uv venv --python 3.13 && uv sync"


@pytest.mark.parametrize(
    ("manager", "declared", "hint"),
    [
        ("uv", True, "the project asks for PyYAML, and /v/python lacks it: uv sync --all-groups"),
        ("poetry", True, "the project asks for PyYAML, and /v/python lacks it: poetry install"),
        ("pip", True, "the project asks for PyYAML, and /v/python lacks it: /v/python -m pip install -e ."),
        ("uv", False, "uv add PyYAML; without an index: "
         "uv pip install --python /v/python --no-index --find-links WHEELS PyYAML"),
        ("poetry", False, "poetry add PyYAML; without an index: "
         "/v/python -m pip install --no-index --find-links WHEELS PyYAML"),
        ("pip", False, "/v/python -m pip install PyYAML; without an index: "
         "/v/python -m pip install --no-index --find-links WHEELS PyYAML"),
    ],
)  # fmt: skip
def test_missing_module__says_the_command(manager: Any, declared: bool, hint: str) -> None:
    """What the metadata asks for is installed as the project is; anything else is added."""
    assert missing_module_hint(manager, "/v/python", "yaml.nodes", declared=declared) == hint


@pytest.mark.parametrize(
    ("module", "distribution"),
    [("sklearn.svm", "scikit-learn"), ("some_thing", "some-thing"), ("numpy", "numpy"), ("PIL", "pillow")],
)
def test_distribution__of_a_module__is_its_usual_name(module: str, distribution: str) -> None:
    """Most are called like their module; the well-known others are known."""
    assert distribution_of(module) == distribution
