"""The recording trace: what it keeps of operations, in every context, and that it never fails the application."""

import asyncio
import contextvars
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from beaker.core.traces import LIMITS, LONGEST, messages
from beaker.core.usage import ModelUsage, usage_of
from beaker.sdk.trace import Trace
from beaker.tracing.recorder import NAME, SMALL, Recorder
from beaker.tracing.recording import RecordingTrace, full_name

ANSWER = {"choices": [{"message": {"content": "hi"}}], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}


def chat(trace: Trace, messages: Any = (), **more: Any) -> Any:
    named = {"operation": "chat", "provider": "openai", "model": "gpt", **more}
    return trace.model_call(input_messages=messages, **named)


def untimed(entry: Any) -> Any:
    """An entry without its times, which must be there and make sense."""
    assert entry.pop("start_ms") >= 0
    assert entry.pop("duration_ms") >= 0
    return entry


def test_recording__operations__are_kept_with_what_they_were_given_and_gave(recording: Any) -> None:
    """A stage, a model call and a tool call: names, contents, usage, times and who lies within whom."""
    with recording.trace.stage("outer", inputs={"a": 1}, attributes={"k": "v"}) as stage:
        with chat(recording.trace, [{"role": "user", "content": "hello"}], server_address="api.example") as call:
            call.output(ANSWER)
        with recording.trace.tool_call("lookup", arguments={"q": [1]}, call_id="c1") as tool:
            tool.output(["found"])
        stage.output(None)
    trace = recording.made()
    assert [untimed(one) for one in trace["stages"]] == [
        {"n": 1, "name": "outer", "inputs": {"a": 1}, "attributes": {"k": "v"}, "output": None}
    ]
    assert [untimed(one) for one in trace["model_calls"]] == [
        {
            "n": 2,
            "parent": 1,
            "operation": "chat",
            "provider": "openai",
            "model": "gpt",
            "server_address": "api.example",
            "input": [{"role": "user", "content": "hello"}],
            "usage": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13},
            "output": ANSWER,
        }
    ]
    assert [untimed(one) for one in trace["tool_calls"]] == [
        {"n": 3, "parent": 1, "name": "lookup", "call_id": "c1", "arguments": {"q": [1]}, "output": ["found"]}
    ]
    assert trace["counts"] == {"model_calls": 1, "tool_calls": 1, "stages": 1, "errors": 0}
    assert usage_of(trace) == (ModelUsage("openai:gpt", 10, 3),)
    assert trace["truncated"] is False


def test_recording__nothing_done__sends_nothing(recording: Any) -> None:
    """A case that never uses its trace has none; operations that are not entered are not recorded."""
    chat(recording.trace).output(ANSWER)
    operation = recording.trace.stage("never entered")
    operation.output(1)
    operation.usage(input_tokens=1)
    operation.attribute("k", 1)
    operation.event("e")
    operation.__exit__(None, None, None)
    assert recording.made() is None
    assert recording.sent == []


def test_recording__entered_twice__is_recorded_twice(recording: Any) -> None:
    """The same operation may be entered again, also within itself."""
    operation = recording.trace.stage("again")
    with operation, operation:
        operation.output("inner")
    with operation:
        operation.output("later")
    stages = recording.made()["stages"]
    assert [(one["n"], one.get("parent"), one.get("output")) for one in stages] == [
        (1, None, None),
        (2, 1, "inner"),
        (3, None, "later"),
    ]


def test_recording__output__the_last_one_counts(recording: Any) -> None:
    """A later output replaces an earlier one, and so does the usage that it tells."""
    with chat(recording.trace) as call:
        call.output(ANSWER)
        call.output({"usage": {"input_tokens": 1, "output_tokens": 1}})
    (one,) = recording.made()["model_calls"]
    assert one["usage"]["total_tokens"] == 2


def test_recording__after_the_end__is_dropped(recording: Any) -> None:
    """What is said about an operation that has ended, or after the case, changes nothing."""
    with recording.trace.stage("s") as stage:
        pass
    stage.output("late")
    open_one = recording.trace.stage("open")
    open_one.__enter__()
    trace = recording.made()
    open_one.output("later")
    open_one.attribute("k", 1)
    open_one.event("e")
    open_one.usage(input_tokens=1)
    open_one.__exit__(None, None, None)
    with chat(recording.trace) as call:
        call.output(ANSWER)
    recording.trace.handoff("h", 1)
    recording.trace.evidence("e", 1)
    assert recording.trace.artifact("a", "x", media_type="text/plain") is None
    recording.recorder.close()
    assert recording.so_far() == trace
    assert "output" not in trace["stages"][0]
    assert "duration_ms" not in trace["stages"][1]  # it never ended


# Usage


@pytest.mark.parametrize(
    "calls, expected",
    [
        ([ANSWER], (10, 3, {})),
        ([{"input_tokens": 7, "output_tokens": 2}], (7, 2, {})),
        ([ANSWER, {"input_tokens": 7}], (7, 3, {})),
        ([{"input_tokens": 7}, ANSWER], (7, 0, {})),  # what is said explicitly beats a later response
        ([{"input_tokens": 7}, {}, ANSWER], (10, 3, {})),  # ... until it is taken back
        ([ANSWER, {"input_tokens": 7}, {}], (10, 3, {})),
        ([{"output_tokens": 4, "total_tokens": 9}], (0, 4, {"total_tokens": 9})),
        (
            [{"input_tokens": 5, "output_tokens": 1, "cached_input_tokens": 2, "cache_write_input_tokens": 3}],
            (5, 1, {"cached_input_tokens": 2, "cache_write_input_tokens": 3}),
        ),
        (
            [{"usage": {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 4}}, {"output_tokens": 2}],
            (9, 2, {"cached_input_tokens": 4}),
        ),
        (
            [{"usage": {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 4}}, {"input_tokens": 6}],
            (6, 1, {}),
        ),
        ([{"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5}}, {"input_tokens": 2}],
         (2, 1, {"cost_usd": 0.5})),
    ],
)  # fmt: skip
def test_usage__explicit_beats_inferred(recording: Any, calls: list[Any], expected: Any) -> None:
    """Counts that the application states win over those of the response, before and after it."""
    with chat(recording.trace) as call:
        for one in calls:
            if one == ANSWER or "usage" in one:
                call.output(one)
            else:
                call.usage(**one)
    trace = recording.made()
    given, answered, more = expected
    assert trace["model_calls"][0]["usage"] == {
        "input_tokens": given,
        "output_tokens": answered,
        "total_tokens": given + answered,
        **more,
    }
    assert usage_of(trace) == (ModelUsage("openai:gpt", given, answered, reported_usd=more.get("cost_usd")),)


@pytest.mark.parametrize("wrong", ["12", 1.5, True, -1, 2**60])
def test_usage__no_count__is_warned_of_and_left_out(recording: Any, wrong: Any) -> None:
    """A value that is no number of tokens never raises into the application."""
    with chat(recording.trace) as call:
        call.usage(input_tokens=wrong, output_tokens=2)
    trace = recording.made()
    assert trace["model_calls"][0]["usage"]["input_tokens"] == 0
    assert trace["warnings"] == [{"message": "usage of operation 1: input_tokens must be a whole number of at least 0"}]


def test_usage__answered_without_counts__is_uncounted(recording: Any) -> None:
    """A call that was answered and says nothing of tokens leaves the cost unknown; one that failed costs nothing."""
    with chat(recording.trace):
        pass
    with chat(recording.trace) as call:
        call.output("hi")
    with chat(recording.trace) as call:
        call.usage(total_tokens=5)
    with pytest.raises(ConnectionError), chat(recording.trace):
        raise ConnectionError("refused")
    trace = recording.made()
    assert usage_of(trace) == (ModelUsage("openai:gpt", 0, 0, 4, 3),)
    assert trace["model_calls"][1]["usage"] is None


def test_usage__without_model_calls__that_of_stages_and_tools_counts(recording: Any) -> None:
    """An application that states usage on its own steps is not told to have used nothing."""
    with recording.trace.stage("s") as stage:
        stage.usage(input_tokens=4, output_tokens=1)
    with recording.trace.tool_call("t", arguments=None) as tool:
        tool.usage(input_tokens=1, output_tokens=1)
    assert usage_of(recording.made()) == (ModelUsage(None, 5, 2, 2),)


def test_usage__with_model_calls__that_of_stages_does_not_count_twice(recording: Any) -> None:
    """A stage that repeats what its calls used adds nothing."""
    with recording.trace.stage("s") as stage:
        with chat(recording.trace) as call:
            call.output(ANSWER)
        stage.usage(input_tokens=10, output_tokens=3)
    assert usage_of(recording.made()) == (ModelUsage("openai:gpt", 10, 3),)


def test_usage__beyond_the_list__still_counts(recording: Any) -> None:
    """Calls that find no place any more are counted and paid."""
    calls = LIMITS["model_calls"] + 10
    for _ in range(calls):
        with chat(recording.trace, "x") as call:
            call.output(ANSWER)
            call.attribute("k", 1)
            call.event("e")
    trace = recording.made()
    assert len(trace["model_calls"]) == LIMITS["model_calls"]
    assert (trace["counts"]["model_calls"], trace["truncated"]) == (calls, True)
    assert usage_of(trace) == (ModelUsage("openai:gpt", 10 * calls, 3 * calls, calls),)


def test_usage__endless_models__fall_together(recording: Any) -> None:
    """Names beyond a limit count as an unknown model, so that nothing is lost and nothing grows."""
    for number in range(70):
        with chat(recording.trace, model=f"m{number}") as call:
            call.output(ANSWER)
    usages = usage_of(recording.made())
    assert sum(one.input_tokens for one in usages) == 700
    assert (len(usages), usages[0]) == (64, ModelUsage(None, 70, 21, 7))


def test_usage__stated_costs__add_up_exactly(recording: Any) -> None:
    """What responses say they cost is summed exactly while every one says so."""
    for cost in (0.1, 0.2, 0.3):
        with chat(recording.trace) as call:
            call.output({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": cost}})
    with chat(recording.trace, model="silent") as call:
        call.output({"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 1.0}})
    with chat(recording.trace, model="silent") as call:
        call.output(ANSWER)
    assert [one.reported_usd for one in usage_of(recording.made())] == [0.6, None]


@pytest.mark.parametrize(
    "provider, model, expected",
    [
        ("openai", "gpt", "openai:gpt"),
        ("openai", "openai:gpt", "openai:gpt"),
        ("", "gpt", "gpt"),
        ("openai", "", "openai"),
        ("", "", None),
    ],
)
def test_full_name__is_what_prices_go_by(provider: str, model: str, expected: str | None) -> None:
    """`provider:model`, as far as it is known."""
    assert full_name(provider, model) == expected


# Errors


def test_errors__happen_once_and_mark_what_they_leave(recording: Any) -> None:
    """An exception marks every operation it leaves, and is one error; it always goes on."""
    outer, inner = recording.trace.stage("outer"), recording.trace.tool_call("inner", arguments=1)
    with pytest.raises(ValueError, match="no"), outer, inner:
        raise ValueError("no")
    with pytest.raises(KeyError), recording.trace.stage("another"):
        raise KeyError("k")
    trace = recording.made()
    assert [one["error"] for one in (*trace["stages"], *trace["tool_calls"])] == [
        "ValueError: no",
        "KeyError: 'k'",
        "ValueError: no",
    ]
    assert trace["errors"] == [{"n": 2, "message": "ValueError: no"}, {"n": 3, "message": "KeyError: 'k'"}]


def test_errors__cancellation__is_no_error(recording: Any) -> None:
    """What is stopped from outside is marked as interrupted."""
    with pytest.raises(asyncio.CancelledError), recording.trace.stage("s"):
        raise asyncio.CancelledError
    with pytest.raises(KeyboardInterrupt), chat(recording.trace):
        raise KeyboardInterrupt
    trace = recording.made()
    assert (trace["stages"][0]["interrupted"], trace["errors"]) == (True, [])
    assert usage_of(trace) == (ModelUsage("openai:gpt", 0, 0),)  # cut short, not uncounted


# Attributes, events, handoffs, artifacts, evidence


def test_attributes_and_events__are_kept_in_order_and_bounded(recording: Any) -> None:
    """The first ones of each operation stay; a later value of a known key replaces the earlier one."""
    with recording.trace.stage("s", attributes={"k": 1}) as stage:
        stage.attribute("k", 2)
        stage.attribute(5, "five")
        stage.event("started", {"at": 1})
        for number in range(2 * SMALL):
            stage.attribute(f"a{number}", number)
            stage.event("tick")
        stage.attribute("k", 3)
    trace = recording.made()
    (one,) = trace["stages"]
    assert list(one["attributes"].items())[:3] == [("k", 3), ("5", "five"), ("a0", 0)]
    assert len(one["attributes"]) == len(one["events"]) == SMALL
    assert one["events"][0]["attributes"] == {"at": 1}
    assert one["events"][1].keys() == {"name", "at_ms"}
    assert trace["truncated"] is True


def test_handoffs__are_kept_in_order_and_bounded(recording: Any) -> None:
    """What one stage hands to another, with the stages where they are named."""
    recording.trace.handoff("first", {"a": 1}, from_stage="x", to_stage="y")
    for number in range(LIMITS["handoffs"] + 3):
        recording.trace.handoff("more", number)
    trace = recording.made()
    assert trace["handoffs"][:2] == [
        {"name": "first", "from_stage": "x", "to_stage": "y", "value": {"a": 1}},
        {"name": "more", "value": 0},
    ]
    assert (len(trace["handoffs"]), trace["truncated"]) == (LIMITS["handoffs"], True)


def test_artifact__small__is_kept_and_referred_to(recording: Any) -> None:
    """The caller gets a reference; the trace has the content."""
    reference = recording.trace.artifact("notes", "text é", media_type="text/plain", filename="n.txt")
    assert (reference.name, reference.size, reference.inline, reference.filename) == ("notes", 7, True, "n.txt")
    assert recording.made()["artifacts"] == [{**reference.to_dict(), "content": "text é"}]


def test_artifact__too_large__is_noted_and_not_kept(recording: Any) -> None:
    """Size and digest stay; a required one is warned of; the caller is told with None."""
    assert recording.trace.artifact("big", b"x" * 20_000, media_type="a/b", required=True) is None
    assert recording.trace.artifact("big too", b"x" * 20_000, media_type="a/b") is None
    trace = recording.made()
    assert [(one["size"], one["inline"], "content" in one) for one in trace["artifacts"]] == [
        (20_000, False, False)
    ] * 2
    assert trace["warnings"] == [{"message": "the artifact 'big' was not kept: 20000 bytes are too many"}]


def test_artifact__list_is_full__is_not_kept(recording: Any) -> None:
    """There is a limit to the number as well."""
    for number in range(LIMITS["artifacts"]):
        assert recording.trace.artifact(f"a{number}", number, media_type="application/json") is not None
    assert recording.trace.artifact("one more", 1, media_type="application/json") is None


def test_evidence__what_cannot_be_kept__is_warned_of(recording: Any) -> None:
    """Evidence that is refused never raises; the trace says which and why."""
    recording.trace.evidence(" why ", {"a": [1, "x", None, 0.5]})
    recording.trace.evidence("why", "again")
    recording.trace.evidence("bytes", b"x")
    recording.trace.evidence(7, "x")
    trace = recording.made()
    assert trace["evidence"] == [{"name": "why", "content": {"a": [1, "x", None, 0.5]}}]
    told = [one["message"] for one in trace["warnings"]]
    assert told[0] == "evidence 'why' was not kept: its name was used before in this case"
    assert told[1].startswith("evidence 'bytes' was not kept: the content must be JSON")
    assert told[2] == "evidence \"'int'\" was not kept: its name must be a non-empty text"


def test_evidence_and_warnings__are_bounded(recording: Any) -> None:
    """Neither grows without end."""
    for number in range(LIMITS["evidence"] + LIMITS["warnings"] + 5):
        recording.trace.evidence(f"e{number}", number)
    trace = recording.made()
    assert (len(trace["evidence"]), len(trace["warnings"])) == (LIMITS["evidence"], LIMITS["warnings"])
    assert "at most 128 pieces" in trace["warnings"][0]["message"]


# Where it is called from


def test_context__tasks__nest_in_the_stage_they_were_started_in(recording: Any) -> None:
    """Siblings of a gather are children of the stage around it, not of each other."""

    async def work(number: int) -> None:
        async with recording.trace.tool_call(f"t{number}", arguments=None) as tool:
            await asyncio.sleep(0)
            tool.output(number)

    async def case() -> None:
        async with recording.trace.stage("outer"):
            await asyncio.gather(*(work(number) for number in range(3)))
        async with recording.trace.stage("after"):
            pass

    asyncio.run(case())
    trace = recording.made()
    assert [one["parent"] for one in trace["tool_calls"]] == [1, 1, 1]
    assert "parent" not in trace["stages"][1]


def test_context__threads__record_as_well(recording: Any) -> None:
    """A thread without the context records on the trace it holds; one with it nests."""

    def work() -> None:
        with recording.trace.tool_call("t", arguments=None):
            pass

    with recording.trace.stage("outer"):
        contextvars.copy_context().run(work)
        with ThreadPoolExecutor(4) as pool:
            for _ in pool.map(lambda _: work(), range(20)):
                pass
    trace = recording.made()
    assert (len(trace["tool_calls"]), trace["tool_calls"][0]["parent"]) == (21, 1)
    assert "parent" not in trace["tool_calls"][1]
    assert len({one["n"] for one in trace["tool_calls"]}) == 21


def test_context__left_elsewhere__is_recorded(recording: Any) -> None:
    """An operation that is left in another context ends, and nothing nests in it afterwards."""
    operation = recording.trace.stage("outer")
    contextvars.copy_context().run(operation.__enter__)
    operation.__exit__(None, None, None)
    another = recording.trace.stage("crossed")
    another.__enter__()
    thread = threading.Thread(target=lambda: another.__exit__(None, None, None))
    thread.start()
    thread.join()
    with recording.trace.stage("next"):
        pass
    stages = recording.made()["stages"]
    assert all("duration_ms" in one for one in stages)
    assert ["parent" in one for one in stages] == [False, False, False]


def test_context__another_trace__is_no_parent(recording: Any, recording_with: Any) -> None:
    """Cases that share a process do not nest in each other's operations."""
    other = recording_with()
    with recording.trace.stage("mine"), other.trace.stage("theirs"), recording.trace.stage("mine again"):
        pass
    assert "parent" not in other.made()["stages"][0]
    assert recording.made()["stages"][1]["parent"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_context__forked_copy__records_nothing_and_never_waits(recording: Any) -> None:
    """A fork may copy the lock while it is held; the copy must neither write nor hang."""
    with recording.trace.stage("outer") as stage, recording.recorder._lock:
        child = os.fork()
        if not child:
            try:
                stage.output("from the child")
                stage.usage(input_tokens=1)
                stage.attribute("k", 1)
                stage.event("e")
                recording.trace.handoff("h", 1)
                recording.trace.evidence("e", 1)
                recording.trace.artifact("a", 1, media_type="application/json")
                with recording.trace.stage("inner"):
                    pass
                stage.__exit__(None, None, None)
                os._exit(0 if not recording.sent else 3)
            finally:
                os._exit(4)
        assert os.waitpid(child, 0)[1] == 0
    (one,) = recording.made()["stages"]
    assert "output" not in one


# What is sent when


def test_sending__begins_before_the_call(recording: Any) -> None:
    """A model or tool call is sent before it is made: a process that is killed in it leaves word of it."""
    with recording.trace.stage("outer"), chat(recording.trace, [{"role": "user", "content": "hello"}]):
        lost = recording.so_far()
    assert [one["name"] for one in lost["stages"]] == ["outer"]
    assert lost["model_calls"][0]["input"] == [{"role": "user", "content": "hello"}]
    assert "duration_ms" not in lost["model_calls"][0]
    assert usage_of(lost) == ()  # it was not answered


def test_sending__ended_operations__go_with_the_next_message(recording: Any) -> None:
    """What ended is sent with the next call, and nothing is sent twice."""
    for number in range(3):
        with chat(recording.trace, f"question {number}") as call:
            call.output(ANSWER)
    lost = recording.so_far()
    assert usage_of(lost) == (ModelUsage("openai:gpt", 20, 6, 2),)
    recording.recorder.close()
    entries = [entry for message in recording.sent for entry in message["entries"]]
    assert sum("input" in fields for _, _, fields in entries) == 3
    assert sum("output" in fields for _, _, fields in entries) == 3


def test_sending__changes_afterwards__are_not_recorded(recording: Any) -> None:
    """What was given is kept as it was, although the application goes on using the same list."""
    conversation = [{"role": "user", "content": "hello"}]
    with chat(recording.trace, conversation) as call:
        conversation.append({"role": "assistant", "content": "hi"})
        call.output(ANSWER)
    with chat(recording.trace, conversation):
        pass
    trace = recording.made()
    assert messages(trace, 0) == conversation[:1]
    assert messages(trace, 1) == conversation


def test_recorder__on_its_own__cuts_and_says_by_itself() -> None:
    """Whoever records outside of a run needs to say nothing but where messages go."""
    sent: list[Any] = []
    recorder = Recorder(sent.append)
    with pytest.raises(ValueError, match="no"), RecordingTrace(recorder).stage("s", inputs="x" * (LONGEST + 5)):
        raise ValueError("no")
    recorder.close()
    (fields, error) = (sent[0]["entries"][1][2], sent[0]["entries"][0][2])
    assert fields["inputs"] == "x" * LONGEST + "[... 5 characters left out ...]"
    assert (fields["error"], error["message"]) == ("ValueError: no", "ValueError: no")


class Odd:
    """An object whose every look raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_recording__odd_values__never_raise(recording: Any) -> None:
    """Names, contents and errors of any kind are recorded somehow."""
    odd: Any = Odd()
    with recording.trace.stage(odd, inputs=odd, attributes={odd: odd}) as stage:
        stage.output({1: {2, 3}, "nan": float("nan"), "self": (odd,)})
        stage.event(odd, {"a": odd})
    with chat(recording.trace, odd, provider=None, model=7) as call:
        call.output(odd)
    with recording.trace.tool_call("t" * 1000, arguments="\ud800"):
        pass
    trace = recording.made()
    assert trace["stages"][0]["name"] == "Odd"
    assert trace["stages"][0]["output"]["nan"] == "nan"
    assert len(trace["tool_calls"][0]["name"]) == NAME
    assert trace["tool_calls"][0]["arguments"] == "\\ud800"
    assert usage_of(trace)[0].model == "None:7"


def test_recording__looking_at_a_value_records__does_not_wait_for_itself(recording: Any) -> None:
    """A conversion of the application that is itself traced is recorded within."""

    class Traced:
        def model_dump(self, mode: str) -> Any:
            with recording.trace.stage("dumping"):
                return {"a": 1}

    with recording.trace.stage("outer") as stage:
        stage.output(Traced())
    stages = recording.made()["stages"]
    assert [(one["name"], one.get("output")) for one in stages] == [("outer", {"a": 1}), ("dumping", None)]
