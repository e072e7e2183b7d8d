"""What a project's configuration comes to, value by value, and where each value came from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

from beaker.core.config import ProjectConfig
from beaker.core.config_entry import IntegrationEntry, Kind
from beaker.core.config_tree import MapNode, Node
from beaker.core.convert import to_json
from beaker.core.credentials import API_BASE_URL_VARIABLE, API_KEY_VARIABLE, LOCAL, AgentKey, BaseUrl, Source
from beaker.core.environment import AGENT_KEY_VARIABLE, GrantedEnvironment
from beaker.core.launch import merge_config, split_config
from beaker.core.optimizer import parse_launch_settings, settings_to_json
from beaker.core.options import snake
from beaker.core.project_layout import BEAKER_ENV_PATH
from beaker.core.strict_json import JsonObject, JsonValue
from beaker.core.values import ReadOnlyDict, value

SETTINGS = "config_defaults"
"""The key below which launch settings stand, in the file and in what is shown."""


Origin: TypeAlias = Source | Literal["secrets"]
"""Where a value came from; `secrets` are the values that this machine keeps for an agent."""


@value(kw_only=True)
class Effective:
    """One value that counts: `key` is its path, `value` JSON; `source` says what kind of place it came from, `where`
    which one (`file:line`, an option, a variable), empty for a default."""

    key: str
    value: JsonValue
    source: Origin
    where: str = ""


@value(kw_only=True)
class ConfigFile:
    """A configuration as it was read, and the tree of its words, for the line of each."""

    config: ProjectConfig
    tree: Node


@value(kw_only=True)
class Around:
    """What counts beside the file: where the API is, which agent is meant, from where the credential comes (`None`
    for none), what the code is granted, and the options that named the place and the entry."""

    base_url: BaseUrl
    agent: AgentKey | None = None
    credential: Source | None = None
    granted: GrantedEnvironment | None = None
    option: str | None = None
    place_option: str = "--base-url"


def effective_values(file: ConfigFile, entry: IntegrationEntry | None, around: Around) -> tuple[Effective, ...]:
    """Everything that counts for `entry`: the place, the agent, the entry's keys, its variables, its settings.

    For runs on this machine with the settings that a run would have by default. No value of a secret is in it.
    """
    rows = [_api(file, around), _agent(file, entry, around)]
    if not around.base_url.is_local:
        held = None if around.credential is None else HIDDEN
        where = _CREDENTIAL_PLACES.get(around.credential or "", "")
        rows.append(Effective(key="credential", value=held, source=around.credential or "default", where=where))
    if entry is not None:
        rows += [_chosen(file, entry, around.option), *entry_values(file, entry), *_variables(around.granted)]
    defaults = _defaults(file.config, entry) if around.base_url.is_local else None
    return (*rows, *settings_values(file, entry, defaults=defaults))


def entry_values(file: ConfigFile, entry: IntegrationEntry) -> tuple[Effective, ...]:
    """What the entry says, and what it leaves to a default that a run depends on.

    The agent's key is none of them: it may come from elsewhere.
    """
    node = _entry_node(file, entry)
    rows: list[Effective] = []
    for name in _ENTRY_FIELDS:
        spelled = "target" if name == "entrypoint" and entry.kind == "spec" else name
        found = _line(node, _OLDER.get(spelled, (spelled,)))
        key, shown = f"{entry.place}.{spelled}", to_json(getattr(entry, name))
        if found is not None:
            rows.append(Effective(key=key, value=shown, source="config", where=f"{file.config.file}:{found}"))
        elif name in _DEFAULTED:
            rows.append(Effective(key=key, value=_DEFAULTED[name], source="default"))
    return tuple(rows)


def settings_values(
    file: ConfigFile, entry: IntegrationEntry | None, *, defaults: Mapping[str, Any] | None = None
) -> tuple[Effective, ...]:
    """The launch settings and the dataset of a run without options, each from the entry's `config_defaults` or the
    file's; with the settings of `defaults` (JSON) where neither says anything, but for those that are null."""
    own = {} if entry is None else entry.config_defaults
    merged = merge_config(file.config.config_defaults, own)
    layers = [] if entry is None else [_child(_entry_node(file, entry), SETTINGS)]
    layers.append(_child(file.tree, SETTINGS))
    rows: list[Effective] = []
    for key, item in merged.items():
        layer = next((one for one in layers if _line(one, (key,)) is not None), None)
        rows.extend(_leaves(f"{SETTINGS}.{key}", item, (layer, key), file.config.file))
    told = [_told(row.key) for row in rows]
    for key, item in (defaults or {}).items():
        left = _leaves(f"{SETTINGS}.{key}", item, None, "")
        rows.extend(row for row in left if row.value is not None and not _is_told(_told(row.key), told))
    return tuple(rows)


HIDDEN = "(set, not shown)"
"""What stands in the place of a value that may be a secret."""

_CREDENTIAL_PLACES: Mapping[str, str] = ReadOnlyDict({
    "flag": "--api-key", "environment": API_KEY_VARIABLE, "session": "~/.beaker/credentials.json",
})  # fmt: skip


def _api(file: ConfigFile, around: Around) -> Effective:
    base_url = around.base_url
    places = {"flag": around.place_option, "environment": API_BASE_URL_VARIABLE, "config": _top_place(file, "api")}
    return Effective(key="api", value=base_url.url, source=base_url.source, where=places.get(base_url.source, ""))


def _agent(file: ConfigFile, entry: IntegrationEntry | None, around: Around) -> Effective:
    agent = around.agent
    if agent is None:
        return Effective(key="agent_key", value=LOCAL if around.base_url.is_local else None, source="default")
    places = {"flag": "--agent", "environment": AGENT_KEY_VARIABLE, "dotenv": BEAKER_ENV_PATH}
    where = places.get(agent.source, "")
    if agent.source == "config" and entry is not None:
        spelled = ("agent_key", "project_key")
        found = _line(_entry_node(file, entry), spelled) or _line(file.tree, spelled)
        where = f"{file.config.file}:{found}"
    return Effective(key="agent_key", value=agent.key, source=agent.source, where=where)


def _chosen(file: ConfigFile, entry: IntegrationEntry, option: str | None) -> Effective:
    """Which entry it is: the one that was named, the default of the file, or the only one."""
    if option is not None:
        return Effective(key="id", value=entry.id, source="flag", where=option)
    key = "default_integration" if entry.kind == "integration" else "default_spec"
    if _line(file.tree, (key,)) is not None and getattr(file.config, key) is not None:
        return Effective(key="id", value=entry.id, source="config", where=_top_place(file, key))
    return Effective(key="id", value=entry.id, source="default")


def _variables(granted: GrantedEnvironment | None) -> Iterator[Effective]:
    """Where the variables that the code is granted come from; never what they hold."""
    if granted is None:
        return
    for name, source in granted.sources.items():
        where = {"dotenv": BEAKER_ENV_PATH, "secrets": "agent env"}.get(source, name)
        yield Effective(key=f"env.{name}", value=HIDDEN, source=cast(Origin, source), where=where)
    for name in granted.missing:
        yield Effective(key=f"env.{name}", value=None, source="default")


def _defaults(config: ProjectConfig, entry: IntegrationEntry | None) -> JsonObject | None:
    """All settings of a run on this machine, `None` when what is given would be refused."""
    merged = merge_config(config.config_defaults, {} if entry is None else entry.config_defaults)
    kind: Kind = "integration" if entry is None else entry.kind
    return parse_launch_settings(split_config(merged)[0], kind=kind).map(settings_to_json).value_or(None)


def _top_place(file: ConfigFile, key: str) -> str:
    return f"{file.config.file}:{_line(file.tree, (key,))}"


_ENTRY_FIELDS = (
    "entrypoint", "source_dir", "package_import_root", "required_env", "environment_base", "pip_install_from",
    "pip_install", "apt_install", "targets", "scorer_model", "requires_scorer_model", "isolation",
    "sandbox_network",
)  # fmt: skip
_DEFAULTED: Mapping[str, Any] = ReadOnlyDict({"source_dir": ".", "package_import_root": ".", "required_env": []})
_OLDER: Mapping[str, tuple[str, ...]] = ReadOnlyDict({"environment_base": ("environment_base", "image_base")})


def _leaves(path: str, item: Any, at: tuple[Node | None, str] | None, file: str) -> Iterator[Effective]:
    """The values below a setting, each with its own line; `at` is the mapping it stands in and its key there."""
    line = None if at is None else _line(at[0], (at[1],))
    if isinstance(item, Mapping) and item:
        below = None if at is None else _child(at[0], at[1])
        for key, child in item.items():
            yield from _leaves(f"{path}.{key}", child, None if at is None else (below, key), file)
    elif line is None:
        yield Effective(key=path, value=to_json(item), source="default")
    else:
        yield Effective(key=path, value=to_json(item), source="config", where=f"{file}:{line}")


def _told(key: str) -> tuple[str, ...]:
    return tuple(snake(part) for part in key.split("."))


def _is_told(key: tuple[str, ...], told: Iterable[tuple[str, ...]]) -> bool:
    """Whether something was said of `key`, or of a part of it, or of what it is a part of."""
    return any(key[: len(one)] == one or one[: len(key)] == key for one in told)


def _entry_node(file: ConfigFile, entry: IntegrationEntry) -> Node | None:
    section = _child(file.tree, entry.section)
    return section if entry.section == "spec" else _child(section, entry.id)


def _child(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, MapNode) else None


def _line(node: Node | None, keys: Iterable[str]) -> int | None:
    """The line of the first of `keys` that the mapping `node` has."""
    if not isinstance(node, MapNode):
        return None
    found = (node.key(key) for key in keys)
    return next((key.line for key in found if key is not None), None)
