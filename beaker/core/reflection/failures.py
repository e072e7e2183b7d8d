"""The cases that a model is shown: the most informative failures first, each in few words."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from beaker.core.reflection.budget import cut, tokens
from beaker.core.strict_json import JsonObject

SMALLEST, LARGEST = 120, 1_500
"""Tokens that one case gets at least, and at most."""

AIMED = 8
"""Cases among which the room is divided, when there are so many."""

LINES = 10
"""Shortcomings of a case, and steps on its way, that are told at most of each."""

HEADING_TOKENS = 24
"""What the heading of a case, and the ends of its lines, have at most."""

CONTRAST = 2
"""Solved cases shown at most: they say what must not break."""


def in_order(cases: Sequence[JsonObject]) -> list[JsonObject]:
    """The cases worth showing, of those in the evidence.

    Failed ones of the minibatch, which decide first; then other failed ones; each kind by objective, and in such an
    order that failures which differ in kind come before more of the same. Last, up to two solved ones.
    """
    failed = [case for case in cases if not _is_solved(case)]
    solved = [case for case in cases if _is_solved(case)]
    deciding = sorted((case for case in failed if case.get("minibatch")), key=_objective)
    others = sorted((case for case in failed if not case.get("minibatch")), key=_objective)
    return [*_varied(deciding), *_varied(others), *solved[:CONTRAST]]


def render_cases(cases: Sequence[JsonObject], *, limit: int) -> tuple[str, int]:
    """The cases `in_order`, as many as `limit` tokens hold, and how many of them that are."""
    ordered = in_order(cases)
    each = min(max(limit // max(min(len(ordered), AIMED), 1), SMALLEST), LARGEST)
    shown: list[str] = []
    left = limit
    for number, case in enumerate(ordered, start=1):
        text = _render(case, number, each)
        if tokens(text) > left:
            break
        left -= tokens(text)
        shown.append(text)
    return "\n".join(shown), len(shown)


def _is_solved(case: JsonObject) -> bool:
    return case.get("error") is None and case.get("objective") == 1.0


def _objective(case: JsonObject) -> float:
    found = case.get("objective")
    return found if isinstance(found, float | int) else 0.0


def _varied(cases: Iterable[JsonObject]) -> list[JsonObject]:
    """The first case of every kind of failure, then the second of each, and so on."""
    kinds: dict[tuple[str, ...], list[JsonObject]] = {}
    for case in cases:
        kinds.setdefault(_kind(case), []).append(case)
    longest = max(map(len, kinds.values()), default=0)
    return [found[place] for place in range(longest) for found in kinds.values() if place < len(found)]


def _kind(case: JsonObject) -> tuple[str, ...]:
    """What distinguishes one failure from another: the error without its numbers, or what was not met."""
    error = case.get("error")
    if isinstance(error, Mapping):
        return "error", str(error.get("kind")), re.sub(r"[0-9]+", "0", str(error.get("message")))[:80]
    fields = [name for name, score in _mapping(case.get("field_scores")).items() if score != 1.0]
    checks = [str(check.get("name")) for check in _failing(case)]
    return "scored", *sorted(fields), *sorted(checks)


def _render(case: JsonObject, number: int, limit: int) -> str:
    """One case in about `limit` tokens."""
    decides = " (one of those that the edit must improve)" if case.get("minibatch") else ""
    parts = [*_parts(case)]
    most = _most(parts, limit - HEADING_TOKENS)
    return "\n".join([f"## Case {number}{decides}", *(cut(part, most) for part in parts)]) + "\n"


def _parts(case: JsonObject) -> Iterable[str]:
    """What there is to say about a case."""
    error = case.get("error")
    yield f"input: {_text(case.get('input'))}"
    if case.get("expected") is not None:
        yield f"expected: {_text(case.get('expected'))}"
    if isinstance(error, Mapping):
        yield f"it failed ({error.get('kind')}): {error.get('message')}"
        if error.get("traceback"):
            yield str(error["traceback"]).strip()
    else:
        yield f"output: {_text(case.get('output'))}"
        yield f"objective: {_number(case.get('objective'))}"
        yield from islice(_shortcomings(case), LINES)
    if not _is_solved(case):
        yield from islice(_steps(_mapping(case.get("trace"))), LINES)


def _most(parts: Sequence[str], limit: int) -> int:
    """The most tokens that any part may have, so that together they have at most `limit`: short ones leave their room
    to long ones.
    """
    left, most = limit, 0
    for place, size in enumerate(sorted(map(tokens, parts))):
        most = max(left // (len(parts) - place), 0)
        left -= min(size, most)
    return most


def _steps(trace: Mapping[str, Any]) -> Iterable[str]:
    """What happened on the way to an answer; one call of a model alone says no more than the answer."""
    calls = _mappings(trace.get("model_calls"))
    for call in calls if len(calls) > 1 else ():
        yield f"a model said: {_text(_said(call.get('output')))}"
    for call in _mappings(trace.get("tool_calls")):
        yield f"tool {call.get('name')}({_text(call.get('arguments'))}): {_text(call.get('output'))}"
    for error in _mappings(trace.get("errors")):
        yield f"error on the way: {error.get('message')}"


def _said(output: Any) -> Any:
    """The text in a chat completion; any other output as it is."""
    choices = _mappings(_mapping(output).get("choices"))
    message = _mapping(choices[0].get("message")) if choices else {}
    return message.get("content") or output


def _shortcomings(case: JsonObject) -> Iterable[str]:
    """What a scored case did not meet, a line each."""
    told = set()
    for diff in _mappings(case.get("field_diffs")):
        told.add(diff.get("field"))
        yield f"{diff.get('field')}: got {_text(diff.get('predicted'))}, expected {_text(diff.get('expected'))}"
    for name, score in _mapping(case.get("field_scores")).items():
        if score != 1.0 and name not in told:
            yield f"{name}: scored {_number(score)}"
    for check in _failing(case):
        message = f": {check['message']}" if check.get("message") else ""
        yield f"check {check.get('name')}: {_number(check.get('verdict'))}{message}"


def _failing(case: JsonObject) -> list[Mapping[str, Any]]:
    return [
        check
        for check in _mappings(case.get("checks"))
        if check.get("verdict") not in ("pass", 1.0) and not check.get("informational")
    ]


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def _number(found: Any) -> str:
    return f"{found:.3g}" if isinstance(found, float | int) else str(found)


def _text(found: Any) -> str:
    """A JSON value in few characters: text as it is, all else as compact JSON."""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, separators=(",", ":"))
