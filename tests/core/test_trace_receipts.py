"""Receipts of captures: what makes one whole."""

from typing import Any

import pytest

from beaker.core.problems import Problem
from beaker.core.trace_receipts import receipt_problems

FULL = {"model_inputs": "complete", "model_outputs": "complete", "model_usage": "complete"}
WHOLE = {"status": "complete", "omissions": [], "counts": {"model_calls": 2}, "capabilities": FULL}


@pytest.mark.parametrize(
    ("change", "required", "said"),
    [
        ({}, True, []),
        ({"warnings": ["w"], "dropped_spans": 3}, True, []),
        ({"status": "incomplete"}, False, ["the capture is incomplete, not complete"]),
        ({"status": None}, False, ["the capture is of no known status, not complete"]),
        ({"omissions": ["a", "b"]}, False, ["left out: a", "left out: b"]),
        ({"omissions": "text"}, False, []),
        ({"counts": {"model_calls": 0}, "capabilities": {}}, False, []),
        ({"counts": {"model_calls": 0}, "capabilities": {}}, True, ["no model call was recorded"]),
        ({"counts": None}, True, ["no model call was recorded"]),
        ({"counts": {"model_calls": True}}, True, ["no model call was recorded"]),
        ({"capabilities": {**FULL, "model_usage": "partial"}}, False, []),
        ({"capabilities": {**FULL, "model_usage": "partial"}}, True,
         ["the record of model usage is partial, not complete"]),
        (
            {"capabilities": None},
            False,
            [f"the record of model {part} is absent, not complete" for part in ("inputs", "outputs")],
        ),
        ({"counts": {"model_calls": 1}, "capabilities": {**FULL, "model_inputs": "partial"}}, False,
         ["the record of model inputs is partial, not complete"]),
    ],
)  # fmt: skip
def test_receipt__not_whole__tells_every_reason(change: dict[str, Any], required: bool, said: list[str]) -> None:
    """Status, omissions and coverage count; warnings do not."""
    told = receipt_problems(WHOLE | change, "r.json", require_model_calls=required)
    assert [problem.message for problem in told] == said
    assert {(problem.code, problem.where) for problem in told} <= {("BK750", "r.json")}


def test_receipt__missing_parts__say_how_to_record_them() -> None:
    """Usage and calls have hints of their own; a status has none."""
    lacking = {"status": "error", "counts": {"model_calls": 1}, "capabilities": {**FULL, "model_usage": None}}
    status, usage = receipt_problems(lacking, "r", require_model_calls=True)
    assert (status.hint, usage.hint) == ("", "record the usage of every call")
    wiring = "ask models through `runtime.trace.model_call` or an adapter, and record what comes back"
    none = receipt_problems({"status": "complete"}, "r", require_model_calls=True)
    assert none == (Problem("BK750", "no model call was recorded", "r", wiring),)
    (inputs,) = receipt_problems(WHOLE | {"capabilities": {**FULL, "model_inputs": None}}, "r")
    assert inputs.hint == wiring
