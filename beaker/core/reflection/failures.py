"""The cases that a model is shown: the most informative failures first, each in few words."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beaker.core.reflection.budget import cut, tokens
from beaker.core.strict_json import JsonObject

SMALLEST, LARGEST = 120, 1_500
"""Tokens that one case gets at least, and at most."""

AIMED = 8
"""Cases among which the room is divided, when there are so many."""

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
    lines = [f"## Case {number}{decides}"]
    error = case.get("error")
    share = max(limit // 5, 20)
    lines.append(f"input: {cut(_text(case.get('input')), share * 2)}")
    if case.get("expected") is not None:
        lines.append(f"expected: {cut(_text(case.get('expected')), share)}")
    if isinstance(error, Mapping):
        lines.append(f"it failed ({error.get('kind')}): {cut(str(error.get('message')), share)}")
        if error.get("traceback"):
            lines.append(cut(str(error["traceback"]).strip(), share))
    else:
        lines.append(f"output: {cut(_text(case.get('output')), share)}")
        lines.append(f"objective: {_number(case.get('objective'))}")
        lines += [cut(line, share) for line in _shortcomings(case)][:10]
    if not _is_solved(case) and case.get("trace"):
        lines.append(f"trace: {cut(_text(case['trace']), share)}")
    return cut("\n".join(lines), limit) + "\n"


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
