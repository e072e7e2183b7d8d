"""The command `beaker init`: writes what a project needs, verifies it in a process of its own, or leaves no trace."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf, add_python_option
from beaker.cli.shell import DONE, Io, Styled, one_line, problems_json
from beaker.cli.words import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from beaker.cli.init.plan import Asked, InitPlan
    from beaker.files.entrypoints import ModuleFile
    from beaker.runtime.interpreters import ProjectPython
    from beaker.runtime.supervisor import Supervisor

ASSISTANTS = ("claude", "cursor", "codex", "devin", "all")


def add_parser(subparsers: Any) -> None:
    """Add `beaker init`."""
    leaf = add_leaf(
        subparsers,
        "init",
        help=HELP["init"],
        description="Adds an integration to the configuration of the Python project around DIR, with a module to fill "
        "in where there is none, and imports it in a process of its own. When that fails, nothing is left behind.",
    )
    leaf.add_argument("--dir", default=".", metavar="DIR", help="where to look for the project (default: here)")
    leaf.add_argument("--integration-id", metavar="ID", help="the integration (default: made of the project's name)")
    leaf.add_argument("--target", metavar="T", help="PATH.py, also a new one, or module.path:attribute")
    leaf.add_argument("--agent-key", "--name", dest="agent_key", metavar="KEY", help="the agent's key, to be recorded")
    leaf.add_argument(
        "--discover", action="store_true", help="write down the Specs that the project has, by their factories"
    )
    leaf.add_argument("--spec-id", metavar="ID", help="with --discover: the id of the only Spec")
    leaf.add_argument("--print", action="store_true", help="show what would be written, and write nothing")
    leaf.add_argument("--no-verify", action="store_true", help="do not import the integration")
    add_python_option(leaf)
    assistants = leaf.add_mutually_exclusive_group()
    assistants.add_argument("--agent", choices=ASSISTANTS, help=argparse.SUPPRESS)
    assistants.add_argument("--no-agent", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 when the integration is there and can be imported."""
    from beaker.cli.progress import busy
    from beaker.cli.signals import run_async
    from beaker.core.problems import Problem

    if arguments.agent or arguments.no_agent:
        option = "--agent" if arguments.agent else "--no-agent"
        said = f"{option} has no effect any more: nothing is written for one coding assistant"
        io.warn(Problem("BK901", said, hint="leave it out; --agent-key records the key of an agent"))
    if arguments.discover or arguments.spec_id is not None:
        return _discovered(arguments, io)
    with busy(io, "looking at the project's code"):
        plan = run_async(_performed(arguments, io))
    for warning in plan.warnings:
        io.warn(warning)
    if io.json:
        io.json_line(_told(arguments, plan))
        return DONE
    _show(arguments, io, plan)
    return DONE


def _discovered(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.init.discover import discover
    from beaker.core.problems import Problem, Refused

    if not arguments.discover:
        hint = "add --discover to write down a Spec that is there; `beaker init --integration-id ID` begins anew"
        raise Refused(Problem("BK409", "new projects are written as Integrations, not as Specs", "--spec-id", hint))
    for option in ("target", "agent_key", "integration_id"):
        if getattr(arguments, option) is not None:
            said = f"--{option.replace('_', '-')} is about one Integration, and --discover about every Spec there is"
            raise Refused(Problem("BK900", said, hint="keep one of them"))
    asked = _asked(arguments, io)
    return discover(arguments, io, directory=asked.directory, config_file=asked.config_file)


async def _performed(arguments: argparse.Namespace, io: Io) -> "InitPlan":
    from beaker.cli.init.plan import plan_init
    from beaker.cli.project_python import use_python
    from beaker.core.environment import base_environment
    from beaker.core.problems import Refused
    from beaker.files.project import find_git_root
    from beaker.files.undoable import undoable
    from beaker.runtime.discovery import discover_integrations
    from beaker.runtime.failures import WorkerFailed
    from beaker.runtime.folders import temporary_folder
    from beaker.runtime.supervisor import Supervisor

    env = base_environment(io.environ)
    with temporary_folder("beaker-init-") as pycache:
        async with Supervisor(pycache=pycache) as supervisor:
            settled: list[ProjectPython] = []

            async def settle(project: "Path") -> None:
                """Choose the interpreter once, and only when something is to be imported."""
                if not settled:
                    root = find_git_root(project)
                    found = await use_python(supervisor, arguments, io, project=project, repository=root, env=env)
                    settled.append(found)

            async def discover(module: "ModuleFile") -> tuple[str, ...]:
                await settle(module.project)
                return await discover_integrations(supervisor, module.import_root, module.module, env=env)

            try:
                plan = await plan_init(_asked(arguments, io), discover)
                if arguments.print:
                    return plan
                with undoable({file.path: file.data for file in plan.files if file.data is not None}):
                    if not arguments.no_verify:
                        await settle(plan.project.root)
                        await _verify(supervisor, plan, {**env, **_granted(plan, io)})
            except WorkerFailed as failed:
                _show_output(failed, io)
                raise Refused(failed.problems) from None
            return plan


def _asked(arguments: argparse.Namespace, io: Io) -> "Asked":
    from beaker.cli.init.plan import Asked
    from beaker.core.problems import Problem, Refused
    from beaker.core.project_layout import BEAKER_CONFIG_FILE_ENV, BEAKER_CONFIG_PATH, normalize_beaker_config_path

    given = io.environ.get(BEAKER_CONFIG_FILE_ENV) if arguments.config_file is None else arguments.config_file
    directory: Path = (io.cwd / arguments.dir).resolve()
    if not directory.is_dir():
        raise Refused(Problem("BK122", "no such folder", str(directory), "name the folder of a project with --dir"))
    try:
        config_file = BEAKER_CONFIG_PATH if given is None else normalize_beaker_config_path(given)
    except ValueError as error:
        hint = f"give a path such as {BEAKER_CONFIG_PATH} (--config-file, BEAKER_CONFIG_FILE)"
        raise Refused(Problem("BK115", f"the configuration's path {error}", hint=hint)) from None
    return Asked(
        directory=directory,
        config_file=config_file,
        integration_id=arguments.integration_id or None,
        target=arguments.target,
        agent_key=arguments.agent_key,
    )


def _granted(plan: "InitPlan", io: Io) -> dict[str, str]:
    """The values that a module of this integration may find in its environment."""
    from beaker.cli.place import answered
    from beaker.core.environment import granted_environment
    from beaker.files.dotenv import read_dotenv

    dotenv = answered(read_dotenv(io.cwd))
    return dict(granted_environment(plan.required_env, secrets={}, caller=io.environ, dotenv=dotenv).values)


async def _verify(supervisor: "Supervisor", plan: "InitPlan", env: dict[str, str]) -> None:
    """Import and validate the integration; its setup hooks are not called."""
    from beaker.core.optimizer import Timeouts
    from beaker.runtime.workers import SetupWorker

    worker = await SetupWorker.start(supervisor, plan.code, env=env, timeouts=Timeouts())
    await worker.close()


def _show_output(failed: Any, io: Io) -> None:
    """What the module printed, and where it failed: the problem itself is one line."""
    traceback = next((one.traceback for one in failed.problems if getattr(one, "traceback", "")), "")
    for line in (*failed.captured.splitlines(), *traceback.splitlines()):
        io.note("  | ", line)


def _told(arguments: argparse.Namespace, plan: "InitPlan") -> dict[str, object]:
    files = [
        {
            "path": str(file.path),
            "action": file.action,
            **({"content": file.data.decode("utf-8", "replace")} if arguments.print and file.data is not None else {}),
        }
        for file in plan.files
    ]
    return {
        "project": str(plan.project.root),
        "integration_id": plan.integration_id,
        "entrypoint": plan.code.entrypoint,
        "dry_run": arguments.print,
        "verified": not (arguments.print or arguments.no_verify),
        "files": files,
        "warnings": problems_json(plan.warnings)["problems"] if plan.warnings else [],
    }


def _show(arguments: argparse.Namespace, io: Io, plan: "InitPlan") -> None:
    for file in plan.files:
        if arguments.print and file.data is not None:
            io.out(Styled(f"would {file.action} ", "heading"), one_line(str(file.path)))
            io.out(file.data.decode("utf-8", "replace").rstrip("\n"))
            io.out()
        else:
            io.out(f"  {'would skip' if arguments.print else file.action}  {one_line(str(file.path))}")
    name = one_line(plan.integration_id)
    if arguments.print:
        io.out(f"beaker init: would set up {name}; nothing was written")
    elif arguments.no_verify:
        io.out(Styled("beaker init:", "ok"), f" {name} is configured, and was not imported")
    else:
        io.out(Styled("beaker init:", "ok"), f" {name} can be imported ({one_line(plan.code.entrypoint)})")
    io.note(Styled("Next:", "heading"))
    there = _there(arguments, io, plan)
    for number, step in enumerate(_steps(io, plan, there), 1):
        io.note(f"  {number}. {step}")
    io.note(f"How far the project is: {_enter(io, plan)}{there.command('onboarding', 'status')}")


def _there(arguments: argparse.Namespace, io: Io, plan: "InitPlan") -> Io:
    """Where the next commands work: elsewhere once an agent and a login are known, else on this machine."""
    from beaker.cli.place import Surroundings, advising, look_around
    from beaker.core.problems import Refused

    try:
        around = look_around(arguments, io.derive(cwd=plan.project.root))
    except Refused:
        around = Surroundings(None, None, ())  # it was to be printed, not written
    entry = around.config.integrations.get(plan.integration_id) if around.config is not None else None
    return advising(arguments, io, around, arguments.agent_key if entry is None else entry.agent_key)


def _steps(io: Io, plan: "InitPlan", there: Io) -> list[str]:
    """What is left to do; `there` gives the commands."""
    import os

    from beaker.core.skills import folder_for_agents

    module = plan.module
    shown = module.relative_to(io.cwd.resolve()) if module.is_relative_to(io.cwd.resolve()) else module
    steps = [f"fill in what {quoted(str(shown))} marks with TODO(beaker)"] if plan.is_stub else []
    add = {"uv": "uv add --dev", "poetry": "poetry add --group dev", "pip": "pip install"}[plan.project.manager]
    named = ("--integration-id", plan.integration_id) if plan.by_id else ()
    guides = io.command("skills", "install", folder_for_agents(os.listdir(plan.project.root)))
    steps += [
        f"let a coding agent know how, if you work with one: {_enter(io, plan)}{guides}",
        f"let the project's environment have Beaker, from its checkout or a wheel: {add} PATH",
        "put train.jsonl and test.jsonl into a folder, and name it in config_defaults.local_dataset_path",
        f"check everything, which says how to go on: {_enter(io, plan)}{there.command('run', 'smoke', *named)}",
    ]
    return steps


def _enter(io: Io, plan: "InitPlan") -> str:
    """What leads into the project, before a command that works there."""
    root = plan.project.root
    return "" if io.cwd.resolve().is_relative_to(root.resolve()) else f"cd {quoted(str(root))} && "
