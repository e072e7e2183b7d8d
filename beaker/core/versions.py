"""Whether a client and a service fit, told from the versions that each says with every request and answer.

What one minor version sends, the next one reads: a service may be one ahead of its client. A place that says nothing of
its version, or nothing that can be read, is another product and judged by its answers alone.
"""

import re
from typing import Literal, TypeAlias

from beaker.core.problems import Problem

CLIENT_HEADER = "x-beaker-client-version"
"""The header of a request that says which version sends it."""

SERVICE_HEADER = "x-beaker-service-version"
"""The header of an answer that says which version gives it."""

Fit: TypeAlias = Literal["fits", "client older", "service older"]

MAX_CHARACTERS = 32
"""The longest version that is shown."""

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?![0-9])[0-9A-Za-z.+-]*")


def fit_of(client: str, service: str) -> Fit | None:
    """Whether the versions fit, and which side is older when they do not; `None` when one of them cannot be read.

    They fit when the service has the client's major and minor version, or is one minor version ahead.
    """
    asking, answering = _minor(client), _minor(service)
    if asking is None or answering is None:
        return None
    (major, minor), (served_major, served_minor) = asking, answering
    if major == served_major and served_minor - minor in (0, 1):
        return "fits"
    return "client older" if (major, minor) < (served_major, served_minor) else "service older"


def client_misfit(client: str, service: str | None) -> Problem | None:
    """What a client says of a service whose answers carry the version `service`, `None` for those that carry none.

    BK830 when the client is older, BK831 when the service is; `None` when they fit or the service says nothing.
    """
    match fit_of(client, service or ""):
        case "client older":
            message = f"the service is version {service}, this is {client}: it may answer what is not understood here"
            return Problem("BK830", message, hint=f"install Beaker {service} here")
        case "service older":
            message = f"the service is version {service}, this is {client}: it may not know what is asked"
            return Problem("BK831", message, hint=f"tell whoever runs it, or use Beaker {service} with it")
    return None


def service_misfit(service: str, client: str | None) -> str | None:
    """What a service of the version `service` notes of a client whose requests carry the version `client`.

    `None` when they fit or the client says nothing.
    """
    match fit_of(client or "", service):
        case "client older":
            return f"a client of version {client} asks this service of version {service}, which it may not understand"
        case "service older":
            return f"a client of version {client} asks this service of version {service} for what it may not know"
    return None


def _minor(version: str) -> tuple[int, int] | None:
    found = _VERSION.fullmatch(version) if len(version) <= MAX_CHARACTERS else None
    return None if found is None else (int(found[1]), int(found[2]))
