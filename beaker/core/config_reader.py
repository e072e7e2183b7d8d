"""Reading the keys of one mapping of a configuration file, collecting what is wrong with its line and path."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, fault, kind_of, plain_json
from beaker.core.options import at_home, did_you_mean
from beaker.core.problems import Problem
from beaker.core.values import ReadOnlyDict

T = TypeVar("T")

SCHEMA_CODE = "BK102"
"""A key has a value that its schema refuses."""

WARNING_CODE = "BK106"
"""A key that means nothing where it stands."""

DATASET_KEYS = ("dataset_ref", "datasetRef", "dataset", "dataset_id", "datasetId")
"""Keys of `config_defaults` that select a dataset, in every spelling."""

LAUNCH_KEYS = (
    "model", "case_retry_limit", "spend_budget_usd", "test_baseline", "max_concurrency", "optimization_config",
    "harness_optimization", "repository_destinations", "extra",
)  # fmt: skip
"""What a launch's `config` may hold, each also in camelCase: keys of `config_defaults`."""


class ConfigReader:
    """One mapping being read; `problems` grows with every fault. `path` is where the mapping stands in the file."""

    def __init__(self, node: MapNode, *, file: str, path: str = "") -> None:
        self.node = node
        self.file = file
        self.path = path
        self.problems: list[Problem] = []

    def place(self, key: str) -> str:
        """The path of `key` in the file."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, node: Node, message: str, *, code: str = SCHEMA_CODE, hint: str = "") -> None:
        """Note what is wrong at `node`."""
        self.problems.append(fault(node, message, file=self.file, code=code, hint=hint))

    def read(self, key: str, rule: Callable[[Node], T | None]) -> T | None:
        """What `rule` makes of the key's node; `None`, with the fault noted, when it raises `ValueError`."""
        node = self.node.get(key)
        if node is None:
            return None
        try:
            return rule(node)
        except ValueError as error:
            self.refuse(node, f"{self.place(key)} {error}")
            return None

    def items(self, key: str) -> tuple[Scalar, ...]:
        """The words of a list; absent and null are none."""
        node = self.node.get(key)
        if node is None or (isinstance(node, Scalar) and node.value is None):
            return ()
        if not isinstance(node, ListNode):
            self.refuse(node, f"{self.place(key)} must be a list, not {kind_of(node)}")
            return ()
        for index, item in enumerate(node.items):
            if not isinstance(item, Scalar):
                self.refuse(item, f"{self.place(key)}[{index}] must be text, not {kind_of(item)}")
        return tuple(item for item in node.items if isinstance(item, Scalar))

    def json(self, key: str, node: Node) -> Any:
        """What stands at `key`, `node`, as JSON."""
        made, problems = plain_json(node, file=self.file, path=self.place(key))
        self.problems.extend(problems)
        return made

    def json_mapping(self, key: str) -> ReadOnlyDict[str, Any]:
        """The key's mapping as JSON; absent and null are an empty one."""
        node = self.node.get(key)
        if node is None or (isinstance(node, Scalar) and node.value is None):
            return ReadOnlyDict()
        if not isinstance(node, MapNode):
            self.refuse(node, f"{self.place(key)} must be a mapping, not {kind_of(node)}")
            return ReadOnlyDict()
        return ReadOnlyDict(self.json(key, node))

    def warnings(self, known: Collection[str], homes: Mapping[str, str]) -> Iterator[Problem]:
        """A warning for each key that means nothing here; keys that start with `x-`, `_` or `.` are one's own.

        `homes` says where keys of other places belong.
        """
        for key, _ in self.node.entries:
            if key.raw in known or key.raw.startswith(("x-", "_", ".")):
                continue
            if key.raw in DATASET_KEYS:
                said, hint = "selects no dataset here", "move it into config_defaults at the top of the file"
            else:
                said, hint = (
                    "is not a known key and is ignored",
                    at_home(key.raw, homes) or did_you_mean(key.raw, known),
                )
            yield fault(key, f"{self.place(key.raw)} {said}", file=self.file, code=WARNING_CODE, hint=hint)


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems of one file, whose places all read `file:line`, by line."""
    return tuple(sorted(problems, key=lambda problem: int(problem.where.rpartition(":")[2])))


def word(node: Node) -> str | None:
    """Text as it was written, whatever YAML would make of it; `None` for nothing, `false` and 0."""
    if not isinstance(node, Scalar):
        raise ValueError(f"must be text, not {kind_of(node)}")
    return node.raw if node.value else None


def switch(node: Node) -> bool:
    """`true` or `false`; nothing is `false`."""
    if isinstance(node, Scalar) and (node.value is None or isinstance(node.value, bool)):
        return bool(node.value)
    raise ValueError(f"must be true or false, not {kind_of(node)}")
