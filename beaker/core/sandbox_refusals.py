"""Saying that it may have been `isolation: sandbox` which refused what customer code did.

The kernel answers with an ordinary error, which code meets without a sandbox too. So nothing here is certain, and only
what a confined process raised is looked at.
"""

import errno
from collections.abc import Iterable
from typing import Literal

from beaker.core.values import value

Confinement = Literal["offline", "online"]
"""How a process in a sandbox is confined: without the network, or with what `sandbox_network` grants."""

_DENIALS = frozenset({errno.EPERM, errno.EACCES, errno.EROFS})
_SAID = "the sandbox may have refused this (`isolation: sandbox`"
_NETWORK = f"{_SAID}; sockets take `sandbox_network: true`)"
_HINT = (
    "in a sandbox code writes to scratch_dir and TMPDIR alone, and has no network unless `sandbox_network` grants it; "
    "`isolation: process` confines nothing"
)


@value
class OsFault:
    """What an `OSError` shows: its `number` (errno), whether it names a file, and whether the name of a host was looked
    up (`resolving`; its number is none of errno then)."""

    number: int | None
    names_file: bool = False
    resolving: bool = False


def confinement_of(*, network: bool) -> Confinement:
    """How a process is confined that is granted the network, or is not."""
    return "online" if network else "offline"


def refused_perhaps(message: str, faults: Iterable[OsFault], confinement: Confinement | None) -> str:
    """What a failed case says: `message`, and that it may have been the sandbox where a fault looks like that.

    `faults` are those of what was raised, of what it came from and of what it groups; `confinement` is `None` in a
    process that is not confined.
    """
    if confinement is None:
        return message
    said = next(filter(None, (_suspicion(fault, confinement) for fault in faults)), None)
    return message if said is None else f"{message}; {said}"


def sandbox_hint(message: str) -> str | None:
    """What to do about a failed case that says that it may have been the sandbox; `None` about any other."""
    return _HINT if _SAID in message else None


def _suspicion(fault: OsFault, confinement: Confinement) -> str | None:
    if fault.resolving:
        return _NETWORK if confinement == "offline" else None
    if fault.number not in _DENIALS:
        return None
    is_socket = not fault.names_file and fault.number != errno.EROFS
    return _NETWORK if is_socket and confinement == "offline" else f"{_SAID})"
