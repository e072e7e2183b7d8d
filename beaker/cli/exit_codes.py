"""The exit codes of every command, for `beaker help exit-codes` and the pages."""

from beaker.cli.shell import DONE, HUNG_UP, INTERRUPTED, NEGATIVE, REFUSED, TERMINATED, UNFINISHED

EXIT_CODES = {
    DONE: "done",
    NEGATIVE: "the answer is no: the run ended without completing, a check is negative",
    REFUSED: "could not do it: usage, configuration, network, files, or the project's code failed",
    UNFINISHED: "not finished: the run still goes on, waits for a review, or a watch ran out of time",
    HUNG_UP: "ended by SIGHUP: the terminal is gone",
    INTERRUPTED: "ended by SIGINT: Ctrl-C",
    TERMINATED: "ended by SIGTERM",
}
"""Exit code -> what it means, in every command."""
