"""The inert trace: it has the signatures of the protocol, and does nothing."""

import asyncio
import copy
import inspect
import pickle

import pytest

from beaker.sdk.trace import NOOP_TRACE, ArtifactRef, NoopOperation, NoopTrace, Trace, TraceOperation


@pytest.mark.parametrize("protocol,inert", [(Trace, NoopTrace), (TraceOperation, NoopOperation)])
def test_noop__has_every_member_with_the_same_parameters(protocol: type, inert: type) -> None:
    """A call that works against the protocol works against the inert trace, and a wrong one fails on both."""
    members = [
        name
        for name, member in vars(protocol).items()
        if inspect.isfunction(member) and name not in ("__init__", "__subclasshook__")
    ]
    assert members
    for name in members:
        expected = inspect.signature(getattr(protocol, name)).parameters
        found = inspect.signature(getattr(inert, name)).parameters
        assert [(p.name, p.kind, p.default) for p in expected.values()] == [
            (p.name, p.kind, p.default) for p in found.values()
        ]


def test_noop__every_call__does_nothing() -> None:
    """Everything may be called; everything that returns an operation returns the one shared object."""
    trace: Trace = NOOP_TRACE
    assert trace.enabled is False
    operations = [
        trace.stage("s", inputs={"a": 1}, attributes={"k": 1}),
        trace.model_call(operation="chat", provider="p", model="m", input_messages=[], server_address="x"),
        trace.tool_call("t", arguments={}, call_id="1"),
    ]
    assert len({id(operation) for operation in operations}) == 1
    with operations[0] as operation:
        operation.output(object())
        operation.usage(input_tokens=1, output_tokens=2, total_tokens=3)
        operation.attribute("k", True)
        operation.event("e", {"k": 1})
    trace.handoff("h", 1, from_stage="a", to_stage="b")
    trace.evidence("e", {"a": 1})
    assert trace.artifact("a", b"x", media_type="text/plain", required=True) is None


def test_noop__wrong_keyword__fails_as_it_would_while_recording() -> None:
    """A misspelt argument is found without a recording."""
    with pytest.raises(TypeError):
        NOOP_TRACE.model_call(operation="chat", provider="p", model="m", messages=[])  # type: ignore[call-arg]  # the point
    with pytest.raises(TypeError):
        NOOP_TRACE.stage("s").usage(tokens=3)  # type: ignore[call-arg]  # the point


def test_noop__exception_in_the_block__goes_on() -> None:
    """Neither way of entering swallows what the body raises."""
    with pytest.raises(KeyError), NOOP_TRACE.stage("s"):
        raise KeyError("k")

    async def body() -> None:
        async with NOOP_TRACE.stage("s") as operation:
            assert operation is NOOP_TRACE.stage("other")
            raise KeyError("k")

    with pytest.raises(KeyError):
        asyncio.run(body())


def test_artifact_ref__to_dict__leaves_out_what_is_not_said() -> None:
    """The stored form has no empty fields, and a kind only for evidence."""
    reference = ArtifactRef(name="n", sha256="s", media_type="t", size=3)
    assert reference.to_dict() == {
        "name": "n",
        "sha256": "s",
        "media_type": "t",
        "size": 3,
        "required": False,
        "inline": False,
    }
    evidence = ArtifactRef(name="n", sha256="s", media_type="t", size=3, kind="evidence", filename="f")
    assert (evidence.to_dict()["kind"], evidence.to_dict()["filename"]) == ("evidence", "f")


def test_noop__copies_and_pickles__are_equal() -> None:
    """A runtime with the inert trace can be copied and sent like any value."""
    for same in (copy.copy(NOOP_TRACE), copy.deepcopy(NOOP_TRACE), pickle.loads(pickle.dumps(NOOP_TRACE))):
        assert same == NOOP_TRACE
        assert hash(same) == hash(NOOP_TRACE)
    assert object() != NOOP_TRACE
