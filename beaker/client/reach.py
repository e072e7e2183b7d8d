"""Where a place is, and which addresses may be asked on its account: its own origin, and files that it names."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

import beaker
from beaker.core.api import ApiProblem, Request, Response
from beaker.core.credentials import is_usable_token
from beaker.core.environment import redact
from beaker.core.problems import Problem, Refused
from beaker.core.versions import CLIENT_HEADER

REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5


class Reach:
    """A place at `base_url`, which may have a path prefix, and its credential, `None` for a caller without one.

    `near` tells whether it is on this machine, `secure` whether it is spoken with over TLS. Raises `Refused`: BK809 for
    a base URL that cannot be used, BK806 for a credential that no header can carry.
    """

    def __init__(self, base_url: str, token: str | None, *, insecure_http: bool = False) -> None:
        self._base = base_url.strip().rstrip("/")
        self._insecure_http = insecure_http
        parts = self._checked(self._base, "base URL")
        self.secure = parts.scheme == "https"
        self.near = is_loopback(parts.hostname or "")
        self._origin = origin(parts)
        self._token = None if token is None else usable_token(token)

    def url_of(self, request: Request) -> str:
        """Where a request goes."""
        query = f"?{urlencode(request.query)}" if request.query else ""
        return f"{self._base}{request.path}{query}"

    def headers_of(self, request: Request) -> Mapping[str, str]:
        """What a request says beside its body: our version, and the credential. `Refused` (BK806) when it lacks one."""
        headers = {**request.headers, CLIENT_HEADER: beaker.__version__}
        return headers if request.anonymous else {**headers, "authorization": f"Bearer {self._token_of(request)}"}

    def _token_of(self, request: Request) -> str:
        token = self._token if request.token is None else usable_token(request.token)
        if token is None:
            raise Refused(Problem("BK806", "the API credential is empty", hint="log in, or pass an API key"))
        return token

    def redirected(self, request: Request, url: str, answer: Response, *, times: int) -> str | None:
        """Where an answer from `url` sends the request on, `None` when it is the answer.

        Redirects are followed for GET and within the origin only, `MAX_REDIRECTS` times; `Refused` (BK809) otherwise.
        """
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return None
        target = urljoin(url, answer.headers["location"])
        if request.method != "GET" or _origin_of(target) != self._origin:
            message = f"{shown(url)} redirects {request.method} to {shown(target)}, which is not followed"
            raise Refused(Problem("BK809", message, hint="check the base URL"))
        if times >= MAX_REDIRECTS:
            raise Refused(Problem("BK809", f"{shown(url)} redirects again and again"))
        return target

    def without_secret(self, request: Request, answer: Response) -> Response:
        """The answer, unless it says back where people will read it, in a refusal or a page, what is secret in the
        request: the credential, or what the body keeps to itself.
        """
        page = "html" in answer.headers.get("content-type", "").lower()
        if 200 <= answer.status < 300 and not page:
            return answer
        hidden = (*(() if request.anonymous else (self._token_of(request),)), *request.secrets)
        body = redact(answer.body.decode("utf-8", "surrogateescape"), hidden).encode("utf-8", "surrogateescape")
        return answer if body == answer.body else Response(status=answer.status, headers=answer.headers, body=body)

    def check_file(self, url: str, what: str) -> None:
        """Refuse an address of files that leads where the place itself could not: from afar into plain http.

        Any https origin will do, since files often lie in a store of their own. Otherwise a place elsewhere could have
        its client read or change what services on this machine keep for this machine alone.
        """
        parts = self._checked(url, what)
        if parts.scheme == "http" and (self.secure or not self.near) and origin(parts) != self._origin:
            message = f"the place names a {what} at {shown(url)}, which is neither https nor at the place itself"
            raise Refused(Problem("BK809", message, hint="tell whoever runs the place"))

    def _checked(self, url: str, what: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            _ = parts.port
        except ValueError as error:
            raise Refused(Problem("BK809", f"the {what} cannot be read: {error}")) from None
        if parts.scheme not in ("http", "https") or not host:
            raise Refused(Problem("BK809", f"the {what} must start with https://, not {shown(url)!r}"))
        if parts.username is not None or parts.password is not None:
            raise Refused(Problem("BK809", f"the {what} must not hold a user name or password"))
        if parts.scheme == "http" and not self._insecure_http and not is_loopback(host):
            hint = "use https, or allow it with --insecure-http on a network you trust"
            raise Refused(Problem("BK809", f"plain http to {host} would show what is sent to the network", hint=hint))
        return parts


def usable_token(token: str) -> str:
    """A credential without the blanks around it; `Refused` (BK806) when no header can carry it."""
    stripped = token.strip()
    if not is_usable_token(stripped):
        raise Refused(Problem("BK806", "the API credential is empty or holds characters no credential has"))
    return stripped


def no_answer(url: str, said: str) -> ApiProblem:
    """The problem of a request that was not answered in full."""
    hint = "check the base URL and the network, then try again"
    return ApiProblem("BK803", f"no answer from {shown(url)}: {said}", hint=hint)


def origin(parts: SplitResult) -> tuple[str, str, int | None]:
    """Scheme, host and port, the latter given or not."""
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _origin_of(url: str) -> tuple[str, str, int | None] | None:
    try:
        return origin(urlsplit(url))
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def shown(url: str) -> str:
    """A URL without its query, which may hold a signature, and without credentials."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
