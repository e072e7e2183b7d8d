"""Asking a judge gives a verdict or raises."""

import asyncio

import pytest

from beaker.sdk.judging import JudgeError, Verdict, ask_judge, verdict_of


def test_verdict_of__no_verdict__raises_with_what_was_said() -> None:
    """It is never a failed case."""
    assert verdict_of("Verdict: good", choices=("good", "bad")) == Verdict("good")
    with pytest.raises(JudgeError, match="no verdict: 'hm'; a verdict is one of pass, fail"):
        verdict_of("hm")


def asked(*answers: object, attempts: int = 2) -> tuple[Verdict | Exception, int]:
    """What asking comes to, with how many of `answers` it took."""
    left = list(answers)

    async def ask() -> object:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    try:
        made: Verdict | Exception = asyncio.run(ask_judge(ask, attempts=attempts))
    except Exception as error:
        made = error
    return made, len(answers) - len(left)


def test_ask_judge__unreadable_answers__are_asked_for_again_and_then_raised() -> None:
    """As often as allowed; what the call raises is raised at once."""
    assert asked("pass", "fail") == (Verdict("pass"), 1)
    assert asked("hm", "fail", "pass") == (Verdict("fail"), 2)
    made, count = asked("hm", "", "pass")
    assert isinstance(made, JudgeError)
    assert (str(made), count) == ("the judge gave no text; a verdict is one of pass, fail", 2)
    lost = OSError("lost")
    assert asked(lost, "pass") == (lost, 1)
    made, count = asked("pass", attempts=0)
    assert isinstance(made, ValueError)
    assert count == 0
