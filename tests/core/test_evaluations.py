"""Evaluations: one outcome each, and a stored form that reads back equal."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.convert import from_json, to_json
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.strict_json import dumps, parse

SCORES = st.floats(0, 1)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CASE_SCORES = st.builds(
    CaseScore,
    SCORES,
    st.dictionaries(st.sampled_from("abc"), SCORES),
    st.lists(st.builds(FieldDiff, st.just("field"), JSON, JSON), max_size=2),
    st.lists(st.builds(Check, st.just("check"), st.sampled_from(["pass", "fail"]) | SCORES, JSON), max_size=2),
)


@given(score=CASE_SCORES, output=JSON, trace=JSON, duration=st.floats(0, 1e9), attempts=st.integers(1, 9))
def test_evaluation__scored__reads_back_equal(
    score: CaseScore, output: Any, trace: Any, duration: float, attempts: int
) -> None:
    """An evaluation with a score survives its JSON text."""
    evaluation = Evaluation("case", output, "value", score, None, duration, attempts, trace)
    stored = parse(dumps(to_json(evaluation))).unwrap()
    assert from_json(stored, Evaluation, code="BK500").unwrap() == evaluation
    assert evaluation.objective == score.objective


def test_evaluation__failed__reads_back_equal() -> None:
    """An evaluation with an error survives its JSON text and has no objective."""
    evaluation = Evaluation("case", error=CaseError("raised", "boom", "Traceback"), attempts=3)
    stored = parse(dumps(to_json(evaluation))).unwrap()
    assert from_json(stored, Evaluation, code="BK500").unwrap() == evaluation
    assert evaluation.objective is None


@pytest.mark.parametrize("both", [True, False])
def test_evaluation__score_and_error_or_neither__is_refused(both: bool) -> None:
    """A case has a score or an error: never both, never neither."""
    score, error = (CaseScore(1.0, {}), CaseError("raised", "boom")) if both else (None, None)
    with pytest.raises(ValueError, match="either a score or an error"):
        Evaluation("case", score=score, error=error)
