"""The project's configuration file, read from its tree of raw words: the schema decides what each word means.

What makes the file as a whole unusable is a failure of `parse_config`. What is wrong inside one entry stays with the
entry (`IntegrationEntry.problems`) and is reported when that one is selected: an unfinished integration does not get
into the way of its neighbour. Keys that mean nothing are warnings.
"""

from collections.abc import Mapping
from typing import Any, Literal

import attrs
from returns.result import Failure, Result, Success

from beaker.core.config_entry import ENTRY_KEYS, IntegrationEntry, read_entry
from beaker.core.config_reader import DATASET_KEYS, LAUNCH_KEYS, ConfigReader, in_file_order, word
from beaker.core.config_tree import MapNode, Node, Scalar, fault, kind_of
from beaker.core.problems import Problem, Problems
from beaker.core.values import ReadOnlyDict, value

LEGACY_CODE = "BK105"
"""The code of a key that an older generation wrote. Every command reports it, also one that could do without."""

TOP_KEYS = ("integrations", "default_integration", "config_defaults", "api")
_HOMES = {
    **dict.fromkeys(ENTRY_KEYS, "into an entry below `integrations`"),
    **dict.fromkeys(LAUNCH_KEYS, "into `config_defaults`"),
}
_SPEC_KEYS = ("spec", "specs", "default_spec")
_KEY_KEYS = ("agent_key", "project_key")


@value(kw_only=True)
class ProjectConfig:
    """A configuration file. `config_defaults` is JSON; `api` is the place to run unless another is named.

    `misplaced_selectors` are dataset keys at the top of the file, where they select nothing.
    """

    file: str
    integrations: Mapping[str, IntegrationEntry] = attrs.field(factory=ReadOnlyDict)
    default_integration: str | None = None
    config_defaults: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    api: Literal["local"] | None = None
    misplaced_selectors: tuple[str, ...] = ()
    warnings: Problems = ()


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
    _refuse_legacy(reader)
    entries, entry_warnings = _integrations(reader)
    config = ProjectConfig(
        file=file,
        integrations=ReadOnlyDict({entry.id: entry for entry in entries}),
        default_integration=reader.read("default_integration", _id),
        config_defaults=reader.json_mapping("config_defaults"),
        api=reader.read("api", _api),
        misplaced_selectors=tuple(sorted(key.raw for key, _ in tree.entries if key.raw in DATASET_KEYS)),
        warnings=in_file_order((*reader.warnings((*TOP_KEYS, *_SPEC_KEYS, *_KEY_KEYS), _HOMES), *entry_warnings)),
    )
    if reader.problems:
        return Failure(in_file_order((*reader.problems, *config_problems(config))))
    return Success(config)


def config_problems(config: ProjectConfig) -> Problems:
    """What is wrong with any entry, in the order of the file: for judging a file as a whole."""
    return in_file_order(problem for entry in config.integrations.values() for problem in entry.problems)


def _integrations(reader: ConfigReader) -> tuple[list[IntegrationEntry], list[Problem]]:
    node = reader.node.get("integrations")
    if node is None:
        return [], []
    if not isinstance(node, MapNode):
        reader.refuse(node, f"integrations must be a mapping of ids to entries, not {kind_of(node)}", hint=_ENTRY_HINT)
        return [], []
    entries: list[IntegrationEntry] = []
    warnings: list[Problem] = []
    for key, child in node.entries:
        if not isinstance(key.value, str):
            what = "nothing" if key.value is None else f"{key.raw}, which YAML does not read as text"
            hint = f'write it in quotes: "{key.raw}"'
            reader.refuse(key, f"the id of an integration must be text, not {what}", hint=hint)
            continue
        entry, entry_warnings = read_entry(key, child, reader.file)
        entries.append(entry)
        warnings.extend(entry_warnings)
    return entries, warnings


_ENTRY_HINT = "write integrations: {my_app: {entrypoint: beaker_integration:integration}}"


def _refuse_legacy(reader: ConfigReader) -> None:
    for key, _ in reader.node.entries:
        if key.raw in _SPEC_KEYS:
            message = f"{key.raw} belongs to the Spec generation, which is gone; only named integrations work"
            hint = "declare an Integration and name it below integrations"
        elif key.raw in _KEY_KEYS:
            message, hint = (
                f"{key.raw} at the top of the file selects no agent",
                "move it to integrations.<id>.agent_key",
            )
        else:
            continue
        reader.refuse(key, message, code=LEGACY_CODE, hint=hint)


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
