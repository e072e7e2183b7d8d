"""`hosted`: a loopback HTTP service that answers as a small hosted organisation, until a test says otherwise.

It has one user, one agent `inv-agent` of the repository `acme/invoices`, one dataset and one run; what each route
answers is data, `vectors/hosted/organization.json`. Requests that break the contract are refused.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest

ORGANIZATION = json.loads((Path(__file__).parent / "vectors" / "hosted" / "organization.json").read_text("utf-8"))


@attrs.frozen
class Asked:
    """One request as it arrived: `path` is as it travelled, `query` decoded, `headers` have lower-case names, `body` is
    the decoded JSON, `None` without one, and bytes where it is no JSON."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@attrs.frozen
class Said:
    """One answer; status 0 closes the connection without a word. `body` is JSON, bytes, or a function of the request
    that gives one of them or a pair of status and body."""

    status: int
    body: Any = None
    delay: float = 0
    headers: Mapping[str, str] = attrs.field(factory=dict)


class Hosted:
    """The service. `api_key` and `session` are the credentials that it takes, `requests` what has been asked of it,
    `store` what lies behind presigned addresses (path to bytes)."""

    api_key: str = ORGANIZATION["api_key"]
    session: str = ORGANIZATION["session"]
    agent_key = "inv-agent"

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.store = {path: text.encode() for path, text in ORGANIZATION["store"].items()}
        self._always: dict[str, Said] = {}
        self._next: dict[str, list[Said]] = {}
        self._lock = threading.Lock()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def reply(self) -> None:
                parts = urlsplit(self.path)
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                asked = Asked(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query, keep_blank_values=True)),
                    {name.lower(): text for name, text in self.headers.items()},
                    _decoded(sent),
                )
                said = service._said(asked, self.path, sent)
                if said.delay:
                    time.sleep(said.delay)
                if not said.status:
                    self.close_connection = True
                    return
                self.send_response(said.status)
                body = said.body
                data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
                for name, text in {"content-length": str(len(data)), **said.headers}.items():
                    self.send_header(name, text)
                self._headers_buffer.append(b"\r\n")
                try:
                    self.wfile.write(b"".join(self._headers_buffer) + data)
                except ConnectionError:
                    self.close_connection = True  # who asked had waited long enough
                self._headers_buffer.clear()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(
        self,
        method: str,
        path: str,
        status: int,
        body: Any = None,
        *,
        delay: float = 0,
        headers: Mapping[str, str] | None = None,
        times: int | None = None,
    ) -> None:
        """Answer this from now on, or the next `times` requests only, in the order of these calls.

        `path` is a path or a template of the endpoint table (`/v1/optimization-runs/{run_id}`). Status 0 drops the
        connection, `delay` is in seconds. A `body` that can be called gets the `Asked` request; it gives the body, or
        a pair of status and body.
        """
        said = Said(status, body, delay, headers or {})
        with self._lock:
            if times is None:
                self._always[f"{method} {path}"] = said
            else:
                self._next.setdefault(f"{method} {path}", []).extend([said] * times)

    def asked(self, method: str, path: str) -> list[Asked]:
        """The requests that came for a route, by path or by template."""
        return [one for one in self.requests if f"{method} {path}" in _names(one)]

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _said(self, asked: Asked, target: str, sent: bytes) -> Said:
        with self._lock:
            self.requests.append(asked)
            names = _names(asked)
            said = next((self._next[name].pop(0) for name in names if self._next.get(name)), None)
            if said is None:
                said = next((self._always[name] for name in names if name in self._always), None)
        if said is None:
            said = self._store(asked, sent) if asked.path.startswith("/store/") else self._ordinary(asked, target, sent)
        if callable(said.body):
            made = said.body(asked)
            status, body = made if isinstance(made, tuple) else (said.status, made)
            return attrs.evolve(said, status=status, body=body)
        return said

    def _store(self, asked: Asked, sent: bytes) -> Said:
        if "authorization" in asked.headers:
            return Said(400, {"detail": "a credential travelled to the store"})
        if asked.method == "PUT":
            self.store[asked.path] = sent
            return Said(200)
        return Said(200, self.store[asked.path]) if asked.path in self.store else Said(404)

    def _ordinary(self, asked: Asked, target: str, sent: bytes) -> Said:
        """What the organisation answers to a request that keeps the contract, and its refusal of any other."""
        from beaker.core.api import Request, match_request, read_arguments

        parts = urlsplit(target)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        matched = match_request(asked.method, parts.path).value_or(None)
        if matched is None:
            return Said(404, {"detail": "Not Found"})
        endpoint, bearer = matched.endpoint, asked.headers.get("authorization")
        if endpoint.auth == "none":
            if bearer is not None:
                return Said(400, {"detail": "a credential travelled to a login call"})
        elif bearer not in (f"Bearer {self.api_key}", f"Bearer {self.session}"):
            return Said(401, {"detail": "Invalid or expired credential"})
        elif endpoint.auth == "session" and bearer != f"Bearer {self.session}":
            return Said(403, {"detail": "This needs a login session"})
        request = Request(method=asked.method, path=parts.path, query=query, headers=asked.headers, body=sent or None)
        read = read_arguments(matched, request)
        faults = read.swap().value_or(())
        if faults:
            return Said(422, {"detail": [{"msg": str(fault), "loc": ["body"]} for fault in faults]})
        if read.unwrap().get("agent_key", self.agent_key) != self.agent_key:
            return Said(404, {"detail": "Agent not found"})
        status, body = ORGANIZATION["answers"][f"{endpoint.method} {endpoint.path}"]
        return Said(status, json.loads(json.dumps(body).replace('"*/', f'"{self.url}/')) if body is not None else None)


def _names(asked: Asked) -> tuple[str, ...]:
    """What a request can be called: by its path, and by the template of its endpoint."""
    from beaker.core.api import match_request

    exact = f"{asked.method} {asked.path}"
    matched = match_request(asked.method, asked.path).value_or(None)
    return (exact,) if matched is None else (exact, f"{asked.method} {matched.endpoint.path}")


def _decoded(sent: bytes) -> Any:
    if not sent:
        return None
    try:
        return json.loads(sent)
    except ValueError:
        return sent


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    """The service of `Hosted`, for one test."""
    made = Hosted()
    yield made
    made.close()


@pytest.fixture(scope="session")
def hosted_service() -> Callable[[], Hosted]:
    """The class, for fixtures that live longer than a test."""
    return Hosted
