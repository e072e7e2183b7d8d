"""The recorder of one case in a child process: what it records goes to the host as events of the case's request."""

from typing import Any

from beaker.core.traces import LONGEST
from beaker.runtime.channel import Channel
from beaker.runtime.failures import said
from beaker.runtime.shortening import preliminary
from beaker.tracing.contents import BUDGET
from beaker.tracing.recorder import Recorder


def case_recorder(channel: Channel, request: dict[str, Any], *, budget: int = BUDGET) -> Recorder:
    """A recorder that sends `trace` events of `request`, with at most `budget` characters of content."""
    return Recorder(
        lambda message: channel.event(request, "trace", **message),
        cut=lambda text: preliminary(text, LONGEST),
        say=said,
        budget=budget,
    )
