"""Methods that two clients share: written once, as steps; one client does them at once, the other is awaited.

A method's function describes what to do as a generator of steps, sans-I/O. Looked up on a client it is a plain method
of it: `Blocking` clients give its result, `Awaiting` ones a coroutine, and pages of items come as an iterator of either
kind. Type checkers see the signature of the function with the result of the client's kind.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, get_args, overload

import attrs
from returns.pipeline import is_successful
from returns.result import Result

from beaker.client.api import Api
from beaker.client.errors import client_error
from beaker.core.pages import read_page
from beaker.core.problems import Problem
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

P = ParamSpec("P")
T = TypeVar("T")


@value
class Call:
    """Call an endpoint; what came of it is the `Result` of `Api.call`. `token` replaces the client's credential."""

    name: str
    arguments: Mapping[str, Any]
    token: str | None = attrs.field(default=None, repr=False)
    idempotency_key: str | None = None
    patient: bool = True
    """Whether the call is made again by itself where that is allowed."""


@value
class Pause:
    """Let `seconds` pass."""

    seconds: float


@value
class Work:
    """Do something with files and the API that takes a while, about the agent of `agent_key` where that is given; what
    it gives is what came of it."""

    what: Callable[[Api], Any]
    agent_key: str | None = None


Step: TypeAlias = Call | Pause | Work
Steps: TypeAlias = Generator[Step, Any, T]


@value
class Walk(Generic[T]):
    """Every item of all pages that the endpoint `name` has in the list `key`, each read by `read`."""

    name: str
    key: str
    read: Callable[[object], Result[T, Problem]]
    arguments: Mapping[str, Any]
    page_size: int


@value
class Found(Generic[T]):
    """The items of one page."""

    items: tuple[T, ...]


class Client(Protocol):
    """A client of either kind, as its methods see it."""

    @property
    def agent_key(self) -> str | None: ...


class Blocking(Protocol):
    """A client that does what is asked of it before it returns."""

    awaits: ClassVar[bool] = False

    def _run(self, steps: Steps[T]) -> T: ...

    def _walk(self, walk: Walk[T]) -> Iterator[T]: ...


class Awaiting(Protocol):
    """A client whose methods are awaited."""

    awaits: ClassVar[bool] = True

    async def _arun(self, steps: Steps[T]) -> T: ...

    def _awalk(self, walk: Walk[T]) -> AsyncIterator[T]: ...


class method(Generic[P, T]):  # used as a decorator
    """Makes a method of both kinds of clients from a function that gives its steps."""

    def __init__(self, function: Callable[Concatenate[Any, P], Steps[T]]) -> None:
        @_as_method(function)
        def blocking(client: Any, *args: Any, **arguments: Any) -> Any:
            return client._run(function(client, *args, **arguments))

        @_as_method(function)
        async def awaited(client: Any, *args: Any, **arguments: Any) -> Any:
            return await client._arun(function(client, *args, **arguments))

        self._made = (blocking, awaited)
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: Any) -> Any:
        return self._made[owner.awaits].__get__(client, owner)


class pages(Generic[P, T]):  # used as a decorator
    """Makes a method that iterates over items from a function that says where their pages are."""

    def __init__(self, function: Callable[Concatenate[Any, P], Walk[T]]) -> None:
        @_as_method(function, Iterator)
        def blocking(client: Any, *args: Any, **arguments: Any) -> Any:
            return client._walk(function(client, *args, **arguments))

        @_as_method(function, AsyncIterator)
        def awaited(client: Any, *args: Any, **arguments: Any) -> Any:
            return client._awalk(function(client, *args, **arguments))

        self._made = (blocking, awaited)
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: Any) -> Any:
        return self._made[owner.awaits].__get__(client, owner)


def call(
    name: str, /, *, token: str | None = None, idempotency_key: str | None = None, **arguments: Any
) -> Steps[JsonObject]:
    """The JSON object that an endpoint answers with; raises what `client_error` makes of a problem."""
    answered: Result[JsonObject, Problem] = yield Call(name, arguments, token, idempotency_key)
    return unwrapped(answered)


def unwrapped(result: Result[T, Problem]) -> T:
    """What succeeded; raises what `client_error` makes of the problem otherwise."""
    if is_successful(result):
        return result.unwrap()
    raise client_error(result.failure())


def walking(walk: Walk[T]) -> Generator[Call | Found[T], Any, None]:
    """The calls that a walk takes, and its items, none of them twice, as pages come."""
    offset: int | None = 0
    seen: set[object] = set()
    while offset is not None:
        place = {"limit": walk.page_size, "offset": offset}
        answered = yield Call(walk.name, {**walk.arguments, **place})
        page = unwrapped(read_page(unwrapped(answered), walk.key, seen=seen, **place))
        seen |= page.ids
        yield Found(tuple(unwrapped(walk.read(item)) for item in page.items))
        offset = page.next_offset


def _as_method(function: Callable[..., Any], kind: Any = None) -> Callable[[T], T]:
    """Gives a method the name, words and signature of its function, and its result in place of the steps to it."""

    def dressed(made: Any) -> Any:
        signature = inspect.signature(function)
        result = get_args(signature.return_annotation)[-1]
        wraps(function)(made)
        made.__signature__ = signature.replace(return_annotation=result if kind is None else kind[result])
        made.__annotations__ = function.__annotations__ | {"return": made.__signature__.return_annotation}
        return made

    return dressed
