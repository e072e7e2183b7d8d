"""`beaker explain`: what the code of a problem means, and what to do about it."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf
from beaker.cli.shell import DONE, Io, Styled

if TYPE_CHECKING:
    from beaker.core.error_catalogue import Explanation


def add_parser(subparsers: Any) -> None:
    """Add `explain`."""
    leaf = add_leaf(subparsers, "explain", help=HELP["explain"])
    leaf.add_argument("codes", nargs="*", metavar="CODE", help="such as BK104 (default: list all of them)")


def run(arguments: argparse.Namespace, io: Io) -> int:
    """Explain the codes, or list all; exit code 2 for one that is none."""
    from beaker.core.error_catalogue import explained, explanations

    chosen = explained(arguments.codes) if arguments.codes else tuple(explanations())
    if io.json:
        keys = ("code", "subject", "reason", "remedy")
        io.json_line({"explanations": [{key: getattr(one, key) for key in keys} for one in chosen]})
    elif arguments.codes:
        for one in chosen:
            _show(one, io)
    else:
        for one in chosen:
            io.out(Styled(one.code, "key"), f"  {one.reason}")
    return DONE


def _show(one: "Explanation", io: Io) -> None:
    from textwrap import wrap

    io.out(Styled(one.code, "heading"), f"  {one.subject}")
    for label, text in (("why", one.reason), ("next", one.remedy)):
        first, *rest = wrap(text, 100)
        io.out(Styled(f"  {label:<4}", "key"), f"  {first}")
        for line in rest:
            io.out(f"        {line}")
