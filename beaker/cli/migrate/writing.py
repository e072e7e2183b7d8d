"""Making the edits of a migration, and proving that they change nothing: everything else is undone."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from returns.pipeline import is_successful

from beaker.cli.kept_values import granted_here
from beaker.cli.migrate.plan import MigrationPlan
from beaker.cli.place import Surroundings
from beaker.cli.progress import busy
from beaker.cli.project_python import use_python
from beaker.cli.shell import Io
from beaker.cli.signals import run_async
from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry
from beaker.core.environment import base_environment
from beaker.core.migration_config import other_meaning
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problem, Refused
from beaker.core.targets import declaration_json
from beaker.files.project import load_project_config
from beaker.files.reading import read_regular
from beaker.files.undoable import undoable
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.folders import temporary_folder
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker, WorkerFailed

CODE = "BK162"
"""The code of a migration whose edits could not be verified; nothing stays changed."""

Loaded = Mapping[str, object]
"""What loading every entry showed, by its id: targets, and whether candidates are opened."""


def write_verified(arguments: argparse.Namespace, io: Io, around: Surroundings, plan: MigrationPlan) -> None:
    """Make the edits of `plan`; `Refused` (BK162) when an entry cannot be loaded before or after, or says something
    else then, and everything is as it was."""
    with busy(io, "loading the project's code"):
        run_async(_written(arguments, io, around, plan))


async def _written(arguments: argparse.Namespace, io: Io, around: Surroundings, plan: MigrationPlan) -> None:
    before = await _loaded(arguments, io, around, around.config, plan.spec_id, "before anything was changed")
    for file in plan.files:
        if read_regular(file.path) != file.before:
            raise Refused(Problem(CODE, "was changed by somebody else just now", file.name, "run the command again"))
    with undoable({file.path: file.after for file in plan.files}):
        config = None if around.project is None else _reread(around, plan)
        after = await _loaded(arguments, io, around, config, plan.spec_id, "with the edits, which were undone")
        for name, found in before.items():
            if after.get(name) != found:
                hint = "migrate by hand (docs/generations.md); nothing was changed"
                message = f"with the edits {name} is {after.get(name)}, and was {found}; they were undone"
                raise Refused(Problem(CODE, message, hint=hint))


def _reread(around: Surroundings, plan: MigrationPlan) -> ProjectConfig:
    """The configuration as it was written, which says what it said before."""
    assert around.project is not None
    assert around.config is not None  # nothing was edited otherwise
    read = load_project_config(around.project)
    if not is_successful(read):
        raise Refused(read.failure())
    if said := other_meaning(around.config, read.unwrap(), spec_id=plan.spec_id):
        raise Refused(Problem(CODE, f"{said}; the edits were undone", around.project.config_file))
    return read.unwrap()


async def _loaded(
    arguments: argparse.Namespace,
    io: Io,
    around: Surroundings,
    config: ProjectConfig | None,
    spec_id: str,
    when: str,
) -> Loaded:
    """What importing every entry shows, each in a process of its own, with byte-code that no earlier look left."""
    found: dict[str, object] = {}
    if config is None or around.project is None:
        return found
    root = around.project.git_root or around.project.root
    with temporary_folder("beaker-migrate-") as pycache:
        async with Supervisor(pycache=pycache) as supervisor:
            base, project = base_environment(io.environ), around.project
            await use_python(supervisor, arguments, io, project=project.root, repository=project.git_root, env=base)
            for entry in config.entries:
                if entry.problems:
                    continue
                env = {**base, **granted_here(arguments, io, around, entry).values}
                try:
                    worker = await SetupWorker.start(supervisor, _code(root, entry), env=env, timeouts=Timeouts())
                except WorkerFailed as failed:
                    message = f"{entry.place} cannot be imported {when}: {failed.problems[0]}"
                    hint = failed.problems[0].hint or "nothing was changed"
                    raise Refused(Problem(CODE, message, hint=hint)) from None
                shown = worker.loaded
                found[spec_id if entry.section == "spec" else entry.id] = (
                    declaration_json(shown.targets),
                    shown.has_open_candidate,
                )
                await worker.close()
    return found


def _code(root: Path, entry: IntegrationEntry) -> CodeRoot:
    return CodeRoot(root, entry.entrypoint, entry.source_dir, entry.package_import_root, kind=entry.kind)
