"""Counts with their noun, for sentences, and which sentences say the same, of different things or once more."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the parsers of the command line come by here, and start without attrs
    from beaker.core.problems import Problem, Problems

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def counted(count: object, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def alike(text: str) -> str:
    """The first line of `text` without its numbers and quoted names: equal for texts that say the same of others."""
    return _NUMBER.sub("#", _QUOTED.sub("…", text.strip().partition("\n")[0]))


def unsaid(problems: "Iterable[Problem]", said: "Iterable[Problem]") -> "Problems":
    """Those of `problems` whose code and message were not `said` before, each of them once; places and hints may differ
    by who says it."""
    known = {(one.code, one.message) for one in said}
    fresh = []
    for problem in problems:
        if (problem.code, problem.message) not in known:
            known.add((problem.code, problem.message))
            fresh.append(problem)
    return tuple(fresh)
