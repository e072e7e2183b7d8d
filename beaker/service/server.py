"""`beaker serve`: one place on this machine behind HTTP, with its runs looked after, until somebody stops it."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from beaker.core.problems import Problem, Refused
from beaker.core.values import value
from beaker.files.atomic import os_problem
from beaker.service.desks import Desks
from beaker.service.dispatcher import Dispatcher, QueuedWorkers
from beaker.service.http import App, Doors, ServiceDesk, application, is_loopback
from beaker.service.local_ports import local_ports
from beaker.service.local_workers import LocalWorkers
from beaker.service.locks import RunLock, acquire
from beaker.service.place import Place, deleted, open_place, open_project_place, utc_now
from beaker.service.ports import Ports
from beaker.service.server_secrets import read_token, signing_key, token_is_open
from beaker.service.signed_transfers import SignedTransfers

DESKS = 4
"""Requests that are answered at the same time; the others wait."""

CONNECTIONS = 256
"""Connections at most; one more is told to come back (503)."""

HEAD_SECONDS = 15.0
"""How long the head of a request may take to come, on a connection that is new or has been answered."""

KEEP_SECONDS = 30
"""How long an answered connection stays open. Longer than clients keep one, so that it is theirs to close: a request
that meets a closing connection cannot know whether it was read."""

GRACE_SECONDS = 10
"""How long requests that are being answered may take once the server stops."""


@value(kw_only=True)
class Settings:
    """What is served and how.

    `root` is the project's folder, `config_file` counts from it. `state_dir` and `token_file` are chosen when `None`:
    as by `--local`, and `server/token` below the state. Port 0 is any free one. `max_runs` workers run at once.
    `public_url` is what callers reach the server by, if it is not the address it listens at. Without `insecure_http`
    only this machine is served.
    """

    root: Path
    config_file: str
    state_dir: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8787
    token_file: Path | None = None
    max_runs: int = 2
    public_url: str | None = None
    insecure_http: bool = False


@value
class Serving:
    """A server that answers: where, and which file holds the token. `token_open`: others here may read that file."""

    url: str
    token_file: Path
    state_dir: Path
    token_open: bool


async def serve(
    settings: Settings, environ: Mapping[str, str], *, ready: Callable[[Serving], None], say: Callable[[str], None]
) -> None:
    """Serve until this is cancelled; then take no more requests, and stop the workers so that their runs can go on.

    `ready` is called once requests are answered, `say` with each line for the log. Workers inherit `environ`, in which
    names granted to runs are looked up too. Raises `Refused`: what `open_project_place` raises, BK744 when another
    server has the place, BK745 for a token, BK746 for an address, BK743 when the place was deleted meanwhile.
    """
    if not settings.insecure_http and not is_loopback(settings.host.strip("[]").lower()):
        hint = "put a proxy that speaks https in front of it, or allow it with --insecure-http on a network you trust"
        message = f"serving {settings.host} over plain http would show tokens and data to the network"
        raise Refused(Problem("BK746", message, "--host", hint))
    place = open_project_place(settings.root.resolve(), settings.state_dir, environ)
    try:
        if (why := place.database.read_only) is not None:
            raise Refused(why)
        with _alone(place), _listening(settings.host, settings.port) as listening:
            await _serve(settings, environ, place, listening, ready=ready, say=say)
    finally:
        place.database.close()


async def _serve(
    settings: Settings,
    environ: Mapping[str, str],
    place: Place,
    listening: socket.socket,
    *,
    ready: Callable[[Serving], None],
    say: Callable[[str], None],
) -> None:
    loop, gone = asyncio.get_running_loop(), asyncio.Event()
    folder = place.server_lock.parent
    token_file = settings.token_file or folder / "token"
    token, key = read_token(token_file), signing_key(folder / "key", say)
    url = _url(settings.host, listening)
    workers = LocalWorkers(place, environ, foreground=True)
    transfers = SignedTransfers(settings.public_url or url, key, utc_now)

    def reopened() -> Place:
        return open_place(place.state_dir)

    def ports(opened: Place) -> Ports:
        root, config = settings.root.resolve(), settings.config_file
        return local_ports(opened, root, config, environ, workers=queue, transfers=transfers)

    def desk() -> ServiceDesk:
        opened = reopened()
        return ServiceDesk(opened, ports(opened))

    dispatcher = Dispatcher(
        reopened,
        ports,
        workers,
        limit=settings.max_runs,
        say=say,
        gone=lambda: _tell(loop, gone),
    )
    queue = QueuedWorkers(workers, dispatcher)
    doors = Doors(token=token, key=key, bound=url, hosts=_hosts(settings), public_url=settings.public_url)
    desks = Desks(desk, DESKS)
    server = _Server(_config(application(desks, doors, say)))
    try:
        dispatcher.start()
        answering = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            while not server.started and not answering.done():
                await asyncio.sleep(0.01)
            if not answering.done():
                ready(Serving(url, token_file, place.state_dir, token_is_open(token_file)))
                await gone.wait()
        finally:
            server.should_exit = True
            await asyncio.gather(answering, asyncio.to_thread(dispatcher.close))
    finally:
        await asyncio.to_thread(desks.close)
    raise Refused(deleted(place.state_dir))


class _Server(uvicorn.Server):
    """A server that leaves the signals to the command it belongs to."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals over."""
        yield


class _PatientProtocol(H11Protocol):
    """HTTP/1.1 on a connection that is closed when the head of a request does not come in time.

    uvicorn waits for it for ever: anybody could keep connections until there are none left.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Wait for a head unless a request is being answered. A piece of one does not begin the wait anew."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None and self.timeout_keep_alive_task is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _config(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_PatientProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Hold the lock that tells other processes that a server looks after this place."""
    try:
        place.server_lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock: RunLock | None = acquire(place.server_lock, wait_seconds=0.5)
    except OSError as error:
        raise Refused(os_problem(error, "lock the state for this server", place.server_lock)) from error
    if lock is None:
        hint = "stop that one, or serve another state with --state"
        raise Refused(Problem("BK744", "another `beaker serve` serves this state", str(place.state_dir), hint))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, number, _, address = found[0]
        listening = socket.socket(family, kind, number)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except BaseException:
            listening.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "choose another one with --port; 0 takes any that is free"
        raise Refused(Problem("BK746", f"cannot listen at {host} port {port}: {reason}", hint=hint)) from error
    with listening:
        yield listening


def _url(host: str, listening: socket.socket) -> str:
    name = host.strip("[]")
    return f"http://{f'[{name}]' if ':' in name else name}:{listening.getsockname()[1]}"


def _hosts(settings: Settings) -> frozenset[str] | None:
    """The names under which the server may be asked, `None` for any."""
    from urllib.parse import urlsplit

    own = {settings.host.strip("[]").lower()}
    if settings.public_url is not None:
        own.add((urlsplit(settings.public_url).hostname or "").lower())
        return frozenset(own)
    return None if own & {"0.0.0.0", "::"} else frozenset(own)


def _tell(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set an event of a loop from another thread."""
    loop.call_soon_threadsafe(event.set)
