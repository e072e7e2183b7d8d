"""How commands are told a candidate: RUN means its winner, RUN.N one of its candidates, as does RUN with a number."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from beaker.cli.place import Place

CANDIDATE_HELP = "RUN.N as `beaker run candidates RUN` lists it; RUN alone means its winner"
BESIDE_HELP = "another candidate of the run than its winner, as RUN.N or N"

_OF_A_RUN = re.compile(r"(?P<run>.+)\.(?P<number>[0-9]+)")


def add_candidate_name(leaf: "argparse.ArgumentParser") -> None:
    """The argument that names a candidate, and the option that names another one of the same run."""
    leaf.add_argument("candidate", metavar="CANDIDATE", help=CANDIDATE_HELP)
    leaf.add_argument("--candidate", dest="beside", metavar="N", help=BESIDE_HELP)


def run_of(named: str) -> str:
    """The run that RUN or RUN.N speaks of."""
    found = _OF_A_RUN.fullmatch(named)
    return found["run"] if found else named


def of_run(run_id: str, beside: str) -> str:
    """The id of the candidate `beside` of a run: a number, or an id as it is."""
    return f"{run_id}.{beside}" if beside.isascii() and beside.isdecimal() else beside


def candidate_id(place: "Place", named: str, beside: str | None = None) -> str:
    """The id of the candidate that RUN, RUN.N, or RUN with `beside` names.

    A name without a number that is no run is taken for the id of a candidate, since other places form ids otherwise.
    `Refused` (BK908) for a run without a winner.
    """
    from returns.pipeline import is_successful

    from beaker.cli.place import answered
    from beaker.core.problems import Problem, Refused

    if beside is not None:
        return of_run(run_of(named), beside)
    if _OF_A_RUN.fullmatch(named):
        return named
    listed = place.api.call("list_candidates", run_id=named)
    if not is_successful(listed) and getattr(listed.failure(), "status", None) == 404:
        return named
    winner = answered(listed).get("winner_id")
    if not isinstance(winner, str):
        hint = f"name one, as {named}.N; `beaker run candidates {named}` lists them"
        raise Refused(Problem("BK908", f"the run {named} has no winner", hint=hint))
    return winner


def is_winner(place: "Place", candidate: str) -> bool:
    """Whether a candidate is the winner of its run; false where nobody can tell."""
    if not _OF_A_RUN.fullmatch(candidate):
        return False
    listed = place.api.call("list_candidates", run_id=run_of(candidate)).value_or({})
    return listed.get("winner_id") == candidate
