"""`beaker schema`: the JSON Schema of what a command prints with `--json`."""

import argparse
from collections.abc import Mapping
from typing import Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, Io, Styled

ERROR = "error"
"""Stands for what every command prints on standard error: why it stops, and with `--verbose` what it asked for."""

COMMAND_SCHEMAS: Mapping[str, tuple[str, ...]] = {
    "run smoke": ("cli-smoke.json",),
    "run trigger": ("run.json", "cli-launch-dry-run.json"),
    "run status": ("run.json",),
    "run list": ("runs.json",),
    "run cancel": ("run.json",),
    "run debug": ("cli-run-debug.json",),
    "run resume": ("cli-run-resume.json",),
    "run pull": ("cli-pull.json",),
    "run candidates": ("candidates.json",),
    "run eval": ("cli-eval.json",),
    "run report": ("cli-report.json",),
    "candidate show": ("cli-candidate-show.json",),
    "candidate download": ("cli-candidate-download.json",),
    "candidate branch": ("cli-candidate-branch.json",),
    "candidate pull-request": ("cli-candidate-pull-request.json",),
    "dataset upload": ("cli-dataset-upload.json", "cli-dataset-dry-run.json"),
    "dataset list": ("datasets.json",),
    "dataset show": ("cli-dataset-show.json",),
    "dataset promote": ("cli-dataset-promote.json",),
    "changes show": ("cli-changes-show.json",),
    "changes apply": ("cli-changes-apply.json",),
    "changes revert": ("cli-changes-revert.json",),
    "agent list": ("agents.json",),
    "agent create": ("cli-agent-create.json",),
    "agent setup": ("cli-agent-setup.json",),
    "agent edit": ("cli-agent-edit.json",),
    "agent env list": ("env_vars.json",),
    "agent env check": ("cli-agent-env-check.json",),
    "agent env set": ("cli-agent-env-set.json",),
    "agent env delete": ("cli-agent-env-delete.json",),
    "model list": ("models.json",),
    "login": ("cli-login.json",),
    "logout": ("cli-logout.json",),
    "auth status": ("cli-auth-status.json",),
    "github status": ("cli-github-status.json",),
    "github connect": ("cli-github-connect.json",),
    "github branches": ("cli-github-branches.json",),
    "serve": ("cli-serve.json",),
    "init": ("cli-init.json", "cli-init-discover.json"),
    "migrate": ("cli-migrate.json",),
    "onboarding status": ("cli-onboarding-status.json",),
    "doctor": ("cli-doctor.json",),
    "demo": ("cli-demo.json",),
    "trace instrument": ("cli-trace-instrument.json",),
    "trace doctor": ("cli-trace-doctor.json",),
    "trace inspect": ("cli-trace-inspect.json",),
    "config check": ("cli-config-check.json",),
    "config show": ("cli-config-show.json",),
    "skills list": ("cli-skills-list.json",),
    "skills show": ("cli-skills-show.json",),
    "skills install": ("cli-skills-install.json",),
    "schema": ("cli-schema.json", "cli-schema-list.json"),
    "explain": ("cli-explain.json",),
    "help": ("cli-help.json",),
    "completion": ("cli-completion.json",),
    ERROR: ("cli-error.json", "cli-verbose.json"),
}
"""Command -> the published schemas of each line that it prints with `--json`, of which one holds."""


def add_parser(subparsers: Any) -> None:
    """Add `schema`."""
    leaf = add_leaf(subparsers, "schema", help=HELP["schema"])
    leaf.add_argument("words", nargs="*", metavar="WORD", help="a command, or `error` (default: list all of them)")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Print one schema, or list all; exit code 2 for what is no command."""
    from beaker.core.schema_bundle import bundle, schema_version
    from beaker.files.published import published_schemas

    schemas = published_schemas()
    if not arguments.words:
        listed = {
            command: {name: schema_version(schemas[name]) for name in names}
            for command, names in COMMAND_SCHEMAS.items()
        }
        if io.json:
            io.json_line({"commands": listed})
            return DONE
        for command, versions in listed.items():
            said = ", ".join(f"{name} (version {number})" for name, number in versions.items())
            io.out(Styled(f"{command:<24}", "key"), f"  {said}")
        return DONE
    command = " ".join(arguments.words)
    made = bundle(f"beaker {command} --json", _schemas_of(command), schemas)
    if io.json:
        io.json_line(made)
        return DONE
    import json

    io.out(json.dumps(made, indent=2))
    return DONE


def _schemas_of(command: str) -> tuple[str, ...]:
    from beaker.core.options import did_you_mean
    from beaker.core.problems import Problem, Refused

    if command not in COMMAND_SCHEMAS:
        hint = f"{did_you_mean(command, COMMAND_SCHEMAS)}; `beaker schema` lists all of them"
        raise Refused(Problem("BK900", f"there is no command {command!r}", hint=hint))
    return COMMAND_SCHEMAS[command]
