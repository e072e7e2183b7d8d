"""Operations that are opened and closed by ids: they nest as the ids say, in whatever thread or context."""

import threading
from contextvars import Context
from typing import Any

from beaker.sdk.trace import NOOP_TRACE
from beaker.tracing import following
from beaker.tracing.following import Ended, Following, amend, shared, warn


def test_following__ids__say_what_lies_within_what(recording: Any) -> None:
    """Children of one parent are siblings, though they overlap and end in other threads."""
    made, trace = Following(), recording.trace
    with trace.stage("around"):
        made.begin("a", trace.stage("a"))
        made.begin("b", trace.stage("b"), parent="a")
        made.pass_on("unseen", "b")
        made.begin("c", trace.stage("c"), parent="unseen")
        made.begin("d", trace.stage("d"), parent="a")
    made.begin("e", trace.stage("e"), parent="nobody knows")
    for key in ("a", "c", "d", "b", "e"):
        thread = threading.Thread(target=lambda key=key: Context().run(made.end, key))
        thread.start()
        thread.join()
    made.end("a")
    stages = {one["name"]: one for one in recording.made()["stages"]}
    names = {one["n"]: name for name, one in stages.items()}
    parents = {name: names.get(one.get("parent")) for name, one in stages.items()}
    assert parents == {"around": None, "a": "around", "b": "a", "c": "b", "d": "a", "e": None}
    assert all("duration_ms" in one for one in stages.values())


def test_following__same_id_twice_or_in_circles__does_no_harm(recording: Any) -> None:
    """The second operation of an id is dropped, and ids that pass on in a circle lead nowhere."""
    made, trace = Following(), recording.trace
    made.begin("a", trace.stage("first"))
    made.begin("a", trace.stage("second"))
    made.pass_on("x", "y")
    made.pass_on("y", "x")
    made.pass_on("z", None)
    made.begin("b", trace.stage("b"), parent="x")
    assert made.keys() == ["a", "b"]
    assert made.find("c") is None
    assert made.end_all("it was given up") == 2
    assert [(one["name"], one["error"]) for one in recording.made()["stages"]] == [
        ("first", "Ended: it was given up"),
        ("b", "Ended: it was given up"),
    ]


def test_following__too_many_open__are_not_remembered(recording: Any, monkeypatch: Any) -> None:
    """What a framework never ends is bounded."""
    monkeypatch.setattr(following, "MAX_OPEN", 2)
    made = Following()
    for key in range(4):
        made.begin(key, recording.trace.stage(str(key)))
        made.pass_on((key, "x"), key)
    assert made.keys() == [0, 1]


def test_amend__after_the_beginning__states_what_was_not_known(recording: Any) -> None:
    """Model, provider and input may come late; an input that is known stays."""
    trace = recording.trace
    late = trace.model_call(operation="chat", provider="", model="", input_messages=None)
    early = trace.model_call(operation="chat", provider="p", model="m", input_messages=["x"])
    amend(late, given=["too early"], model="dropped")
    with late, early:
        amend(late, given=[{"role": "user", "content": "q"}], provider="openai", model="m-1")
        amend(late, given=["again"])
        amend(early, given=["y"])
        late.output({"usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    amend(late, model="after the end")
    amend(None, model="x")
    with NOOP_TRACE.stage("s") as inert:
        amend(inert, given="x")
    with trace.tool_call("t", arguments=None) as tool:
        amend(tool, given={"a": 1}, call_id="c1")
    made = recording.made()
    first, second = made["model_calls"]
    assert (first["provider"], first["model"], first["input"]) == ("openai", "m-1", [{"role": "user", "content": "q"}])
    assert second["input"] == ["x"]
    assert [one["model"] for one in made["usage"]] == ["openai:m-1", "p:m"]
    assert (made["tool_calls"][0]["arguments"], made["tool_calls"][0]["call_id"]) == ({"a": 1}, "c1")


def test_shared__for_a_trace__is_made_once_a_key(recording: Any) -> None:
    """One adapter for each trace and key; a trace that keeps nothing gets a new one."""
    one = shared(recording.trace, "k", object)
    assert shared(recording.trace, "k", object) is one
    assert shared(recording.trace, "other", object) is not one
    assert shared(NOOP_TRACE, "k", object) is not shared(NOOP_TRACE, "k", object)


def test_warn__is_noted_in_the_trace(recording: Any) -> None:
    """What an adapter missed is in the trace; an inert one has no place for it."""
    warn(NOOP_TRACE, "x", Ended())
    warn(recording.trace, "the answer", TimeoutError())
    assert [one["message"] for one in recording.made()["warnings"]] == ["the answer was not recorded: TimeoutError"]
