"""Traces as they are stored: put together, bounded, and read."""

from typing import Any

import pytest

from beaker.core.strict_json import dumps
from beaker.core.traces import (
    FORMAT,
    LIMITS,
    MAX_MODELS,
    MAX_TRACE,
    TraceParts,
    bounded,
    messages,
    take,
    trace_of,
    with_usage,
)
from beaker.core.usage import ModelUsage, judge_usage_of, usage_of


def message(*entries: Any, counts: Any = None, usage: Any = (), cut: bool = False) -> dict[str, Any]:
    return {"entries": [list(entry) for entry in entries], "counts": counts or {}, "usage": list(usage), "cut": cut}


def usage(model: str | None = "a", calls: int = 1) -> dict[str, Any]:
    return {"model": model, "calls": calls, "input_tokens": 3, "output_tokens": 2}


def taken(*sent: dict[str, Any]) -> Any:
    parts = TraceParts()
    for one in sent:
        take(parts, one)
    return trace_of(parts)


def test_trace__nothing_came__is_none() -> None:
    """A case that recorded nothing has no trace, and neither has one of which only an empty message came."""
    assert taken() is None
    assert taken(message()) is None


def test_trace__messages__are_put_together_in_order_of_place() -> None:
    """Later fields of an entry are added to earlier ones; lists are in the order in which things began."""
    made = taken(
        message(["model_calls", 0, {"n": 1, "model": "m"}], counts={"model_calls": 1}),
        message(["model_calls", 1, {"n": 2}], ["model_calls", 0, {"duration_ms": 2.5, "model": "n"}]),
        message(
            ["stages", 1, {"n": 4}], ["stages", 0, {"n": 3}], counts={"model_calls": 2, "stages": 2}, usage=[usage()]
        ),
    )
    assert made == {
        "format": FORMAT,
        "usage": [usage()],
        "counts": {"model_calls": 2, "tool_calls": 0, "stages": 2, "errors": 0},
        "model_calls": [{"n": 1, "model": "n", "duration_ms": 2.5}, {"n": 2}],
        "tool_calls": [],
        "stages": [{"n": 3}, {"n": 4}],
        "handoffs": [],
        "artifacts": [],
        "evidence": [],
        "errors": [],
        "warnings": [],
        "truncated": False,
    }


def test_trace__more_than_was_kept__is_counted_and_said() -> None:
    """Counts know of everything, also when only they came; what was cut makes the trace truncated."""
    assert taken(message(counts={"tool_calls": 300}))["counts"]["tool_calls"] == 300
    assert taken(message(counts={"tool_calls": 300}))["truncated"] is True
    assert taken(message(["stages", 0, {}], cut=True))["truncated"] is True
    assert taken(message(["stages", 0, {}], counts={"stages": 1}))["truncated"] is False
    assert taken(message(["errors", 0, {}], ["errors", 1, {}]))["counts"]["errors"] == 2


def test_trace__usage_alone__is_a_trace() -> None:
    """Whatever else was lost, what was used is told."""
    made = taken(message(usage=[usage("b", 2), usage("a")]))
    assert [one["model"] for one in made["usage"]] == ["a", "b"]
    assert usage_of(made) == (ModelUsage("a", 3, 2), ModelUsage("b", 3, 2, 2))


def test_trace__many_models__are_bounded() -> None:
    """A process that makes names up does not make the trace grow."""
    made = taken(message(usage=[usage(f"m{number:03}") for number in range(MAX_MODELS + 5)]))
    assert len(made["usage"]) == MAX_MODELS


@pytest.mark.parametrize(
    "entry",
    [
        ["model_calls", LIMITS["model_calls"], {}],
        ["model_calls", -1, {}],
        ["model_calls", True, {}],
        ["model_calls", "0", {}],
        ["model_calls", 0, []],
        ["others", 0, {}],
    ],
)
def test_take__what_is_no_part__is_refused(entry: Any) -> None:
    """Customer code can write to the pipe; what no recorder sends is nonsense."""
    with pytest.raises(ValueError, match="no part of a trace"):
        take(TraceParts(), message(entry))


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    "sent",
    [
        {"counts": {}, "usage": [], "cut": False},
        {"entries": [], "usage": [], "cut": False},
        {"entries": [], "counts": {}, "usage": []},
        {"entries": [["stages", 0]], "counts": {}, "usage": [], "cut": False},
        {"entries": 7, "counts": {}, "usage": [], "cut": False},
        {"entries": [], "counts": [], "usage": [], "cut": False},
        message(["stages", 0, {"output": deep(300)}]),
    ],
)
def test_take__another_shape__is_refused(sent: Any) -> None:
    """A message is whole and no deeper than strict JSON, or it is refused as the host refuses nonsense."""
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        take(TraceParts(), sent)


def test_take__counts_that_are_none__are_left_out() -> None:
    """Numbers are judged one by one: a wrong one does not cost the rest."""
    parts = TraceParts()
    take(parts, message(counts={"stages": 2, "tool_calls": -1, "model_calls": True, "others": 3, "errors": 2**60}))
    assert parts.counts == {"stages": 2}


# Bounds


def test_bounded__within__is_itself() -> None:
    """A trace that fits is not touched."""
    made = taken(message(["stages", 0, {"output": "x"}]))
    assert bounded(made) is made


def test_bounded__too_large__loses_its_content_and_keeps_its_numbers() -> None:
    """Steps, times and usage stay when what was said does not fit."""
    entry = {"n": 1, "name": "s", "output": "x" * MAX_TRACE, "duration_ms": 1.0}
    made = bounded(
        taken(message(["stages", 0, entry], ["evidence", 0, {"name": "e", "content": [1]}], usage=[usage()]))
    )
    assert made["stages"] == [{"n": 1, "name": "s", "duration_ms": 1.0}]
    assert made["evidence"] == [{"name": "e"}]
    assert (made["truncated"], made["usage"]) == (True, [usage()])


def test_bounded__still_too_large__keeps_counts_and_usage() -> None:
    """Names of any length, which no recorder sends, cost the lists."""
    made = bounded(taken(message(["stages", 0, {"name": "x" * MAX_TRACE}], counts={"stages": 1}, usage=[usage()])))
    assert (made["stages"], made["counts"]["stages"]) == ([], 1)  # type: ignore[index, call-overload]  # an object
    assert (made["truncated"], made["usage"]) == (True, [usage()])
    assert len(dumps(made)) < 1000


def test_bounded__lists_that_are_none__become_empty() -> None:
    """Whatever stands in the place of a list or an entry is left out with the rest."""
    made = bounded({"stages": "x" * MAX_TRACE, "tool_calls": [1, {"n": 1}], "usage": []})
    assert (made["stages"], made["tool_calls"], made["errors"]) == ([], [{"n": 1}], [])


# Usage of other attempts and of the judge


def test_with_usage__nothing_else__is_the_trace_itself() -> None:
    """One attempt without a judge: nothing is added, and nothing is made of nothing."""
    made = taken(message(usage=[usage()]))
    assert with_usage(made) is made
    assert with_usage(None) is None


def test_with_usage__other_attempts__are_added_by_model() -> None:
    """What was paid for attempts that did not count is in the usage of the one that did."""
    made = with_usage(taken(message(usage=[usage()])), others=[ModelUsage("a", 10, 1), ModelUsage("b", 1, 1)])
    assert made is not None
    assert usage_of(made) == (ModelUsage("a", 13, 3, 2), ModelUsage("b", 1, 1))
    assert judge_usage_of(made) == ()
    assert "judge_usage" not in made


def test_with_usage__no_trace_of_its_own__is_made() -> None:
    """A last attempt that recorded nothing still tells what the case cost."""
    made = with_usage(None, judge=[ModelUsage("j", 5, 5), ModelUsage("j", 1, 1)])
    assert made is not None
    assert (usage_of(made), judge_usage_of(made)) == ((), (ModelUsage("j", 6, 6, 2),))
    assert (made["model_calls"], made["truncated"]) == ([], False)


# Reading conversations


CALLS: list[Any] = [
    {"input": ["a", "b", {"role": "user", "content": "long"}], "output": {"text": "answer", "a/b": {"m~n": ["deep"]}}},
    {
        "input": {
            "same_as": "/model_calls/0/input",
            "first": 3,
            "then": [{"same_as": "/model_calls/0/output/text"}, "d"],
        }
    },
    {"input": {"same_as": "/model_calls/1/input", "first": 4, "then": ["e"]}},
    {
        "input": {
            "same_as": "/model_calls/2/input",
            "first": 2,
            "then": ["f", {"same_as": "/model_calls/0/output/a~1b/m~0n/0"}],
        }
    },
    {"input": "one text"},
    {"input": {"question": {"same_as": "/model_calls/4/input"}, "same_as": 1}},
]
LONG = {"role": "user", "content": "long"}


@pytest.mark.parametrize(
    "call, expected",
    [
        (0, ["a", "b", LONG]),
        (1, ["a", "b", LONG, "answer", "d"]),
        (2, ["a", "b", LONG, "answer", "e"]),
        (3, ["a", "b", "f", "deep"]),
        (4, "one text"),
        (5, {"question": "one text", "same_as": 1}),
    ],
)
def test_messages__what_stands_elsewhere__is_put_back(call: int, expected: Any) -> None:
    """A conversation that begins like an earlier one, and texts that stood before, read as they were given."""
    assert messages({"model_calls": CALLS}, call) == expected
