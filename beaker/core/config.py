"""The project's configuration file, read from its tree of raw words: the schema decides what each word means.

What makes the file as a whole unusable is a failure of `parse_config`. What is wrong inside one entry stays with the
entry (`IntegrationEntry.problems`) and is reported when that one is selected: an unfinished integration does not get
into the way of its neighbour. Keys that mean nothing are warnings.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs
from returns.result import Failure, Result, Success

from beaker.core.config_entry import ENTRY_KEYS, IntegrationEntry, Section, read_entry
from beaker.core.config_reader import DATASET_KEYS, LAUNCH_KEYS, ConfigReader, in_file_order, word
from beaker.core.config_tree import MapNode, Node, Scalar, fault, kind_of
from beaker.core.problems import Problem, Problems
from beaker.core.values import ReadOnlyDict, value

LEGACY_CODE = "BK105"
"""The code of a key that an older generation wrote. Every command reports it, also one that could do without."""

DEPRECATED_CODE = "BK107"
"""The code of the warning about keys of an older generation that still work."""

TOP_KEYS = ("integrations", "default_integration", "config_defaults", "api")
_HOMES = {
    **dict.fromkeys(ENTRY_KEYS, "into an entry below `integrations`"),
    **dict.fromkeys(LAUNCH_KEYS, "into `config_defaults`"),
}
_SPEC_NAMES = ("spec", "specs", "default_spec")
_KEY_NAMES = ("agent_key", "project_key")


@value(kw_only=True)
class ProjectConfig:
    """A configuration file. `config_defaults` is JSON; `api` is the place to run unless another is named.

    `misplaced_selectors` are dataset keys at the top of the file, where they select nothing. `specs`, `default_spec`
    and `spec`, an entry without a name, are those of the Spec generation.
    """

    file: str
    integrations: Mapping[str, IntegrationEntry] = attrs.field(factory=ReadOnlyDict)
    default_integration: str | None = None
    specs: Mapping[str, IntegrationEntry] = attrs.field(factory=ReadOnlyDict)
    default_spec: str | None = None
    spec: IntegrationEntry | None = None
    config_defaults: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    api: Literal["local"] | None = None
    misplaced_selectors: tuple[str, ...] = ()
    warnings: Problems = ()

    @property
    def entries(self) -> tuple[IntegrationEntry, ...]:
        """Every entry of the file, Specs included."""
        unnamed = () if self.spec is None else (self.spec,)
        return (*self.integrations.values(), *self.specs.values(), *unnamed)


def parse_config(tree: Node, file: str) -> Result[ProjectConfig, Problems]:
    """Read a configuration. `file` names it in the problems, whose `where` is `file:line`.

    A failure holds every problem of the file, those of its entries included. A file without content is an empty
    configuration.
    """
    if not isinstance(tree, MapNode):
        if not (tree.value if isinstance(tree, Scalar) else tree.items):
            return Success(ProjectConfig(file=file))
        return Failure((fault(tree, f"{file} must be a mapping, not {kind_of(tree)}", file=file, code="BK102"),))
    reader = ConfigReader(tree, file=file)
    warnings: list[Problem] = []
    agent_key = _earlier_keys(reader, warnings)
    integrations, specs = (_entries(reader, section, warnings) for section in _ENTRY_HINTS)
    spec = _unnamed_spec(reader, warnings)
    config = ProjectConfig(
        file=file,
        integrations=_by_id(integrations, agent_key),
        default_integration=reader.read("default_integration", _id),
        specs=_by_id(specs, agent_key),
        default_spec=reader.read("default_spec", _id),
        spec=None if spec is None else _with_key(spec, agent_key),
        config_defaults=reader.json_mapping("config_defaults"),
        api=reader.read("api", _api),
        misplaced_selectors=tuple(sorted(key.raw for key, _ in tree.entries if key.raw in DATASET_KEYS)),
        warnings=in_file_order((*reader.warnings((*TOP_KEYS, *_SPEC_NAMES, *_KEY_NAMES), _HOMES), *warnings)),
    )
    if reader.problems:
        return Failure(in_file_order((*reader.problems, *config_problems(config))))
    return Success(config)


def config_problems(config: ProjectConfig) -> Problems:
    """What is wrong with any entry, in the order of the file: for judging a file as a whole."""
    return in_file_order(problem for entry in config.entries for problem in entry.problems)


def _entries(reader: ConfigReader, section: Section, warnings: list[Problem]) -> list[IntegrationEntry]:
    """The entries below `integrations` or `specs`; what is to be warned about goes to `warnings`."""
    node = reader.node.get(section)
    if node is None:
        return []
    if not isinstance(node, MapNode):
        message = f"{section} must be a mapping of ids to entries, not {kind_of(node)}"
        reader.refuse(node, message, hint=_ENTRY_HINTS[section])
        return []
    entries: list[IntegrationEntry] = []
    for key, child in node.entries:
        if not isinstance(key.value, str):
            named = "an integration" if section == "integrations" else "a Spec"
            what = "nothing" if key.value is None else f"{key.raw}, which YAML does not read as text"
            hint = f'write it in quotes: "{key.raw}"'
            reader.refuse(key, f"the id of {named} must be text, not {what}", hint=hint)
            continue
        entry, entry_warnings = read_entry(key, child, reader.file, section=section)
        entries.append(entry)
        warnings.extend(entry_warnings)
    return entries


_ENTRY_HINTS: Mapping[Section, str] = {
    "integrations": "write integrations: {my_app: {entrypoint: beaker_integration:integration}}",
    "specs": "write specs: {my_app: {target: beaker_spec:build_spec}}",
}


def _unnamed_spec(reader: ConfigReader, warnings: list[Problem]) -> IntegrationEntry | None:
    key, node = reader.node.key("spec"), reader.node.get("spec")
    if key is None or node is None:
        return None
    entry, entry_warnings = read_entry(key, node, reader.file, section="spec")
    warnings.extend(entry_warnings)
    return entry


def _earlier_keys(reader: ConfigReader, warnings: list[Problem]) -> str | None:
    """Judge the keys of the Spec generation; the agent that the top of the file names for every entry.

    They work together, with one warning. An agent's key at the top says nothing on its own, and is refused.
    """
    specs, keys = ([key for key, _ in reader.node.entries if key.raw in names] for names in (_SPEC_NAMES, _KEY_NAMES))
    if not specs:
        for key in keys:
            message = f"{key.raw} at the top of the file selects no agent"
            reader.refuse(key, message, code=LEGACY_CODE, hint="move it to integrations.<id>.agent_key")
        return None
    found = [*specs, *keys]
    listed = ", ".join(key.raw for key in found[:-1]) + (" and " if found[1:] else "") + found[-1].raw
    verb = "belong" if found[1:] else "belongs"
    message = f"{listed} {verb} to the Spec generation (0.4), which is deprecated"
    hint = "name the factory as integrations.<id>.entrypoint" + (", and the agent's key beside it" if keys else "")
    warnings.append(fault(found[0], message, file=reader.file, code=DEPRECATED_CODE, hint=hint))
    return (reader.read("agent_key", word) or reader.read("project_key", word) or "").strip() or None


def _with_key(entry: IntegrationEntry, agent_key: str | None) -> IntegrationEntry:
    if entry.agent_key is not None or agent_key is None:
        return entry
    return attrs.evolve(entry, agent_key=agent_key)  # type: ignore[misc]  # a value is an attrs class


def _by_id(entries: Iterable[IntegrationEntry], agent_key: str | None) -> ReadOnlyDict[str, IntegrationEntry]:
    return ReadOnlyDict({entry.id: _with_key(entry, agent_key) for entry in entries})


def _id(node: Node) -> str | None:
    if isinstance(node, Scalar) and node.value is None:
        return None
    word(node)
    assert isinstance(node, Scalar)
    return node.raw


def _api(node: Node) -> Literal["local"] | None:
    given = word(node)
    if given is None:
        return None
    if given != "local":
        raise ValueError(f"may only be local, not {given!r}: no file of a repository decides where your data is sent")
    return "local"
