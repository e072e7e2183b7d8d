"""`beaker trace`: what records calls of models, whether a capture holds everything that a case did, what is in it."""

import argparse
from typing import Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, NEGATIVE, Io, Styled, one_line

DEFAULT_PATH = ".beaker/traces"
"""Where captures lie."""


def add_parser(subparsers: Any) -> None:
    """Add `trace` with its actions."""
    group = subparsers.add_parser("trace", help=HELP["trace"])
    actions = group.add_subparsers(dest="action", metavar="ACTION", required=True)
    instrument = add_leaf(
        actions, "instrument", help="say which frameworks ask models here, and what records their calls"
    )
    instrument.add_argument("--dir", default=".", metavar="DIR", help="the folder of the Python project (.)")
    instrument.add_argument("--check", action="store_true", help="exit code 1 when no call of a model is recorded")
    kept = "change nothing, as always: adapters come with Beaker, so nothing is installed"
    instrument.add_argument("--print", dest="preview", action="store_true", help=kept)
    instrument.add_argument("--no-install", action="store_true", help=kept)
    doctor = add_leaf(actions, "doctor", help="say whether the newest capture is whole")
    doctor.add_argument(
        "--path", default=DEFAULT_PATH, metavar="PATH", help=f"a receipt, or a folder of captures ({DEFAULT_PATH})"
    )
    doctor.add_argument("--require-model-calls", action="store_true", help="there must be model calls, with usage")
    inspect = add_leaf(actions, "inspect", help="print a capture's receipt, or another file of one JSON object")
    inspect.add_argument("path", metavar="CAPTURE_PATH", help="a file, or a folder of captures: its newest receipt")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Perform the action and return its exit code: 1 when a capture is not whole, or nothing is recorded."""
    if arguments.action == "instrument":
        from beaker.cli.trace_instrument import instrument

        return instrument(arguments, io)
    from beaker.cli.place import answered
    from beaker.core.trace_receipts import receipt_problems
    from beaker.files.receipts import read_receipt

    file, receipt = answered(read_receipt(io.cwd / arguments.path))
    if arguments.action == "inspect":
        return _inspect(receipt, io)
    problems = receipt_problems(receipt, str(file), require_model_calls=arguments.require_model_calls)
    if problems:
        return io.fail(problems, code=NEGATIVE)
    if io.json:
        io.json_line({"receipt": str(file), "whole": True})
    else:
        io.out(Styled("beaker trace doctor:", "ok"), f" the capture is whole: {one_line(str(file))}")
    return DONE


def _inspect(receipt: dict[str, Any], io: Io) -> int:
    if io.json:
        io.json_line(receipt)
        return DONE
    import json

    io.out(json.dumps(receipt, indent=2, sort_keys=True, ensure_ascii=False))
    return DONE
