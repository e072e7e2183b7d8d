"""A Beaker API from asynchronous Python: calls by name, over HTTP."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.client.api import Caller, answer_of, refusal_of
from beaker.client.async_network import AsyncHttpTransport
from beaker.core.api import Request, build_request
from beaker.core.problems import Problem, Refused
from beaker.core.retry import ONCE, RetryPolicy, Trouble
from beaker.core.strict_json import JsonObject


class AsyncApi(Caller):
    """As `beaker.client.api.Api`, awaited."""

    def __init__(
        self,
        transport: AsyncHttpTransport,
        agent_key: str | None = None,
        *,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(agent_key, policy=policy, clock=clock, draw=draw)
        self.transport = transport
        self.sleep = sleep

    async def call(
        self, name: str, /, *, token: str | None = None, idempotency_key: str | None = None, **arguments: Any
    ) -> Result[JsonObject, Problem]:
        """As `Api.call`."""
        return await self._call(name, arguments, None, token, idempotency_key)

    async def once(self, name: str, /, *, token: str | None = None, **arguments: Any) -> Result[JsonObject, Problem]:
        """As `Api.once`."""
        return await self._call(name, arguments, ONCE, token, None)

    async def _call(
        self,
        name: str,
        arguments: dict[str, Any],
        policy: RetryPolicy | None,
        token: str | None,
        idempotency_key: str | None,
    ) -> Result[JsonObject, Problem]:
        built = build_request(name, arguments, agent_key=self.agent_key, idempotency_key=idempotency_key, token=token)
        if not is_successful(built):
            return Failure(built.failure())
        request = built.unwrap()
        patience = self.patience(request.method, keyed=bool(idempotency_key), policy=policy)
        while True:
            outcome, trouble = await self._attempt(name, request)
            wait = patience.after(trouble)
            if wait is None:
                return outcome
            await self.sleep(wait)

    async def _attempt(self, name: str, request: Request) -> tuple[Result[JsonObject, Problem], Trouble | None]:
        try:
            return answer_of(name, await self.transport.send(request))
        except Refused as refused:
            return refusal_of(refused)
