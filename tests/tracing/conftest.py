"""A recorder whose messages are put together as a host does it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from beaker.core.strict_json import dumps
from beaker.core.traces import LONGEST, TraceParts, take, trace_of
from beaker.tracing.contents import BUDGET
from beaker.tracing.recorder import Recorder
from beaker.tracing.recording import RecordingTrace


class Recorded:
    """`trace` to write to, `sent` the messages so far; `made()` ends the case and gives its trace."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.sent: list[dict[str, Any]] = []
        self.recorder = Recorder(
            self.send,
            cut=lambda text: f"{text[:LONGEST]}...",
            say=lambda error: f"{type(error).__name__}: {error}",
            budget=budget,
        )
        self.trace = RecordingTrace(self.recorder)

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(json.loads(dumps(message)))  # what cannot travel fails here

    def so_far(self) -> Any:
        """The trace of a case whose process is lost now."""
        parts = TraceParts()
        for message in self.sent:
            take(parts, message)
        return trace_of(parts)

    def made(self) -> Any:
        self.recorder.close()
        return self.so_far()


@pytest.fixture
def recording() -> Recorded:
    """A recorder of one case."""
    return Recorded()


@pytest.fixture
def recording_with() -> Callable[..., Recorded]:
    """Recorders with a budget of content."""
    return Recorded
