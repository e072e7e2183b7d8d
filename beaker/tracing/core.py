"""The parts of tracing that customers import from `beaker.tracing.core`."""

from beaker.sdk.trace import ArtifactRef, NoopTrace, Scalar, Trace, TraceOperation

__all__ = ["ArtifactRef", "NoopTrace", "Scalar", "Trace", "TraceOperation"]
