"""The console script `beaker`, also `python -m beaker.cli`."""

import sys
from collections.abc import Sequence

from beaker import __version__
from beaker.cli.shell import DONE, Io, guarded, process_io
from beaker.cli.signals import ending_signals


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line of this process and return its exit code (`beaker.cli.shell`)."""
    with ending_signals():
        return run(sys.argv[1:] if argv is None else argv, process_io())


def run(argv: Sequence[str], io: Io) -> int:
    """Run one command line against the streams, the environment and the working directory of `io`."""

    if list(argv) == ["--version"]:

        def version() -> int:
            # Nothing else is imported for this: scripts ask it often. The text is ours and plain.
            io.stdout.write(f"beaker-sdk {__version__}\n")
            return DONE

        return guarded(version, io)

    # A refusal of the command line itself is shown as JSON too when JSON was asked for.
    view = io.derive(json="--json" in argv)

    def command() -> int:
        from importlib import import_module

        from beaker.cli.parser import COMMANDS, global_options, parse

        arguments = parse(argv, view)
        # The guard around this shows what is raised by the same view.
        view.json, view.quiet, view.verbose = arguments.json, arguments.quiet, arguments.verbose
        view.wide = arguments.wide
        if view.stderr.isatty():
            from beaker.cli.progress import live_line

            view.line = live_line(view)
        view.options = global_options(arguments)
        result: int = import_module(COMMANDS[arguments.command]).run(arguments, view)
        return result

    return guarded(command, view)


if __name__ == "__main__":
    sys.exit(main())
