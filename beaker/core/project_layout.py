"""Names and paths of a project: where its configuration lies, which folders it may name, what an entrypoint says.

Each rule returns the stored form or raises `ValueError`; none looks at the disk.
"""

import re

from beaker.core.values import value

BEAKER_DIR = ".beaker"
BEAKER_CONFIG_FILENAME = "beaker.yaml"
BEAKER_CONFIG_PATH = f"{BEAKER_DIR}/{BEAKER_CONFIG_FILENAME}"
BEAKER_CONFIG_FILE_ENV = "BEAKER_CONFIG_FILE"
BEAKER_ENV_PATH = f"{BEAKER_DIR}/.env"
BEAKER_LOCAL_DIR = f"{BEAKER_DIR}/local"


_INTEGRATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\Z")
_OTHER = re.compile(r"[^A-Za-z0-9]+")


@value
class Entrypoint:
    """`module.path:attribute` of an Integration."""

    module: str
    attribute: str


def normalize_beaker_config_path(text: str) -> str:
    """The path of a configuration, relative to its project; blanks around, `./` and doubled `/` do not count."""
    kept = "" if "\\" in text or "://" in text else _relative(text)
    if not kept:
        raise ValueError(f"must be a relative POSIX path that names a file, not {text!r}")
    return kept


def normalize_repository_directory(text: str) -> str:
    """A folder of the repository, `.` for none: without blanks around, `./`, doubled and trailing `/`."""
    return _relative(text) or "."


def parse_entrypoint(text: str) -> Entrypoint:
    """`module.path:attribute`: one colon, dotted identifiers before it, one identifier after it."""
    found = parse_spec_target(text)
    if "." in found.attribute:
        raise ValueError(f"must read module.path:attribute, not {text.strip()!r}")
    return found


def parse_spec_target(text: str) -> Entrypoint:
    """`module.path:attribute` of a Spec's factory, which may stand in a class: the attribute may have dots."""
    given = text.strip()
    module, colon, attribute = (part.strip() for part in given.partition(":"))
    if given.endswith(".py") or module.endswith(".py"):
        raise ValueError(f"must be module.path:attribute, not the path of a file: {given!r}")
    parts = [*module.split("."), *attribute.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise ValueError(f"must read module.path:attribute, not {given!r}")
    return Entrypoint(module, attribute)


def normalize_integration_id(text: str) -> str:
    """The id of an Integration, without blanks around it: 1 to 128 letters, digits, `_`, `.` and `-`, the first of them
    a letter or digit."""
    given = text.strip()
    if not _INTEGRATION_ID.match(given):
        raise ValueError(
            f"must begin with a letter or digit and hold at most 128 letters, digits, '_', '.' and '-', not {text!r}"
        )
    return given


def suggest_integration_id(project: str) -> str:
    """An id made of a project's name: `My App` becomes `my_app`; `prompt_optimization` for a name without letters."""
    return _OTHER.sub("_", project).strip("_").lower()[:128] or "prompt_optimization"


def _relative(text: str) -> str:
    given = text.strip()
    parts = given.split("/")
    if given.startswith("/") or ".." in parts or "\0" in given:
        raise ValueError(f"must be a relative path that stays inside, not {text!r}")
    kept = "/".join(part for part in parts if part not in ("", "."))
    if kept != kept.strip():
        raise ValueError(f"must not begin or end with a blank once it is normalised, as {text!r} does")
    return kept
