"""The service behind HTTP: an ASGI application over `handle`.

| route | who may | what |
|---|---|---|
| `GET /health` | anybody | whether it answers |
| `GET /openapi.json` | anybody | the API as an OpenAPI document |
| `/v1/...` | whoever shows the token | the API (`beaker.core.endpoints`) |
| `PUT /uploads/...`, `GET /blobs/...` | whoever has the address | blob bytes, streamed (`service.signed_transfers`) |

Nothing here redirects, sets a cookie or allows another origin. A request is judged by its `Host` first, so that a page
in a browser cannot reach a server on its reader's machine under a name of its own.
"""

import hmac
import re
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import attrs
from returns.pipeline import is_successful
from starlette.requests import Request as HttpRequest
from starlette.responses import FileResponse
from starlette.responses import Response as HttpResponse
from starlette.routing import Route, Router

import beaker
from beaker.core.api import Response, match_request
from beaker.core.endpoints import ENDPOINTS
from beaker.core.openapi import openapi_document
from beaker.core.problems import Problem
from beaker.core.values import value
from beaker.core.versions import CLIENT_HEADER, SERVICE_HEADER, service_misfit
from beaker.service.desks import Desks
from beaker.service.handle import answered, guarded, handle
from beaker.service.http_bodies import (
    MAX_BODY_BYTES,
    STALL_SECONDS,
    Body,
    Message,
    Receive,
    Stalled,
    TooLarge,
    in_time,
    read_request,
)
from beaker.service.local_ports import ORGANIZATION
from beaker.service.place import Place, utc_now
from beaker.service.ports import Caller, Ports, answer, refuse
from beaker.service.request_ids import REQUEST_ID, with_request_ids
from beaker.service.signed_transfers import SignedTransfers, allows_download, allows_upload
from beaker.service.unavailable import unavailable
from beaker.service.uploads import Keeping, awaited, received

Scope: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Handler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]
T = TypeVar("T")

HEARD = 64
"""Versions of clients that the log tells of, once each."""

WRITERS = 4
"""Threads that write uploads, a piece at a time."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")


@value
class ServiceDesk:
    """A place as one thread has it open; `ports` gives its ports with the addresses that a caller can reach."""

    place: Place
    ports: Ports

    def close(self) -> None:
        """Close the store."""
        self.place.database.close()


@value(kw_only=True)
class Doors:
    """Who is let in: `token` for the API, `key` behind the addresses.

    `hosts` are the names (lower case) under which the server may be asked beside those of this machine, `None` for any.
    `public_url` is what addresses start with; without one they start with what the request was sent to, else `bound`.
    """

    token: str = attrs.field(repr=False)
    key: bytes = attrs.field(repr=False)
    bound: str
    hosts: frozenset[str] | None = frozenset()
    public_url: str | None = None


def application(desks: Desks[ServiceDesk], doors: Doors, say: Callable[[str], None]) -> App:
    """The ASGI application. `say` takes lines for the log; no line holds a token or a signature."""
    rooms = _Rooms(desks, doors, say)
    router = Router(
        routes=[
            Route("/health", _Room(rooms.health, "GET", rooms.api)),
            Route("/openapi.json", _Room(rooms.description, "GET", rooms.api)),
            Route("/uploads/{artifact_id}/{path:path}", _Room(rooms.upload, "PUT", rooms.api)),
            Route("/blobs/{digest}/{name:path}", _Room(rooms.download, "GET", rooms.api)),
        ],
        default=_Room(rooms.api, None, rooms.api),
        redirect_slashes=False,
    )

    async def guarded_app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing else is offered
        began = False

        async def patient_send(message: Message) -> None:
            nonlocal began
            began = True
            await in_time(send(message))

        async def patient_receive() -> Message:
            return await in_time(receive())

        try:
            if (fault := _host_fault(scope, doors)) is not None:
                await Body(patient_receive).drain()
                await _shown(refuse(421, fault), close=True)(scope, receive, patient_send)
            else:
                await router(scope, patient_receive, patient_send)
        except Stalled:
            if began:
                raise  # half an answer is none: the connection ends
            problem = Problem("BK491", f"nothing came for {STALL_SECONDS:g} seconds")
            await _shown(refuse(408, problem), close=True)(scope, receive, send)
        except Exception as error:
            if began:
                raise
            said = "".join(traceback.format_exception(error)).rstrip()
            say(f"request {scope[REQUEST_ID]}: an error inside Beaker: {said}")
            problem = Problem("BK949", f"an error inside Beaker: {type(error).__name__}", hint="see the server's log")
            await _shown(refuse(500, problem), close=True)(scope, receive, send)

    return with_request_ids(guarded_app)


class _Room:
    """Answers one method (`HEAD` as `GET`) by `handler`; all others by `otherwise`, which judges whoever asks first."""

    def __init__(self, handler: Handler, method: str | None, otherwise: Handler) -> None:
        self._handler = handler
        self._method = method
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" and self._method == "GET" else scope["method"]
        fits = self._method is None or method == self._method
        response = await (self._handler if fits else self._otherwise)(HttpRequest(scope, receive, send))
        await response(scope, receive, send)


class _Rooms:
    """What stands behind the routes."""

    def __init__(self, desks: Desks[ServiceDesk], doors: Doors, say: Callable[[str], None]) -> None:
        self._desks = desks
        self._doors = doors
        self._say = say
        self._heard: set[str | None] = set()
        self._writers: anyio.CapacityLimiter | None = None

    async def health(self, request: HttpRequest) -> HttpResponse:
        return _shown(answer({"status": "ok"}))

    async def description(self, request: HttpRequest) -> HttpResponse:
        return _shown(answer(openapi_document(ENDPOINTS, version=beaker.__version__)))

    async def api(self, request: HttpRequest) -> HttpResponse:
        body = Body(request.receive)
        if not _shows(request.headers.get("authorization", ""), self._doors.token):
            await body.drain()
            if (login := _open_endpoint(request)) is not None:
                return _shown(refuse(501, unavailable(login)), close=True)
            hint = "pass the server's token with --api-key or BEAKER_API_KEY; the server says which file holds it"
            refused = refuse(401, Problem("BK490", "this service asks for its token, and this is not it", hint=hint))
            return _shown(refused, close=True, headers={"www-authenticate": "Bearer"})
        self._hear(request.headers.get(CLIENT_HEADER))
        try:
            asked = await read_request(request, body)
        except TooLarge:
            await body.drain()
            problem = Problem("BK491", f"a body may have {MAX_BODY_BYTES} bytes, and this one has more")
            return _shown(refuse(413, problem), close=True)
        if isinstance(asked, Problem):
            return _shown(refuse(400, asked))
        transfers = SignedTransfers(_base_url(request, self._doors), self._doors.key, utc_now)

        def work(desk: ServiceDesk) -> Response:
            ports = replace(desk.ports, transfers=transfers)
            return answered(desk.place, lambda: handle(asked, Caller(ORGANIZATION, "remote"), ports))

        return _shown(await self._desks.do(work))

    def _hear(self, version: str | None) -> None:
        """Note of a client that shows the token whether its version fits, once for each."""
        if version not in self._heard and len(self._heard) < HEARD:
            self._heard.add(version)
            if (misfit := service_misfit(beaker.__version__, version)) is not None:
                self._say(f"warning: {misfit}")

    async def upload(self, request: HttpRequest) -> HttpResponse:
        body = Body(request.receive)
        artifact_id, path = request.path_params["artifact_id"], request.path_params["path"]
        signature = request.query_params.get("signature", "")
        if not allows_upload(self._doors.key, artifact_id, path, signature):
            await body.drain()
            return _shown(refuse(404, Problem("BK453", "this place has no such upload address")), close=True)
        file = await self._ask(lambda desk: awaited(desk.ports, artifact_id, path))
        if isinstance(file, Response):
            await body.drain()
            return _shown(file, close=True)
        keeping = Keeping(await self._desks.do(lambda desk: desk.place.blobs), file)
        try:
            outcome = await self._written(keeping.begin)
            while outcome.status < 400 and (piece := await body.gathered()):
                outcome = await self._written(partial(keeping.add, piece))
            if outcome.status < 400:
                outcome = await self._written(keeping.end)
        finally:
            with anyio.CancelScope(shield=True):
                await self._written(keeping.give_up)
        if outcome.status >= 400:
            await body.drain()
            return _shown(outcome, close=True)
        return _shown(await self._ask(lambda desk: received(desk.ports, artifact_id, path)))

    async def _written(self, step: Callable[[], Response | None]) -> Response:
        """What one step of keeping an upload gives. It never waits for the network, so that few threads do for all."""
        self._writers = self._writers or anyio.CapacityLimiter(WRITERS)
        return await anyio.to_thread.run_sync(lambda: guarded(lambda: step() or answer({})), limiter=self._writers)

    async def download(self, request: HttpRequest) -> HttpResponse:
        digest, name = request.path_params["digest"], request.path_params["name"]
        query = request.query_params
        expires, signature = query.get("expires", ""), query.get("signature", "")
        if not allows_download(self._doors.key, digest, expires, signature, now=utc_now()):
            hint = "ask for a new one: an address is good for a while only"
            return _shown(refuse(403, Problem("BK492", "this is no download address that is still good", hint=hint)))
        found = await self._desks.do(lambda desk: desk.place.blobs.path(digest) if not desk.place.gone() else None)
        if found is None or not found.is_file():
            return _shown(refuse(404, Problem("BK475", f"the stored content {digest[:12]} is missing")))
        headers = {"cache-control": "private, no-store", "x-content-type-options": "nosniff"}
        return FileResponse(
            found, media_type="application/octet-stream", filename=name.rpartition("/")[2] or digest, headers=headers
        )

    async def _ask(self, work: "Callable[[ServiceDesk], T | Response]") -> "T | Response":
        """What `work` gives at a desk, or what a failing disk or a deleted place means."""
        found: list[T] = []

        def judged(desk: ServiceDesk) -> Response:
            made = work(desk)
            if isinstance(made, Response):
                return made
            found.append(made)
            return answer({})

        response = await self._desks.do(lambda desk: answered(desk.place, lambda: guarded(lambda: judged(desk))))
        return found[0] if found and response.status < 400 else response


def _shown(response: Response, *, close: bool = False, headers: dict[str, str] | None = None) -> HttpResponse:
    """A response as it goes out; `close` when the connection must not be used again."""
    extra = {**(headers or {}), **({"connection": "close"} if close else {}), "x-content-type-options": "nosniff"}
    extra[SERVICE_HEADER] = beaker.__version__
    return HttpResponse(response.body, response.status, {**response.headers, **extra, "cache-control": "no-store"})


def _open_endpoint(request: HttpRequest) -> str | None:
    """The endpoint that a request is for, if that is one of those that nobody needs a token for: a login, which there
    is none of here."""
    matched = match_request(request.method, request.scope["raw_path"].decode("ascii", "replace"))
    endpoint = matched.unwrap().endpoint if is_successful(matched) else None
    return endpoint.name if endpoint is not None and endpoint.auth == "none" else None


def _shows(authorization: str, token: str) -> bool:
    """Whether a header shows the token; how long this takes tells nothing about it."""
    scheme, _, shown = authorization.partition(" ")
    same = hmac.compare_digest(shown.strip().encode("utf-8", "replace"), token.encode())
    return same and scheme.lower() == "bearer"


def _host_fault(scope: Scope, doors: Doors) -> Problem | None:
    """What is wrong with the name under which the server was asked."""
    names = [text.decode("latin-1") for name, text in scope["headers"] if name == b"host"]
    host = _host_name(names[0]) if names else ""
    if len(names) > 1 or host is None:
        return Problem("BK493", "the Host of the request cannot be read")
    if not names or doors.hosts is None or host in doors.hosts or is_loopback(host):
        return None
    hint = "ask it under its own name, or tell `beaker serve` its --public-url"
    return Problem("BK493", f"this service is not {host}", hint=hint)


def _base_url(request: HttpRequest, doors: Doors) -> str:
    """What the addresses in an answer start with: what its reader can reach."""
    if doors.public_url is not None:
        return doors.public_url
    host = request.headers.get("host", "")
    return f"http://{host}" if host else doors.bound


def _host_name(host: str) -> str | None:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower() if _HOST.fullmatch(host) else None
    except ValueError:  # brackets around what is no address
        return None


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine, wherever it is asked."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
