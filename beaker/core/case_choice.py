"""Choosing cases by their ids: what to say of an id that no case has."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from beaker.core.problems import Problem, Problems

COMPARED = 20_000
"""Ids, the first ones, among which near ones are looked for: comparing is slow."""

SHOWN = 3
"""Ids that are proposed."""


def unknown_ids(wanted: Iterable[str], known: Iterable[str]) -> Problems:
    """A problem (BK352) for each wanted id that is none of the known ones, each once, with the ids that are near it,
    else the first ones that there are."""
    listed = dict.fromkeys(known)
    first = list(islice(listed, COMPARED))
    return tuple(_unknown(one, first) for one in dict.fromkeys(wanted) if one not in listed)


def _unknown(wanted: str, known: list[str]) -> Problem:
    if near := get_close_matches(wanted, known, n=SHOWN):
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    elif known:
        hint = f"the first ids are {', '.join(map(repr, known[:SHOWN]))}"
    else:
        hint = "load_cases gave no case"
    return Problem("BK352", f"no case has the id {wanted!r}", "--case", hint)
