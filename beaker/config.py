"""The configuration file from Python, for imports from here; its home is `beaker.sdk.project_config`."""

from beaker.core.environment import (
    ENVIRONMENT_NAME_PATTERN,
    RESERVED_ENVIRONMENT_NAMES,
    RESERVED_ENVIRONMENT_PREFIXES,
    reserved_environment_reason,
)
from beaker.sdk.project_config import (
    DATASET_ID_CONFIG_KEYS,
    DATASET_REF_CONFIG_KEYS,
    BeakerConfig,
    UnsupportedConfigError,
    load_beaker_config,
    required_env_from_integration_config,
    select_integration_entry,
)

__all__ = [
    "DATASET_ID_CONFIG_KEYS",
    "DATASET_REF_CONFIG_KEYS",
    "ENVIRONMENT_NAME_PATTERN",
    "RESERVED_ENVIRONMENT_NAMES",
    "RESERVED_ENVIRONMENT_PREFIXES",
    "BeakerConfig",
    "UnsupportedConfigError",
    "load_beaker_config",
    "required_env_from_integration_config",
    "reserved_environment_reason",
    "select_integration_entry",
]
