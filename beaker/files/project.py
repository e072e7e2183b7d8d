"""Finding the project around a folder, and reading its configuration."""

import os
from collections.abc import Iterator
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.config import ProjectConfig, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch_places import SettingsFile
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import BEAKER_CONFIG_PATH, normalize_beaker_config_path
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.reading import read_regular
from beaker.files.yaml_tree import parse_yaml


@value
class Project:
    """A configured project. `config_path` is the file as found, `config_file` its path from `root`.

    `git_root` is the repository around `root`, `None` outside Git.
    """

    root: Path
    config_path: Path
    config_file: str
    git_root: Path | None


def find_project(cwd: Path, config_file: str | None = None) -> Result[Project | None, Problem]:
    """The project of `cwd`: the nearest folder, up to the Git root, in which the configuration is a file.

    `config_file` is its path from there, `.beaker/beaker.yaml` when `None`; BK115 when it is absolute, leaves the
    folder or names nothing. `None` when no folder has it. Outside Git the search goes up to the file system's root.
    """
    try:
        relative = BEAKER_CONFIG_PATH if config_file is None else normalize_beaker_config_path(config_file)
    except ValueError as error:
        hint = f"give a path such as {BEAKER_CONFIG_PATH} (--config-file, BEAKER_CONFIG_FILE)"
        return Failure(Problem("BK115", f"the configuration's path {error}", hint=hint))
    start = cwd.resolve()
    for folder in upwards(start, find_git_root(start)):
        path = folder / relative
        if path.is_file():
            # Named with more than the usual two parts, the project is still the folder that holds `.beaker`.
            depth = 2 if f"/{relative}".endswith(f"/{BEAKER_CONFIG_PATH}") else relative.count("/") + 1
            root = path.parents[depth - 1]
            return Success(Project(root, path, path.relative_to(root).as_posix(), find_git_root(root)))
    return Success(None)


def find_git_root(folder: Path) -> Path | None:
    """The nearest folder, upwards, that holds a `.git` entry: a folder, or the file of a worktree or submodule."""
    return next((one for one in upwards(folder, None) if (one / ".git").exists()), None)


def leads_out(path: Path) -> Problem | None:
    """Why nothing is written to `path`, a file of a project: it is a link, or lies behind one, that leads out of the
    repository (BK116); outside Git out of the folder that holds the file's own folder."""
    folder = path.absolute().parent
    home = (find_git_root(folder) or folder.parent).resolve()
    if home in path.resolve().parents:
        return None
    hint = "put the file itself in its place: what belongs to a project is written inside its repository"
    return Problem("BK116", f"is a link that leads out of {home}", str(path), hint)


def upwards(start: Path, stop: Path | None) -> Iterator[Path]:
    """`start` and its parents, up to and including `stop`, or to the root."""
    for folder in (start, *start.parents):
        yield folder
        if folder == stop:
            return


def load_project_config(project: Project) -> Result[ProjectConfig, Problems]:
    """The configuration of `project`, from its working copy."""
    try:
        data = read_regular(project.config_path)
    except OSError as error:
        return Failure((os_problem(error, "read the configuration", project.config_file),))
    return read_config(data, project.config_file)


def read_config(data: bytes, file: str) -> Result[ProjectConfig, Problems]:
    """A configuration from its bytes, as they stand in a file or in a commit; `file` names it in the problems."""
    tree = parse_yaml(data, file)
    if not is_successful(tree):
        return Failure(tree.failure())
    return parse_config(tree.unwrap(), file)


def settings_file(project: Project, entry: IntegrationEntry | None) -> SettingsFile | None:
    """The configuration as `place_settings` needs it, to say where a launch setting of `entry` is written; `None` when
    it cannot be read."""
    try:
        tree = parse_yaml(read_regular(project.config_path), project.config_file)
    except OSError:
        return None
    if not is_successful(tree):
        return None
    named = {} if entry is None else {"integration_id": entry.id, "section": entry.section}
    return SettingsFile(file=project.config_file, tree=tree.unwrap(), **named)


def config_path_in_repository(project: Project) -> Result[str, Problem]:
    """The configuration's real path from the Git root, under which a commit holds it; BK116 when it lies outside."""
    hint = "keep the configuration inside the repository whose code it names"
    if project.git_root is None:
        return Failure(Problem("BK116", f"{project.config_path} is in no Git repository", hint=hint))
    try:
        path = project.config_path.resolve().relative_to(project.git_root.resolve())
    except ValueError:
        return Failure(Problem("BK116", f"{project.config_path} leads out of {project.git_root}", hint=hint))
    return Success(path.as_posix())


def resolve_import_root(git_root: Path, entry: IntegrationEntry) -> Result[Path, Problem]:
    """The folder from which the entry's module is imported, inside the checkout `git_root`, links followed.

    BK117 when `source_dir` leaves the checkout or does not exist, or `package_import_root` leaves `source_dir`.
    """
    root = git_root.resolve()
    source = (root / entry.source_dir).resolve()
    imports = (source / (entry.package_import_root or ".")).resolve()
    for name, written, folder, inside in (
        ("source_dir", entry.source_dir, source, root),
        ("package_import_root", entry.package_import_root, imports, source),
    ):
        where = f"{entry.place}.{name}"
        if folder != inside and inside not in folder.parents:
            return Failure(Problem("BK117", f"{written!r} leads out of {inside}", where, "name a folder inside it"))
        if not os.path.isdir(folder):
            message = f"{written!r} is no folder of {inside}"
            return Failure(Problem("BK117", message, where, "check the path; source_dir counts from the Git root"))
    return Success(imports)
