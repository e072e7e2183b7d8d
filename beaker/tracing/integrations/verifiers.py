"""Recording the tools that environments of `verifiers` call. Calls of models are not seen here."""

from collections.abc import Mapping
from functools import wraps
from typing import Any, TypeVar

from beaker.sdk.trace import Trace
from beaker.tracing.context import current_trace

HIDDEN_ARGUMENTS_ATTRIBUTE = "beaker.tool.hidden_arguments"
"""The attribute that names, with commas, the arguments of a tool whose values are not recorded."""

_MARK = "_beaker_trace"
_UNPINNED = object()

EnvT = TypeVar("EnvT")


def instrument(env: EnvT, *, trace: Trace | None = None) -> EnvT:
    """Have every call of `env.call_tool` recorded, in place, and give `env` back.

    It is recorded with `trace`, without one with the trace that is active at each call. Of the arguments that
    `env.skipped_args` names for a tool only the names are kept. Doing it again changes nothing; with another trace it
    is a `ValueError`. `TypeError` for an environment that has no `call_tool`. With a `trace` that records nothing `env`
    stays as it is.
    """
    environment: Any = env
    call = getattr(environment, "call_tool", None)
    if not callable(call):
        raise TypeError(f"{type(env).__name__} has no call_tool to be recorded")
    wanted: object = _UNPINNED if trace is None else trace
    pinned = getattr(environment, _MARK, None)
    if pinned is not None:
        if pinned is not wanted:
            raise ValueError("this environment is recorded already, with another trace")
        return env
    if trace is not None and not trace.enabled:
        return env

    @wraps(call)
    async def call_tool(tool_name: str, tool_args: Any, tool_call_id: str | None = None, **more: Any) -> Any:
        active = current_trace() if trace is None else trace
        if not active.enabled:
            return await call(tool_name, tool_args, tool_call_id, **more)
        shown, hidden = _divided(environment, tool_name, tool_args)
        with active.tool_call(tool_name, arguments=shown, call_id=tool_call_id) as operation:
            if hidden:
                operation.attribute(HIDDEN_ARGUMENTS_ATTRIBUTE, ",".join(hidden))
            message = await call(tool_name, tool_args, tool_call_id, **more)
            operation.output(_content(message))
            return message

    environment.call_tool = call_tool
    setattr(environment, _MARK, wanted)
    return env


def is_instrumented(env: object) -> bool:
    """Whether the calls of this environment are recorded."""
    return getattr(env, _MARK, None) is not None


def _divided(env: Any, tool: str, arguments: Any) -> tuple[Any, list[str]]:
    """The arguments that are shown, and the names of the others."""
    skipped = getattr(env, "skipped_args", None)
    names = skipped.get(tool, ()) if isinstance(skipped, Mapping) else ()
    if not names or not isinstance(arguments, Mapping):
        return arguments, []
    hidden = [str(name) for name in names if name in arguments]
    return {name: value for name, value in arguments.items() if name not in names}, hidden


def _content(message: Any) -> Any:
    if isinstance(message, Mapping):
        return message.get("content", message)
    return getattr(message, "content", message)
