"""`beaker help`: the help of a command, or a topic that concerns all of them."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import HELP, add_leaf

if TYPE_CHECKING:
    from beaker.cli.shell import Io

TOPICS = ("exit-codes",)


def add_parser(subparsers: Any) -> None:
    """Add `help`."""
    leaf = add_leaf(subparsers, "help", help=HELP["help"])
    leaf.add_argument("words", nargs="*", metavar="WORD", help="a command, such as `run trigger`, or: exit-codes")


def run(arguments: argparse.Namespace, io: "Io") -> int:
    """Print the help; exit code 2 for what is neither a command nor a topic."""
    words: list[str] = arguments.words
    text = "\n".join(_exit_codes()) if words == ["exit-codes"] else _command_help(words)
    if io.json:
        io.json_line({"topic": " ".join(words), "text": text})
    else:
        io.out(text)
    return 0


def _exit_codes() -> list[str]:
    from beaker.cli.exit_codes import EXIT_CODES

    return [f"{code:>3}  {meaning}" for code, meaning in EXIT_CODES.items()]


def _command_help(words: list[str]) -> str:
    from beaker.cli.parser import COMMANDS, build_parser, leaf_of
    from beaker.core.problems import Problem, Refused

    if not words:
        return build_parser(listed_only=True).format_help().rstrip()
    found = leaf_of(build_parser([words[0]]), words) if words[0] in COMMANDS else None
    if found is None:
        hint = f"`beaker --help` lists the commands; topics: {', '.join(TOPICS)}"
        raise Refused(Problem("BK900", f"there is no command or topic {' '.join(words)!r}", hint=hint))
    return found.format_help().rstrip()
