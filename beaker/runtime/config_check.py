"""Judging a configuration file whole, every entry of it, without running anything: what `beaker config check` says."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
from returns.pipeline import is_successful

from beaker.core.config import ProjectConfig, config_problems, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.config_reader import DATASET_KEYS, in_file_order
from beaker.core.config_tree import MapNode, Node
from beaker.core.environment import dotenv_warnings
from beaker.core.launch import LOCAL_PATH_KEYS, choose_dataset, local_dataset_path, merge_config, split_config
from beaker.core.launch_places import SettingsFile, place_settings
from beaker.core.options import did_you_mean
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import BEAKER_ENV_PATH, parse_entrypoint, parse_spec_target
from beaker.core.selection import choose
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.build_files import judge_build
from beaker.files.dotenv import read_dotenv
from beaker.files.entrypoints import module_file
from beaker.files.project import Project, resolve_import_root
from beaker.files.reading import read_regular
from beaker.files.yaml_tree import parse_yaml
from beaker.runtime.launchable import judge_settings


@value(kw_only=True)
class ConfigReport:
    """What is wrong with a configuration, and what may be right all the same, both in the order of the file.

    `integrations` and `specs` are the ids of its entries, empty when the file cannot be read. `where` of a problem is
    `file:line` where a line is to blame.
    """

    file: str
    integrations: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    problems: Problems = ()
    warnings: Problems = ()


def check_config(project: Project, *, local: bool) -> ConfigReport:
    """Judge the configuration of `project` as it stands in the working copy; `local` when runs on this machine are
    meant, whose settings are judged to the last.

    Nothing of the customer's is imported: an entrypoint is only looked for.
    """
    file = project.config_file
    try:
        data = read_regular(project.config_path)
    except OSError as error:
        return ConfigReport(file=file, problems=(os_problem(error, "read the configuration", file),))
    tree = parse_yaml(data, file)
    if not is_successful(tree):
        return ConfigReport(file=file, problems=tree.failure())
    parsed = parse_config(tree.unwrap(), file)
    if not is_successful(parsed):
        return ConfigReport(file=file, problems=parsed.failure())
    return _judged(project, parsed.unwrap(), tree.unwrap(), local)


def _judged(project: Project, config: ProjectConfig, tree: Node, local: bool) -> ConfigReport:
    problems = [*config_problems(config)]
    warnings = [*config.warnings]
    selection = choose(config, None)
    if not is_successful(selection):
        fault: Problem = selection.failure()
        # Several entries and no default is a file that works with --integration-id.
        (warnings if fault.code == "BK112" else problems).append(_selection_fault(fault, config, tree))
    for entry in config.entries or (None,):
        faults, doubts = _settings(project, config, tree, entry, local)
        problems += faults
        warnings += doubts
        if entry is not None and not entry.problems:
            faults, doubts = _files(project, entry, tree, local)
            problems += faults
            warnings += doubts
    read = read_dotenv(project.root)
    if is_successful(read):
        names = [name for entry in config.entries for name in entry.required_env]
        warnings += dotenv_warnings(read.unwrap(), names, BEAKER_ENV_PATH)
    else:
        problems.append(read.failure())
    return ConfigReport(
        file=config.file,
        integrations=tuple(entry.id for entry in config.entries if entry.kind == "integration"),
        specs=tuple(entry.id for entry in config.entries if entry.kind == "spec"),
        problems=_ordered(problems, config.file),
        warnings=_ordered((one for one in warnings if one not in problems), config.file),
    )


def _selection_fault(fault: Problem, config: ProjectConfig, tree: Node) -> Problem:
    for key, chosen, known in (
        ("default_integration", config.default_integration, config.integrations),
        ("default_spec", config.default_spec, config.specs),
    ):
        if fault.code == "BK111" and fault.message.startswith(f"{key} ") and chosen is not None:
            hint = did_you_mean(chosen, known) if known else fault.hint
            return Problem(fault.code, fault.message, f"{config.file}:{_line(tree, (key,))}", hint)
    return fault


def _settings(
    project: Project, config: ProjectConfig, tree: Node, entry: IntegrationEntry | None, local: bool
) -> tuple[list[Problem], list[Problem]]:
    """The launch settings and the dataset of the runs of one entry, or of a file without any."""
    merged = merge_config(config.config_defaults, {} if entry is None else entry.config_defaults)
    if not merged and entry is None:
        return [], []
    found = judge_settings(merged, local=local, kind="integration" if entry is None else entry.kind)
    _, resolved = split_config(merged)
    faults, doubts = [*found.failures], [*found.warnings]
    for judged, selectors in (
        (choose_dataset(resolved), DATASET_KEYS),
        (local_dataset_path(resolved), LOCAL_PATH_KEYS),
    ):
        if not is_successful(judged):
            fault: Problem = judged.failure()
            # Of two that exclude each other the later one is named.
            where = fault.where or f"config.{[key for key in resolved if key in selectors][-1]}"
            faults.append(Problem(fault.code, fault.message, where, fault.hint))
    folder = local_dataset_path(resolved).value_or(None)
    if folder is not None and not (project.root / folder).is_dir():
        key = next(key for key in resolved if resolved[key] == folder)
        doubts.append(Problem("BK404", f"{folder!r} is no folder of {project.root}", f"config.{key}"))
    named = {} if entry is None else {"integration_id": entry.id, "section": entry.section}
    source = SettingsFile(file=config.file, tree=tree, **named)
    return [*place_settings(faults, source, given={})], [*place_settings(doubts, source, given={})]


def _files(project: Project, entry: IntegrationEntry, tree: Node, local: bool) -> tuple[list[Problem], list[Problem]]:
    """What the checkout says to an entry: its folders, its module, its build."""
    root = project.git_root or project.root
    imports = resolve_import_root(root, entry)
    if not is_successful(imports):
        return [_placed(imports.failure(), project.config_file, tree)], []
    doubts = [*_module_faults(imports.unwrap(), entry)]
    # Nothing is built for a run on this machine.
    builds = [_placed(one, project.config_file, tree) for one in judge_build(root, entry)]
    return ([] if local else builds), [
        *(_placed(one, project.config_file, tree) for one in doubts),
        *(builds if local else ()),
    ]


def _module_faults(imports: Path, entry: IntegrationEntry) -> Iterator[Problem]:
    parse, key = (parse_entrypoint, "entrypoint") if entry.kind == "integration" else (parse_spec_target, "target")
    module = parse(entry.entrypoint).module
    if module_file(imports, module) is None:
        message = f"no file below {imports} is the module {module}"
        yield Problem("BK108", message, f"{entry.place}.{key}", "correct it, or source_dir and package_import_root")


def _placed(problem: Problem, file: str, tree: Node) -> Problem:
    """A problem whose `where` is the path of a key in the file, at the line of that key or of what holds it."""
    if not re.match(r"(integrations|specs|spec)\.", problem.where):
        return problem
    line = _line(tree, _path(problem.where, tree))
    message = f"{problem.where}: {problem.message}"
    return attrs.evolve(problem, message=message, where=f"{file}:{line}")  # type: ignore[misc]  # a value is an attrs class


def _path(where: str, tree: Node) -> tuple[str, ...]:
    """The keys that `where` names; ids may hold dots."""
    section, _, rest = where.partition(".")
    name, _, key = rest.rpartition(".")
    return (section, name, key) if name else (section, key)


def _line(tree: Node, path: Iterable[str]) -> int:
    """The line of the key at `path`, or of the last part of the path that is there."""
    line, node = tree.line, tree
    for part in path:
        key, below = (node.key(part), node.get(part)) if isinstance(node, MapNode) else (None, None)
        if key is None or below is None:
            break
        line, node = key.line, below
    return line


def _ordered(problems: Iterable[Problem], file: str) -> Problems:
    """Problems once each: those of lines of the file in its order, then the others."""
    once = list(dict.fromkeys(problems))
    placed = [one for one in once if re.fullmatch(re.escape(file) + ":[0-9]+", one.where)]
    return (*in_file_order(placed), *(one for one in once if one not in placed))
