"""Reading off what customer code raised whether the system denied it something."""

import socket

from beaker.core.sandbox_refusals import OsFault
from beaker.runtime.damage import related


def os_faults(error: BaseException | None) -> tuple[OsFault, ...]:
    """The errors of the system among an exception, those it came from, and those it groups."""
    try:
        return tuple(_fault(one) for one in (() if error is None else related(error)) if isinstance(one, OSError))
    except BaseException:  # customers' exceptions can do anything when they are looked at
        return ()


def _fault(error: OSError) -> OsFault:
    number = error.errno if isinstance(error.errno, int) else None  # whatever was put there
    return OsFault(number, error.filename is not None, isinstance(error, socket.gaierror))
