"""What is kept of content: each text once, within bounds, as it was."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.strict_json import dumps, json_value
from beaker.core.traces import LONGEST, messages
from beaker.sdk.json_safe import OMITTED, to_json_safe
from beaker.tracing.contents import DEEPEST, LONG, Contents


def contents(**more: Any) -> Contents:
    return Contents(lambda text: f"{text[:10]}...", **more)


def converse(recording: Any, turns: int, say: Callable[[int], str], *, answer: Callable[[int], str]) -> list[Any]:
    """A conversation whose every call gets all of it; what each call was given."""
    given: list[Any] = []
    conversation = [{"role": "system", "content": say(-1)}]
    for turn in range(turns):
        conversation.append({"role": "user", "content": say(turn)})
        given.append([*conversation])
        with recording.trace.model_call(operation="chat", provider="p", model="m", input_messages=conversation) as call:
            call.output({"choices": [{"message": {"role": "assistant", "content": answer(turn)}}]})
        conversation.append({"role": "assistant", "content": answer(turn)})
    return given


@pytest.mark.parametrize("characters", [20, 4_000])
def test_conversation__growing__is_stored_once(recording: Any, characters: int) -> None:
    """Sixty turns take the room of their text, not of all its beginnings, and every call still reads as it was."""

    def text(kind: str) -> Callable[[int], str]:
        return lambda turn: f"{kind} {turn} ".ljust(characters, kind[0])

    given = converse(recording, 60, text("question"), answer=text("reply"))
    trace = recording.made()
    size = len(dumps(trace["model_calls"]))
    conversation = len(dumps(given[-1]))
    assert size < conversation + 60 * 420  # what each call says of itself
    assert [messages(trace, number) for number in range(60)] == given
    if characters > LONG:
        assert dumps(trace).count(text("question")(30)) == dumps(trace).count(text("reply")(30)) == 1


def test_conversation__another_beginning__starts_anew(recording: Any) -> None:
    """Calls that share nothing are whole; one that continues an older one points there."""
    conversations = [["a", "b"], ["x", "y"], ["a", "b", "c"], ["a", "z"], ("a", "b", "c", "d"), []]
    for one in conversations:
        with recording.trace.model_call(operation="chat", provider="p", model="m", input_messages=one):
            pass
    trace = recording.made()
    assert [one["input"] for one in trace["model_calls"]] == [
        ["a", "b"],
        ["x", "y"],
        {"same_as": "/model_calls/0/input", "first": 2, "then": ["c"]},
        {"same_as": "/model_calls/0/input", "first": 1, "then": ["z"]},
        {"same_as": "/model_calls/2/input", "first": 3, "then": ["d"]},
        [],
    ]
    assert [messages(trace, number) for number in range(6)] == [list(one) for one in conversations]


def test_conversation__messages_of_any_kind__are_compared_by_what_they_say(recording: Any) -> None:
    """Objects of a library that say the same are the same message."""

    class Message:
        def __init__(self, text: str) -> None:
            self.text = text

        def to_dict(self) -> Any:
            return {"text": self.text}

    for words in (["a"], ["a", "b"]):
        given = [Message(word) for word in words] + [float("nan")] * (len(words) - 1)
        with recording.trace.model_call(operation="chat", provider="p", model="m", input_messages=given):
            pass
    trace = recording.made()
    assert trace["model_calls"][1]["input"]["first"] == 1
    assert messages(trace, 1) == [{"text": "a"}, {"text": "b"}, "nan"]


def test_texts__long_and_seen_before__are_pointers(recording: Any) -> None:
    """A long text stands once, whether it comes as an input, an output or an argument; short ones are repeated."""
    long, short = "l" * LONG, "s" * (LONG - 1)
    with recording.trace.tool_call("t", arguments={"a/b": [long, short]}) as tool:
        tool.output([long, short, {"again": long}])
    with recording.trace.stage("s", inputs=long):
        pass
    trace = recording.made()
    (tool_call,) = trace["tool_calls"]
    pointer = {"same_as": "/tool_calls/0/arguments/a~1b/0"}
    assert tool_call["output"] == [pointer, short, {"again": pointer}]
    assert trace["stages"][0]["inputs"] == pointer


def test_texts__of_an_output_that_was_replaced__are_not_pointed_at(recording: Any) -> None:
    """Only what stayed can be pointed at."""
    long = "l" * LONG
    with recording.trace.stage("s") as stage:
        stage.output(long)
        stage.output("other")
    with recording.trace.stage("next", inputs=long):
        pass
    assert recording.made()["stages"][1]["inputs"] == long


def test_keep__too_long__is_cut() -> None:
    """A text beyond the limit is shortened, and the trace says that something was."""
    kept = contents()
    assert kept.keep("x" * LONGEST, "/a") == "x" * LONGEST
    assert kept.cut is False
    assert kept.keep("y" * (LONGEST + 1), "/b") == "yyyyyyyyyy..."
    assert kept.keep({"z" * (LONGEST + 1): 1}, "/c") == {"zzzzzzzzzz...": 1}
    assert kept.cut is True


def test_keep__no_room_left__is_omitted() -> None:
    """Content beyond the budget is left out, whatever its kind, and the trace says so."""
    kept = contents(budget=40)
    assert kept.keep(["x" * 30, "y", {"a": 1}, "z"], "/a") == ["x" * 30, "y", OMITTED]
    assert kept.keep("w", "/b") == kept.keep(None, "/c") == kept.keep([1], "/d") == OMITTED
    assert kept.conversation(["a"], 0) == OMITTED
    assert kept.cut is True
    assert contents(budget=20).keep({"a": "x" * 30, "b": 1}, "/a") == {"a": "x" * 30, **OMITTED}
    assert contents(budget=0).keep({"a": 1}, "/a") == OMITTED


def test_conversation__after_the_room_is_used_up__is_not_pointed_at() -> None:
    """What was left out holds no beginning that a later call could continue."""
    kept = contents(budget=10)
    kept.keep("x" * 20, "/a")
    assert [kept.conversation(["a", "b"], call) for call in range(2)] == [OMITTED, OMITTED]


def test_keep__endless_nesting__ends() -> None:
    """Cycles and what is nested too deeply end in an omission, also where each level holds itself twice."""
    cycle: list[Any] = []
    cycle += [cycle, cycle]
    kept = contents(budget=10_000)
    made = kept.keep(cycle, "/a")
    assert len(dumps(made)) < 40_000
    json_value(made, "made")
    deep: Any = 1
    for _ in range(DEEPEST + 5):
        deep = {"d": deep}
    made = contents().keep(deep, "/a")
    for _ in range(DEEPEST + 1):
        made = made["d"]
    assert made == OMITTED


def test_keep__numbers_that_json_loses__are_text() -> None:
    """An integer beyond 64 bits is kept as its hexadecimal digits."""
    assert contents().keep([2**64, -(2**63), 2**64 - 1, 0.5, float("inf"), True], "/a") == [
        "0x10000000000000000",
        -(2**63),
        2**64 - 1,
        0.5,
        "inf",
        True,
    ]


def test_conversation__cannot_be_encoded__is_kept_all_the_same(recording: Any) -> None:
    """Messages that hold themselves are compared by what was made of them."""
    message: dict[str, Any] = {"role": "user"}
    message["self"] = message
    with recording.trace.model_call(operation="chat", provider="p", model="m", input_messages=[message]):
        pass
    assert recording.made()["model_calls"][0]["input"][0]["role"] == "user"


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(plain)
def test_keep__json__is_kept_as_it_is(value: Any) -> None:
    """JSON without long texts comes back equal, in strict JSON."""
    made = contents().keep(value, "/a")
    assert made == to_json_safe(value)
    json_value(made, "made")
