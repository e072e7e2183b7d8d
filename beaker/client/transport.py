"""The port that carries requests and blob bytes; a network or an embedded place implements it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from beaker.core.api import Request, Response
from beaker.core.problems import Refused


class TransportFailed(Refused):
    """There was no whole answer: not connected, timed out, cut off. Whether the other side acted is unknown."""


class Transport(Protocol):
    """One place that answers the API, with one credential.

    Each method raises `TransportFailed` when there is no whole answer, and `Refused` for what it will not do, such as
    following a redirect to another origin.
    """

    def send(self, request: Request) -> Response:
        """Carry one request of the API, with the credential."""
        ...

    def upload(self, url: str, headers: Mapping[str, str], path: Path, size: int) -> Response:
        """Send the file `path`, `size` bytes, to an upload URL of the place; no credential travels with it."""
        ...

    def download(self, url: str, path: Path) -> None:
        """Fetch a download URL of the place into `path`, atomically; no credential travels with it."""
        ...
