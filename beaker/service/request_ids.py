"""A name for each request, in the answer and in the log: by it a caller and whoever runs the service can talk of it."""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from beaker.service.http_bodies import Message, Receive

App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Callable[[Message], Awaitable[None]]], Awaitable[None]]

REQUEST_ID = "beaker.request_id"
"""Where the scope of a request has its name."""

_HEADER = b"x-request-id"
_USABLE = re.compile(rb"[A-Za-z0-9._-]{1,128}")


def with_request_ids(app: App) -> App:
    """`app`, every answer of which has the header `X-Request-Id`: as the caller sent it, when it is up to 128 letters,
    digits, dots, hyphens and underscores, else one of our own."""

    async def named(
        scope: MutableMapping[str, Any], receive: Receive, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        given = [text for name, text in scope.get("headers", ()) if name == _HEADER]
        usable = len(given) == 1 and _USABLE.fullmatch(given[0]) is not None
        request_id = given[0] if usable else secrets.token_hex(8).encode()
        scope[REQUEST_ID] = request_id.decode()

        async def naming_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name, text) for name, text in message.get("headers", ()) if name != _HEADER]
                message = {**message, "headers": [*headers, (_HEADER, request_id)]}
            await send(message)

        await app(scope, receive, naming_send)

    return named
