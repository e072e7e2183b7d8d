"""Which Python a hosted build gets: from the entry's `environment_base` and what the project's metadata asks for.

A run on this machine uses the interpreter at hand and builds nothing; the choice is the same everywhere all the same,
so that a configuration means one thing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.values import ReadOnlyDict, value
from beaker.core.version_specifiers import Release, Specifiers, parse_specifiers

HOSTED_PYTHON_PATCH_VERSIONS: Mapping[str, str] = ReadOnlyDict({"3.12": "3.12.10", "3.13": "3.13.3"})
"""The versions a build can have, lowest first, each with the exact release that requirements are tested against."""

SUPPORTED_PYTHON_VERSIONS = tuple(HOSTED_PYTHON_PATCH_VERSIONS)
DEFAULT_PYTHON_VERSION = "3.12"
DEFAULT_IMAGE = "debian_slim"
DEFAULT_ENVIRONMENT_BASE = f"{DEFAULT_IMAGE}:{DEFAULT_PYTHON_VERSION}"


@value
class ProjectMetadata:
    """What one project's files say about Python, as they were read.

    `file` names its `pyproject.toml` in messages. `pyproject` is that file's decoded TOML, `python_requires` the value
    of `[options] python_requires` in the `setup.cfg` beside it; whatever could not be read is `None`.
    """

    file: str
    pyproject: Any = None
    python_requires: Any = None


@value
class PythonRequirement:
    """A PEP 440 specifier, and where it stands."""

    specifier: str
    where: str


@value
class HostedPython:
    """The choice: the image as `environment_base` writes it, its Python, and whether metadata decided it."""

    environment_base: str
    python: str
    inferred: bool


def choose_hosted_python(
    environment_base: str | None, projects: Sequence[ProjectMetadata] = ()
) -> Result[HostedPython, Problem]:
    """The image and Python of a hosted build.

    A configured `environment_base` is kept as written and must satisfy every project's requirement; without one the
    default Python is taken if it satisfies them, else the lowest that does. Problems: BK140 for an image whose Python
    there is none of, BK141 when no Python, or not the configured one, satisfies the requirements, BK142 for a
    requirement that is no version specifier.
    """
    requirements: list[PythonRequirement] = []
    for project in projects:
        found = project_requirement(project)
        if not is_successful(found):
            return Failure(found.failure())
        if (one := found.unwrap()) is not None and one.specifier not in (known.specifier for known in requirements):
            requirements.append(one)
    fitting = [version for version in SUPPORTED_PYTHON_VERSIONS if _satisfies(version, requirements)]
    configured = (environment_base or "").strip()
    if not fitting:
        return Failure(_nothing_fits(requirements))
    if configured:
        return _configured(configured, fitting, requirements)
    if not requirements:
        return Success(HostedPython(DEFAULT_ENVIRONMENT_BASE, DEFAULT_PYTHON_VERSION, False))
    python = DEFAULT_PYTHON_VERSION if DEFAULT_PYTHON_VERSION in fitting else fitting[0]
    return Success(HostedPython(f"{DEFAULT_IMAGE}:{python}", python, True))


def base_python(environment_base: str) -> Result[str, Problem]:
    """The Python of an image: what stands behind the first `:`, the default where nothing does.

    BK140 for a version that no build has, also where one was written in the place of an image.
    """
    image, separator, suffix = environment_base.partition(":")
    python = suffix.strip().removeprefix("python-")
    if python in SUPPORTED_PYTHON_VERSIONS:
        return Success(python)
    if not separator and _VERSION.match(image.strip().removeprefix("python-")):
        message, better = f"{image!r} names no image", image.strip().removeprefix("python-")
    elif not python and "python-" not in suffix:
        return Success(DEFAULT_PYTHON_VERSION)
    else:
        message, better = f"no hosted build has the Python of {environment_base!r}", python
    known = better if better in SUPPORTED_PYTHON_VERSIONS else " or ".join(SUPPORTED_PYTHON_VERSIONS)
    hint = f"write {DEFAULT_IMAGE}:VERSION with {known}, or leave the suffix out for {DEFAULT_PYTHON_VERSION}"
    return Failure(Problem("BK140", message, "environment_base", hint))


def project_requirement(project: ProjectMetadata) -> Result[PythonRequirement | None, Problem]:
    """What a project asks of Python: `[project] requires-python`, else Poetry's, else `python_requires` of setup.cfg.

    `None` when it asks for nothing; text of Poetry's that has no translation asks for nothing. BK142 for a text in the
    first or third place that is no version specifier.
    """
    declared = _text_at(project.pyproject, "project", "requires-python")
    if declared:
        return _checked(declared, f"{project.file} [project] requires-python")
    poetry = _text_at(project.pyproject, "tool", "poetry", "dependencies", "python")
    if poetry:
        translated = translate_poetry(poetry)
        where = f"{project.file} [tool.poetry.dependencies] python"
        return Success(None if translated is None else PythonRequirement(translated, where))
    if isinstance(project.python_requires, str) and project.python_requires.strip():
        folder, slash, _ = project.file.rpartition("/")
        return _checked(project.python_requires.strip(), f"{folder}{slash}setup.cfg [options] python_requires")
    return Success(None)


def refuses_python(project: ProjectMetadata, release: Release) -> Problem | None:
    """What a project's metadata says against a version of Python (BK149): what it asks for; `None` when it allows it,
    or asks for nothing that can be read."""
    asked = project_requirement(project).value_or(None)
    if asked is None or parse_specifiers(asked.specifier).unwrap().accept(release):
        return None
    hint = "run Beaker with a Python that the project is for"
    return Problem("BK149", f"the project asks for Python {asked.specifier}", asked.where, hint)


def translate_poetry(text: str) -> str | None:
    """A constraint of Poetry's as a PEP 440 specifier; `None` where it asks for nothing or cannot be said so.

    Blanks and commas mean and. `^3.12` is `>=3.12,<4.0` and `~3.12` `>=3.12,<3.13`, a bare `3.12` is `==3.12.*`, a
    bare `3` or `3.12.1` exactly that one; conditions of PEP 440 stay. `||`, `*` alone and anything else are `None`.
    """
    clauses = [_poetry_clause(token) for token in _TOKENS.split(_GAPS.sub(r"\1", text.strip())) if token]
    kept = [clause for clause in clauses if clause is not None]
    if not kept or len(kept) < len(clauses):
        return None
    joined = ",".join(kept)
    return joined if is_successful(parse_specifiers(joined)) else None


_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*\Z", re.ASCII)
_TOKENS = re.compile(r"[\s,]+")
_GAPS = re.compile(r"(?<![^\s,])(\^|~=?|===?|!=|[<>]=?)\s+")
_PLAIN = re.compile(r"(\^|~)?([0-9]+(?:\.[0-9]+)*)(\.\*)?\Z", re.ASCII)


def _poetry_clause(token: str) -> str | None:
    found = _PLAIN.match(token)
    if found is None:
        return token if token[0] in "<>=!~" else None
    sign, version, wildcard = found[1], found[2], found[3]
    release = [int(part) for part in version.split(".")] if len(version) <= 100 else []
    if not release or (sign and wildcard):
        return None
    if sign == "^":
        place = next((index for index, part in enumerate(release) if part), len(release) - 1)
        above = [*release[:place], release[place] + 1, *(0 for _ in release[place + 1 :])]
    elif sign == "~":
        place = min(1, len(release) - 1)
        above = [*release[:place], release[place] + 1]
    else:
        return f"=={version}.*" if wildcard or len(release) == 2 else f"=={version}"
    return f">={version},<{'.'.join(map(str, above))}"


def _text_at(data: object, *keys: str) -> str:
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data.strip() if isinstance(data, str) else ""


def _checked(specifier: str, where: str) -> Result[PythonRequirement | None, Problem]:
    parsed = parse_specifiers(specifier, where)
    return Success(PythonRequirement(specifier, where)) if is_successful(parsed) else Failure(parsed.failure())


def _release(version: str) -> Release:
    return tuple(int(part) for part in HOSTED_PYTHON_PATCH_VERSIONS[version].split("."))


def _satisfies(version: str, requirements: Iterable[PythonRequirement]) -> bool:
    return all(specifiers.accept(_release(version)) for specifiers in _parsed(requirements))


def _parsed(requirements: Iterable[PythonRequirement]) -> Iterator[Specifiers]:
    for requirement in requirements:
        yield parse_specifiers(requirement.specifier).unwrap()


def _nothing_fits(requirements: Sequence[PythonRequirement]) -> Problem:
    offered = ", ".join(f"{version} ({patch})" for version, patch in HOSTED_PYTHON_PATCH_VERSIONS.items())
    message = f"no hosted Python satisfies {_joined(requirements)}; there are {offered}"
    return Problem("BK141", message, _places(requirements), "widen the requirement so that it allows one of them")


def _configured(
    environment_base: str, fitting: Sequence[str], requirements: Sequence[PythonRequirement]
) -> Result[HostedPython, Problem]:
    python = base_python(environment_base)
    if not is_successful(python):
        return Failure(python.failure())
    if (version := python.unwrap()) in fitting:
        return Success(HostedPython(environment_base, version, False))
    patch = HOSTED_PYTHON_PATCH_VERSIONS[version]
    message = (
        f"{environment_base!r} has Python {patch}, which {_joined(requirements)} in {_places(requirements)} excludes"
    )
    hint = f"write environment_base: {environment_base.partition(':')[0]}:{fitting[0]}"
    return Failure(Problem("BK141", message, "environment_base", hint))


def _joined(requirements: Iterable[PythonRequirement]) -> str:
    return ",".join(requirement.specifier for requirement in requirements)


def _places(requirements: Iterable[PythonRequirement]) -> str:
    return " and ".join(requirement.where for requirement in requirements)
