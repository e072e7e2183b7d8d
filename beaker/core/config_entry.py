"""One entry of `integrations`: its keys, their rules, and everything that is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs
from returns.pipeline import is_successful

from beaker.core.config_reader import DATASET_KEYS, LAUNCH_KEYS, SCHEMA_CODE, ConfigReader, in_file_order, switch, word
from beaker.core.config_tree import ListNode, MapNode, Node, Scalar, kind_of
from beaker.core.environment import REQUIRED_ENV_HINT, required_env_faults
from beaker.core.image_packages import apt_package_fault, pip_requirement_fault
from beaker.core.models import choose_judge
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import normalize_repository_directory, parse_entrypoint
from beaker.core.targets import parse_declaration
from beaker.core.values import ReadOnlyDict, value

_HOMES = {
    **dict.fromkeys(("integrations", "default_integration", "api"), "at the top of the file"),
    **dict.fromkeys(LAUNCH_KEYS, "into the entry's `config_defaults`"),
}
ENTRY_KEYS = (
    "entrypoint", "source_dir", "package_import_root", "required_env", "agent_key", "project_key", "environment_base",
    "image_base", "pip_install_from", "pip_install", "apt_install", "targets", "scorer_model", "requires_scorer_model",
    "isolation", "config_defaults",
)  # fmt: skip


@value(kw_only=True)
class IntegrationEntry:
    """One entry of `integrations`. `targets` is the declaration as JSON, `None` when the entry makes none.

    `source_dir` counts from the Git root, `package_import_root` from `source_dir` (`None`: `source_dir` itself).
    `isolation` `process` gives every case a process of its own.
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
    isolation: Literal["process"] | None = None
    config_defaults: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)
    misplaced_selectors: tuple[str, ...] = ()
    problems: Problems = ()


def read_entry(key: Scalar, node: Node, file: str) -> tuple[IntegrationEntry, Problems]:
    """The entry named by `key`, and the warnings about it."""
    path = f"integrations.{key.raw}"
    if not isinstance(node, MapNode):
        reader = ConfigReader(MapNode((), key.line, key.column), file=file, path=path)
        reader.refuse(node, f"{path} must be a mapping, not {kind_of(node)}", hint=_ENTRYPOINT_HINT)
        return IntegrationEntry(id=key.raw, problems=tuple(reader.problems)), ()
    reader = ConfigReader(node, file=file, path=path)
    requires_judge = reader.read("requires_scorer_model", switch) or False
    return IntegrationEntry(
        id=key.raw,
        entrypoint=_entrypoint(reader, key),
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
        config_defaults=reader.json_mapping("config_defaults"),
        misplaced_selectors=tuple(sorted(name.raw for name, _ in node.entries if name.raw in DATASET_KEYS)),
        problems=in_file_order(reader.problems),  # last: the arguments above fill it
    ), tuple(reader.warnings(ENTRY_KEYS, _HOMES))


_ENTRYPOINT_HINT = "name your Integration, as in entrypoint: beaker_integration:integration"


def _entrypoint(reader: ConfigReader, key: Scalar) -> str:
    given = reader.read("entrypoint", word)
    node = reader.node.get("entrypoint")
    if given is None:
        if node is None or isinstance(node, Scalar):
            reader.refuse(node or key, f"{reader.place('entrypoint')} is missing", code="BK103", hint=_ENTRYPOINT_HINT)
        return ""
    found = reader.read("entrypoint", lambda _: parse_entrypoint(given))
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


def _isolation(node: Node) -> Literal["process"] | None:
    given = word(node)
    if given not in (None, "process"):
        raise ValueError("must be `process` (every case in a process of its own), or be left out")
    return "process" if given else None
