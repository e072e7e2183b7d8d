"""The public client of a Beaker API for asynchronous code: the same methods, awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Self, TypeVar

import attrs

from beaker.client.agent_calls import AgentCalls, DatasetCalls
from beaker.client.api import Api
from beaker.client.async_api import AsyncApi
from beaker.client.async_network import AsyncHttpTransport
from beaker.client.conveniences import Conveniences
from beaker.client.errors import client_error
from beaker.client.methods import Call, Found, Pause, Step, Steps, Walk, Work, walking
from beaker.client.network import TIMEOUT_SECONDS
from beaker.client.person_calls import PersonCalls
from beaker.client.public import do_work, new_transport
from beaker.client.run_calls import RunCalls
from beaker.core.problems import Refused
from beaker.core.values import value

T = TypeVar("T")


class AsyncRunner:
    """What does the steps of methods while they are awaited."""

    __slots__ = ("_kept",)

    awaits: ClassVar[bool] = True

    base_url: str
    api_key: str
    timeout_seconds: float
    agent_key: str | None

    async def close(self) -> None:
        """Close the connections that `async with` opened."""
        kept = getattr(self, "_kept", None)
        if kept is not None:
            object.__delattr__(self, "_kept")
            await kept.transport.close()

    async def __aenter__(self) -> Self:
        await self.close()
        object.__setattr__(self, "_kept", self._new_api())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _arun(self, steps: Steps[T]) -> T:
        came: Any = None
        try:
            async with self._api() as api:
                while True:
                    try:
                        step = steps.send(came)
                    except StopIteration as ended:
                        result: T = ended.value
                        return result
                    came = await self._perform(api, step)
        finally:
            steps.close()

    async def _awalk(self, walk: Walk[T]) -> AsyncIterator[T]:
        steps, came = walking(walk), None
        while True:
            try:
                step = steps.send(came)
            except StopIteration:
                return
            came = None
            if isinstance(step, Found):
                for item in step.items:
                    yield item
            else:
                async with self._api() as api:
                    came = await self._perform(api, step)

    @asynccontextmanager
    async def _api(self) -> AsyncIterator[AsyncApi]:
        """The connections that are open, or some for one method."""
        kept = getattr(self, "_kept", None)
        if kept is not None:
            yield kept
            return
        api = self._new_api()
        try:
            yield api
        finally:
            await api.transport.close()

    def _new_api(self) -> AsyncApi:
        try:
            transport = AsyncHttpTransport(self.base_url, self.api_key or None, timeout=self.timeout_seconds)
        except Refused as refused:
            raise client_error(refused.problems[0]) from None
        return AsyncApi(transport, self.agent_key)

    async def _perform(self, api: AsyncApi, step: Step) -> Any:
        match step:
            case Call(name, arguments, token, idempotency_key, patient):
                if not patient:
                    return await api.once(name, token=token, **arguments)
                return await api.call(name, token=token, idempotency_key=idempotency_key, **arguments)
            case Pause(seconds):
                return await api.sleep(seconds)
            case Work():
                return await asyncio.to_thread(self._work, step)

    def _work(self, work: Work) -> Any:
        transport = new_transport(self.base_url, self.api_key, self.timeout_seconds)
        try:
            return do_work(Api(transport, self.agent_key), work)
        finally:
            transport.close()


@value
class AsyncBeakerClient(PersonCalls, AgentCalls, DatasetCalls, RunCalls, Conveniences, AsyncRunner):
    """`BeakerClient` for asynchronous code: the same arguments (`base_url`, `api_key`, `timeout_seconds`, `agent_key`)
    and methods, each of them awaited; what iterates over pages is an asynchronous iterator.

    Connections are used again inside `async with`, which binds them to the running event loop; outside of it each
    method has connections of its own. Files are read, written and sent in threads; a method that is cancelled
    meanwhile lets them end by themselves.
    """

    base_url: str
    api_key: str = attrs.field(default="", repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    agent_key: str | None = None
