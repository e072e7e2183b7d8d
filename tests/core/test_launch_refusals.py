"""Refused launches that a hosted API explains by a code of its own."""

from typing import Any

import pytest

from beaker.core.launch_refusals import explained_refusal, launch_outcome_unknown, unknown_outcome, with_key
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem

CONFIGURATION = "OPTIMIZATION_PLAYBOOK_CONFIGURATION_FAILED"
GENERATION = "OPTIMIZATION_PLAYBOOK_GENERATION_FAILED"


@pytest.mark.parametrize(
    ("detail", "code", "build"),
    [
        ({"code": CONFIGURATION, "integration_build_id": "b1"}, "BK487", "b1"),
        ({"code": CONFIGURATION, "spec_version_id": "s1"}, "BK487", "s1"),
        ({"code": GENERATION, "spec_version_id": "s1", "integration_build_id": "b1"}, "BK488", "b1"),
        ({"code": GENERATION, "integration_build_id": None}, "BK488", "unknown"),
    ],
)
def test_explained_refusal__setup_that_failed__says_what_to_do(detail: Any, code: str, build: str) -> None:
    """No run was created; the build is shown under the name of either generation."""
    found = explained_refusal(ApiProblem("BK805", "409", status=409, detail=detail))
    assert (found.code, f"(build {build})" in found.message, "no run was created" in found.message) == (
        code,
        True,
        True,
    )
    assert found.hint


@pytest.mark.parametrize(
    "problem",
    [
        Problem("BK805", "another"),
        ApiProblem("BK805", "m", status=409, detail="text"),
        ApiProblem("BK805", "m", status=409, detail={"code": 7}),
        ApiProblem("BK805", "m", status=409, detail={"code": "OTHER"}),
        ApiProblem("BK805", "m", status=422, detail={"code": CONFIGURATION}),
    ],
)
def test_explained_refusal__anything_else__is_handed_on(problem: Problem) -> None:
    """What is no such refusal stays as the service said it."""
    assert explained_refusal(problem) is problem


@pytest.mark.parametrize(("status", "unknown"), [(0, True), (500, True), (503, True), (499, False), (422, False)])
def test_outcome__no_answer_or_a_broken_service__is_unknown(status: int, unknown: bool) -> None:
    """A service that refuses has started nothing; one that broke may have."""
    assert launch_outcome_unknown(ApiProblem("BK801", "m", status=status)) is unknown
    assert launch_outcome_unknown(Problem("BK801", "m")) is False


def test_unknown_outcome__says_how_to_repeat_it() -> None:
    """The same failure, with the key under which a second launch is none."""
    found = unknown_outcome(ApiProblem("BK803", "no answer", "w", "h", status=0), "k-7")
    hint = "whether a run was started is unknown; repeat safely with --idempotency-key k-7"
    assert found == Problem("BK803", "no answer", "w", hint)


def test_with_key__is_behind_the_first_hint() -> None:
    """Nothing else of the problems changes."""
    key, other = "idempotency key of this launch: k-7", Problem("BK413", "n", "x", "i")
    assert with_key((Problem("BK411", "m", "w", "h"), other), "k-7") == (Problem("BK411", "m", "w", f"h\n{key}"), other)
    assert with_key((Problem("BK411", "m", "w"),), "k-7") == (Problem("BK411", "m", "w", key),)
