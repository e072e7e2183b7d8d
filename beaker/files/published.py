"""Files that come with the package: the JSON Schemas of what commands print."""

import json
from pathlib import Path

from beaker.core.strict_json import JsonObject

_PACKAGE = Path(__file__).parents[1]


def published_schemas() -> dict[str, JsonObject]:
    """Every published JSON Schema by its file name; of the checkout where no built package is at work."""
    shipped = _PACKAGE / "schemas"
    folder = shipped if shipped.is_dir() else _PACKAGE.parent / "docs" / "schemas"
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
