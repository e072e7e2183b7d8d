"""`beaker init --discover`: the decorated factories that a project of the Spec generation has become entries."""

import argparse
from pathlib import Path

import attrs
from returns.pipeline import is_successful

from beaker.cli.progress import busy
from beaker.cli.project_python import use_python
from beaker.cli.shell import DONE, Io, Styled, one_line
from beaker.cli.signals import run_async
from beaker.core.environment import base_environment
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problem, Refused
from beaker.core.project_layout import BEAKER_DIR, suggest_integration_id
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.files.config_edit import HEADER
from beaker.files.entrypoints import locate_file
from beaker.files.ignoring import completed_ignores
from beaker.files.project import find_git_root
from beaker.files.pyproject import find_python_project
from beaker.files.python_modules import beaker_modules
from beaker.files.reading import read_regular
from beaker.files.spec_targets import module_factories
from beaker.files.undoable import undoable
from beaker.files.yaml_edit import word
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.folders import temporary_folder
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker, WorkerFailed


@value(kw_only=True)
class Found:
    """A factory: the id of its entry, `module:callable`, and where its code lies."""

    id: str
    target: str
    source_dir: str
    package_import_root: str


def discover(arguments: argparse.Namespace, io: Io, *, directory: Path, config_file: str) -> int:
    """Write a configuration with an entry for every factory that is found; exit code 0 when all can be imported.

    `Refused` (BK128) when there is none, and (BK127) when the project is configured already; the lines to add are told.
    """
    found_project = find_python_project(directory)
    if not is_successful(found_project):
        raise Refused(found_project.failure())
    root = found_project.unwrap().root
    git_root = find_git_root(root)
    found = _named(_factories(root, git_root), arguments.spec_id)
    if not found:
        hint = "decorate one with @spec(...); `beaker init` alone writes an Integration to fill in"
        raise Refused(Problem("BK128", "no module has a factory that `spec` decorates", str(root), hint))
    path, text = root / config_file, _configuration(found)
    if path.exists():
        hint = f"add what is missing by hand:\n{text.removeprefix(HEADER).rstrip()}"
        raise Refused(Problem("BK127", "the project is configured already", str(path), hint))
    files = {path: text.encode(), **_ignores(root)}
    if not arguments.print:
        with undoable(files):
            if not arguments.no_verify:
                with busy(io, "looking at the project's code"):
                    run_async(_verify(arguments, io, found, root, git_root))
    _tell(arguments, io, root, found, files)
    return DONE


def _factories(root: Path, git_root: Path | None) -> list[Found]:
    """Every factory of the project, in the order of their files; their ids are still those of their modules."""
    source_dir = root.relative_to(git_root).as_posix() if git_root is not None else "."
    found: list[Found] = []
    try:
        sources = dict(beaker_modules(root, git_root))
    except OSError as error:
        raise Refused(os_problem(error, "read a module of the project")) from error
    for name, data in sources.items():
        located = locate_file(name, root)
        if not is_successful(located):
            continue  # nothing imports a file of such a name
        module = located.unwrap()
        import_root = module.import_root.relative_to(root).as_posix()
        for factory in module_factories(data, name).value_or(()):
            found.append(
                Found(
                    id=module.module.rpartition(".")[2],
                    target=f"{module.module}:{factory}",
                    source_dir=source_dir,
                    package_import_root=import_root,
                )
            )
    return found


def _named(found: list[Found], spec_id: str | None) -> list[Found]:
    """The factories with ids that differ: the module's name where that is enough, else with the factory's."""
    if spec_id is not None:
        if len(found) > 1:
            hint = "leave it out: every factory gets an id of its own"
            raise Refused(Problem("BK128", f"{len(found)} factories are found, and one id is given", "--spec-id", hint))
        ids = [spec_id for _ in found]
    else:
        short = [one.id for one in found]
        ids = [
            suggest_integration_id(one.id if short.count(one.id) == 1 else one.target.replace(":", "_"))
            for one in found
        ]
    named: list[Found] = []
    for name, one in zip(ids, found, strict=True):
        named.append(attrs.evolve(one, id=name))  # type: ignore[misc]  # a value is an attrs class
    return named


def _configuration(found: list[Found]) -> str:
    entries = "".join(
        f"  {word(one.id)}:\n    target: {word(one.target)}\n    package_import_root: {word(one.package_import_root)}\n"
        f"    source_dir: {word(one.source_dir)}\n"
        for one in found
    )
    return f"{HEADER}specs:\n{entries}default_spec: {word(found[0].id)}\n"


def _ignores(root: Path) -> dict[Path, bytes]:
    path = root / BEAKER_DIR / ".gitignore"
    content = completed_ignores(read_regular(path) if path.exists() else None)
    return {} if content is None else {path: content}


async def _verify(
    arguments: argparse.Namespace, io: Io, found: list[Found], project: Path, git_root: Path | None
) -> None:
    """Import every factory and build its Spec, each in a process of its own; `Refused` when that fails."""
    with temporary_folder("beaker-init-") as pycache:
        async with Supervisor(pycache=pycache) as supervisor:
            env = base_environment(io.environ)
            await use_python(supervisor, arguments, io, project=project, repository=git_root, env=env)
            for one in found:
                code = CodeRoot(git_root or project, one.target, one.source_dir, one.package_import_root, kind="spec")
                try:
                    worker = await SetupWorker.start(supervisor, code, env=env, timeouts=Timeouts())
                except WorkerFailed as failed:
                    raise Refused(failed.problems) from None
                await worker.close()


def _tell(arguments: argparse.Namespace, io: Io, root: Path, found: list[Found], files: dict[Path, bytes]) -> None:
    verified = not (arguments.print or arguments.no_verify)
    if io.json:
        specs = [
            {
                "id": one.id,
                "target": one.target,
                "source_dir": one.source_dir,
                "package_import_root": one.package_import_root,
            }
            for one in found
        ]
        written = [{"path": str(path), "content": data.decode()} for path, data in files.items()]
        io.json_line(
            {
                "project": str(root),
                "specs": specs,
                "default_spec": found[0].id,
                "dry_run": bool(arguments.print),
                "verified": verified,
                "files": written,
            }
        )
        return
    for path, data in files.items():
        io.out(f"  {'would write' if arguments.print else 'write'}  {one_line(str(path))}")
        if arguments.print:
            io.out(data.decode().rstrip("\n"))
    for one in found:
        io.out(f"  {one_line(one.id)}: {one_line(one.target)}")
    ending = "nothing was written" if arguments.print else "all can be imported" if verified else "none was imported"
    count = f"{len(found)} Spec{'' if len(found) == 1 else 's'}"
    io.out(Styled("beaker init:", "ok"), f" {count} found; {ending}")
    io.note(Styled("Next:", "heading"))
    io.note(f"  1. check everything: {io.command('run', 'smoke')}")
    io.note(f"  2. bring the project up to date, when you like: {io.command('migrate')}")
