"""Saying where a launch setting was written: the file and line of `config_defaults`, when it came from there."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from beaker.core.config_tree import ListNode, MapNode, Node, plain_json
from beaker.core.options import camel, snake
from beaker.core.problems import Problem, Problems
from beaker.core.values import value

_ROOT = "config"
"""Where problems of launch settings stand: `config.max_rollouts`."""


@value(kw_only=True)
class SettingsFile:
    """A configuration file as it was read: its name, its words, and the entry that is meant, below `section`.

    The section `spec` is itself the entry.
    """

    file: str
    tree: Node
    integration_id: str | None = None
    section: str = "integrations"


def place_settings(problems: Iterable[Problem], source: SettingsFile, *, given: Mapping[str, Any]) -> Problems:
    """Problems of launch settings, with `where` made `file:line` when the setting stands in the file.

    `given` is what the launch gave over the file. A key of it that says what the file says anyway comes from there
    (a launch may send the settings merged); one that differs keeps its place `config.KEY`. So do other problems.
    """
    layers = _layers(source)
    return tuple(_placed(problem, layers, source, given) for problem in problems)


@value
class _Layer:
    path: str
    node: Node


def _layers(source: SettingsFile) -> tuple[_Layer, ...]:
    """The places of `config_defaults`, the one that counts most first."""
    path = "config_defaults"
    found = []
    if source.integration_id is not None:
        entry, place = _child(source.tree, source.section), source.section
        if source.section != "spec":
            entry, place = _child(entry, source.integration_id), f"{place}.{source.integration_id}"
        found.append((f"{place}.{path}", _child(entry, path)))
    found.append((path, _child(source.tree, path)))
    return tuple(_Layer(where, node) for where, node in found if node is not None)


def _placed(problem: Problem, layers: tuple[_Layer, ...], source: SettingsFile, given: Mapping[str, Any]) -> Problem:
    if not problem.where.startswith(f"{_ROOT}."):
        return problem
    path = problem.where.removeprefix(_ROOT)
    sent = [item for key, item in given.items() if _begins(path, snake(key)) or _begins(path, camel(snake(key)))]
    for layer in layers:
        found = _step(layer.node, path)
        if found is not None:
            if sent and sent[0] != plain_json(found[1], file="", path="")[0]:
                return problem
            return _stated(problem, f"{layer.path}{path}", f"{source.file}:{_line(layer.node, path)}")
    if sent:
        return problem
    # It stands nowhere: what is missing belongs into the file.
    missing = layers[-1] if layers else None
    where = source.file if missing is None else f"{source.file}:{missing.node.line}"
    return _stated(problem, f"{'config_defaults' if missing is None else missing.path}{path}", where)


def _stated(problem: Problem, path: str, where: str) -> Problem:
    return attrs.evolve(problem, message=f"{path}: {problem.message}", where=where)  # type: ignore[misc]  # a value is an attrs class


def _begins(path: str, key: str) -> bool:
    """Whether the first part of a path (`.key.rest`, `.key[0]`) is `key`, which may itself hold dots."""
    return path == f".{key}" or path.startswith((f".{key}.", f".{key}["))


def _step(node: Node, path: str) -> tuple[int, Node, str] | None:
    """What the first part of `path` names in `node`: its line, itself, and the rest of the path."""
    if isinstance(node, MapNode):
        found = [(name, child) for name, child in node.entries if _begins(path, name.raw)]
        if found:
            name, child = max(found, key=lambda pair: len(pair[0].raw))
            return name.line, child, path[len(name.raw) + 1 :]
    elif isinstance(node, ListNode) and path.startswith("["):
        index, _, rest = path[1:].partition("]")
        if index.isdecimal() and int(index) < len(node.items):
            item = node.items[int(index)]
            return item.line, item, rest
    return None


def _line(node: Node, path: str) -> int:
    """The line of what `path` names below `node`, or of the last part of it that is there."""
    line = node.line
    while path and (found := _step(node, path)) is not None:
        line, node, path = found
    return line


def _child(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, MapNode) else None
