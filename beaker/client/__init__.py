"""A Beaker API from Python: requests from the endpoint table, transports, transfers.

The names of `__all__` are the public ones; each is imported when it is first asked for.
"""

TYPE_CHECKING = False  # as in `beaker`
if TYPE_CHECKING:
    from beaker.client.async_public import AsyncBeakerClient
    from beaker.client.errors import BeakerClientError
    from beaker.client.launch_config import (
        CLIENT_RESOLVED_CONFIG_KEYS,
        TRANSPORT_RETRY_ATTEMPTS,
        TRANSPORT_RETRY_BACKOFF_SECONDS,
        ensure_supported_launch_config_keys,
        pop_dataset_selectors,
        strip_local_only_config_keys,
    )
    from beaker.client.public import BeakerClient
    from beaker.client.pulls import Pulled
    from beaker.core.results import Candidate, Dataset, EvalReport, Run

_HOMES = {
    "AsyncBeakerClient": "beaker.client.async_public",
    "BeakerClient": "beaker.client.public",
    "BeakerClientError": "beaker.client.errors",
    "CLIENT_RESOLVED_CONFIG_KEYS": "beaker.client.launch_config",
    "Candidate": "beaker.core.results",
    "Dataset": "beaker.core.results",
    "EvalReport": "beaker.core.results",
    "Pulled": "beaker.client.pulls",
    "Run": "beaker.core.results",
    "TRANSPORT_RETRY_ATTEMPTS": "beaker.client.launch_config",
    "TRANSPORT_RETRY_BACKOFF_SECONDS": "beaker.client.launch_config",
    "ensure_supported_launch_config_keys": "beaker.client.launch_config",
    "pop_dataset_selectors": "beaker.client.launch_config",
    "strip_local_only_config_keys": "beaker.client.launch_config",
}

__all__ = [
    "CLIENT_RESOLVED_CONFIG_KEYS",
    "TRANSPORT_RETRY_ATTEMPTS",
    "TRANSPORT_RETRY_BACKOFF_SECONDS",
    "AsyncBeakerClient",
    "BeakerClient",
    "BeakerClientError",
    "Candidate",
    "Dataset",
    "EvalReport",
    "Pulled",
    "Run",
    "ensure_supported_launch_config_keys",
    "pop_dataset_selectors",
    "strip_local_only_config_keys",
]


if not TYPE_CHECKING:  # type checkers know the names from above, and so see a name that does not exist

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if (home := _HOMES.get(name)) is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(home), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
