"""Which distributions a `pyproject.toml` declares, wherever tools let them be declared."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

BEAKER_DISTRIBUTION = "beaker-sdk"

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def declares(pyproject: object, distribution: str = BEAKER_DISTRIBUTION) -> bool:
    """Whether a decoded `pyproject.toml` names a distribution: as a dependency, an optional one, in a dependency group
    (followed into the groups it includes), in Poetry's tables or uv's. Total: what has another shape names nothing.
    """
    return normalized(distribution) in declared(pyproject)


def declared(pyproject: object) -> frozenset[str]:
    """Every distribution that a decoded `pyproject.toml` names anywhere, normalized."""
    return frozenset(_declared(pyproject))


def normalized(name: str) -> str:
    """The name of a distribution in the one spelling that all its spellings have in common."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared(pyproject: object) -> Iterator[str]:
    project = _table(pyproject, "project")
    yield from _names(project.get("dependencies"))
    for extra in _table(project, "optional-dependencies").values():
        yield from _names(extra)
    groups = _table(pyproject, "dependency-groups")
    for group in groups.values():
        yield from _names(group)  # what a group includes is a group, and looked at in its turn
    tools = _table(pyproject, "tool")
    yield from _names(_table(tools, "uv").get("dev-dependencies"))
    poetry = _table(tools, "poetry")
    tables = [poetry, *_table(poetry, "group").values()]
    for table in tables:
        for key in ("dependencies", "dev-dependencies"):
            yield from map(normalized, _table(table, key))


def _names(requirements: object) -> Iterator[str]:
    for one in requirements if isinstance(requirements, list | tuple) else ():
        found = _NAME.match(one) if isinstance(one, str) else None
        if found is not None:
            yield normalized(found[1])


def _table(data: object, key: str) -> Mapping[str, Any]:
    found = data.get(key) if isinstance(data, Mapping) else None
    return found if isinstance(found, Mapping) else {}
