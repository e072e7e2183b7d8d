"""A place reached over HTTP. The credential goes to the place's own origin and nowhere else."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from beaker.client.reach import Reach, no_answer, shown
from beaker.client.transport import Arriving, TransportFailed
from beaker.core.api import ApiProblem, Request, Response, read_refusal
from beaker.core.problems import Problem, Refused

TIMEOUT_SECONDS = 30.0
AT_ONCE = 32
"""Files that travel at the same time. Most of the time of a small one is waiting for the answer."""
DOWNLOAD_TIMEOUT_SECONDS = 900.0


class HttpTransport:
    """Carries requests to `base_url`, which may have a path prefix, with `token` as bearer, or none with `None`.

    `timeout` (seconds) holds for connecting and for each read or write; an answer must be there as a whole after ten
    times as much. Plain `http` is spoken with this machine only, unless `insecure_http`. Connections are kept and used
    again, also by several threads, until `close`. Raises `Refused` (BK809) for a base URL that cannot be used.
    """

    at_once = AT_ONCE

    def __init__(
        self, base_url: str, token: str | None, *, timeout: float = TIMEOUT_SECONDS, insecure_http: bool = False
    ) -> None:
        # Only a command that talks to a network pays for this import.
        from beaker.client import wire

        self._reach = Reach(base_url, token, insecure_http=insecure_http)
        self._timeout = timeout
        self._wire = wire
        self._clients: dict[bool, Any] = {}
        self._making = threading.Lock()
        self.near = self._reach.near
        """Whether the place is on this machine."""

    def close(self) -> None:
        """Close the connections."""
        with self._making:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def send(self, request: Request) -> Response:
        """Carry one request; redirects are followed for GET and within the origin only."""
        url, times = self._reach.url_of(request), 0
        headers = self._reach.headers_of(request)
        while True:
            with self._answered(url), self._wire.within(self._wire.WHOLE_ANSWERS * self._timeout):
                answer = self._exchange(request, url, headers)
            target = self._reach.redirected(request, url, answer, times=times)
            if target is None:
                return self._reach.without_secret(request, answer)
            url, times = target, times + 1

    def upload(self, url: str, headers: Mapping[str, str], pieces: Iterable[bytes], size: int) -> Response:
        """PUT a file, as its pieces come."""
        self._reach.check_file(url, "upload URL")
        with self._answered(url):
            sent = {**headers, "content-length": str(size)}
            answer = self._client(url).put(url, headers=sent, content=iter(pieces))
        return Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)

    @contextmanager
    def download(self, url: str, *, offset: int = 0) -> Iterator[Arriving]:
        """GET a file, as it comes; a redirect, or any status but 200 and 206, is a refusal."""
        self._reach.check_file(url, "download URL")
        headers = {"range": f"bytes={offset}-"} if offset else {}
        with (
            self._answered(url),
            self._client(url).stream("GET", url, headers=headers, timeout=DOWNLOAD_TIMEOUT_SECONDS) as answer,
        ):
            if answer.status_code not in ((200, 206) if offset else (200,)):
                answer.read()
                raise Refused(_download_problem(url, answer))
            began = answer.headers.get("content-range", "").partition("-")[0]
            if answer.status_code == 206 and began != f"bytes {offset}":
                raise Refused(ApiProblem("BK804", f"{shown(url)} sends another part than the one asked for"))
            yield Arriving(offset if answer.status_code == 206 else 0, answer.iter_bytes())

    def _exchange(self, request: Request, url: str, headers: Mapping[str, str]) -> Response:
        with self._client(url).stream(request.method, url, headers=headers, content=request.body) as answer:
            body = bytearray()
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > self._wire.MAX_ANSWER_BYTES:
                    raise Refused(too_long(url))
        return Response(status=answer.status_code, headers=dict(answer.headers), body=bytes(body))

    def _client(self, url: str) -> Any:
        """The connections for an address: those over TLS, or those that are not."""
        secure = url.lower().startswith("https")
        with self._making:
            if secure not in self._clients:
                # A proxy meant for the world would carry the credential of a service on this machine in the clear.
                trusts = self._reach.secure or not self._reach.near
                self._clients[secure] = self._wire.blocking_client(self._timeout, trust_env=trusts, secure=secure)
            return self._clients[secure]

    @contextmanager
    def _answered(self, url: str) -> Iterator[None]:
        try:
            with self._wire.unlogged():
                yield
        except self._wire.ERRORS as error:
            raise TransportFailed(no_answer(url, str(error) or type(error).__name__)) from error


def too_long(url: str) -> Problem:
    """The problem of an answer that is none, whatever it may say further on."""
    return ApiProblem("BK804", f"the answer from {shown(url)} is longer than any of the API's")


def _download_problem(url: str, answer: Any) -> Problem:
    response = Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)
    if 200 <= answer.status_code < 300:
        return ApiProblem("BK804", f"{shown(url)} answered {answer.status_code}, not 200")
    return read_refusal(response)
