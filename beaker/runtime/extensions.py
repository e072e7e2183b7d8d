"""What other installed packages register with Beaker: entry points by group and name.

Nothing of them is imported before it is asked for by name; looking at names reads metadata alone.
"""

from typing import Any

PROPOSERS, ENGINES = "beaker.proposers", "beaker.engines"
"""The groups of entry points."""


def registered(group: str) -> tuple[str, ...]:
    """The names that installed packages register in a group, sorted."""
    # Only who asks for a registered name pays for this import.
    from importlib.metadata import entry_points

    return tuple(sorted({one.name for one in entry_points(group=group)}))


def load(group: str, name: str) -> Any:
    """Import what is registered under `name`; `LookupError` when nothing is, and whatever importing it raises."""
    from importlib.metadata import entry_points

    for found in entry_points(group=group, name=name):
        return found.load()
    raise LookupError(f"no installed package registers {name!r} in {group}")
