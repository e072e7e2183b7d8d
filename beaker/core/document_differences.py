"""How the documents that a candidate was given differ from those it has, in words."""

from collections.abc import Mapping

from beaker.core.documents import Place
from beaker.core.text import visible

SHOWN = 5
"""Documents that are named; more are counted."""


def document_differences(given: Mapping[Place, str], found: Mapping[Place, str]) -> str:
    """`kb/a.md was changed, kb/b.md was removed and 2 more`; empty where nothing differs.

    Both are documents by (group, name).
    """
    told = [
        f"{group}/{name} was {'added' if place not in given else 'changed' if place in found else 'removed'}"
        for place in sorted({*given, *found})
        if given.get(place) != found.get(place)
        for group, name in [place]
    ]
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return visible(", ".join(told[:SHOWN])) + more
