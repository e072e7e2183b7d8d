"""The exit codes of every command, for `beaker help exit-codes` and the pages."""

from collections.abc import Mapping

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

_ENDED = "the run ended without completing"
_WATCHED = "the run has not ended, waits for a review, or the watch ran out of time"

COMMAND_EXITS: Mapping[str, Mapping[int, str]] = {
    "run trigger": {NEGATIVE: f"with `--watch`: {_ENDED}", UNFINISHED: f"with `--watch`: {_WATCHED}"},
    "run status": {NEGATIVE: _ENDED, UNFINISHED: _WATCHED},
    "run eval": {NEGATIVE: "no case was scored"},
    "candidate pull-request": {NEGATIVE: "the service makes none for it, or there is none"},
    "changes apply": {NEGATIVE: "documents have changed meanwhile; nothing was written"},
    "changes revert": {NEGATIVE: "documents have changed meanwhile; nothing was written"},
    "agent env check": {NEGATIVE: "names are missing"},
    "auth status": {NEGATIVE: "nobody is logged in"},
    "github status": {NEGATIVE: "nobody is logged in, GitHub is not connected, or the repository cannot be read"},
    "onboarding status": {NEGATIVE: "with `--fail-on-todo`: something is left to do"},
    "doctor": {NEGATIVE: "something is amiss"},
    "demo": {NEGATIVE: "the run found nothing better"},
    "trace instrument": {NEGATIVE: "with `--check`: no call of a model is recorded"},
    "trace doctor": {NEGATIVE: "the capture is not whole"},
    "config check": {NEGATIVE: "the configuration has faults"},
}
"""Command -> its exit codes beside 0, 2 and those of signals, which every command may have."""


def exits_of(command: str) -> dict[int, str]:
    """Every exit code of a command, in order, with what it means there."""
    own = COMMAND_EXITS.get(command, {})
    return {code: own.get(code, meaning) for code, meaning in EXIT_CODES.items() if code in own or code in _ANYWHERE}


_ANYWHERE = (DONE, REFUSED, HUNG_UP, INTERRUPTED, TERMINATED)
