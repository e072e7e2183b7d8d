"""The Python of hosted builds, for imports from here; its homes are `beaker.core.python_version` and `beaker.sdk`."""

from beaker.core.python_version import (
    DEFAULT_ENVIRONMENT_BASE,
    DEFAULT_PYTHON_VERSION,
    HOSTED_PYTHON_PATCH_VERSIONS,
    SUPPORTED_PYTHON_VERSIONS,
)
from beaker.sdk.project_config import PythonEnvironmentError, resolve_environment_base

__all__ = [
    "DEFAULT_ENVIRONMENT_BASE",
    "DEFAULT_PYTHON_VERSION",
    "HOSTED_PYTHON_PATCH_VERSIONS",
    "SUPPORTED_PYTHON_VERSIONS",
    "PythonEnvironmentError",
    "resolve_environment_base",
]
