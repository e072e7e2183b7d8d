"""What lies in a project, gathered for `beaker onboarding status`: nothing is imported, and no service asked."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.cli.place import Surroundings, answered
from beaker.core.credentials import LOCAL, choose_agent_key, choose_base_url, overridden_key
from beaker.core.dependencies import declares
from beaker.core.launch import DatasetChoice, choose_dataset, local_dataset_path, merge_config, split_config
from beaker.core.onboarding_local import MARKER, Folder, ProjectFacts
from beaker.core.problems import Problem, Refused
from beaker.core.selection import choose
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.dotenv import read_dotenv
from beaker.files.entrypoints import module_file
from beaker.files.git import remote_repository
from beaker.files.project import Project, config_path_in_repository, find_git_root, resolve_import_root
from beaker.files.pyproject import PYPROJECT, find_python_project
from beaker.files.reading import read_regular
from beaker.files.tracing_scan import find_recording

if TYPE_CHECKING:
    from beaker.cli.shell import Io
    from beaker.core.config_entry import IntegrationEntry

WATCHED = (PYPROJECT, "uv.lock", "poetry.lock", ".beaker/.gitignore")
"""Files of a project that a run needs as they are, beside the configuration and the module."""


@value(kw_only=True)
class Gathered:
    """The facts, and what is needed to find out more: the root of the repository (`None` outside Git), the folder of
    the code and the files of which a change counts, both from there, the variables of the project's dotenv file, and
    whether runs take place on this machine."""

    facts: ProjectFacts
    git_root: Path | None
    source_dir: str
    watched: tuple[str, ...]
    dotenv: Mapping[str, str]
    local: bool


def gather(arguments: argparse.Namespace, io: "Io", around: Surroundings) -> Gathered:
    """Everything that the files say. `Refused` when the configuration, its folders, the module or the project's dotenv
    file cannot be read."""
    if around.problems:
        raise Refused(around.problems)
    config, project = around.config, around.project
    base_url = choose_base_url(
        arguments.base_url, io.environ, local=arguments.local, configured=None if config is None else config.api
    )
    local = answered(base_url).is_local
    chosen = choose(config, arguments.integration_id, arguments.spec_id)
    entry = chosen.value_or(None)
    here = io.cwd.resolve()
    git_root = find_git_root(here) if project is None else project.git_root
    usable = entry is not None and not entry.problems
    code, source = here if project is None else project.root, None
    if entry is not None and usable and project is not None:
        root = project.git_root or project.root
        imports = answered(resolve_import_root(root, entry))
        code, source = (root / entry.source_dir).resolve(), module_file(imports, entry.entrypoint.partition(":")[0])
    python = find_python_project(code, stop=git_root).value_or(None)
    dotenv = answered(read_dotenv(io.cwd))
    agent = choose_agent_key(arguments.agent, io.environ, entry.agent_key if entry else None, dotenv=dotenv)
    dataset, folder, folder_name = _dataset(around, entry)
    config_path = None if project is None else config_path_in_repository(project)
    remote: Result[str | None, Problem] = Success(None) if git_root is None else remote_repository(git_root)
    facts = ProjectFacts(
        pyproject=None if python is None else _shown(python.root / PYPROJECT, here),
        declares_beaker=python is not None and declares(python.metadata.pyproject),
        subproject=_subproject(project, entry),
        config_file=None if project is None else project.config_file,
        config_path=None if config_path is None else config_path.value_or(None),
        integration_id=None if entry is None else entry.id,
        selection=None if is_successful(chosen) else chosen.failure(),
        entry_problems=() if entry is None else entry.problems,
        entrypoint="" if entry is None else entry.entrypoint,
        source=None if source is None else _shown(source, here),
        gaps=() if source is None else _gaps(source),
        tracing=_tracing(code) if usable else None,
        required_env=() if entry is None else entry.required_env,
        dataset=dataset,
        local_dataset=folder,
        local_dataset_named=folder_name,
        agent=agent.unwrap().key if is_successful(agent) else LOCAL if local else None,
        repository=remote.unwrap() if is_successful(remote) else None,
    )
    return Gathered(
        facts=facts,
        git_root=git_root,
        source_dir="." if entry is None else entry.source_dir,
        watched=() if project is None else _watched(project, source),
        dotenv=dotenv,
        local=local,
    )


def overriding_key(arguments: argparse.Namespace, io: "Io", around: Surroundings) -> Problem | None:
    """A warning (BK157) when `BEAKER_AGENT_KEY` hides another key that the configuration names."""
    entry = choose(around.config, arguments.integration_id, arguments.spec_id).value_or(None)
    if arguments.agent or entry is None:
        return None
    return overridden_key(io.environ, entry.agent_key, dotenv=answered(read_dotenv(io.cwd)))


def _dataset(
    around: Surroundings, entry: "IntegrationEntry | None"
) -> tuple[DatasetChoice | Problem | None, Folder, str | None]:
    """What the configuration selects, and the local folder that it names with what is in it."""
    if around.config is None or around.project is None:
        return None, "absent", None
    defaults = (around.config.config_defaults, {} if entry is None else entry.config_defaults)
    _, resolved = split_config(merge_config(*defaults))
    named = local_dataset_path(resolved)
    chosen: Result[Any, Problem] = choose_dataset(resolved) if is_successful(named) else Failure(named.failure())
    if not is_successful(chosen):
        return chosen.failure(), "absent", None
    path = named.unwrap()
    if path is None:
        return chosen.unwrap(), "absent", None
    folder = around.project.root / path
    if not folder.is_dir():
        return chosen.unwrap(), "absent", path
    whole = all((folder / f"{split}.jsonl").is_file() for split in ("train", "test"))
    return chosen.unwrap(), "there" if whole else "incomplete", path


def _gaps(source: Path) -> tuple[int, ...]:
    """The lines of a module that are marked to be filled in."""
    try:
        text = read_regular(source).decode("utf-8", "replace")
    except OSError as error:
        raise Refused(os_problem(error, "read the module", source)) from error
    return tuple(number for number, line in enumerate(text.splitlines(), 1) if MARKER in line)


def _tracing(code: Path) -> str | Problem | None:
    found = find_recording(code)
    return found.unwrap() if is_successful(found) else found.failure()


def _subproject(project: Project | None, entry: "IntegrationEntry | None") -> str | None:
    """The folder that `source_dir` should probably name: the configuration's own project, below the Git root."""
    if project is None or project.git_root is None or entry is None or entry.source_dir != ".":
        return None
    if project.root == project.git_root or not (project.root / PYPROJECT).is_file():
        return None
    return project.root.relative_to(project.git_root).as_posix()


def _watched(project: Project, source: Path | None) -> tuple[str, ...]:
    root = (project.git_root or project.root).resolve()
    paths = (project.config_path, *(project.root / name for name in WATCHED), *([] if source is None else [source]))
    found = (Path(os.path.realpath(path)) for path in paths)
    return tuple(dict.fromkeys(path.relative_to(root).as_posix() for path in found if path.is_relative_to(root)))


def _shown(path: Path, here: Path) -> str:
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)
