"""The trace of one case as it is stored: put together from what a rollout process sent, as far as that came.

A stored trace is `{"format", "usage", "counts", "model_calls", "tool_calls", "stages", "handoffs", "artifacts",
"evidence", "errors", "warnings", "truncated"}`; `docs/tracing.md` describes each. Its lists keep the first entries up
to `LIMITS`, `counts` and `usage` know of all. Content that stood earlier in the trace is a pointer to there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from beaker.core.options import LARGEST
from beaker.core.strict_json import JsonObject, dumps, json_value
from beaker.core.usage import ModelUsage, summed, usage_of, usage_to_json
from beaker.core.values import ReadOnlyDict

FORMAT = "beaker.trace/1"

OPERATIONS = ("model_calls", "tool_calls", "stages")
"""The lists of timed steps."""

LIMITS = ReadOnlyDict[str, int](
    {
        "model_calls": 128,
        "tool_calls": 256,
        "stages": 256,
        "handoffs": 64,
        "artifacts": 128,
        "evidence": 128,
        "errors": 64,
        "warnings": 64,
    }
)
"""Entries that each list keeps, the first ones."""

MAX_TRACE = 8 * 1024 * 1024
"""Bytes of a stored trace. What the recorder keeps stays below; more can only come of a process that lies."""

MAX_MODELS = 64
"""Names of models that usage is divided by; calls of further ones count as calls of an unknown model."""

LONGEST = 16_384
"""Characters that are kept of one text, evidence apart."""

CONTENT = ("input", "output", "inputs", "arguments", "attributes", "events", "value", "content")
"""Fields that hold what the application said, of any size."""


@attrs.define
class TraceParts:
    """What has come of a trace. Changed by `take` alone."""

    lists: dict[str, dict[int, JsonObject]] = attrs.field(factory=lambda: {name: {} for name in LIMITS})
    counts: dict[str, int] = attrs.field(factory=dict)
    usage: tuple[ModelUsage, ...] = ()
    cut: bool = False


def take(parts: TraceParts, message: Mapping[str, Any]) -> None:
    """Add one message of the recorder: `{"entries": [[list, place, fields], ...], "counts", "usage", "cut"}`.

    Fields that come for an entry again replace those that came before; `counts` and `usage` are those so far, and
    `cut` says that content was left out. `ValueError` or `TypeError` for anything else: customer code shares the
    process that sends.
    """
    entries = json_value(message["entries"], "trace")
    for name, place, fields in entries:
        if (
            name not in LIMITS
            or type(place) is not int
            or not 0 <= place < LIMITS[name]
            or not isinstance(fields, dict)
        ):
            raise ValueError(f"{name!r} at {place!r} is no part of a trace")
        parts.lists[name].setdefault(place, {}).update(fields)
    parts.counts = {
        name: count
        for name, count in message["counts"].items()
        if name in LIMITS and type(count) is int and 0 < count <= LARGEST
    }
    parts.usage = usage_of(message)[:MAX_MODELS]
    parts.cut = bool(message["cut"])


def trace_of(parts: TraceParts) -> JsonObject | None:
    """The trace, `None` when nothing was recorded. Entries of which nothing came are left out."""
    lists: dict[str, Any] = {name: [found[place] for place in sorted(found)] for name, found in parts.lists.items()}
    if not parts.usage and not parts.counts and not any(lists.values()):
        return None
    return _assembled(parts, lists)


def bounded(trace: JsonObject) -> JsonObject:
    """`trace`, without any content when it is larger than `MAX_TRACE`, and with its counts alone if it still is."""
    if len(dumps(trace)) <= MAX_TRACE:
        return trace
    stripped: JsonObject = {**trace, **{name: _stripped(trace.get(name)) for name in LIMITS}, "truncated": True}
    return stripped if len(dumps(stripped)) <= MAX_TRACE else {**stripped, **{name: [] for name in LIMITS}}


def with_usage(
    trace: JsonObject | None, *, others: Iterable[ModelUsage] = (), judge: Iterable[ModelUsage] = ()
) -> JsonObject | None:
    """`trace` with what `others`, further attempts at the case, used in its `usage`, and that of the `judge` beside it.

    A trace is made when only they used anything.
    """
    added, judged = summed(others), summed(judge)
    if not added and not judged:
        return trace
    made = _assembled(TraceParts(), {name: [] for name in LIMITS}) if trace is None else trace
    usage: Any = usage_to_json(summed((*usage_of(trace), *added)))
    judge_usage: Any = usage_to_json(judged)
    return {**made, "usage": usage, **({"judge_usage": judge_usage} if judged else {})}


def _assembled(parts: TraceParts, lists: dict[str, Any]) -> JsonObject:
    missing = any(count > len(lists[name]) for name, count in parts.counts.items())
    usage: Any = usage_to_json(parts.usage)
    counts: Any = {name: max(parts.counts.get(name, 0), len(lists[name])) for name in (*OPERATIONS, "errors")}
    return {"format": FORMAT, "usage": usage, "counts": counts, **lists, "truncated": parts.cut or missing}


def messages(trace: Mapping[str, Any], call: int) -> Any:
    """The input of a model call as the application gave it, what stands elsewhere in the trace put back.

    What the recorder left out or cut stays so. `IndexError` or `KeyError` when the trace has no such call or input.
    """
    given: Any = trace["model_calls"][call]["input"]
    if not _continues(given):
        return _resolved(trace, given)
    whole: list[Any] = []
    while _continues(given):
        whole = [*given["then"], *whole]
        kept = given["first"]
        given = trace["model_calls"][int(given["same_as"].split("/")[2])]["input"]
        # Of the call it continues only the first messages count; they may lie within what that one continues.
        if _continues(given):
            given = {
                **given,
                "first": min(kept, given["first"]),
                "then": given["then"][: max(0, kept - given["first"])],
            }
        else:
            given = given[:kept]
    return _resolved(trace, [*given, *whole])


def _continues(given: Any) -> bool:
    return isinstance(given, dict) and given.keys() == {"same_as", "first", "then"}


def _resolved(trace: Mapping[str, Any], found: Any) -> Any:
    if isinstance(found, list):
        return [_resolved(trace, item) for item in found]
    if not isinstance(found, dict):
        return found
    if found.keys() == {"same_as"}:
        target: Any = trace
        for part in found["same_as"].split("/")[1:]:
            target = target[int(part)] if isinstance(target, list) else target[_unescaped(part)]
        return target
    return {key: _resolved(trace, item) for key, item in found.items()}


def _unescaped(part: str) -> str:
    """A step of a JSON pointer (RFC 6901) as the key it means."""
    return part.replace("~1", "/").replace("~0", "~")


def _stripped(entries: Any) -> list[Any]:
    kept = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return [{key: item for key, item in entry.items() if key not in CONTENT} for entry in kept]
