"""A place reached over HTTP. The credential goes to the place's own origin and nowhere else."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

import beaker
from beaker.client.transport import Arriving, TransportFailed
from beaker.core.api import ApiProblem, Request, Response, read_refusal
from beaker.core.problems import Problem, Refused

TIMEOUT_SECONDS = 30.0
AT_ONCE = 16
"""Files that travel at the same time. Most of the time of a small one is waiting for the answer."""
DOWNLOAD_TIMEOUT_SECONDS = 900.0
_REDIRECTS = (301, 302, 303, 307, 308)
_MAX_REDIRECTS = 5


class HttpTransport:
    """Carries requests to `base_url`, which may have a path prefix, with `token` as bearer, or none with `None`.

    `timeout` (seconds) holds for connecting and for each read or write. Plain `http` is spoken with this machine only,
    unless `insecure_http`. Raises `Refused` (BK809) for a base URL that cannot be used.
    """

    at_once = AT_ONCE

    def __init__(
        self, base_url: str, token: str | None, *, timeout: float = TIMEOUT_SECONDS, insecure_http: bool = False
    ) -> None:
        # Only a command that talks to a network pays for this import.
        import httpx

        self._base = base_url.strip().rstrip("/")
        self._insecure_http = insecure_http
        parts = self._checked(self._base, "base URL")
        self._secure = parts.scheme == "https"
        self._origin = _origin(parts)
        if token is not None and not (token.isascii() and token.strip() and token.strip().isprintable()):
            raise Refused(Problem("BK806", "the API credential is empty or holds characters no credential has"))
        self._authorization = {} if token is None else {"authorization": f"Bearer {token.strip()}"}
        self.near = _is_loopback(parts.hostname or "")
        """Whether the place is on this machine."""
        # A proxy meant for the world would carry the credential of a service on this machine in the clear.
        trusts_environment = self._secure or not self.near
        self._http = httpx.Client(
            timeout=timeout,
            follow_redirects=False,
            trust_env=trusts_environment,
            headers={"user-agent": f"beaker/{beaker.__version__}"},
        )
        self._errors: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, request: Request) -> Response:
        """Carry one request; redirects are followed for GET and within the origin only."""
        query = f"?{urlencode(request.query)}" if request.query else ""
        url = f"{self._base}{request.path}{query}"
        headers = {**request.headers, **self._authorization}
        for _ in range(_MAX_REDIRECTS + 1):
            with self._answered(url):
                answer = self._http.request(request.method, url, headers=headers, content=request.body)
            if answer.status_code not in _REDIRECTS or "location" not in answer.headers:
                return Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)
            target = urljoin(url, answer.headers["location"])
            if request.method != "GET" or _origin(urlsplit(target)) != _origin(urlsplit(url)):
                message = f"{_shown(url)} redirects {request.method} to {_shown(target)}, which is not followed"
                raise Refused(Problem("BK809", message, hint="check the base URL"))
            url = target
        raise Refused(Problem("BK809", f"{_shown(url)} redirects again and again"))

    def upload(self, url: str, headers: Mapping[str, str], pieces: Iterable[bytes], size: int) -> Response:
        """PUT a file, as its pieces come."""
        self._check_address(url, "upload URL")
        with self._answered(url):
            sent = {**headers, "content-length": str(size)}
            answer = self._http.put(url, headers=sent, content=iter(pieces))
        return Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)

    @contextmanager
    def download(self, url: str, *, offset: int = 0) -> Iterator[Arriving]:
        """GET a file, as it comes; a redirect, or any status but 200 and 206, is a refusal."""
        self._check_address(url, "download URL")
        headers = {"accept-encoding": "identity"} | ({"range": f"bytes={offset}-"} if offset else {})
        with (
            self._answered(url),
            self._http.stream("GET", url, headers=headers, timeout=DOWNLOAD_TIMEOUT_SECONDS) as answer,
        ):
            if answer.status_code not in ((200, 206) if offset else (200,)):
                answer.read()
                raise Refused(_download_problem(url, answer))
            began = answer.headers.get("content-range", "").partition("-")[0]
            if answer.status_code == 206 and began != f"bytes {offset}":
                raise Refused(ApiProblem("BK804", f"{_shown(url)} sends another part than the one asked for"))
            yield Arriving(offset if answer.status_code == 206 else 0, answer.iter_bytes())

    def _check_address(self, url: str, what: str) -> None:
        """Refuse an address of files that leads where the place itself could not: from afar into plain http.

        Any https origin will do, since files often lie in a store of their own. Otherwise a place elsewhere could have
        its client read or change what services on this machine keep for this machine alone.
        """
        parts = self._checked(url, what)
        if parts.scheme == "http" and (self._secure or not self.near) and _origin(parts) != self._origin:
            message = f"the place names a {what} at {_shown(url)}, which is neither https nor at the place itself"
            raise Refused(Problem("BK809", message, hint="tell whoever runs the place"))

    def _checked(self, url: str, what: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            _ = parts.port
        except ValueError as error:
            raise Refused(Problem("BK809", f"the {what} cannot be read: {error}")) from None
        if parts.scheme not in ("http", "https") or not host:
            raise Refused(Problem("BK809", f"the {what} must start with https://, not {_shown(url)!r}"))
        if parts.username is not None or parts.password is not None:
            raise Refused(Problem("BK809", f"the {what} must not hold a user name or password"))
        if parts.scheme == "http" and not self._insecure_http and not _is_loopback(host):
            hint = "use https, or allow it with --insecure-http on a network you trust"
            raise Refused(Problem("BK809", f"plain http to {host} would show what is sent to the network", hint=hint))
        return parts

    @contextmanager
    def _answered(self, url: str) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            said = str(error) or type(error).__name__
            hint = "check the base URL and the network, then try again"
            raise TransportFailed(ApiProblem("BK803", f"no answer from {_shown(url)}: {said}", hint=hint)) from error


def _download_problem(url: str, answer: Any) -> Problem:
    response = Response(status=answer.status_code, headers=dict(answer.headers), body=answer.content)
    if 200 <= answer.status_code < 300:
        return ApiProblem("BK804", f"{_shown(url)} answered {answer.status_code}, not 200")
    return read_refusal(response)


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(url: str) -> str:
    """A URL without its query, which may hold a signature, and without credentials."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
