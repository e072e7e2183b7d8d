"""Which ids no case has, and what is said of them."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.case_choice import COMPARED, unknown_ids
from beaker.core.problems import Problem

IDS = st.lists(st.text(max_size=4), max_size=8)


@given(IDS, IDS)
def test_unknown_ids__any_lists__one_problem_for_each_that_is_missing(wanted: list[str], known: list[str]) -> None:
    """Each id that there is none of is told once, in the order in which it was asked for."""
    missing = [one for one in dict.fromkeys(wanted) if one not in known]
    problems = unknown_ids(wanted, iter(known))
    assert [problem.message for problem in problems] == [f"no case has the id {one!r}" for one in missing]
    assert {(problem.code, problem.where) for problem in problems} <= {("BK352", "--case")}


def test_unknown_ids__near_ones__are_proposed_up_to_three() -> None:
    """The closest come first; a fourth is not named."""
    known = ["inv-0001", "inv-0002", "inv-0003", "inv-0004", "zzz"]
    hint = "did you mean 'inv-0002' or 'inv-0004' or 'inv-0003'?"
    assert unknown_ids(["inv-002"], known) == (Problem("BK352", "no case has the id 'inv-002'", "--case", hint),)


def test_unknown_ids__none_near__the_first_are_named() -> None:
    """Where nothing is alike, three of those that there are show what ids look like."""
    assert unknown_ids(["q"], ["aa", "bb", "cc", "dd"])[0].hint == "the first ids are 'aa', 'bb', 'cc'"
    assert unknown_ids(["q"], [])[0].hint == "load_cases gave no case"


def test_unknown_ids__very_many__only_the_first_are_compared() -> None:
    """What comes late is found when asked for by its id, but not proposed."""
    known = [*(f"{number:06}" for number in range(COMPARED)), "late-one"]
    assert unknown_ids(["late-one"], known) == ()
    assert "late-one" not in unknown_ids(["late-on"], known)[0].hint
    assert "late-one" in unknown_ids(["late-on"], known[1:])[0].hint
