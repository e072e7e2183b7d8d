"""A configuration file as a tree that has not decided yet what its words mean.

Every scalar keeps its raw text beside the value that YAML 1.2's core rules give it, and its place. So the schema
decides: where text is meant `no`, `012`, `1.10` and a date stay text, where a switch is meant `true` is one.
"""

import re
from typing import TypeAlias

from beaker.core.problems import Problem
from beaker.core.strict_json import JsonValue, dumps
from beaker.core.values import value


@value
class Scalar:
    """One word: `raw` as written (without quotes), `value` as YAML 1.2 reads it, its line and column from 1."""

    raw: str
    value: None | bool | int | float | str
    line: int
    column: int


@value
class ListNode:
    """Several nodes in order."""

    items: "tuple[Node, ...]"
    line: int
    column: int


@value
class MapNode:
    """Pairs of a key and a node, in order; no key stands twice."""

    entries: "tuple[tuple[Scalar, Node], ...]"
    line: int
    column: int

    def get(self, key: str) -> "Node | None":
        """The node at `key`, `None` when the key is absent."""
        return next((node for name, node in self.entries if name.raw == key), None)

    def key(self, key: str) -> Scalar | None:
        """The key itself, for its place."""
        return next((name for name, _ in self.entries if name.raw == key), None)


Node: TypeAlias = Scalar | ListNode | MapNode

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {text: text.lower() == "true" for text in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_OTHER_INT = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")


def resolve_plain(raw: str) -> None | bool | int | float | str:
    """What an unquoted word is under YAML 1.2's core rules.

    One difference: a number written with a leading zero (`012`, an article number or a postcode) stays text.
    """
    if raw in _NULL:
        return None
    if raw in _BOOL:
        return _BOOL[raw]
    if _OTHER_INT.match(raw):
        return int(raw, 0)
    if _INT.match(raw):
        try:
            return int(raw)
        except ValueError:  # too many digits to be a number anyone means
            return raw
    if _FLOAT.match(raw):
        return float(raw)
    if found := _SPECIAL.match(raw):
        return float(f"{found[1] or ''}{found[2] or found[3]}")
    return raw


def tree_from_json(data: JsonValue, *, line: int = 1, column: int = 1) -> Node:
    """`data`, decoded JSON, as a tree whose every node stands at this place: a configuration that is no file.

    Text stays text, however much it looks like a number. Files in YAML or JSON are read by `beaker.files`, with the
    place of every word.
    """
    match data:
        case dict():
            pairs = (
                (Scalar(key, key, line, column), tree_from_json(item, line=line, column=column))
                for key, item in data.items()
            )
            return MapNode(tuple(pairs), line, column)
        case list():
            return ListNode(tuple(tree_from_json(item, line=line, column=column) for item in data), line, column)
        case _:
            return Scalar(data if isinstance(data, str) else dumps(data), data, line, column)


def plain_json(node: Node, *, file: str, path: str) -> tuple[JsonValue, tuple[Problem, ...]]:
    """The JSON that `node` stands for, with every word that is none (BK104): `.nan`, `.inf`, numbers beyond a float."""
    problems: list[Problem] = []
    made = _plain(node, file, path, problems)
    return made, tuple(problems)


def _plain(node: Node, file: str, path: str, problems: list[Problem]) -> JsonValue:
    if isinstance(node, MapNode):
        return {key.raw: _plain(child, file, f"{path}.{key.raw}", problems) for key, child in node.entries}
    if isinstance(node, ListNode):
        return [_plain(child, file, f"{path}[{index}]", problems) for index, child in enumerate(node.items)]
    if isinstance(node.value, float) and not abs(node.value) < float("inf"):
        problems.append(fault(node, f"{path} must be a finite number, not {node.raw}", file=file, code="BK104"))
    return node.value


def fault(node: Node, message: str, *, file: str, code: str, hint: str = "") -> Problem:
    """A `Problem` at the place of `node`: `file:line`."""
    return Problem(code, message, f"{file}:{node.line}", hint)


def kind_of(node: Node) -> str:
    """What `node` is, for a message."""
    match node:
        case MapNode():
            return "a mapping"
        case ListNode():
            return "a list"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool() | int() | float()):
            return node.raw if len(node.raw) <= 40 else "a number"
        case _:
            return repr(node.raw) if len(node.raw) <= 40 else "text"
