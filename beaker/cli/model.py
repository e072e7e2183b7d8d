"""`beaker model list`: the models that a place offers for comparison."""

import argparse
from typing import Any

from beaker.cli.parser import HELP, add_agent_option, add_leaf
from beaker.cli.run_view import mapping
from beaker.cli.shell import DONE, Io
from beaker.cli.tables import show_table

_COLUMNS = (("MODEL", 42), ("DISPLAY NAME", 28), ("AVAILABLE", 10), ("COST", 8), ("SPEED", 5))


def add_parser(subparsers: Any) -> None:
    """Add `model` with its action."""
    group = subparsers.add_parser("model", help=HELP["model"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add_leaf(actions, "list", help="list the models that runs can compare")
    listing.add_argument(
        "--available-only", action="store_true", help="only those whose provider's key the organization has"
    )
    add_agent_option(listing)


def run(arguments: argparse.Namespace, io: Io) -> int:
    """List the models; exit code 0, also when there are none."""
    from beaker.cli.place import opened
    from beaker.core.models import available_models

    with opened(arguments, io) as place:
        models = place.call("list_models")["models"]
    if arguments.available_only:
        models = available_models(models)
    if io.json:
        io.json_line({"models": models})
        return DONE
    if not models:
        io.out("no models" + (" whose provider's key the organization has" if arguments.available_only else ""))
        return DONE
    rows = (
        [
            model.get("canonical_model_id"),
            model.get("display_name"),
            "yes" if model.get("credential_configured") is True else "no",
            model.get("cost_tier"),
            model.get("speed_tier"),
        ]
        for model in map(mapping, models)
    )
    show_table(io, _COLUMNS, rows)
    return DONE
