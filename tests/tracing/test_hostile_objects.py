"""Whatever goes wrong while something is recorded never reaches the application's code."""

import enum
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaker.core.strict_json import json_value
from beaker.core.usage import infer_usage
from beaker.sdk.json_safe import to_json_safe, to_json_within


def _raise(*_: Any, **__: Any) -> Any:
    raise RuntimeError("of the application")


def _leave(*_: Any, **__: Any) -> Any:
    sys.exit(3)


def _hostile(base: type, name: str, fail: Callable[..., Any]) -> Any:
    return type(f"Hostile_{name}", (base,), {name: property(fail) if name in ("__class__", "usage") else fail})


class Endless(Mapping[str, int]):
    """A mapping that says it has one entry and gives them without end."""

    def __getitem__(self, key: str) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            yield str(number)
            number += 1

    def __len__(self) -> int:
        return 1


class Itself(enum.Enum):
    """An enum whose value is a member again."""

    ONE = 1

    @property
    def value(self) -> Any:
        return self


class Chain:
    """A model that dumps to a model, without end."""

    def model_dump(self, **_: Any) -> Any:
        return Chain()


def _released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


def _members() -> list[Any]:
    kinds = []
    for fail in (_raise, _leave):
        kinds.append(enum.Enum("Of", {"ONE": 1}).ONE)  # type: ignore[attr-defined]
        kinds.append(_valued(fail))
        kinds += [
            _hostile(object, name, fail)()
            for name in ("__class__", "__repr__", "__str__", "model_dump", "to_dict", "usage", "__bool__", "__eq__")
        ]
        kinds.append(_hostile(object, "__getattr__", fail)())
        kinds.append(_hostile(datetime, "isoformat", fail)(2024, 1, 1))
        for name in ("encode", "isascii", "__str__", "__len__", "__getitem__", "strip", "__eq__", "__hash__"):
            kinds.append(_hostile(str, name, fail)("é" * 200))
        kinds += [_hostile(int, name, fail)(7) for name in ("__int__", "__index__", "__lt__", "__repr__")]
        kinds += [_hostile(float, name, fail)(0.5) for name in ("__float__", "__repr__", "__le__")]
        kinds += [_hostile(dict, name, fail)(a=1) for name in ("items", "keys", "__iter__", "get")]
        kinds += [_hostile(list, name, fail)([1]) for name in ("__iter__", "__len__", "__getitem__")]
        kinds.append(_hostile(Endless, "items", fail)())
        kinds.append(_named(fail)())
    return kinds


def _valued(fail: Callable[..., Any]) -> Any:
    class Valued(enum.Enum):
        ONE = 1

        @property
        def value(self) -> Any:
            return fail()

    return Valued.ONE


def _named(fail: Callable[..., Any]) -> Any:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            return fail() if name in ("__module__", "__name__", "__qualname__") else super().__getattribute__(name)

    return Meta("Named", (), {"__repr__": fail})


def _lying(kind: type) -> Any:
    return type("Lying", (), {"__class__": property(lambda _: kind)})()


HOSTILE = [
    *_members(),
    *map(_lying, (str, int, float, bool, dict, list, tuple, bytes, datetime, enum.Enum, set)),
    10**6000,
    -(10**6000),
    _released(),
    Itself.ONE,
    Chain(),
    MagicMock(),
    "\ud800" * 300,
    float("nan"),
    {1: 1, "1": 2, (1, 10**5000): 3},
    {10**5000},
]
# Hypothesis shows what it draws, which these objects do not stand: it draws their places.
PLANS = st.recursive(
    st.integers(0, len(HOSTILE) - 1),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


def built(plan: Any) -> Any:
    """The plan with the objects in their places."""
    if isinstance(plan, dict):
        return {key: built(item) for key, item in plan.items()}
    return HOSTILE[plan] if isinstance(plan, int) else type(plan)(map(built, plan))


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_to_json_safe__hostile_object__is_strict_json(place: int) -> None:
    """Whatever the object, what comes out can be stored, and no exit of it leaves."""
    made = to_json_safe([HOSTILE[place], {"a": HOSTILE[place]}])
    assert json_value(made, "made") == made
    json.dumps(made, allow_nan=False).encode()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, GeneratorExit])
def test_to_json_safe__interrupt__passes(interrupt: type[BaseException]) -> None:
    """Who interrupts the program is not held up by a conversion."""

    def fail(*_: Any, **__: Any) -> Any:
        raise interrupt

    with pytest.raises(interrupt):
        to_json_safe([_hostile(object, "model_dump", fail)()])


@given(PLANS)
def test_infer_usage__hostile_response__never_raises(plan: Any) -> None:
    """No response can make reading its usage fail."""
    value = built(plan)
    assert infer_usage(value) is None
    infer_usage({"usage": {"input_tokens": 1, "output_tokens": value, "cost": value}})
    counted = infer_usage({"usage": {"input_tokens": 1, "output_tokens": 2, "cost": value}})
    assert counted is not None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=PLANS, naming=PLANS)
def test_recording__hostile_objects__never_reach_the_application(recording_with: Any, plan: Any, naming: Any) -> None:
    """Every entry takes every object in every place, and the trace is strict JSON with the usage of the calls."""
    value, name = built(plan), built(naming)
    recording = recording_with()
    trace = recording.trace
    for given_, messages in ((value, value), ([value, {"role": "user", "content": value}], [value])):
        with trace.model_call(operation="chat", provider="p", model="m", input_messages=messages) as call:
            call.output(given_)
            call.usage(input_tokens=1, output_tokens=2)
        with trace.model_call(
            operation=name, provider=name, model=name, input_messages=given_, server_address=name
        ) as call:
            call.usage(input_tokens=value, output_tokens=value)
        with trace.stage(name, inputs=given_, attributes={"a": value}) as stage:
            stage.attribute(name, value)
            stage.event(name, {"x": value})
            stage.event("e", value)
        with trace.stage("s", attributes=value):
            pass
        with trace.tool_call(name, arguments=given_, call_id=name) as tool:
            tool.output(value)
        trace.handoff(name, given_, from_stage=name, to_stage=name)
        trace.artifact(name, given_, media_type="text/plain", filename=name, required=value)
        trace.artifact("n", value, media_type=name)
        trace.evidence(name, given_)
        trace.evidence("n", value)
    made = recording.made()
    assert json_value(made, "trace") == made
    assert [len(made[kind]) for kind in ("model_calls", "stages", "tool_calls", "handoffs")] == [4, 4, 2, 2]
    counted = [one["usage"] for one in made["model_calls"][::2]]
    assert counted == [{"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}] * 2
    with trace.stage("after"):  # no operation is left open around it
        pass


@pytest.mark.parametrize("fail", [_raise, _leave])
def test_recording__exception_without_text__is_told_by_its_class(recording: Any, fail: Any) -> None:
    """The exception of the application passes as it is, whatever its own text does."""
    kind = type("Silent", (Exception,), {"__str__": fail, "__repr__": fail})
    with pytest.raises(kind), recording.trace.stage("s"):
        raise kind
    assert "Silent" in recording.made()["stages"][0]["error"]


def test_recording__failing_transport__never_reaches_the_application(recording: Any) -> None:
    """A pipe that is gone is no matter of the application, and operations still nest."""
    recording.recorder._send = _raise
    with recording.trace.model_call(operation="c", provider="p", model="m", input_messages="x") as call:
        call.output("y")
        recording.trace.evidence("n", "text")
        recording.trace.artifact("n", "text", media_type="text/plain")


def test_recording__interrupt_while_entering__leaves_nothing_open(recording: Any) -> None:
    """An operation that was interrupted while it began is around nothing that comes later."""

    def fail(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    operation = recording.trace.stage("broken", inputs=_hostile(object, "model_dump", fail)())
    with pytest.raises(KeyboardInterrupt), operation:
        pass
    with recording.trace.stage("after"):
        pass
    assert "parent" not in recording.made()["stages"][-1]


def test_recording__artifact_that_cannot_be_read__is_warned_of(recording: Any) -> None:
    """What was not recorded is said in the trace."""
    assert recording.trace.artifact("n", _hostile(object, "__class__", _raise)(), media_type="a/b") is None
    recording.trace.evidence("n", _hostile(dict, "items", _leave)(a=1))
    assert [one["message"] for one in recording.made()["warnings"]] == [
        "artifact was not recorded: RuntimeError",
        "evidence 'n' was not kept: its content cannot be read: SystemExit",
    ]


def test_to_json_within__endless_content__ends(recording: Any) -> None:
    """Work is bounded by what is kept: a mapping, a chain of models and a long list end early."""
    plain, whole = to_json_within(Endless(), 1_000)
    assert not whole
    assert len(plain) < 300
    assert plain["omitted"] is True
    looked = MagicMock()
    to_json_safe(looked)
    assert len(looked.mock_calls) < 20
    with recording.trace.stage("s", inputs=Endless()) as stage:
        stage.output([Endless()])
    with recording.trace.model_call(operation="c", provider="p", model="m", input_messages=[Endless()]) as call:
        call.output("ok")
    recording.trace.evidence("n", Endless())
    assert recording.trace.artifact("n", Endless(), media_type="application/json") is None
    made = recording.made()
    assert made["truncated"] is True
    assert ["too many parts" in one["message"] for one in made["warnings"]] == [True, True]


def test_conversation__more_messages_than_fit__are_not_all_looked_at(recording_with: Any) -> None:
    """Of a list far beyond the budget only a beginning is read."""
    looked = []

    class Message(dict[str, Any]):
        def items(self) -> Any:
            looked.append(1)
            return super().items()

    recording = recording_with(budget=1_024)
    with recording.trace.model_call(
        operation="c", provider="p", model="m", input_messages=[Message(a=number) for number in range(5_000)]
    ):
        pass
    assert 0 < len(looked) < 500
