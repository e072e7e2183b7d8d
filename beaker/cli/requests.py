"""What goes over to a place and comes back: told with `--verbose`, and when an answer takes long."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import beaker
from beaker.cli.progress import busy
from beaker.cli.shell import Io
from beaker.core.request_log import answer_line, request_line
from beaker.core.versions import SERVICE_HEADER, client_misfit

if TYPE_CHECKING:
    from beaker.client.transport import Arriving, Transport
    from beaker.core.api import Request, Response


def told(transport: "Transport", io: Io, place: str) -> "Transport":
    """`transport`, whose traffic with `place` is told where somebody wants to hear of it."""
    return ToldTransport(transport, io, place) if io.verbose or not (io.quiet or io.json) else transport


def over_network(transport: "Transport", io: Io, place: str) -> "Transport":
    """As `told`, for a service elsewhere: whether its version fits is said too."""
    return told(FittingTransport(transport, io), io, place)


class FittingTransport:
    """Another transport; the first answer of a service whose version does not fit ours is warned of, once a command."""

    def __init__(self, transport: "Transport", io: Io) -> None:
        self._transport = transport
        self._io = io
        self.upload = transport.upload
        self.download = transport.download

    @property
    def at_once(self) -> int:
        """As the transport says."""
        return self._transport.at_once

    def send(self, request: "Request") -> "Response":
        """Carry one request."""
        answer = self._transport.send(request)
        misfit = client_misfit(beaker.__version__, answer.headers.get(SERVICE_HEADER))
        if misfit is not None:
            self._io.warn_once(misfit)
        return answer


class ToldTransport:
    """Another transport, with a line for each request and each answer under `--verbose`. No body is ever shown, nor a
    credential, nor the query of a URL for files, which may hold a signature."""

    def __init__(self, transport: "Transport", io: Io, place: str) -> None:
        self._transport = transport
        self._io = io
        self._place = place

    @property
    def at_once(self) -> int:
        """As the transport says."""
        return self._transport.at_once

    def send(self, request: "Request") -> "Response":
        """Carry one request."""
        began = monotonic()
        self._io.detail(request_line(request, self._place))
        try:
            with busy(self._io, f"waiting for {self._place}"):
                answer = self._transport.send(request)
        except Exception:
            self._io.detail(f"< no answer, after {monotonic() - began:.2f} s")
            raise
        self._io.detail(answer_line(answer, seconds=monotonic() - began))
        return answer

    def upload(self, url: str, headers: Mapping[str, str], pieces: Iterable[bytes], size: int) -> "Response":
        """Send a file."""
        self._io.detail(f"> PUT {_bare(url)} ({size} bytes)")
        answer = self._transport.upload(url, headers, pieces, size)
        self._io.detail(f"< {answer.status} of {_bare(url)}")
        return answer

    @contextmanager
    def download(self, url: str, *, offset: int = 0) -> "Iterator[Arriving]":
        """Fetch a file."""
        self._io.detail(f"> GET {_bare(url)}" + (f" (from byte {offset} on)" if offset else ""))
        with self._transport.download(url, offset=offset) as arriving:
            yield arriving


def _bare(url: str) -> str:
    from beaker.client.reach import shown

    return shown(url)
