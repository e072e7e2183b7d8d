"""A real HTTP server on the loopback interface, told by each test what to answer."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs
import pytest


@attrs.frozen
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@attrs.define
class Server:
    """Answers each request by `answer(seen)`: status, headers, body; `None` closes the connection without a word."""

    url: str
    answer: Callable[[Seen], tuple[int, dict[str, str], bytes] | None] = lambda seen: (200, {}, b"{}")
    seen: list[Seen] = attrs.field(factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    made: Server

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): text for name, text in self.headers.items()}
            seen = Seen(self.command, self.path, headers, self.rfile.read(length))
            made.seen.append(seen)
            answered = made.answer(seen)
            if answered is None:
                self.close_connection = True
                return
            status, answer_headers, body = answered
            self.send_response(status)
            for name, text in ({"content-length": str(len(body))} | answer_headers).items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply

        def log_message(self, *_: Any) -> None: ...

    class Listening(ThreadingHTTPServer):
        request_queue_size = 64  # many connections may come at once

        def handle_error(self, *_: Any) -> None: ...  # a client that hung up, which tests have it do

    with Listening(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        made = Server(f"http://127.0.0.1:{listening.server_address[1]}")
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        listening.shutdown()
        thread.join()
