"""`faulty`: the hosted service with a network, a store or a gateway that fails in every way that clients must bear."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from beaker_tests_hosted import Hosted, Said

Act = Callable[[BaseHTTPRequestHandler], None]

DRIP_SECONDS, DRIPS = 0.001, 3000
"""How long a slow answer lets its reader wait for each byte, and how often: longer than any test waits."""


def _written(data: bytes) -> Act:
    """Sends this much, and hangs up."""
    return lambda handler: _write(handler, data)


def _write(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(data)


def _answer(status: str, headers: str, body: bytes, *, length: int | None = None) -> Act:
    said = len(body) if length is None else length
    return _written(
        f"HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {said}\r\n\r\n".encode() + body
    )


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _dripping(start: bytes, end: bytes) -> Act:
    """An answer that is whole in the end."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        _write(handler, start)
        for _ in range(DRIPS):
            time.sleep(DRIP_SECONDS)
            _write(handler, b" ")
        _write(handler, end)

    return act


def _echo(handler: BaseHTTPRequestHandler) -> None:
    """What gateways answer that help with debugging: the request, with its credential."""
    _answer("500 Internal Server Error", "", f"you sent {handler.headers}".encode())(handler)


def _skewed(handler: BaseHTTPRequestHandler) -> None:
    """A service whose clock is six hours ahead asks to come back at once."""
    date = format_datetime(datetime.now(UTC) + timedelta(hours=6), usegmt=True)
    _answer("503 Service Unavailable", f"Date: {date}\r\nRetry-After: {date}\r\n", b"{}")(handler)


RUN = b'{"id": "run_1", "status": "X"'
JSON = "Content-Type: application/json\r\n"
FAULTS: dict[str, Act] = {
    "drop before headers": _written(b""),
    "drop in headers": _written(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "drop in body": _answer("200 OK", JSON, b'{"id": "run', length=100),
    "reset": _reset,
    "slow headers": _dripping(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"\r\nContent-Length: 30\r\n\r\n" + RUN + b"}"),
    "slow body": _dripping(f"HTTP/1.1 200 OK\r\nContent-Length: {30 + DRIPS}\r\n\r\n".encode() + RUN, b"}"),
    "truncated JSON": _answer("200 OK", JSON, b'{"id": "run_1", "sta'),
    "length too long": _answer("200 OK", JSON, RUN + b"}", length=31),
    "length too short": _answer("200 OK", JSON, RUN + b"}", length=29),
    "no HTTP": _written(b"220 mail.example ESMTP\r\n"),
    "login page": _answer("200 OK", "Content-Type: text/html\r\n", b"<html><title>Sign in</title></html>"),
    "429": _answer("429 Too Many Requests", "Retry-After: 0\r\n", b'{"detail": "slow down"}'),
    "502": _answer("502 Bad Gateway", "", b"<html>bad gateway</html>"),
    "503": _answer("503 Service Unavailable", "", b""),
    "504": _answer("504 Gateway Timeout", "", b""),
    "500": _answer("500 Internal Server Error", "", b'{"detail": "broken"}'),
    "echo": _echo,
    "clock skew": _skewed,
    "expired URL": _answer(
        "403 Forbidden", "Content-Type: application/xml\r\n", b"<Error><Message>Request has expired</Message></Error>"
    ),
}
"""Everything that goes wrong, by name; `redirect` comes with the service, since it knows where else to send to."""


class Faulty(Hosted):
    """The service. `elsewhere` is another origin, whose visitors are counted in `visitors`."""

    def __init__(self) -> None:
        super().__init__()
        self._trap = socket.create_server(("127.0.0.1", 0))
        self.elsewhere = f"http://127.0.0.1:{self._trap.getsockname()[1]}"
        self._guard = threading.Thread(target=self._count)
        self._guard.start()

    def reset(self) -> None:
        """Forget everything that was asked and told, and every visitor."""
        super().reset()
        self.visitors = 0

    def fault(self, name: str, method: str, path: str, *, times: int | None = 1) -> None:
        """Let the next `times` requests (`None`: all) for a route end in this fault of `FAULTS`, or in `redirect`."""
        redirect = _answer("302 Found", f"Location: {self.elsewhere}/steal\r\n", b"")
        self.say(method, path, Said(0, act=redirect if name == "redirect" else FAULTS[name]), times=times)

    def close(self) -> None:
        """Stop answering."""
        self._trap.shutdown(socket.SHUT_RDWR)
        self._trap.close()
        self._guard.join()
        super().close()

    def _count(self) -> None:
        while True:
            try:
                visitor, _ = self._trap.accept()
            except OSError:
                return
            self.visitors += 1
            visitor.close()


@pytest.fixture(scope="session")
def one_faulty() -> Iterator[Faulty]:
    """The service that tests use in turn."""
    made = Faulty()
    yield made
    made.close()


@pytest.fixture
def faulty(one_faulty: Faulty) -> Faulty:
    """The service of `Faulty`, without a fault at first."""
    one_faulty.reset()
    return one_faulty


@pytest.fixture(scope="session")
def faults() -> dict[str, Any]:
    """Every fault by name."""
    return FAULTS
