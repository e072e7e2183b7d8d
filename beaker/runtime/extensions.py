"""What other installed packages register with Beaker: entry points by group and name.

Nothing of them is imported before it is asked for by name; looking at names reads metadata alone.
"""

from collections.abc import Iterator
from typing import Any

from beaker.core.optimizer import LaunchSettings
from beaker.core.options import did_you_mean
from beaker.core.problems import Problem
from beaker.core.proposer_settings import COMMAND, PARETO, REFLECTION

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


def extension_faults(settings: LaunchSettings) -> Iterator[Problem]:
    """The proposer and the engine that settings name, where Beaker does not bring it and no package registers it."""
    optimizer = settings.optimizer
    for what, named, own, group in (
        ("proposer", optimizer.proposer, (COMMAND, REFLECTION), PROPOSERS),
        ("engine", optimizer.engine, (PARETO,), ENGINES),
    ):
        if named not in own and named not in (found := registered(group)):
            hint = f"{did_you_mean(named, (*own, *found))}; a package registers more as entry points of {group}"
            where = f"config.harness_optimization.{what}"
            yield Problem("BK410", f"no {what} {named!r} is installed here", where, hint)
