"""Reading what comes over HTTP: never more than is wanted, and never waiting for ever."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request as HttpRequest

from beaker.core.api import Request
from beaker.core.problems import Problem

MAX_BODY_BYTES = 16 << 20
"""The largest body of an API request: an announced dataset of some 100,000 files."""

MAX_QUERY_FIELDS = 100

STALL_SECONDS = 60.0
"""How long the next piece of a body may take to come, or to go."""

SLOWEST_BYTES = 4096
"""Bytes a second that a body must bring on average, `STALL_SECONDS` more or less."""

GATHERED_BYTES = 1 << 18
"""How much of a body is gathered before somebody works on it."""

DRAINED_BYTES, DRAIN_SECONDS = 1 << 20, 5.0
"""How much of a body that nobody wants is read, and for how long, so that its sender comes to read the refusal."""

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
T = TypeVar("T")


class Stalled(Exception):
    """The other side has gone, or has not gone on for too long."""


class TooLarge(Exception):
    """More came than is taken."""


class Body:
    """The body of one request, taken piece by piece."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False
        self._taken, self._waited = 0, 0.0

    async def next_piece(self) -> bytes:
        """The next piece, empty at the end. `Stalled` when none comes, or when they come too slowly."""
        while not self._ended:
            began = time.monotonic()
            message = await self._receive()
            self._waited += time.monotonic() - began  # what we ourselves take does not count
            self._taken += len(message.get("body", b""))
            if self._waited > STALL_SECONDS + self._taken / SLOWEST_BYTES:
                raise Stalled
            if message["type"] == "http.disconnect":
                raise Stalled
            self._ended = not message.get("more_body", False)
            if piece := bytes(message.get("body", b"")):
                return piece
        return b""

    async def gathered(self) -> bytes:
        """Some of the next pieces as one, empty at the end; `Stalled` as from `next_piece`."""
        pieces, length = [], 0
        while length < GATHERED_BYTES and (piece := await self.next_piece()):
            pieces.append(piece)
            length += len(piece)
        return b"".join(pieces)

    async def read(self, most: int) -> bytes:
        """All of it; `TooLarge` as soon as there are more than `most` bytes."""
        pieces, taken = [], 0
        while piece := await self.next_piece():
            taken += len(piece)
            if taken > most:
                raise TooLarge
            pieces.append(piece)
        return b"".join(pieces)

    async def drain(self) -> None:
        """Read the rest, as long as it is not too much or too slow."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self.read(DRAINED_BYTES)
        except (Stalled, TooLarge, TimeoutError):
            pass


async def read_request(request: HttpRequest, body: Body) -> Request | Problem:
    """The request as `handle` takes it; a `Problem` for one that HTTP allows and we cannot read.

    Raises `TooLarge` for a body over `MAX_BODY_BYTES`, and `Stalled`.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
        raise TooLarge
    content = await body.read(MAX_BODY_BYTES)
    try:
        query = parse_qsl(
            request.scope["query_string"].decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_QUERY_FIELDS,
        )
    except ValueError:
        return Problem("BK450", "the query is no list of names and values in UTF-8, percent-encoded")
    return Request(
        method=request.method,
        path=request.scope["raw_path"].decode("ascii"),
        query=tuple(query),
        headers={name: request.headers[name] for name in ("idempotency-key",) if name in request.headers},
        body=content or None,
    )


async def in_time(waiting: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(STALL_SECONDS):
            return await waiting
    except TimeoutError:
        raise Stalled from None
