"""A judge's answer is a verdict or none, and never one that it did not give."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.problems import Problem
from beaker.core.verdicts import Verdict, read_verdict

HINT = "a verdict is one of pass, fail"


@pytest.mark.parametrize(
    "answer, verdict",
    [
        ("pass", Verdict("pass")),
        (" **PASS**.\n", Verdict("pass")),
        ("Fail!", Verdict("fail")),
        ('{"verdict": "FAIL", "reason": " wrong sum "}', Verdict("fail", "wrong sum")),
        ('```json\n{"verdict": "pass", "reason": 3}\n```', Verdict("pass")),
        ("```\npass\n```", Verdict("pass")),
        ("The sum is right.\n**Verdict:** PASS", Verdict("pass", "The sum is right.")),
        ("# verdict = fail\nIt is wrong.\nVerdict: fail", Verdict("fail", "It is wrong.")),
    ],
)
def test_read_verdict__a_verdict__is_read_as_it_was_meant(answer: str, verdict: Verdict) -> None:
    """The word alone, JSON, or a line that names it."""
    assert read_verdict(answer).unwrap() == verdict


@pytest.mark.parametrize(
    "answer, message",
    [
        (None, "the judge gave no text"),
        (" \n", "the judge gave no text"),
        ("I cannot judge this.", "the judge gave no verdict: 'I cannot judge this.'"),
        ("It does not pass, or fail, for all I know", "the judge gave no verdict: "),
        ("Verdict: pass\nVerdict: fail", "the judge gave different verdicts: 'fail', 'pass'"),
        ("Verdict: pass or fail", "the judge chose what is no choice: 'pass or fail'"),
        ('{"verdict": "maybe"}', "the judge chose what is no choice: 'maybe'"),
        ('{"verdict": true}', "the judge chose what is no choice: True"),
        ('{"score": 1}', "the judge chose what is no choice: None"),
        ('{"verdict": "pass", "verdict": "fail"}', "the judge's JSON cannot be read: "),
        ('{"verdict": "pa', "the judge's JSON cannot be read: "),
    ],
)
def test_read_verdict__anything_else__is_none(answer: Any, message: str) -> None:
    """Cut off, refused, contradictory, invented: it is said what was found, and what may be chosen."""
    problem = read_verdict(answer).failure()
    assert problem.message.startswith(message)
    assert problem == Problem("BK556", problem.message, hint=HINT)


def test_read_verdict__long_answer__is_cut_in_the_message() -> None:
    """Whoever reads the error needs its beginning."""
    message = read_verdict("x" * 200).failure().message
    assert message == "the judge gave no verdict: '" + "x" * 119 + "..."
    assert read_verdict("y" * 118).failure().message == "the judge gave no verdict: '" + "y" * 118 + "'"


def test_read_verdict__choices__are_given_back_as_spelled() -> None:
    """Any words may be chosen from."""
    assert read_verdict("excellent", ("Excellent", "Poor")).unwrap() == Verdict("Excellent")
    assert not is_successful(read_verdict("pass", ("Excellent", "Poor")))


@pytest.mark.parametrize("choices", ["pass", (), ("pass",), ("pass", "PASS"), ("pass", " ")])
def test_read_verdict__choices_that_are_none__are_a_mistake(choices: Any) -> None:
    """A judge without a choice cannot judge."""
    with pytest.raises(ValueError, match="choices must be"):
        read_verdict("pass", choices)


@given(st.text())
def test_read_verdict__any_text__is_a_choice_or_a_problem(text: str) -> None:
    """And a choice was really written there."""
    read = read_verdict(text)
    if is_successful(read):
        assert read.unwrap().choice in text.casefold()
