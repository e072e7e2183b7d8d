"""Which variable holds a provider's key, for imports from here; its home is `beaker.core.readiness`."""

from beaker.core.readiness import PROVIDER_ENV_VAR_NAMES, provider_env_var_name

__all__ = ["PROVIDER_ENV_VAR_NAMES", "provider_env_var_name"]
