"""`beaker config check|show`: judges the configuration file whole, and shows what it comes to and from where."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_agent_option, add_entry_options, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line, problems_json
from beaker.cli.words import counted

if TYPE_CHECKING:
    from beaker.cli.place import Surroundings
    from beaker.core.config_entry import IntegrationEntry
    from beaker.core.config_origin import Around, Effective
    from beaker.files.project import Project


def add_parser(subparsers: Any) -> None:
    """Add `config` with its actions."""
    group = subparsers.add_parser("config", help=HELP["config"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_leaf(
        actions,
        "check",
        help="judge the configuration file, every entry of it",
        description="Reads the whole file and looks for the folders and modules it names; nothing is imported. Every "
        "problem is told with its line. Exit code 1 when there is one, 0 when there are warnings at most.",
    )
    show = add_leaf(
        actions,
        "show",
        help="show what counts for an integration",
        description="Shows the value of every key that counts for an integration, defaults included. Values of "
        "secrets are not shown.",
    )
    show.add_argument("--origin", action="store_true", help="say where each value comes from")
    add_entry_options(show)
    add_agent_option(show)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    return _check(arguments, io) if arguments.action == "check" else _show(arguments, io)


def _check(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.place import answered, look_around
    from beaker.core.credentials import choose_base_url
    from beaker.runtime.config_check import check_config

    around = look_around(arguments, io)
    project = _project(around, io)
    configured = around.config.api if around.config is not None else None
    place = answered(choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=configured))
    report = check_config(project, local=place.is_local)
    if io.json:
        answer = {
            "file": report.file,
            "valid": not report.problems,
            "ids": list(dict.fromkeys((*report.specs, *report.integrations))),
            "integrations": list(report.integrations),
            "specs": list(report.specs),
            "problems": problems_json(report.problems)["problems"] if report.problems else [],
            "warnings": problems_json(report.warnings)["problems"] if report.warnings else [],
        }
        io.json_line(answer)
    for warning in report.warnings:
        io.warn(warning)
    if report.problems:
        return io.fail(report.problems, code=NEGATIVE)
    if not io.json:
        told = [] if report.specs and not report.integrations else [_entries("integration", report.integrations)]
        told += [_entries("Spec", report.specs)] if report.specs else []
        told += [counted(len(report.warnings), "warning")] if report.warnings else []
        io.out(f"beaker config check: {one_line(report.file)} ", Styled("is valid", "ok"), f" ({'; '.join(told)})")
    return DONE


def _entries(noun: str, ids: tuple[str, ...]) -> str:
    named = f": {', '.join(map(one_line, ids))}" if ids else ""
    return f"{counted(len(ids), noun)}{named}"


def _show(arguments: argparse.Namespace, io: Io) -> int:
    from beaker.cli.place import answered, look_around
    from beaker.core.config_origin import ConfigFile, effective_values
    from beaker.core.problems import Refused
    from beaker.core.selection import select
    from beaker.files.reading import read_regular
    from beaker.files.yaml_tree import parse_yaml

    around = look_around(arguments, io)
    project = _project(around, io)
    if around.config is None:
        raise Refused(around.problems)
    entry = answered(select(around.config, arguments.integration_id, arguments.spec_id))
    tree = answered(parse_yaml(read_regular(project.config_path), project.config_file))
    file = ConfigFile(config=around.config, tree=tree)
    rows = effective_values(file, entry, _around(arguments, io, around, entry))
    if io.json:
        keys = ("key", "value", "source", "where") if arguments.origin else ("key", "value")
        values = [{name: getattr(row, name) for name in keys} for row in rows]
        io.json_line({"file": file.config.file, "id": None if entry is None else entry.id, "values": values})
        return DONE
    io.out(Styled(f"beaker config show: {one_line(file.config.file)}", "heading"))
    for row in rows:
        origin = f"  ({_origin(row)})" if arguments.origin else ""
        io.out("  ", Styled(one_line(row.key), "key"), f": {_shown(row.value)}", Styled(origin, "muted"))
    return DONE


def _around(
    arguments: argparse.Namespace, io: Io, around: "Surroundings", entry: "IntegrationEntry | None"
) -> "Around":
    """What counts beside the file; nothing is asked of a place."""
    from beaker.cli.kept_values import granted_here
    from beaker.cli.place import answered, credential_for
    from beaker.core.config_origin import Around
    from beaker.core.credentials import choose_agent_key, choose_base_url
    from beaker.files.dotenv import read_dotenv

    configured = None if around.config is None else around.config.api
    place = answered(choose_base_url(arguments.base_url, io.environ, local=arguments.local, configured=configured))
    agent_key = None if entry is None else entry.agent_key
    dotenv = answered(read_dotenv(io.cwd))
    credential = None if place.is_local else credential_for(arguments.api_key, io, place.url).value_or(None)
    named = ("--integration-id", arguments.integration_id), ("--spec-id", arguments.spec_id)
    return Around(
        base_url=place,
        agent=choose_agent_key(arguments.agent, io.environ, agent_key, dotenv=dotenv).value_or(None),
        credential=None if credential is None else credential.source,
        granted=None if entry is None else granted_here(arguments, io, around, entry),
        option=next((option for option, given in named if given is not None), None),
        place_option="--local" if arguments.local else "--base-url",
    )


def _project(around: "Surroundings", io: Io) -> "Project":
    from beaker.core.problems import Problem, Refused

    if around.project is None:
        hint = "go to a folder with .beaker/beaker.yaml in or above it, or make one with `beaker init`"
        raise Refused(Problem("BK119", "there is no configuration here", str(io.cwd), hint))
    return around.project


def _shown(item: object) -> str:
    from beaker.core.strict_json import dumps

    return one_line(item) if isinstance(item, str) else "(none)" if item is None else one_line(dumps(item))


def _origin(row: "Effective") -> str:
    words = {"environment": "environment: ", "dotenv": "", "config": "", "flag": ""}
    return f"{words.get(row.source, f'{row.source}: ')}{one_line(row.where)}" if row.where else row.source
