"""What changed between two looks at files, and what of that is a reason to check a project again."""

from collections.abc import Mapping
from typing import TypeAlias

Stamp: TypeAlias = tuple[int, int, int]
"""What shows that a file is another one: time of change in ns, size in bytes, inode."""

SOURCES = (".py", "beaker.yaml", "pyproject.toml", "train.jsonl", "test.jsonl", "manifest.json")
"""Ends of the paths of files that people change and checks do not."""

SHOWN = 3


def settled(before: Mapping[str, Stamp], after: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """The files that later looks are compared with, from one look before a check and one behind it.

    What customer code wrote meanwhile, a log say, is no change, else every check would lead to another. A source that
    was there before counts as it was then: it may have been changed while it was checked.
    """
    return {**after, **{path: stamp for path, stamp in before.items() if path.endswith(SOURCES)}}


def changed(known: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> tuple[str, ...]:
    """The files that came, went or are others now, sorted."""
    return tuple(sorted(path for path in {*known, *now} if known.get(path) != now.get(path)))


def changes_text(paths: tuple[str, ...]) -> str:
    """The first of some files, and how many more there are."""
    more = len(paths) - SHOWN
    return f"{', '.join(paths[:SHOWN])}{f' and {more} more' if more > 0 else ''}"
