"""What a hook is before it is called: which arguments it takes and what calling it will give."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Any

from beaker.core.text import FOREIGN, class_name

ANY: Any = object()
"""Stands for an argument when a signature is bound."""


class Gives(Enum):
    """What calling something gives, as far as can be told without calling it."""

    COROUTINE = "a coroutine"
    GENERATOR = "a generator"
    ASYNC_GENERATOR = "an asynchronous generator"
    SYNC_CONTEXT = "a synchronous context manager"
    UNKNOWN = "unknown"


def binding_fault(function: Any, /, *arguments: Any, **named: Any) -> Exception | None:
    """Why `function` cannot be called with exactly these arguments; `None` when it can."""
    try:
        inspect.signature(function).bind(*arguments, **named)
    except (TypeError, ValueError) as error:
        return error
    except FOREIGN as error:  # an attribute that inspect looks for is computed by the customer's code
        told = TypeError(f"{class_name(error)} is raised when its signature is looked for")
        told.__cause__ = error
        return told
    return None


def gives(function: Any) -> Gives:
    """What a call of `function` itself gives. Wrappers are not followed: the outermost function is what is called."""
    function = _plain(function)
    if inspect.iscoroutinefunction(function) or _is_marked(function):
        return Gives.COROUTINE
    if inspect.isasyncgenfunction(function):
        return Gives.ASYNC_GENERATOR
    if inspect.isgeneratorfunction(function):
        return Gives.GENERATOR
    if getattr(function, "__code__", None) is _SYNC_CONTEXT_CODE:
        return Gives.SYNC_CONTEXT
    return Gives.UNKNOWN


def is_async(function: Any) -> bool:
    """Whether calling `function` gives something to await.

    The outermost function that tells decides: an asynchronous wrapper of a synchronous function is asynchronous; a
    plain wrapper (`functools.wraps`) tells nothing, so what it wraps is asked.
    """
    for link in _links(function):
        if (given := gives(link)) is not Gives.UNKNOWN:
            return given is Gives.COROUTINE
    return False


def _links(function: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        yield function
        function = getattr(function, "__wrapped__", None) or getattr(_plain(function), "__wrapped__", None)


def _plain(function: Any) -> Any:
    """The function behind a partial, a bound method or an object with `__call__`."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return getattr(function, "__func__", function)
    if inspect.iscoroutinefunction(function) or _is_marked(function):
        return function
    call = getattr(type(function), "__call__", None)  # noqa: B004  # the function is wanted, not whether there is one
    return call if inspect.isfunction(call) else function


def _is_marked(function: Any) -> bool:
    """Whether asyncio's marker says coroutine function; mocks carry it where `inspect` has no mark of its own."""
    marker = getattr(sys.modules.get("asyncio.coroutines"), "_is_coroutine", None)
    return marker is not None and getattr(function, "_is_coroutine", None) is marker


def _sync_context_code() -> Any:
    @contextmanager
    def example() -> Iterator[None]:
        yield

    made: Callable[..., Any] = example
    return made.__code__


_SYNC_CONTEXT_CODE = _sync_context_code()
