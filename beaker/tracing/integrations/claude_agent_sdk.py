"""The names of an adapter for the Claude Agent SDK, which this version cannot record.

Its calls of models are made by another program, which tells of them in OTLP alone; nothing here receives that. Code
that uses the adapter goes on unrecorded, with a warning, here and in the trace. What the SDK's messages say can be
recorded by hand, with `trace.model_call` and `trace.tool_call`.
"""

import warnings
from collections.abc import Mapping
from typing import Any, Self

from beaker.sdk.trace import Trace
from beaker.tracing.following import warn

REASON = "the Claude Agent SDK is not recorded by this version: record its messages with trace.model_call"


class Unrecorded(Exception):
    """There is no adapter that could record it."""


def registered(trace: Trace, *, content: bool = True, raw_bodies: bool = False, grace: float = 5.0) -> "Registration":
    """A block, synchronous or asynchronous, in which nothing of the SDK is recorded; with a `RuntimeWarning`, and a
    warning in the trace, where something should be. The options of other versions decide what is recorded, so they have
    nothing to decide here."""
    return Registration(trace)


class Registration:
    """The block; `enabled` says that nothing is recorded."""

    enabled = False

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __enter__(self) -> Self:
        if self._trace.enabled:
            warnings.warn(REASON, RuntimeWarning, stacklevel=2)
            warn(self._trace, "what the Claude Agent SDK did", Unrecorded())
        return self

    def __exit__(self, *_: object) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        return None

    def env(self, existing: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment for the SDK, with nothing added."""
        return dict(existing or {})

    def options(self, existing: Any = None) -> Any:
        """The options for the SDK as they are."""
        return existing

    async def flush(self, timeout: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True
