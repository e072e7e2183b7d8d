"""What is told about a hook without calling it."""

import functools
import inspect
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest

from beaker.sdk.callables import ANY, Gives, binding_fault, gives, is_async


async def coroutine(a: int = 1) -> int:
    return a


def plain(a: int = 1) -> int:
    return a


def generator() -> Any:
    yield 1


async def async_generator() -> Any:
    yield 1


def wraps(wrapped: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    functools.update_wrapper(wrapper, wrapped)
    return wrapper


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    return wraps(function, lambda *args, **kwargs: function(*args, **kwargs))


def awaiting(function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wraps(function, wrapper)


class Method:
    async def coroutine(self) -> None: ...

    @staticmethod
    async def static() -> None: ...

    @classmethod
    async def of_class(cls) -> None: ...

    def plain(self) -> None: ...


class AsyncCall:
    async def __call__(self) -> None: ...


class PlainCall:
    def __call__(self) -> None: ...


class Wrapper:
    """A wrapper object whose own call is asynchronous, whatever it wraps."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)

    async def __call__(self) -> None: ...


ASYNC = [
    coroutine,
    functools.partial(coroutine, 1),
    functools.partial(functools.partial(coroutine)),
    Method().coroutine,
    Method.static,
    Method.of_class,
    AsyncCall(),
    AsyncMock(),
    passing_on(coroutine),
    passing_on(passing_on(coroutine)),
    awaiting(plain),
    awaiting(passing_on(plain)),
    Wrapper(plain),
]
NOT_ASYNC = [
    plain,
    lambda: coroutine(),
    generator,
    async_generator,
    Method().plain,
    PlainCall(),
    MagicMock(),
    print,
    int,
    passing_on(plain),
    passing_on(async_generator),
    wraps(coroutine, generator),
    asynccontextmanager(async_generator),
]


@pytest.mark.parametrize("function", ASYNC)
def test_is_async__what_calling_really_gives(function: Any) -> None:
    """Whatever gives a coroutine when called is asynchronous, however it is dressed."""
    assert is_async(function)


@pytest.mark.parametrize("function", NOT_ASYNC)
def test_is_async__others__are_not(function: Any) -> None:
    """Plain functions, generators, and wrappers of them are not."""
    assert not is_async(function)


@pytest.mark.skipif(not hasattr(inspect, "markcoroutinefunction"), reason="came with Python 3.12")
def test_is_async__marked_function__is() -> None:
    """A function marked as a coroutine function is one."""
    assert is_async(inspect.markcoroutinefunction(lambda: None))


def test_is_async__wrapping_itself__ends() -> None:
    """A chain of wrappers that leads back to itself is followed once."""

    def loop() -> None: ...

    loop.__wrapped__ = loop  # type: ignore[attr-defined]  # the point of the test
    assert not is_async(loop)


@pytest.mark.parametrize(
    "function,expected",
    [
        (coroutine, Gives.COROUTINE),
        (generator, Gives.GENERATOR),
        (async_generator, Gives.ASYNC_GENERATOR),
        (contextmanager(generator), Gives.SYNC_CONTEXT),
        (asynccontextmanager(async_generator), Gives.UNKNOWN),
        (passing_on(coroutine), Gives.UNKNOWN),
        (plain, Gives.UNKNOWN),
        (len, Gives.UNKNOWN),
        (3, Gives.UNKNOWN),
    ],
)
def test_gives__judges_the_outermost_function(function: Any, expected: Gives) -> None:
    """Wrappers are not followed: what they wrap is not what is called."""
    assert gives(function) is expected


def test_binding_fault__says_why_or_nothing() -> None:
    """Exactly the given arguments are bound; what has no signature does not bind."""
    assert binding_fault(plain, a=ANY) is None
    assert binding_fault(lambda **kwargs: None, x=ANY, y=ANY) is None
    assert "b" in str(binding_fault(plain, b=ANY))
    assert binding_fault(3, a=ANY) is not None
