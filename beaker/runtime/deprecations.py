"""Bringing what Python says to be deprecated in the customer's own code from a child to its host.

Python hides `DeprecationWarning`s outside of tests, since most of them are about libraries. Those that blame a line of
the checkout are for the customer, who can change it.
"""

import os
import warnings
from pathlib import Path
from typing import TextIO

from beaker.runtime.channel import Channel
from beaker.runtime.failures import MAX_MESSAGE_CHARACTERS
from beaker.runtime.places import in_checkout
from beaker.runtime.shortening import preliminary

MAX_FOUND = 100
"""Different ones that a process tells of."""


def report_deprecations(channel: Channel, checkout: Path) -> None:
    """Have Python show `DeprecationWarning`s, once per line; the customer's go to the host with the next answer.

    Others stay hidden, and warnings of other kinds are printed as ever. Filters that customer code sets come first.
    """
    print_warning = warnings.showwarning
    root = Path(os.path.realpath(checkout))
    seen: set[tuple[str, str, int]] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, DeprecationWarning):
            print_warning(message, category, filename, lineno, file, line)
            return
        found = (str(message), filename, lineno)
        if found in seen or len(seen) >= MAX_FOUND or (place := in_checkout(filename, root)) is None:
            return
        seen.add(found)
        channel.note({"message": preliminary(found[0], MAX_MESSAGE_CHARACTERS), "where": f"{place}:{lineno}"})

    warnings.showwarning = show
    warnings.simplefilter("default", DeprecationWarning)
