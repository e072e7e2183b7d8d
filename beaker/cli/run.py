"""`beaker run`: the group of commands about runs, and the check before one."""

import argparse
from importlib import import_module
from typing import Any

from beaker.cli.debug import add_debug
from beaker.cli.evaluate import add_eval
from beaker.cli.parser import HELP, UsageParser
from beaker.cli.pull import add_pull
from beaker.cli.report import add_report
from beaker.cli.resume import add_resume
from beaker.cli.run_candidates import add_candidates
from beaker.cli.runs import add_cancel, add_list, add_status
from beaker.cli.shell import Io
from beaker.cli.smoke import add_smoke
from beaker.cli.trigger import add_trigger

ACTIONS = {
    "smoke": ("beaker.cli.smoke", "smoke"),
    "trigger": ("beaker.cli.trigger", "trigger"),
    "status": ("beaker.cli.runs", "status"),
    "list": ("beaker.cli.runs", "listing"),
    "cancel": ("beaker.cli.runs", "cancel"),
    "debug": ("beaker.cli.debug", "debug"),
    "resume": ("beaker.cli.resume", "resume"),
    "pull": ("beaker.cli.pull", "pull"),
    "eval": ("beaker.cli.evaluate", "evaluate"),
    "report": ("beaker.cli.report", "report"),
    "candidates": ("beaker.cli.run_candidates", "candidates"),
}
"""Action -> the module and function that perform it."""


def add_parser(subparsers: Any) -> None:
    """Add `run` with its actions; `trigger` is meant when none is named."""
    group: UsageParser = subparsers.add_parser("run", help=HELP["run"])
    group.implied = "trigger"
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    for add in (
        add_smoke,
        add_eval,
        add_trigger,
        add_status,
        add_list,
        add_cancel,
        add_debug,
        add_resume,
        add_candidates,
        add_pull,
        add_report,
    ):
        add(actions)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code."""
    module, name = ACTIONS[arguments.action]
    code: int = getattr(import_module(module), name)(arguments, io)
    return code
