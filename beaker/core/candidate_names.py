"""How commands are told a candidate: RUN means its winner, RUN.N one of its candidates, as does RUN with a number."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from returns.result import Failure, Result, Success

from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

_OF_A_RUN = re.compile(r"(.+)\.\d+", re.ASCII)


def names_a_candidate(named: str) -> bool:
    """Whether `named` reads RUN.N."""
    return _OF_A_RUN.fullmatch(named) is not None


def run_of(named: str) -> str:
    """The run of RUN or RUN.N."""
    found = _OF_A_RUN.fullmatch(named)
    return found[1] if found else named


def of_run(run_id: str, beside: str) -> str:
    """The id of the candidate `beside` of a run: a number, or an id as it is."""
    return f"{run_id}.{beside}" if beside.isascii() and beside.isdecimal() else beside


def named_outright(named: str, beside: str | None = None) -> str | None:
    """The id of the candidate that RUN.N, or RUN with `beside`, names; `None` for a run alone: its winner is meant."""
    if beside is not None:
        return of_run(run_of(named), beside)
    return named if names_a_candidate(named) else None


def named_by_no_run(named: str, problem: Problem) -> Result[str, Problem]:
    """The id of a candidate, when the candidates of `named` could not be listed: other places form ids otherwise, so a
    name that is no run (404) is taken for one. `problem` for any other reason."""
    return Success(named) if isinstance(problem, ApiProblem) and problem.status == 404 else Failure(problem)


def winner_in(run_id: str, candidates: Mapping[str, Any]) -> Result[str, Problem]:
    """The id of the winner in the answer about a run's candidates; BK908 when it has none."""
    winner = candidates.get("winner_id")
    if isinstance(winner, str):
        return Success(winner)
    hint = f"name one, as {run_id}.N; `beaker run candidates {run_id}` lists them"
    return Failure(Problem("BK908", f"the run {run_id} has no winner", hint=hint))


def known_candidate(run_id: str, asked: str | None, known: Iterable[str]) -> Result[str | None, Problem]:
    """The id of the candidate `asked` of a run, of those it has; `None` when none is asked for. BK905 otherwise."""
    if asked is None:
        return Success(None)
    chosen = of_run(run_id, asked)
    if chosen in set(known):
        return Success(chosen)
    hint = f"`beaker run candidates {run_id}` lists them"
    return Failure(Problem("BK905", f"the run {run_id!r} has no candidate {asked!r}", hint=hint))
