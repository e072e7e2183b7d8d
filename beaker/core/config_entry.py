"""One entry of `integrations`, or one that names a Spec: its keys, their rules, and what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import attrs
from returns.pipeline import is_successful

from beaker.core.config_reader import DATASET_KEYS, LAUNCH_KEYS, SCHEMA_CODE, ConfigReader, in_file_order, switch, word
from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, kind_of
from beaker.core.environment import REQUIRED_ENV_HINT, required_env_faults
from beaker.core.image_packages import apt_package_fault, pip_requirement_fault
from beaker.core.models import choose_judge
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import (
    Entrypoint,
    normalize_repository_directory,
    parse_entrypoint,
    parse_spec_target,
)
from beaker.core.sandbox import Isolation
from beaker.core.targets import parse_declaration
from beaker.core.values import ReadOnlyDict, value

_HOMES = {
    **dict.fromkeys(("integrations", "default_integration", "api"), "at the top of the file"),
    **dict.fromkeys(LAUNCH_KEYS, "into the entry's `config_defaults`"),
}
ENTRY_KEYS = (
    "entrypoint", "source_dir", "package_import_root", "required_env", "agent_key", "project_key", "environment_base",
    "image_base", "pip_install_from", "pip_install", "apt_install", "targets", "scorer_model", "requires_scorer_model",
    "isolation", "sandbox_network", "config_defaults",
)  # fmt: skip
SPEC_KEYS = ("target", *(key for key in ENTRY_KEYS if key != "entrypoint"))
"""The keys of an entry that names a Spec: `target` in the place of `entrypoint`, the others alike."""

_SPEC_HOMES = {**_HOMES, "entrypoint": "into an entry below `integrations`; a Spec is named by `target`"}

Kind: TypeAlias = Literal["integration", "spec"]
"""What an entry names: an Integration, or the factory of a Spec (the generation before it)."""

Section: TypeAlias = Literal["integrations", "specs", "spec"]
"""The key of the file that an entry stands below; `spec` is itself the only entry."""


@value(kw_only=True)
class IntegrationEntry:
    """One entry of `integrations`, `specs` or `spec`. `targets` is the declaration as JSON, `None` when the entry
    makes none.

    `entrypoint` reads `module:attribute`; of a Spec it is what `target` says, where the attribute may have dots. The
    entry `spec` has that word as its id.
    `source_dir` counts from the Git root, `package_import_root` from `source_dir` (`None`: `source_dir` itself).
    `isolation` `process` gives every case a process of its own, `sandbox` confines that process and the scorer's
    besides, and `sandbox_network` grants these the network.
    `misplaced_selectors` are dataset keys in the entry itself, where they select nothing. With `problems` the entry
    cannot be used, and the other fields hold what could be read.
    """

    id: str
    entrypoint: str = ""
    source_dir: str = "."
    package_import_root: str | None = None
    required_env: tuple[str, ...] = ()
    agent_key: str | None = None
    environment_base: str | None = None
    pip_install_from: str | None = None
    pip_install: tuple[str, ...] = ()
    apt_install: tuple[str, ...] = ()
    targets: Any = None
    scorer_model: str | None = None
    requires_scorer_model: bool = False
    isolation: Isolation | None = None
    sandbox_network: bool = False
    config_defaults: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    misplaced_selectors: tuple[str, ...] = ()
    problems: Problems = ()
    section: Section = "integrations"

    @property
    def kind(self) -> Kind:
        """What the entry names."""
        return kind_of_section(self.section)

    @property
    def place(self) -> str:
        """The path of the entry in the file, as messages name it: `integrations.ID`, `specs.ID` or `spec`."""
        return entry_place(self.section, self.id)


def kind_of_section(section: str) -> Kind:
    """What the entries below a key of the file name."""
    return "integration" if section == "integrations" else "spec"


def entry_place(section: str, entry_id: str) -> str:
    """The path in the file of the entry with this id."""
    return section if section == "spec" else f"{section}.{entry_id}"


def read_entry(
    key: Scalar, node: Node, file: str, *, section: Section = "integrations"
) -> tuple[IntegrationEntry, Problems]:
    """The entry named by `key` below `section`, and the warnings about it."""
    path = entry_place(section, key.raw)
    naming = _NAMING[kind_of_section(section)]
    if not isinstance(node, MapNode):
        reader = ConfigReader(MapNode((), key.line, key.column), file=file, path=path)
        reader.refuse(node, f"{path} must be a mapping, not {kind_of(node)}", hint=naming.hint)
        return IntegrationEntry(id=key.raw, problems=tuple(reader.problems), section=section), ()
    reader = ConfigReader(node, file=file, path=path)
    requires_judge = reader.read("requires_scorer_model", switch) or False
    return IntegrationEntry(
        id=key.raw,
        section=section,
        entrypoint=_entrypoint(reader, key, naming),
        source_dir=reader.read("source_dir", _folder) or ".",
        package_import_root=reader.read("package_import_root", _import_root),
        required_env=_required_env(reader),
        agent_key=_agent_key(reader),
        environment_base=reader.read("environment_base", word) or reader.read("image_base", word),
        pip_install_from=reader.read("pip_install_from", _optional_folder),
        pip_install=_packages(reader, "pip_install", pip_requirement_fault),
        apt_install=_packages(reader, "apt_install", apt_package_fault),
        targets=_targets(reader),
        scorer_model=_scorer_model(reader, key, required=requires_judge),
        requires_scorer_model=requires_judge,
        isolation=reader.read("isolation", _isolation),
        sandbox_network=_sandbox_network(reader),
        config_defaults=reader.json_mapping("config_defaults"),
        misplaced_selectors=tuple(sorted(name.raw for name, _ in node.entries if name.raw in DATASET_KEYS)),
        problems=in_file_order(reader.problems),  # last: the arguments above fill it
    ), tuple(reader.warnings(naming.keys, naming.homes))


@value
class _Naming:
    """How entries of one kind name what they are about, and what else they may hold."""

    key: str
    parse: Callable[[str], Entrypoint]
    hint: str
    keys: tuple[str, ...]
    homes: Mapping[str, str]


_NAMING: Mapping[Kind, _Naming] = {
    "integration": _Naming(
        "entrypoint",
        parse_entrypoint,
        "name your Integration, as in entrypoint: beaker_integration:integration",
        ENTRY_KEYS,
        _HOMES,
    ),
    "spec": _Naming(
        "target", parse_spec_target, "name your Spec, as in target: beaker_spec:build_spec", SPEC_KEYS, _SPEC_HOMES
    ),
}


def _entrypoint(reader: ConfigReader, key: Scalar, naming: _Naming) -> str:
    given = reader.read(naming.key, word)
    node = reader.node.get(naming.key)
    if given is None:
        if node is None or isinstance(node, Scalar):
            reader.refuse(node or key, f"{reader.place(naming.key)} is missing", code="BK103", hint=naming.hint)
        return ""
    found = reader.read(naming.key, lambda _: naming.parse(given))
    return "" if found is None else f"{found.module}:{found.attribute}"


def _folder(node: Node) -> str:
    return normalize_repository_directory(word(node) or "")


def _optional_folder(node: Node) -> str | None:
    given = word(node)
    return None if given is None else normalize_repository_directory(given)


def _import_root(node: Node) -> str | None:
    # Nothing at all means source_dir itself, as `''` (quoted) does, but only the latter is a root of its own.
    if isinstance(node, Scalar) and node.value is None:
        return None
    return _folder(node)


def _agent_key(reader: ConfigReader) -> str | None:
    """`agent_key`, else the older `project_key`; blank is none, and a blank `agent_key` hides the older one."""
    given = reader.read("agent_key", word) or reader.read("project_key", word)
    return (given or "").strip() or None


def _required_env(reader: ConfigReader) -> tuple[str, ...]:
    items = reader.items("required_env")
    faults = tuple(required_env_faults(item.raw for item in items))
    for index, message in faults:
        reader.refuse(items[index], f"{reader.place('required_env')} {message}", code="BK120", hint=REQUIRED_ENV_HINT)
    return () if faults else tuple(item.raw for item in items)


def _packages(reader: ConfigReader, key: str, rule: Callable[[str], str | None]) -> tuple[str, ...]:
    items = reader.items(key)
    for item in items:
        if (message := rule(item.raw)) is not None:
            reader.refuse(item, f"{reader.place(key)}: {item.raw!r} {message}", code="BK109")
    return tuple(item.raw.strip() for item in items)


def _targets(reader: ConfigReader) -> Any:
    node = reader.node.get("targets")
    if node is None:
        return None
    before = len(reader.problems)
    declared = reader.json("targets", node)
    if len(reader.problems) > before:
        return declared
    place = reader.place("targets")
    parsed = parse_declaration(declared, place)
    if not is_successful(parsed):
        problem: Problem = parsed.failure()
        at = node
        if isinstance(node, ListNode):
            at = next((item for index, item in enumerate(node.items) if problem.where == f"{place}[{index}]"), node)
        reader.refuse(at, f"{problem.where}: {problem.message}", code=problem.code, hint=problem.hint)
    return declared


def _scorer_model(reader: ConfigReader, key: Scalar, *, required: bool) -> str | None:
    given = reader.read("scorer_model", word)
    judge = choose_judge(given, required=required)
    if is_successful(judge):
        return given
    problem: Problem = judge.failure()
    at, code = reader.node.get("scorer_model"), SCHEMA_CODE
    if given is None:
        at, code = reader.node.key("requires_scorer_model"), "BK103"
    reader.refuse(at or key, f"{reader.place('scorer_model')}: {problem.message}", code=code, hint=problem.hint)
    return None


def _isolation(node: Node) -> Isolation | None:
    match word(node):
        case None:
            return None
        case "process" | "sandbox" as given:
            return given
    raise ValueError(
        "must be `process` (every case in a process of its own) or `sandbox` (and that confined), or be left out"
    )


def _sandbox_network(reader: ConfigReader) -> bool:
    granted = reader.read("sandbox_network", switch) or False
    isolation = reader.node.get("isolation")
    if granted and not (isinstance(isolation, Scalar) and isolation.raw.strip() == "sandbox"):
        at = reader.node.key("sandbox_network")
        assert at is not None
        hint = "set isolation: sandbox, or leave it out: other processes reach whatever this machine reaches"
        reader.refuse(at, f"{reader.place('sandbox_network')} needs isolation: sandbox", hint=hint)
    return granted
