"""What a project's configuration says of its Integrations and of the dataset that they are tried on."""

from pathlib import Path
from typing import TypeVar

from returns.pipeline import is_successful
from returns.result import Result

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch import local_dataset_path, merge_config, split_config
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.selection import choose, select
from beaker.core.values import value
from beaker.files.project import find_git_root, find_project, load_project_config, resolve_import_root, upwards
from beaker.files.pyproject import PYPROJECT

T = TypeVar("T")


@value
class Configured:
    """The project around a folder.

    `config` is what its `.beaker/beaker.yaml` says, `None` when there is none or, as `problems` tell, when it cannot be
    read. `git_root` is what the paths of entries count from: the repository, or the project itself outside Git.
    """

    root: Path
    git_root: Path
    config: ProjectConfig | None = None
    problems: Problems = ()

    @property
    def entries(self) -> tuple[IntegrationEntry, ...]:
        """What is configured: Integrations, and Specs, which are tested as Integrations."""
        return () if self.config is None else self.config.entries


def configured(folder: Path) -> Configured:
    """The project of `folder`: that of the nearest configuration, else the repository, else the Python project around
    it, else `folder` alone."""
    found = find_project(folder)
    project = found.unwrap() if is_successful(found) else None
    if project is None:
        above = (one for one in upwards(folder, None) if (one / PYPROJECT).is_file())
        root = find_git_root(folder) or next(above, folder)
        return Configured(root, root)
    config = load_project_config(project)
    git_root = project.git_root or project.root
    if is_successful(config):
        return Configured(project.root, git_root, config.unwrap())
    return Configured(project.root, git_root, problems=config.failure())


def import_root_of(project: Configured, entry: IntegrationEntry) -> Path | None:
    """The folder that the module of `entry` is imported from; `None` when there is no such folder."""
    return resolve_import_root(project.git_root, entry).value_or(None)


def chosen_entry(project: Configured, entry_id: str | None) -> IntegrationEntry:
    """The Integration or Spec that is meant by an id, or by none; `Refused` when that is open or wrong."""
    if project.problems:
        raise Refused(project.problems)
    entry = _answered(select(project.config, *_named(project, entry_id)))
    if entry is None:
        hint = "pass --beaker-integration FILE.py, or add an entry below integrations of .beaker/beaker.yaml"
        raise Refused(Problem("BK119", "no integration is configured here", str(project.root), hint))
    return entry


def configured_dataset(project: Configured, entry_id: str | None) -> Path:
    """The folder that `local_dataset_path` names; `Refused` when none is named."""
    if project.problems:
        raise Refused(project.problems)
    chosen = choose(project.config, *_named(project, entry_id))
    entry = chosen.unwrap() if is_successful(chosen) else None
    shared = {} if project.config is None else project.config.config_defaults
    merged = merge_config(shared, {} if entry is None else entry.config_defaults)
    named = _answered(local_dataset_path(split_config(merged)[1]))
    if named is None:
        hint = "set config_defaults.local_dataset_path, or define a fixture beaker_dataset that gives the folder"
        where = str(project.root) if project.config is None else project.config.file
        raise Refused(Problem("BK405", "no local dataset folder is named", where, hint))
    return project.root / named


def _named(project: Configured, entry_id: str | None) -> tuple[str | None, str | None]:
    """An id as that of an Integration or, where no Integration is called so, of a Spec."""
    specs = {entry.id for entry in project.entries if entry.kind == "spec"}
    integrations = {entry.id for entry in project.entries if entry.kind == "integration"}
    return (None, entry_id) if entry_id in specs - integrations else (entry_id, None)


def _answered(result: Result[T, Problem]) -> T:
    if not is_successful(result):
        raise Refused(result.failure())
    return result.unwrap()
