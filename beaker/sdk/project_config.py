"""The configuration file as a customer's own script reads it: the agent, the integration, and the launch settings.

Unlike the commands this takes exactly the file that is named: no folder above is searched, no variable counts. What is
wrong is raised as `ValueError`.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
from returns.pipeline import is_successful

from beaker.core.config import LEGACY_CODE, ProjectConfig, parse_config
from beaker.core.config_entry import IntegrationEntry
from beaker.core.config_reader import word
from beaker.core.config_tree import MapNode, Node, fault, kind_of, plain_json, tree_from_json
from beaker.core.environment import parse_required_env
from beaker.core.launch import ID_KEYS, REFERENCE_KEYS, merge_config
from beaker.core.problems import Problem, Problems
from beaker.core.project_layout import BEAKER_CONFIG_PATH
from beaker.core.python_version import HostedPython, choose_hosted_python
from beaker.core.selection import choose
from beaker.core.values import ReadOnlyDict, value
from beaker.files.pyproject import read_python_project
from beaker.files.yaml_tree import parse_yaml

DATASET_REF_CONFIG_KEYS = REFERENCE_KEYS
"""Keys of `config_defaults` that select a dataset by reference, the one that counts first."""

DATASET_ID_CONFIG_KEYS = ID_KEYS
"""Keys of `config_defaults` that select a dataset by artifact id."""


class UnsupportedConfigError(ValueError):
    """The configuration has keys of an older generation that say nothing any more."""


class PythonEnvironmentError(ValueError):
    """No hosted build has the Python that is asked for."""


@value(kw_only=True)
class BeakerConfig:
    """What a configuration says of one integration; of none when it names none.

    `agent_key` is as it is written, blanks included. `config_defaults` are the launch settings of the file, with those
    of the integration over them.
    """

    agent_key: str | None = None
    integration_id: str | None = None
    config_defaults: Mapping[str, Any] = attrs.field(factory=ReadOnlyDict)

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any], integration_id: str | None = None) -> "BeakerConfig":
        """The configuration that `raw`, decoded JSON or YAML, is; `integration_id` chooses one of several.

        Raises `ValueError` when it is no configuration or the choice is open, `UnsupportedConfigError` for keys of an
        older generation.
        """
        return _config(tree_from_json(dict(raw)), "the configuration", integration_id)

    def run_config(
        self, *, config: Mapping[str, Any] | None = None, input_artifacts: Sequence[Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """The settings of a launch: `config` over `config_defaults`, key by key; a dataset in `config` leaves none of
        the defaults. `input_artifacts`, unless empty, are set as the key of that name."""
        merged = merge_config(self.config_defaults, config)
        if input_artifacts:
            merged["input_artifacts"] = [dict(artifact) for artifact in input_artifacts]
        return merged


def load_beaker_config(
    path: str | PathLike[str] = BEAKER_CONFIG_PATH, *, integration_id: str | None = None
) -> BeakerConfig:
    """Read the configuration file `path`, YAML or JSON.

    Raises as `BeakerConfig.from_mapping`, and `OSError` and `UnicodeDecodeError` when the file cannot be read.
    """
    data = Path(path).read_bytes()
    data.decode("utf-8-sig")
    read = parse_yaml(data, str(path))
    if not is_successful(read):
        raise _error(read.failure())
    return _config(read.unwrap(), str(path), integration_id)


def select_integration_entry(
    raw: Mapping[str, Any], integration_id: str | None = None
) -> tuple[str, dict[str, Any]] | None:
    """The id and the entry of the integration that `raw`, a decoded configuration, means: the named one, else the
    default, else the only one; `None` when it has none and none was named. Raises as `BeakerConfig.from_mapping`."""
    tree = tree_from_json(dict(raw))
    _, entry, node = _selected(tree, "the configuration", integration_id)
    if entry is None or node is None:
        return None
    made = plain_json(node, file="", path="")[0]
    assert isinstance(made, dict)
    return entry.id, made


def required_env_from_integration_config(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the environment variables that an entry declares, in order; `ValueError` for a wrong declaration."""
    read = parse_required_env(entry.get("required_env"))
    if not is_successful(read):
        raise _error(read.failure())
    return read.unwrap()


def resolve_environment_base(
    environment_base: str | None = None,
    *,
    source_dir: str | PathLike[str] = ".",
    pip_install_from: str | PathLike[str] | None = None,
) -> HostedPython:
    """The image and Python of a hosted build: what is configured, held against the metadata of the project in
    `source_dir` and of the `pyproject.toml` that `pip_install_from` names; else the first that they allow.

    Raises `PythonEnvironmentError`.
    """
    folders = [Path(source_dir), *([] if pip_install_from is None else [Path(pip_install_from).parent])]
    chosen = choose_hosted_python(environment_base, [read_python_project(folder).metadata for folder in folders])
    if not is_successful(chosen):
        problem: Problem = chosen.failure()
        raise PythonEnvironmentError(_told(problem))
    return chosen.unwrap()


def _config(tree: Node, file: str, integration_id: str | None) -> BeakerConfig:
    config, entry, node = _selected(tree, file, integration_id)
    if entry is None:
        return BeakerConfig(config_defaults=config.config_defaults)
    given = node.get("agent_key") if node is not None else None
    own = None if given is None else word(given)
    older = entry.agent_key if entry.kind == "spec" else None
    return BeakerConfig(
        agent_key=own or older,
        integration_id=entry.id if entry.kind == "integration" else None,
        config_defaults=ReadOnlyDict(merge_config(config.config_defaults, entry.config_defaults)),
    )


def _selected(
    tree: Node, file: str, integration_id: str | None
) -> tuple[ProjectConfig, IntegrationEntry | None, MapNode | None]:
    """The configuration, the entry that is meant, and how that is written."""
    parsed = parse_config(tree, file)
    if not is_successful(parsed):
        raise _error(parsed.failure())
    config = parsed.unwrap()
    chosen = choose(config, integration_id)
    if not is_successful(chosen):
        raise _error((chosen.failure(),))
    entry: IntegrationEntry | None = chosen.unwrap()
    if entry is None:
        return config, None, None
    node = tree.get(entry.section) if isinstance(tree, MapNode) else None
    if isinstance(node, MapNode) and entry.section != "spec":
        node = node.get(entry.id)
    if not isinstance(node, MapNode):
        raise _error(
            (fault(tree, f"{entry.place} must be a mapping, not {kind_of(node or tree)}", file=file, code=""),)
        )
    return config, entry, node


def _error(problems: Problems) -> ValueError:
    legacy = any(problem.code == LEGACY_CODE for problem in problems)
    return (UnsupportedConfigError if legacy else ValueError)("\n".join(map(_told, problems)))


def _told(problem: Problem) -> str:
    return f"{problem} ({problem.hint})" if problem.hint else str(problem)
