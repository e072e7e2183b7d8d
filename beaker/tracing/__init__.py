"""The trace a rollout can write to."""

from beaker.sdk.trace import ArtifactRef, Trace, TraceOperation
from beaker.tracing.context import activate_trace, current_trace

__all__ = ["ArtifactRef", "Trace", "TraceOperation", "activate_trace", "current_trace"]
