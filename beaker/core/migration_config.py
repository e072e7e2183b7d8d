"""What to change in a configuration of an earlier generation, so that it says the same in today's words.

| before | after | left to the author when |
|---|---|---|
| `specs.ID.target`, `spec.target` | `integrations.ID.entrypoint` | there are Integrations too, or no counterpart |
| `default_spec` | `default_integration` | |
| `agent_key`, `project_key` at the top | `agent_key` of every entry without one | both are there |
| `project_key`, `image_base` of an entry | `agent_key`, `environment_base` | both spellings are there |

The entry of an Integration may name a decorated factory of a Spec, so a Spec needs no new code for this.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, assert_never

import attrs

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry, Section, entry_place
from beaker.core.config_tree import MapNode, Node, Scalar, fault
from beaker.core.launch_options import SPEC_LAUNCH_KEYS
from beaker.core.migration_code import BY_HAND
from beaker.core.options import camel
from beaker.core.problems import Problem, Problems
from beaker.core.values import ReadOnlyDict, value

_HINT = "change it by hand: docs/generations.md"
_TOP_KEYS = ("agent_key", "project_key")
_OLD_ENTRY_KEYS = {"project_key": "agent_key", "image_base": "environment_base"}

Path: TypeAlias = tuple[str, ...]
"""Keys from the top of the file down."""


@value
class RenameKey:
    """The key at the end of `path` is called `new`."""

    path: Path
    new: str


@value
class NestKey:
    """The key `key` at the top is called `new`, and what it holds stands below the key `inside` of that."""

    key: str
    new: str
    inside: str


@value
class RemoveKey:
    """The key at the end of `path` goes, with what it holds."""

    path: Path


@value
class AddAgentKey:
    """An entry that has none gets this `agent_key`."""

    section: Section
    id: str
    agent_key: str


ConfigEdit: TypeAlias = RenameKey | NestKey | RemoveKey | AddAgentKey


@value
class ConfigPlan:
    """Edits in their order, `(line, words)` about each change, and what is left to the author."""

    edits: tuple[ConfigEdit, ...] = ()
    changes: tuple[tuple[int, str], ...] = ()
    by_hand: Problems = ()


def plan_config(tree: Node, file: str, *, spec_id: str, unfit: Mapping[str, str] = ReadOnlyDict()) -> ConfigPlan:
    """What to change in the configuration `tree`. `spec_id` is the id that the entry `spec` gets.

    `unfit` says of targets why no entry of an Integration can name them (its factory is not decorated, say). A
    configuration that is no mapping is left alone.
    """
    return _Config(tree, file, spec_id, unfit).plan() if isinstance(tree, MapNode) else ConfigPlan()


def applied(data: Any, edit: ConfigEdit) -> Any:
    """The file's content, as nested mappings, with the edit made; `data` must be one that it was planned for."""
    match edit:
        case RenameKey(path, new):
            return _at(
                data, path[:-1], lambda found: {new if key == path[-1] else key: item for key, item in found.items()}
            )
        case NestKey(key, new, inside):
            return {
                new if name == key else name: {inside: item} if name == key else item for name, item in data.items()
            }
        case RemoveKey(path):
            return _at(data, path[:-1], lambda found: {key: item for key, item in found.items() if key != path[-1]})
        case AddAgentKey(section, entry_id, agent_key):
            place = (section,) if section == "spec" else (section, entry_id)
            return _at(data, place, lambda found: {**found, "agent_key": (agent_key, agent_key)})
        case _:
            assert_never(edit)


def other_meaning(before: ProjectConfig, after: ProjectConfig, *, spec_id: str) -> str:
    """What an edited configuration says differently of any entry, of defaults or of the place; empty when nothing."""
    wanted = {entry.id if entry.section != "spec" else spec_id: _as_integration(entry) for entry in before.entries}
    found = {entry.id if entry.section != "spec" else spec_id: _as_integration(entry) for entry in after.entries}
    if wanted.keys() != found.keys():
        return "its entries are others"
    for entry_id, entry in wanted.items():
        if attrs.evolve(found[entry_id], id=entry.id) != entry:  # type: ignore[misc]  # a value is an attrs class
            return f"the entry {entry_id} says something else"
    usual = [one.default_spec or one.default_integration for one in (before, after)]
    if usual[0] != usual[1]:
        return "the default is another"
    defaults = [
        {key: item for key, item in one.config_defaults.items() if _NAMES.get(key) not in _DROPPED}
        for one in (before, after)
    ]
    return "" if defaults[0] == defaults[1] and before.api == after.api else "its settings are others"


_DROPPED = {"use_harness_optimization": True, "test_all_candidates": False}
"""Launch settings of a Spec that say what an Integration's launch does anyway."""

_NAMES = {spelled: name for name in SPEC_LAUNCH_KEYS for spelled in (name, camel(name))}


def _as_integration(entry: IntegrationEntry) -> IntegrationEntry:
    defaults = {key: item for key, item in entry.config_defaults.items() if _NAMES.get(key) not in _DROPPED}
    made: IntegrationEntry = attrs.evolve(  # type: ignore[misc]  # a value is an attrs class
        entry, section="integrations", config_defaults=ReadOnlyDict(defaults)
    )
    return made


class _Config:
    """One configuration while it is looked at."""

    def __init__(self, tree: MapNode, file: str, spec_id: str, unfit: Mapping[str, str]) -> None:
        self.tree, self.file, self.spec_id, self.unfit = tree, file, spec_id, unfit
        self.edits: list[ConfigEdit] = []
        self.changes: list[tuple[int, str]] = []
        self.by_hand: list[Problem] = []

    def plan(self) -> ConfigPlan:
        """Everything, entry by entry, and the keys around them last."""
        specs = self._specs()
        hindrances = list(self._hindrances(specs))
        self.by_hand += hindrances
        is_spec = bool(specs) and not hindrances
        entries = [*specs, *self._entries("integrations")] if is_spec or not specs else []
        for section, key, node in entries:
            self._entry(section, key, node)
        if is_spec:
            self._settings(self.tree.get("config_defaults"), ("config_defaults",))
        if entries:
            self._top_key(entries)
        if is_spec:
            self._sections()
        return ConfigPlan(tuple(self.edits), tuple(sorted(self.changes, key=lambda one: one[0])), tuple(self.by_hand))

    def _change(self, at: Scalar, words: str, edit: ConfigEdit) -> None:
        self.edits.append(edit)
        self.changes.append((at.line, words))

    def _leave(self, at: Node, message: str) -> Problem:
        return fault(at, message, file=self.file, code=BY_HAND, hint=_HINT)

    def _entries(self, section: Section) -> list[tuple[Section, Scalar, MapNode]]:
        node = self.tree.get(section)
        pairs = node.entries if isinstance(node, MapNode) else ()
        return [(section, key, entry) for key, entry in pairs if isinstance(entry, MapNode)]

    def _specs(self) -> list[tuple[Section, Scalar, MapNode]]:
        key, node = self.tree.key("spec"), self.tree.get("spec")
        unnamed: list[tuple[Section, Scalar, MapNode]] = []
        if key is not None and isinstance(node, MapNode):
            unnamed.append(("spec", key, node))
        return [*self._entries("specs"), *unnamed]

    def _hindrances(self, specs: list[tuple[Section, Scalar, MapNode]]) -> Iterator[Problem]:
        """Why the Specs of the file cannot become Integrations as they are."""
        sections = [key for name in ("specs", "spec", "integrations") if (key := self.tree.key(name)) is not None]
        if not specs:
            return
        if len(sections) > 1:
            message = f"{sections[0].raw} and {sections[1].raw} would be one section"
            yield self._leave(sections[0], message)
        if (default := self.tree.key("default_integration")) is not None:
            yield self._leave(default, "default_integration stands beside Specs")
        for section, key, node in specs:
            place = entry_place(section, key.raw)
            target = node.get("target")
            said = target.raw.strip() if isinstance(target, Scalar) else ""
            if node.key("entrypoint") is not None or not said:
                yield self._leave(key, f"{place} names no factory as its target")
            elif said in self.unfit:
                yield self._leave(target or key, f"{place}.target {said} cannot be an entrypoint: {self.unfit[said]}")
            yield from self._foreign(node.get("config_defaults"), f"{place}.config_defaults")
        yield from self._foreign(self.tree.get("config_defaults"), "config_defaults")

    def _foreign(self, node: Node | None, place: str) -> Iterator[Problem]:
        """Launch settings that an Integration's launch does not take."""
        for key, item in node.entries if isinstance(node, MapNode) else ():
            if key.raw in _NAMES and not self._drops(key, item):
                yield self._leave(key, f"{place}.{key.raw} has no counterpart in the launch of an Integration")

    def _drops(self, key: Scalar, item: Node) -> bool:
        name = _NAMES.get(key.raw)
        return isinstance(item, Scalar) and name in _DROPPED and item.value is _DROPPED[name]

    def _entry(self, section: Section, key: Scalar, node: MapNode) -> None:
        place = (section,) if section == "spec" else (section, key.raw)
        if section != "integrations":
            target = node.key("target")
            assert target is not None  # else there was a hindrance
            self._change(target, "target becomes entrypoint", RenameKey((*place, "target"), "entrypoint"))
            self._settings(node.get("config_defaults"), (*place, "config_defaults"))
        for old, new in _OLD_ENTRY_KEYS.items():
            found = node.key(old)
            if found is not None and node.key(new) is None:
                self._change(found, f"{old} becomes {new}", RenameKey((*place, old), new))

    def _settings(self, node: Node | None, path: Path) -> None:
        """Settings that go: what they say is what happens anyway."""
        if not isinstance(node, MapNode):
            return
        goes = [key for key, item in node.entries if self._drops(key, item)]
        if goes and len(goes) == len(node.entries):
            self._change(goes[0], f"{path[-1]} goes: it says what happens anyway", RemoveKey(path))
            return
        for key in goes:
            self._change(key, f"{key.raw} goes: it says what happens anyway", RemoveKey((*path, key.raw)))

    def _top_key(self, entries: list[tuple[Section, Scalar, MapNode]]) -> None:
        """The agent's key moves into the entries that have none of their own."""
        keys = [key for name in _TOP_KEYS if (key := self.tree.key(name)) is not None]
        said = [self.tree.get(key.raw) for key in keys]
        texts = [node.raw.strip() for node in said if isinstance(node, Scalar) and node.value]
        if not keys:
            return
        if len(texts) != len(keys) or len(keys) > 1:
            self.by_hand.append(self._leave(keys[0], f"{keys[0].raw} at the top is not one key of one agent"))
            return
        for section, key, node in entries:
            if not any(node.key(name) is not None for name in _TOP_KEYS):
                words = f"{keys[0].raw} at the top becomes that of {entry_place(section, key.raw)}"
                self._change(keys[0], words, AddAgentKey(section, key.raw, texts[0]))
        words = f"{keys[0].raw} goes from the top of the file"
        self._change(keys[0], words, RemoveKey((keys[0].raw,)))

    def _sections(self) -> None:
        if (key := self.tree.key("specs")) is not None:
            self._change(key, "specs becomes integrations", RenameKey(("specs",), "integrations"))
        if (key := self.tree.key("spec")) is not None:
            words = f"spec becomes the integration {self.spec_id}"
            self._change(key, words, NestKey("spec", "integrations", self.spec_id))
        if (key := self.tree.key("default_spec")) is not None:
            self._change(
                key, "default_spec becomes default_integration", RenameKey(("default_spec",), "default_integration")
            )


def _at(data: Any, path: Path, change: Any) -> Any:
    """`data` with `change` made to the mapping at `path`."""
    if not path:
        return change(data)
    return {**data, path[0]: _at(data[path[0]], path[1:], change)}
