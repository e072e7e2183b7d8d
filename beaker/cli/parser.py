"""The command line as a tree of parsers: global options, the command groups, and options that come later.

Parsing decides nothing. A command module offers `add_parser(subparsers)`, which adds its group, and
`run(arguments, io) -> int`. Both are imported with every start, so they keep heavy imports inside functions.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, NoReturn

from beaker import __version__

if TYPE_CHECKING:
    from beaker.cli.shell import Io
    from beaker.core.problems import Refused

GLOBAL_VALUES = {"--base-url": "URL", "--api-key": "KEY", "--config-file": "PATH"}
"""Global options with a value; they stand before the command only, since a command may have one of the same name."""

COMMANDS = {
    "run": "beaker.cli.run",
    "dataset": "beaker.cli.dataset",
    "candidate": "beaker.cli.candidate",
    "changes": "beaker.cli.changes",
    "agent": "beaker.cli.agent",
    "model": "beaker.cli.model",
    "login": "beaker.cli.login",
    "logout": "beaker.cli.logout",
    "auth": "beaker.cli.auth",
    "github": "beaker.cli.github",
    "serve": "beaker.cli.serve",
    "init": "beaker.cli.init.command",
    "migrate": "beaker.cli.migrate.command",
    "onboarding": "beaker.cli.onboarding",
    "doctor": "beaker.cli.doctor",
    "demo": "beaker.cli.demo.command",
    "trace": "beaker.cli.trace",
    "config": "beaker.cli.config",
    "skills": "beaker.cli.skills",
    "schema": "beaker.cli.schema",
    "explain": "beaker.cli.explain",
    "help": "beaker.cli.help",
    "completion": "beaker.cli.completion",
}
"""Command -> the module that offers `add_parser` and `run`."""

HELP = {
    "run": "check a project, start runs, watch them, fetch what they found",
    "dataset": "upload, show and promote datasets",
    "candidate": "show a candidate, fetch it, or put it on a branch",
    "changes": "show, apply or take back the document changes of a run",
    "agent": "find, make and change agents, and set their variables",
    "model": "list the models that runs can compare",
    "login": "log in to an API, in a browser",
    "logout": "end a login",
    "auth": "say who is logged in",
    "github": "let the Beaker App read repositories on GitHub",
    "serve": "answer the API for this project, for other folders and tools",
    "init": "set a project up: a module to fill in, and the configuration that names it",
    "migrate": "bring a project of an earlier generation up to date: show the edits, or make them",
    "onboarding": "tell how far a project is on its way to a first run",
    "doctor": "look at Git, Python, the configuration, credentials, the service, the disk",
    "demo": "make an example project and optimize it, on this machine alone",
    "trace": "say what records calls of models, whether a capture is whole, and print it",
    "config": "judge the configuration file, or show what it comes to",
    "skills": "guides for coding agents: list, show, install them",
    "schema": "print the JSON Schema of what a command prints with --json",
    "explain": "say what the code of a problem means, and what to do about it",
    "help": "show the help of a command, or what the exit codes mean",
    "completion": "print a completion script for a shell",
}
"""Command -> what it does, so that the list of them can be shown without importing any."""

LATER_OPTIONS = {
    "--junit": "this version writes no JUnit report; use --json",
    "--git-rev": "Beaker is installed from a checkout or a wheel here, which has no revision to name",
}
"""Options of other generations and editions, with the reason why they are refused here."""


class UsageParser(argparse.ArgumentParser):
    """An argument parser whose complaints are problems (BK900) instead of an exit of its own.

    `implied` is the action that is meant when options come first or nothing comes at all.
    """

    implied: str | None = None

    def error(self, message: str) -> NoReturn:
        """Refuse the command line; the usage of the innermost command goes with it."""
        from beaker.core.problems import Problem, Refused

        usage = " ".join(self.format_usage().split())
        raise Refused(Problem("BK900", message, hint=f"{usage}\n`{self.prog} --help` explains every option"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in the base class, after the implied action has been put in front of options.

        What is left over is refused here, by the innermost command, whose usage fits.
        """
        if self.implied is not None and args is not None and (args or ["-"])[0][:1] == "-":
            args = args if args[:1] in (["-h"], ["--help"]) else [self.implied, *args]
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}{self._elsewhere(left)}")
        return parsed, left

    def _elsewhere(self, left: list[str]) -> str:
        """What to say of global options that stand behind the command."""
        placed = [option for option in (word.partition("=")[0] for word in left) if option in GLOBAL_VALUES]
        command = self.prog.removeprefix("beaker").strip()
        if not placed or not command:
            return ""
        return f"; {placed[0]} stands before the command: beaker {placed[0]} {GLOBAL_VALUES[placed[0]]} {command}"


def build_parser(commands_wanted: Iterable[str] = COMMANDS, *, listed_only: bool = False) -> UsageParser:
    """The tree, or the part of it that a command line needs: building it all takes longer than most commands do.

    With `listed_only` the commands are there by name alone, which is all that the help at the root shows.
    The namespace it makes always has `command`, `insecure_http`, `json`, `local`, `no_resume`, `quiet`, `verbose`
    and `wide`.
    """
    from importlib import import_module

    parser = UsageParser(
        prog="beaker",
        description="Improve an AI system against your own cases, and prove the improvement on held-out ones.",
    )
    parser.add_argument("--version", action="version", version=f"beaker-sdk {__version__}")
    parser.add_argument("--base-url", metavar="URL", help="the API to use; `local` runs everything on this machine")
    parser.add_argument("--api-key", metavar="KEY", help="the key for that API (else BEAKER_API_KEY)")
    parser.add_argument("--config-file", metavar="PATH", help="the project's config (default: .beaker/beaker.yaml)")
    _add_anywhere(parser, at_root=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=UsageParser)
    for name in HELP if listed_only else commands_wanted:
        if listed_only:
            commands.add_parser(name, help=HELP[name])
        else:
            import_module(COMMANDS[name]).add_parser(commands)
    return parser


def leaf_of(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.ArgumentParser | None:
    """The parser of the command that `words` name below `parser`, be it a group; `None` for no command."""
    if not words:
        return parser
    # argparse offers no public way to walk its own tree.
    groups = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    below = next((group.choices.get(words[0]) for group in groups), None)
    return None if below is None else leaf_of(below, words[1:])


def add_leaf(subparsers: Any, name: str, *, help: str, description: str = "") -> argparse.ArgumentParser:
    """Add a command that does something, with the global switches accepted behind it too."""
    leaf: argparse.ArgumentParser = subparsers.add_parser(name, help=help, description=description or help)
    _add_anywhere(leaf, at_root=False)
    return leaf


def add_agent_option(leaf: argparse.ArgumentParser) -> None:
    """`--agent`, also spelled `--agent-key`."""
    leaf.add_argument("--agent", "--agent-key", dest="agent", metavar="KEY", help="the agent (else BEAKER_AGENT_KEY)")


def add_python_option(leaf: argparse.ArgumentParser) -> None:
    """`--python`: the interpreter of the project's code."""
    leaf.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter, or the environment, of the project's code (else BEAKER_PYTHON, the active environment, "
        ".venv, that of uv or Poetry, the one that runs this)",
    )


def add_entry_options(leaf: argparse.ArgumentParser) -> Any:
    """`--integration-id` and `--spec-id`, of which one at most is given: the entry that the command works on.

    Returns the group, for whatever else excludes them.
    """
    named = leaf.add_mutually_exclusive_group()
    named.add_argument("--integration-id", metavar="ID", help="the integration (default: the configured or only one)")
    named.add_argument("--spec-id", metavar="ID", help="a Spec, where the configuration has some (`specs`)")
    return named


def agent_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    """`--agent KEY` as it was given, for a command line that is shown."""
    return ("--agent", arguments.agent) if arguments.agent else ()


def global_options(arguments: argparse.Namespace) -> str:
    """The global options that say where to work, ready for a shell; a key is a secret and never shown again."""
    from beaker.cli.words import quoted

    words = ["--local"] if arguments.local else []
    for option in ("--base-url", "--config-file"):
        given = getattr(arguments, option.strip("-").replace("-", "_"))
        words += [] if given is None else [option, quoted(given)]
    words += ["--insecure-http"] if arguments.insecure_http else []
    return " ".join(words)


def seconds(text: str) -> float:
    """An option's number of seconds, from 0 up."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 up, not {text!r}")
    return value


def positive(most: int | None, *, least: int = 1) -> Callable[[str], int]:
    """An option's whole number between `least` and `most`."""

    def whole(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            span = f"from {least} up" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"must be a whole number {span}, not {text!r}")
        return value

    whole.__name__ = "whole number"  # argparse names the type when `int` refuses
    return whole


def parse(argv: Sequence[str], io: "Io") -> argparse.Namespace:
    """Parse `argv`, or raise `Refused` with what is wrong. `--help` and `--version` print and raise `SystemExit`."""
    named = [name for name in COMMANDS if name in argv]
    with redirect_stdout(io.stdout), redirect_stderr(io.stderr):
        if argv and argv[0] in ("-h", "--help"):
            return build_parser(listed_only=True).parse_args(argv)
        if named or "--version" in argv:
            try:
                return build_parser(named).parse_args(argv)
            except SystemExit:
                raise
            except _usage_refused():
                pass  # the whole tree words it better
        try:
            return build_parser().parse_args(argv)
        except SystemExit:
            raise
        except _usage_refused() as refused:
            raise _with_reason(argv, refused) from None


def _add_anywhere(parser: argparse.ArgumentParser, *, at_root: bool) -> None:
    """The switches accepted before and behind the command; a leaf must not undo what stands before it."""
    default: Any = False if at_root else argparse.SUPPRESS
    parser.add_argument(
        "--local", action="store_true", default=default, help="work on this machine alone (= --base-url local)"
    )
    parser.add_argument(
        "--no-resume", action="store_true", default=default, help="with --local: only look, restart no lost worker"
    )
    parser.add_argument(
        "--json", action="store_true", default=default, help="print one compact JSON line; problems too, on stderr"
    )
    parser.add_argument(
        "--insecure-http", action="store_true", default=default, help="speak plain http with other machines too"
    )
    parser.add_argument("--quiet", action="store_true", default=default, help="no progress and no remarks")
    parser.add_argument(
        "--verbose",
        action="store_true",
        default=default,
        help="tell of each request, on stderr; show where internal errors are",
    )
    parser.add_argument("--wide", action="store_true", default=default, help="cut nothing in tables: ids in full")


def _usage_refused() -> "type[Refused]":
    from beaker.core.problems import Refused

    return Refused


def _with_reason(argv: Sequence[str], refused: "Refused") -> "Refused":
    """The refusal of a command line, or a better one when it names something that exists elsewhere."""
    from beaker.core.problems import Problem, Refused

    for option in (token.partition("=")[0] for token in argv):
        if option in LATER_OPTIONS:
            return Refused(Problem("BK901", f"{option} is refused: {LATER_OPTIONS[option]}"))
    return refused
