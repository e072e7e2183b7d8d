"""Words for people: counts with their noun, and command lines as they would have to be typed."""

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from beaker.core.wording import counted as counted

if TYPE_CHECKING:
    from beaker.cli.shell import Io
    from beaker.core.problems import Problem

_PLAIN = frozenset("@%+=:,./-_")
_ADVISED = re.compile(r"\bbeaker (?=(?:run|dataset|candidate|login|logout|auth|github|agent|model|onboarding)\b)")


def quoted(word: str) -> str:
    """`word` as a shell takes it; letters of any script need no quotes."""
    from shlex import quote

    return word if word and all(one.isalnum() or one in _PLAIN for one in word) else quote(word)


def command_line(io: "Io", words: Iterable[str]) -> str:
    """The command line that performs `words` with the program and the global options of `io`."""
    options = (io.options,) if io.options else ()
    return " ".join((_program(io), *options, *map(quoted, words)))


def advised(problem: "Problem", io: "Io") -> "Problem":
    """`problem` with the global options of `io` in the commands that its hint names: without them, a command copied
    from it would work somewhere else."""
    if not io.options or "beaker " not in problem.hint:
        return problem
    from beaker.core.problems import Problem

    hint = _ADVISED.sub(lambda found: f"{found[0]}{io.options} ", problem.hint)
    return Problem(problem.code, problem.message, problem.where, hint)


def _program(io: "Io") -> str:
    """How to start us: `beaker` where the shell finds this one, else the whole path, else the module."""
    if os.path.basename(io.program) != "beaker":
        return f"{quoted(sys.executable)} -m beaker.cli"
    if os.sep not in io.program:
        return io.program
    from shutil import which

    found = which("beaker", path=io.environ.get("PATH", ""))
    started = os.path.abspath(io.program)
    return "beaker" if found is not None and os.path.realpath(found) == os.path.realpath(started) else quoted(started)
