"""How a candidate is named: by a run, by a run and a number, or by an id of another form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from beaker.core.candidate_names import (
    known_candidate,
    named_by_no_run,
    named_outright,
    names_a_candidate,
    of_run,
    run_of,
    winner_in,
)
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem


@given(st.text(min_size=1), st.integers(0, 10**6))
def test_number_of_a_run__names_one_candidate(run_id: str, number: int) -> None:
    """Whatever a run is called, RUN.N and RUN with N are the same candidate, and its run is that run."""
    named = of_run(run_id, str(number))
    assert named == f"{run_id}.{number}"
    if "\n" not in run_id:
        assert names_a_candidate(named)
        assert run_of(named) == run_id
        assert named_outright(named) == named
        assert named_outright(named, str(number)) == named


@pytest.mark.parametrize("named", ["r", "r.", ".1", "r.x", "r.1x", "r.１"])
def test_name_of_another_form__is_a_run_alone(named: str) -> None:
    """What does not end in a dot and digits is a run, whose winner is meant unless another one is named."""
    assert not names_a_candidate(named)
    assert (run_of(named), named_outright(named)) == (named, None)
    assert named_outright(named, "2") == f"{named}.2"
    assert named_outright(named, "other") == "other"
    assert of_run(named, "２") == "２"


def test_winner__is_that_of_the_answer() -> None:
    """A run without one says how to name another candidate."""
    assert winner_in("r", {"winner_id": "r.1"}) == Success("r.1")
    for answer in ({}, {"winner_id": None}, {"winner_id": 7}):
        problem = winner_in("r", answer).failure()
        assert (problem.code, problem.message) == ("BK908", "the run r has no winner")
        assert problem.hint == "name one, as r.N; `beaker run candidates r` lists them"


def test_no_run__is_the_id_of_a_candidate() -> None:
    """Only where the place says that there is no such run."""
    gone, refused = (ApiProblem("BK807", "no", status=status) for status in (404, 403))
    assert named_by_no_run("c", gone) == Success("c")
    for problem in (refused, Problem("BK803", "no answer")):
        assert named_by_no_run("c", problem) == Failure(problem)


def test_known__candidate_that_the_run_has__is_chosen() -> None:
    """None asked for is none; one that the run does not have is refused."""
    assert known_candidate("r", None, []) == Success(None)
    assert known_candidate("r", "1", ["r.0", "r.1"]) == Success("r.1")
    assert known_candidate("r", "r.0", iter(["r.0"])) == Success("r.0")
    problem = known_candidate("r", "2", ["r.0"]).failure()
    assert (problem.code, problem.message) == ("BK905", "the run 'r' has no candidate '2'")
    assert problem.hint == "`beaker run candidates r` lists them"
