"""The receipt of a capture: whether it holds everything that a case did, judged from its JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from beaker.core.problems import Problem, Problems

_WIRING = "ask models through `runtime.trace.model_call` or an adapter, and record what comes back"


def receipt_problems(receipt: Mapping[str, Any], where: str, *, require_model_calls: bool = False) -> Problems:
    """Every reason (BK750) why a capture is not whole; none for one that is.

    Its status must be complete, nothing may be omitted, and model calls must have their inputs and outputs. With
    `require_model_calls` there must be some, with usage. Warnings are no reason.
    """
    return tuple(Problem("BK750", message, where, hint) for message, hint in _reasons(receipt, require_model_calls))


def _reasons(receipt: Mapping[str, Any], required: bool) -> Iterator[tuple[str, str]]:
    status = receipt.get("status")
    if status != "complete":
        yield f"the capture is {status if isinstance(status, str) else 'of no known status'}, not complete", ""
    omissions = receipt.get("omissions")
    for omission in omissions if isinstance(omissions, list | tuple) else ():
        yield f"left out: {omission}", ""
    counts, found = (_mapping(receipt.get(key)) for key in ("counts", "capabilities"))
    calls = counts.get("model_calls")
    if type(calls) is not int or calls < 1:
        if required:
            yield "no model call was recorded", _WIRING
        return
    wanted = ("model_inputs", "model_outputs", *(("model_usage",) if required else ()))
    for name in wanted:
        if found.get(name) != "complete":
            hint = "record the usage of every call" if name == "model_usage" else _WIRING
            yield f"the record of {name.replace('_', ' ')} is {found.get(name) or 'absent'}, not complete", hint


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
