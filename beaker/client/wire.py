"""What of httpx the transports use, made fit for credentials: its errors, its clients, and what it logs.

Importing this module imports httpx, for which only a command that talks to a network pays.
"""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

import beaker

ERRORS: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
"""What httpx raises when there is no whole answer."""

MAX_ANSWER_BYTES = 256 << 20
"""The longest answer of the API that is read; files are no answers."""

WHOLE_ANSWERS = 10
"""Timeouts in which an answer of the API must be there as a whole, however steadily it drips."""

_IDLE_SECONDS = 3.0
"""How long an unused connection is kept: less than servers wait, so that none closes one that is just being used."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
_speaking: ContextVar[bool] = ContextVar("speaking", default=False)


def settings(timeout: float, *, trust_env: bool) -> dict[str, Any]:
    """What both kinds of clients are made with. Answers are wanted as they are, not compressed."""
    return {
        "timeout": timeout,
        "trust_env": trust_env,
        "follow_redirects": False,
        "headers": {"user-agent": f"beaker/{beaker.__version__}", "accept-encoding": "identity"},
        "limits": httpx.Limits(max_connections=100, max_keepalive_connections=40, keepalive_expiry=_IDLE_SECONDS),
    }


def blocking_client(timeout: float, *, trust_env: bool, secure: bool) -> httpx.Client:
    """A client whose reads end by `within`. One that is not `secure` speaks plain http only, and loads no certificates:
    that takes longer than a call on this machine."""
    client = httpx.Client(verify=secure, **settings(timeout, trust_env=trust_env))
    # Not offered by httpx; where another version keeps it elsewhere, headers that drip byte by byte have no end.
    mounted: Any = getattr(client, "_mounts", {})
    for transport in (getattr(client, "_transport", None), *mounted.values()):
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _Backend(pool._network_backend)
    return client


def awaiting_client(timeout: float, *, trust_env: bool, secure: bool) -> httpx.AsyncClient:
    """As `blocking_client`; its answers are bounded by whoever awaits them."""
    return httpx.AsyncClient(verify=secure, **settings(timeout, trust_env=trust_env))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Reading from the network ends with a time-out after so many seconds in all."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def unlogged() -> Iterator[None]:
    """What httpx does here is not logged by it: it writes whole URLs, and those of files are signed."""
    token = _speaking.set(True)
    try:
        yield
    finally:
        _speaking.reset(token)


def _worth_logging(record: logging.LogRecord) -> bool:
    return not _speaking.get()


for _name in ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy"):
    logging.getLogger(_name).addFilter(_worth_logging)


def _left(timeout: float | None) -> float | None:
    """What is left of a timeout."""
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the answer does not come to an end")
    return left if timeout is None else min(left, timeout)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_tcp(host, port, timeout, local_address, socket_options))

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._backend.connect_unix_socket(path, timeout, socket_options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)
