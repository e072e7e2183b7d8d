"""How commands are told a candidate: the argument, and the place asked where only it knows (`core.candidate_names`)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from beaker.cli.place import Place

CANDIDATE_HELP = "RUN.N as `beaker run candidates RUN` lists it; RUN alone means its winner"
BESIDE_HELP = "another candidate of the run than its winner, as RUN.N or N"


def add_candidate_name(leaf: "argparse.ArgumentParser") -> None:
    """The argument that names a candidate, and the option that names another one of the same run."""
    leaf.add_argument("candidate", metavar="CANDIDATE", help=CANDIDATE_HELP)
    leaf.add_argument("--candidate", dest="beside", metavar="N", help=BESIDE_HELP)


def candidate_id(place: "Place", named: str, beside: str | None = None) -> str:
    """The id of the candidate that RUN, RUN.N, or RUN with `beside` names. `Refused` for a run without a winner."""
    from returns.pipeline import is_successful

    from beaker.cli.place import answered
    from beaker.core.candidate_names import named_by_no_run, named_outright, winner_in

    outright = named_outright(named, beside)
    if outright is not None:
        return outright
    listed = place.api.call("list_candidates", run_id=named)
    if not is_successful(listed):
        return answered(named_by_no_run(named, listed.failure()))
    return answered(winner_in(named, listed.unwrap()))


def is_winner(place: "Place", candidate: str) -> bool:
    """Whether a candidate is the winner of its run; false where nobody can tell."""
    from beaker.core.candidate_names import names_a_candidate, run_of

    if not names_a_candidate(candidate):
        return False
    listed = place.api.call("list_candidates", run_id=run_of(candidate)).value_or({})
    return listed.get("winner_id") == candidate
