"""Reading a project of an earlier generation, and deciding what every file of it becomes."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.cli.place import Surroundings
from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.migration_code import RENAMED, migrate_module, names_handed_on
from beaker.core.migration_config import other_meaning, plan_config
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.project_layout import suggest_integration_id
from beaker.core.python_source import parse_module, taken_names
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.config_migration import migrated_config
from beaker.files.entrypoints import module_file
from beaker.files.project import Project, read_config, resolve_import_root
from beaker.files.pyproject import read_python_project
from beaker.files.python_modules import beaker_modules
from beaker.files.reading import read_regular
from beaker.files.spec_targets import module_factories
from beaker.files.yaml_tree import parse_yaml
from beaker.sdk.spec_names import BY_GENERATION, SDK_SPEC_ONLY

_WORDS = (b"beaker", *(name.encode() for name in RENAMED))


@value
class FilePlan:
    """A file and what it becomes; `changes` are `(line, words)` of the old text."""

    path: Path
    name: str
    before: bytes
    after: bytes
    changes: tuple[tuple[int, str], ...]


@value
class MigrationPlan:
    """Files that change, what is left to the author, and the configuration before and after (`None` without one).

    `spec_id` is the id that the entry `spec` gets.
    """

    files: tuple[FilePlan, ...]
    by_hand: Problems
    before: ProjectConfig | None
    after: ProjectConfig | None
    spec_id: str


def plan_migration(around: Surroundings, cwd: Path) -> MigrationPlan:
    """What to change in the project around `cwd`; nothing is written, and no code of the project runs.

    `Refused` when a file cannot be read, or the edited configuration would say something else.
    """
    root = cwd if around.project is None else around.project.root
    sources = _sources(root, around.project)
    files: list[FilePlan] = []
    by_hand: list[Problem] = []
    handed_on = frozenset[str]().union(*(_handed_on(name, data) for name, data in sources.items()))
    for name, data in sources.items():
        made = _module(name, data, handed_on)
        if not is_successful(made):
            by_hand.append(made.failure())
            continue
        after, changes, left = made.unwrap()
        by_hand += left
        if after != data:
            files.append(FilePlan(root / name, name, data, after, changes))
    spec_id = suggest_integration_id(read_python_project(root).name)
    before = after_config = around.config
    if around.project is not None and before is not None:
        planned = _configuration(around.project, before, sources, spec_id, by_hand)
        if planned is not None:
            files.append(planned)
            after_config = read_config(planned.after, planned.name).unwrap()
    return MigrationPlan(tuple(files), tuple(by_hand), before, after_config, spec_id)


def _sources(root: Path, project: Project | None) -> dict[str, bytes]:
    """The project's modules that speak of Beaker, by their path from `root`."""
    try:
        return dict(beaker_modules(root, None if project is None else project.git_root, words=_WORDS))
    except OSError as error:
        raise Refused(os_problem(error, "read a module of the project")) from error


def _handed_on(name: str, data: bytes) -> frozenset[str]:
    """Earlier names that a module takes from another of the project; none where it cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return names_handed_on(data.decode("utf-8-sig", "replace"), name).value_or(frozenset())


def _module(
    name: str, data: bytes, handed_on: frozenset[str]
) -> Result[tuple[bytes, tuple[tuple[int, str], ...], Problems], Problem]:
    mark = b"\xef\xbb\xbf"
    bom = mark if data.startswith(mark) else b""
    try:
        source = data.removeprefix(bom).decode()
    except UnicodeDecodeError:
        return Failure(Problem("BK160", "is not written in UTF-8, and was not looked at", name, "save it as UTF-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes: whoever runs the module is told
        made = migrate_module(source, name, spec_names=SDK_SPEC_ONLY, handed_on=handed_on)
    return made.map(lambda found: (bom + found.source.encode(), found.changes, found.by_hand))


def _configuration(
    project: Project, config: ProjectConfig, sources: Mapping[str, bytes], spec_id: str, by_hand: list[Problem]
) -> FilePlan | None:
    """The configuration's part; `None` when nothing of it changes. What is left to the author goes to `by_hand`."""
    name = project.config_file
    data = read_regular(project.config_path)
    unfit = {entry.entrypoint: why for entry in config.entries if (why := _unfit(project, entry, sources))}
    plan = plan_config(parse_yaml(data, name).unwrap(), name, spec_id=spec_id, unfit=unfit)
    by_hand += plan.by_hand
    if not plan.edits:
        return None
    made = migrated_config(data, plan.edits, file=name)
    if not is_successful(made):
        by_hand.append(made.failure())
        return None
    read = read_config(made.unwrap(), name)
    said = other_meaning(config, read.unwrap(), spec_id=spec_id) if is_successful(read) else "it cannot be read"
    if said:
        by_hand.append(Problem("BK161", f"the configuration is not edited: {said}", name, "docs/generations.md"))
        return None
    return FilePlan(project.config_path, name, data, made.unwrap(), plan.changes)


def _unfit(project: Project, entry: IntegrationEntry, sources: Mapping[str, bytes]) -> str:
    """Why the entry of an Integration could not name what the entry of a Spec does; empty when it could."""
    if entry.kind != "spec":
        return ""
    module, _, attribute = entry.entrypoint.partition(":")
    if "." in attribute:
        return "its factory stands in a class; move it to the module"
    imports = resolve_import_root(project.git_root or project.root, entry)
    file = module_file(imports.unwrap(), module) if is_successful(imports) else None
    if file is None:
        return f"the module {module} is not found"
    if attribute not in module_factories(read_regular(file), str(file)).value_or(()):
        return "its factory is not decorated with spec(...)"
    for name, data in sources.items():
        if taken := _undecided(name, data):
            return (
                f"{name} takes {taken} from Beaker, which means that of Specs only while the configuration names one; "
                f"take it from beaker.sdk.spec04"
            )
    return ""


def _undecided(name: str, data: bytes) -> str:
    """A name that a module takes whose meaning depends on who imports it first; empty when there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parse_module(data.decode("utf-8-sig", "replace"), name)
    if not is_successful(parsed):
        return ""
    taken = taken_names(parsed.unwrap())
    shared = sorted(taken & BY_GENERATION.keys())
    return shared[0] if shared and taken.isdisjoint(SDK_SPEC_ONLY) else ""
