"""What `beaker run smoke` tries out of a Spec that the command line names, beside the configuration or without one."""

import argparse
from pathlib import Path

import attrs

from beaker.cli.place import Surroundings, answered
from beaker.cli.shell import Io
from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.launch_options import SPEC_CODE
from beaker.core.problems import Problem, Refused
from beaker.core.project_layout import BEAKER_CONFIG_PATH, normalize_repository_directory
from beaker.core.selection import choose
from beaker.files.project import Project, find_git_root
from beaker.files.spec_targets import locate_spec

_FOLDERS = ("source_dir", "package_import_root")


def without_configuration(io: Io) -> Surroundings:
    """What lies around a Spec that is named with --target, where no configuration does."""
    cwd = io.cwd.resolve()
    git_root = find_git_root(cwd)
    root = git_root or cwd
    project = Project(root, root / BEAKER_CONFIG_PATH, BEAKER_CONFIG_PATH, git_root)
    return Surroundings(project, ProjectConfig(file=BEAKER_CONFIG_PATH), ())


def smoked_entry(arguments: argparse.Namespace, around: Surroundings) -> IntegrationEntry | None:
    """The entry to try out. With --target it is that of a Spec: the selected one, if one is, else one of its own."""
    if arguments.target is None:
        return answered(choose(around.config, arguments.integration_id, arguments.spec_id))
    usual = choose(around.config, None).value_or(None)
    return (
        usual if usual is not None and usual.kind == "spec" else IntegrationEntry(id=arguments.target, section="specs")
    )


def named_on_the_line(arguments: argparse.Namespace, root: Path, entry: IntegrationEntry) -> IntegrationEntry:
    """`entry` with what the command line says of a Spec: its factory, and where its code lies below the Git root.

    `Refused`: BK409 for an Integration, whose entry says it all; BK117, BK124 and BK128 for what cannot be found.
    """
    said = {name: text for name in _FOLDERS if (text := getattr(arguments, name)) is not None}
    for name, text in said.items():
        option = f"--{name.replace('_', '-')}"
        if entry.kind != "spec":
            hint = f"set {name} in the entry {entry.place}"
            raise Refused(Problem(SPEC_CODE, "is an option of the Spec generation", option, hint))
        try:
            said[name] = normalize_repository_directory(text)
        except ValueError as error:
            raise Refused(Problem("BK117", str(error), option, "name a folder inside the repository")) from None
    changed: IntegrationEntry = attrs.evolve(entry, **said)  # type: ignore[misc]  # a value is an attrs class
    if arguments.target is None:
        return changed
    found = answered(locate_spec(arguments.target, root / changed.source_dir, changed.package_import_root))
    made: IntegrationEntry = attrs.evolve(  # type: ignore[misc]  # a value is an attrs class
        changed, entrypoint=found.entrypoint, package_import_root=found.package_import_root, problems=()
    )
    return made
