"""Names and paths of a project, for imports from here; their home is `beaker.core.project_layout`."""

from beaker.core.project_layout import (
    BEAKER_CONFIG_FILE_ENV,
    BEAKER_CONFIG_FILENAME,
    BEAKER_CONFIG_PATH,
    BEAKER_DIR,
    BEAKER_ENV_PATH,
    normalize_beaker_config_path,
    normalize_repository_directory,
)

__all__ = [
    "BEAKER_CONFIG_FILENAME",
    "BEAKER_CONFIG_FILE_ENV",
    "BEAKER_CONFIG_PATH",
    "BEAKER_DIR",
    "BEAKER_ENV_PATH",
    "normalize_beaker_config_path",
    "normalize_repository_directory",
]
