"""Figures of traces: an operation on the inert one and on one that records, and what a long conversation takes."""

import os
import subprocess
import time
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any

from beaker.core.strict_json import dumps
from beaker.core.traces import TraceParts, take, trace_of
from beaker.sdk.trace import NOOP_TRACE, Trace
from beaker.tracing.recorder import Recorder
from beaker.tracing.recording import RecordingTrace

TURNS = 60
CHARACTERS = 4_000

MESSAGES = [{"role": "user", "content": "What is the total of this invoice?"}]
RESPONSE = {
    "choices": [{"message": {"role": "assistant", "content": "It is 12.50."}}],
    "usage": {"prompt_tokens": 412, "completion_tokens": 9, "total_tokens": 421},
}


def stage(trace: Trace) -> None:
    """One stage without content."""
    with trace.stage("s"):
        pass


def model_call(trace: Trace) -> None:
    """One model call with its message and its response."""
    with trace.model_call(operation="chat", provider="openai", model="m", input_messages=MESSAGES) as call:
        call.output(RESPONSE)


def recording(descriptor: int, sent: list[Any] | None = None) -> Recorder:
    """A recorder that writes into a pipe, as a rollout process does."""

    def send(message: dict[str, Any]) -> None:
        os.write(descriptor, dumps({"id": 1, "event": "trace", **message}).encode("ascii") + b"\n")
        if sent is not None:
            sent.append(message)

    return Recorder(send, cut=lambda text: text, say=str)


def recorded(operation: Callable[[Trace], None], descriptor: int) -> float:
    """Seconds of one recorded operation, sending included: the least of 60 cases with 30 operations each.

    So many fit into a pipe; between cases its reader gets time to empty it.
    """
    times = []
    for _ in range(60):
        trace = RecordingTrace(recording(descriptor))
        times.append(timeit.timeit(partial(operation, trace), number=30) / 30)
        time.sleep(0.01)
    return min(times)


def conversation(descriptor: int) -> tuple[float, int, int]:
    """Seconds that recording a growing conversation takes; the bytes of its trace; those of the conversation."""
    sent: list[Any] = []
    messages: list[Any] = []

    def converse() -> None:
        recorder = recording(descriptor, sent)
        trace = RecordingTrace(recorder)
        for turn in range(TURNS):
            messages.append({"role": "user", "content": f"question {turn} ".ljust(CHARACTERS, "?")})
            reply = f"answer {turn} ".ljust(CHARACTERS, "!")
            with trace.model_call(operation="chat", provider="openai", model="m", input_messages=messages) as call:
                call.output({**RESPONSE, "choices": [{"message": {"role": "assistant", "content": reply}}]})
            messages.append({"role": "assistant", "content": reply})
        recorder.close()

    seconds = timeit.timeit(converse, number=1)
    parts = TraceParts()
    for message in sent:
        take(parts, message)
    return seconds, len(dumps(trace_of(parts))), len(dumps(messages))


def main() -> None:
    """Print the figures."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin is not None
        descriptor = reader.stdin.fileno()
        for operation in (stage, model_call):
            inert = min(timeit.repeat(partial(operation, NOOP_TRACE), number=10_000, repeat=5)) / 10_000
            kept = recorded(operation, descriptor)
            name = operation.__name__.replace("_", " ")
            print(f"{name}: inert {inert * 1e6:.2f} us, recorded {kept * 1e6:.1f} us")
        seconds, stored, said = conversation(descriptor)
    print(f"a conversation of {TURNS} turns: {seconds * 1000 / TURNS:.2f} ms a call, ", end="")
    print(f"{stored:,} bytes stored for {said:,} ({stored / said:.2f} times)")


if __name__ == "__main__":
    main()
