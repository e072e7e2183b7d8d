"""What a launch sends of a configuration, and what the client makes of it before.

Keys keep the spelling they were given in. Beside the rules of `beaker.core.launch`, which every launch obeys, here are
their older names for Python.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from returns.pipeline import is_successful

from beaker.core.launch import (
    ID_KEYS,
    LOCAL_PATH_KEYS,
    REFERENCE_KEYS,
    DatasetChoice,
    LaunchRequest,
    check_launch_keys,
    choose_dataset,
    merge_config,
    split_config,
)
from beaker.core.retry import RetryPolicy
from beaker.core.strict_json import JsonObject

TRANSPORT_RETRY_ATTEMPTS = RetryPolicy().attempts
"""Times that a launch with an idempotency key is sent at most."""

TRANSPORT_RETRY_BACKOFF_SECONDS = RetryPolicy().first_wait
"""Seconds after which it is sent again at the latest, the first time; twice as many the second time."""

CLIENT_RESOLVED_CONFIG_KEYS = frozenset({*REFERENCE_KEYS, *ID_KEYS, *LOCAL_PATH_KEYS})
"""Keys of a configuration that the client acts on, and that never travel in `config`."""


class LaunchConfig(Protocol):
    """What a launch reads of a configuration: the agent's key, the integration, and the `config_defaults`."""

    @property
    def agent_key(self) -> str | None: ...

    @property
    def integration_id(self) -> str | None: ...

    @property
    def config_defaults(self) -> Mapping[str, Any]: ...


def strip_local_only_config_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    """`config` without what is meant for this machine alone (`local_dataset_path`)."""
    return {key: item for key, item in config.items() if key not in LOCAL_PATH_KEYS}


def pop_dataset_selectors(config: dict[str, Any]) -> tuple[str | None, str | None]:
    """Take the dataset selectors out of `config`: the reference and the id, `None` where there is none.

    Raises `ValueError` when two of them select something, or when one is no text.
    """
    found = {key: config.pop(key) for key in (*REFERENCE_KEYS, *ID_KEYS) if key in config}
    chosen = _dataset(found, None, None)
    return chosen.reference, chosen.artifact_id


def ensure_supported_launch_config_keys(config: Mapping[str, Any]) -> None:
    """Raises `ValueError`, naming every key of `config` that no launch knows, or that stands in it in two spellings."""
    checked = check_launch_keys(config)
    if not is_successful(checked):
        faults = "; ".join(
            f"{problem} ({problem.hint})" if problem.hint else str(problem) for problem in checked.failure()
        )
        raise ValueError(faults)


def ensure_one_dataset(dataset_ref: str | None, dataset_id: str | None) -> None:
    """Raises `ValueError` when a launch names its dataset twice."""
    if dataset_ref is not None and dataset_id is not None:
        raise ValueError("dataset_ref and dataset_id each select a dataset; keep one of them")


def launch_body(
    beaker_config: LaunchConfig,
    *,
    agent_key: str,
    repository: str,
    config: Mapping[str, Any] | None = None,
    trigger_metadata: Mapping[str, Any] | None = None,
    input_artifacts: Sequence[Mapping[str, Any]] | None = None,
    integration_id: str | None = None,
    ref: str | None = None,
    dataset_ref: str | None = None,
    dataset_id: str | None = None,
) -> JsonObject:
    """What a launch sends for a configuration; arguments go before what it says. Raises `ValueError`."""
    travels, resolved = split_config(merge_config(beaker_config.config_defaults, config))
    ensure_supported_launch_config_keys(travels)
    ensure_one_dataset(dataset_ref, dataset_id)
    request = LaunchRequest(
        agent_key=agent_key,
        config=travels,
        dataset=_dataset(resolved, dataset_ref, dataset_id),
        repository=repository,
        ref=ref,
        integration_id=beaker_config.integration_id if integration_id is None else integration_id,
        trigger_metadata=trigger_metadata or {},
        input_artifacts=tuple(input_artifacts or ()),
    )
    return request.body()


def _dataset(resolved: Mapping[str, Any], reference: str | None, artifact_id: str | None) -> DatasetChoice:
    chosen = choose_dataset(resolved, reference=reference, artifact_id=artifact_id)
    if not is_successful(chosen):
        problem = chosen.failure()
        raise ValueError(f"{problem}; {problem.hint}" if problem.hint else str(problem))
    return chosen.unwrap() or DatasetChoice()
