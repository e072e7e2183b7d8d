"""Which Python runs a project's code: chosen from what was found, and judged by what it says of itself.

Children speak a protocol with their host that belongs to one release of Beaker, so the interpreter must have that
release, of the same Python as the host: nothing is lent to it from the host's own libraries.
"""

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import value

PYTHON_VARIABLE = "BEAKER_PYTHON"

DISTRIBUTION = "beaker-sdk"

PythonSource: TypeAlias = Literal[
    "--python", "BEAKER_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", ".venv", "poetry", "beaker"
]

Manager: TypeAlias = Literal["uv", "poetry", "pip"]

SOURCES: dict[PythonSource, str] = {
    "--python": "as --python says",
    "BEAKER_PYTHON": "as BEAKER_PYTHON says",
    "VIRTUAL_ENV": "the active environment",
    "CONDA_PREFIX": "the active Conda environment",
    "UV_PROJECT_ENVIRONMENT": "as UV_PROJECT_ENVIRONMENT says",
    ".venv": "the project's .venv",
    "poetry": "Poetry's environment",
    "beaker": "the one that runs Beaker",
}
"""Where an interpreter may be found, in the order of precedence, and how that is said."""


@value(kw_only=True)
class FoundPython:
    """An environment or a program that was named or found.

    `place` is what messages call it, `program` its interpreter (`None`: it has none), `prefix` the folder of the
    environment, links followed, and `fault` why it is not trusted although it is there.
    """

    source: PythonSource
    place: str
    program: str | None = None
    prefix: str | None = None
    fault: str = ""


@value(kw_only=True)
class OwnPython:
    """The interpreter that runs Beaker: its program, its environment, its version, and the release of Beaker."""

    program: str
    prefix: str
    version: tuple[int, int, int]
    release: str


@value(kw_only=True)
class ChosenPython:
    """The program to run a project's code with, and why this one; `is_own` when it is the one that runs Beaker."""

    program: str
    source: PythonSource
    is_own: bool


@value(kw_only=True)
class ProbedPython:
    """What an interpreter said of itself: its version, the Beaker it has (`None`: none; `""`: a distribution of that
    name which is not this Beaker), and which of Beaker's dependencies it lacks."""

    version: tuple[int, int, int]
    release: str | None
    missing: tuple[str, ...] = ()


def choose_python(
    found: Iterable[FoundPython], own: OwnPython, *, manager: Manager = "pip"
) -> Result[ChosenPython, Problem]:
    """The first of what was found, by the order of `SOURCES`; the one that runs Beaker when there is nothing else.

    BK306 when that one has no interpreter, or none that is trusted: what somebody set up for the project is never
    passed over in silence.
    """
    order = list(SOURCES)
    best = min(found, key=lambda one: order.index(one.source), default=None)
    if best is None:
        return Success(ChosenPython(program=own.program, source="beaker", is_own=True))
    if best.fault:
        hint = "name the interpreter that you mean with --python"
        return Failure(Problem("BK306", f"{best.place} is not used: {best.fault}", best.source, hint))
    if best.program is None:
        return Failure(Problem("BK306", f"{best.place} has no interpreter", best.source, _mend(best, own, manager)))
    is_own = best.prefix == own.prefix or best.program == own.program
    return Success(ChosenPython(program=own.program if is_own else best.program, source=best.source, is_own=is_own))


def judge_python(
    chosen: ChosenPython, probed: ProbedPython, own: OwnPython, *, manager: Manager = "pip"
) -> Problem | None:
    """What keeps an interpreter other than Beaker's own from running the project's code, `None` when nothing does.

    BK307 for another Python than Beaker's, BK308 when it lacks Beaker or one of its dependencies, BK309 when it has
    another release of it.
    """
    where = f"{chosen.program} ({SOURCES[chosen.source]})"
    theirs, ours = _spelled(probed.version), _spelled(own.version)
    if probed.version[:2] != own.version[:2]:
        message = f"it is Python {theirs}, and Beaker runs on {ours}: both must be {_minor(own.version)}"
        started = f"{_word(chosen.program)} -m beaker.cli"
        other = (
            f"start Beaker with that Python ({started})" if probed.release == own.release else "install Beaker there"
        )
        return Problem("BK307", message, where, f"{make_command(manager, own.version)}; or {other}")
    if probed.release is None:
        return Problem("BK308", "it has no Beaker, which the project's code imports", where,
                       install_hint(manager, chosen.program, own.release))  # fmt: skip
    if probed.release != own.release:
        other = f"Beaker {probed.release}" if probed.release else f"another {DISTRIBUTION}"
        message = f"it has {other}, and this is Beaker {own.release}: they do not fit together"
        return Problem("BK309", message, where, install_hint(manager, chosen.program, own.release))
    if probed.missing:
        message = f"it lacks what Beaker needs: {', '.join(probed.missing)}"
        return Problem("BK308", message, where, install_hint(manager, chosen.program, own.release))
    return None


def described_python(version: tuple[int, int, int], program: str, source: PythonSource) -> str:
    """An interpreter in words: `Python 3.12.4 (/p/.venv/bin/python), the project's .venv`."""
    return f"Python {_spelled(version)} ({program}), {SOURCES[source]}"


def make_command(manager: Manager, version: tuple[int, int, int]) -> str:
    """The command that makes an environment of that Python for a project."""
    minor = _minor(version)
    return {
        "uv": f"uv venv --python {minor} && uv sync",
        "poetry": f"poetry env use {minor} && poetry install",
        "pip": f"python{minor} -m venv .venv",
    }[manager]


def install_hint(manager: Manager, program: str, release: str) -> str:
    """How to install a release of Beaker for an interpreter: from where this one came, never by its name from an index,
    where the name may be another's."""
    command = {
        "uv": "uv add --dev PATH",
        "poetry": "poetry add --group dev PATH",
        "pip": f"{_word(program)} -m pip install PATH",
    }[manager]
    offline = offline_command(manager, program, f"{DISTRIBUTION}=={release}")
    return f"{command}, with the wheel or the checkout of Beaker {release} as PATH; from a folder of wheels: {offline}"


def offline_command(manager: Manager, program: str, wanted: str) -> str:
    """The command that installs a distribution from a folder of wheels."""
    pip = f"uv pip install --python {_word(program)}" if manager == "uv" else f"{_word(program)} -m pip install"
    return f"{pip} --no-index --find-links WHEELS {wanted}"


def missing_module_hint(manager: Manager, program: str, module: str, *, declared: bool) -> str:
    """How to install what a module comes with that the interpreter lacks.

    `declared` tells that the project's own metadata asks for it, so that installing the project is enough.
    """
    wanted = distribution_of(module)
    if declared:
        command = {
            "uv": "uv sync --all-groups",
            "poetry": "poetry install",
            "pip": f"{_word(program)} -m pip install -e .",
        }[manager]
        return f"the project asks for {wanted}, and {program} lacks it: {command}"
    command = {
        "uv": f"uv add {wanted}",
        "poetry": f"poetry add {wanted}",
        "pip": f"{_word(program)} -m pip install {wanted}",
    }[manager]
    return f"{command}; without an index: {offline_command(manager, program, wanted)}"


_DISTRIBUTIONS = {
    "PIL": "pillow", "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python", "dateutil": "python-dateutil",
    "docx": "python-docx", "dotenv": "python-dotenv", "fitz": "pymupdf", "git": "GitPython", "jwt": "PyJWT",
    "pptx": "python-pptx", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "PyYAML",
}  # fmt: skip
"""Modules whose distribution is called otherwise."""


def distribution_of(module: str) -> str:
    """The distribution that a module most likely comes with."""
    package = module.partition(".")[0]
    return _DISTRIBUTIONS.get(package, package.replace("_", "-"))


def _mend(best: FoundPython, own: OwnPython, manager: Manager) -> str:
    if best.source in (".venv", "UV_PROJECT_ENVIRONMENT", "poetry"):
        return f"make it anew: {make_command(manager, own.version)}"
    if best.source in ("--python", PYTHON_VARIABLE):
        return "name an interpreter, or the folder of an environment"
    return f"unset {best.source}, or name the interpreter that you mean with --python"


def _spelled(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


def _minor(version: tuple[int, int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _word(text: str) -> str:
    """A word for a shell."""
    return text if re.fullmatch(r"[A-Za-z0-9_@%+=:,./-]+", text) else "'" + text.replace("'", "'\"'\"'") + "'"
