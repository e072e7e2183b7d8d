"""Proxies of the environment: used for the world, never for this machine, and never shown the credential."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from beaker.client.async_network import AsyncHttpTransport
from beaker.client.network import HttpTransport
from beaker.client.transport import TransportFailed
from beaker.core.api import Request

TOKEN = "bkr_live_planted_1"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

Send = Callable[[str], int]


class Proxy:
    """A proxy that refuses everything; `asked` is what it was sent."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                visitor, _ = self._listening.accept()
            except OSError:
                return
            with visitor:
                self.asked.append(visitor.recv(65536))
                visitor.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The proxy that the environment names for everything."""
    made = Proxy()
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in NAMES[:3]:
        monkeypatch.setenv(name, made.url)
    yield made
    made.close()


@pytest.fixture(params=["blocking", "awaited"])
def send(request: pytest.FixtureRequest) -> Send:
    """Sends a request over either transport; the status."""
    asked = Request(method="GET", path="/v1/agents")

    async def awaited(url: str) -> int:
        transport = AsyncHttpTransport(url, TOKEN, timeout=5)
        try:
            return (await transport.send(asked)).status
        finally:
            await transport.close()

    def blocking(url: str) -> int:
        transport = HttpTransport(url, TOKEN, timeout=5)
        try:
            return transport.send(asked).status
        finally:
            transport.close()

    return blocking if request.param == "blocking" else lambda url: asyncio.run(awaited(url))


def test_send__to_the_world__goes_through_the_proxy_unseen_by_it(proxy: Proxy, send: Send) -> None:
    """It is asked for a tunnel; the credential is for the other end of that alone."""
    with pytest.raises(TransportFailed) as failed:
        send("https://api.example")
    assert proxy.asked[0].startswith(b"CONNECT api.example:443 ")
    assert TOKEN.encode() not in proxy.asked[0]
    assert TOKEN not in str(failed.value)


def test_send__to_this_machine__goes_past_the_proxy(proxy: Proxy, send: Send, hosted: Any) -> None:
    """A proxy would see the credential of a service that is meant for this machine alone."""
    assert send(hosted.url) == 401
    assert proxy.asked == []
    assert hosted.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_send__host_that_is_excepted__goes_past_the_proxy(
    proxy: Proxy, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the environment says."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(TransportFailed):
        send("https://127.0.0.1:9")
    assert proxy.asked == []
