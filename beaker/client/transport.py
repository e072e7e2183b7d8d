"""The port that carries requests and blob bytes; a network or an embedded place implements it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from beaker.core.api import Request, Response
from beaker.core.problems import Refused
from beaker.core.values import value


class TransportFailed(Refused):
    """There was no whole answer: not connected, timed out, cut off. Whether the other side acted is unknown."""


@value
class Arriving:
    """A file on its way here: its bytes from `offset` on. A place may send it from the start, whatever was asked."""

    offset: int
    pieces: Iterator[bytes]


class Transport(Protocol):
    """One place that answers the API, with one credential.

    Each method raises `TransportFailed` when there is no whole answer, and `Refused` for what it will not do, such as
    following a redirect to another origin.
    """

    @property
    def at_once(self) -> int:
        """How many files may travel at the same time, each in a thread of its own; 1 where calls must stay in the
        caller's."""
        ...

    def send(self, request: Request) -> Response:
        """Carry one request of the API, with the credential."""
        ...

    def upload(self, url: str, headers: Mapping[str, str], pieces: Iterable[bytes], size: int) -> Response:
        """Send a file, `size` bytes in `pieces`, to an upload URL of the place; no credential travels with it. What
        `pieces` raises passes through, and the place has no whole file then."""
        ...

    def download(self, url: str, *, offset: int = 0) -> AbstractContextManager[Arriving]:
        """Fetch a download URL of the place, from byte `offset` on where it can; no credential travels with it.

        `Refused` with an `ApiProblem` for a place that refuses. `TransportFailed` may come from the pieces too.
        """
        ...
