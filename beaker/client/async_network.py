"""A place reached over HTTP, awaited: the calls of the API. Files travel over the blocking transport, in threads."""

import asyncio
from collections.abc import Mapping

from beaker.client import wire
from beaker.client.network import TIMEOUT_SECONDS, too_long
from beaker.client.reach import Reach, no_answer
from beaker.client.transport import TransportFailed
from beaker.core.api import Request, Response
from beaker.core.problems import Refused

_TROUBLES: tuple[type[Exception], ...] = (*wire.ERRORS, TimeoutError)


class AsyncHttpTransport:
    """As `beaker.client.network.HttpTransport`. It belongs to the event loop in which it is first used."""

    def __init__(
        self, base_url: str, token: str | None, *, timeout: float = TIMEOUT_SECONDS, insecure_http: bool = False
    ) -> None:
        self._reach = Reach(base_url, token, insecure_http=insecure_http)
        self._timeout = timeout
        self.near = self._reach.near
        """Whether the place is on this machine."""
        trusts = self._reach.secure or not self.near
        self._http = wire.awaiting_client(timeout, trust_env=trusts, secure=self._reach.secure)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, request: Request) -> Response:
        """Carry one request; redirects are followed for GET and within the origin only."""
        url, times = self._reach.url_of(request), 0
        headers = self._reach.headers_of(request)
        while True:
            answer = await self._answer(request, url, headers)
            target = self._reach.redirected(request, url, answer, times=times)
            if target is None:
                return self._reach.without_secret(request, answer)
            url, times = target, times + 1

    async def _answer(self, request: Request, url: str, headers: Mapping[str, str]) -> Response:
        try:
            with wire.unlogged():
                async with asyncio.timeout(wire.WHOLE_ANSWERS * self._timeout):
                    return await self._exchange(request, url, headers)
        except _TROUBLES as error:
            raise TransportFailed(no_answer(url, str(error) or type(error).__name__)) from error

    async def _exchange(self, request: Request, url: str, headers: Mapping[str, str]) -> Response:
        async with self._http.stream(request.method, url, headers=headers, content=request.body) as answer:
            body = bytearray()
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > wire.MAX_ANSWER_BYTES:
                    raise Refused(too_long(url))
        return Response(status=answer.status_code, headers=dict(answer.headers), body=bytes(body))
