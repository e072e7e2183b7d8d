"""The published JSON Schemas as a set: they find each other, and the wheel carries them."""

import json
import os
import tomllib
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from beaker.core.schema_bundle import schema_version

ROOT = Path(__file__).parents[1]
SCHEMAS = sorted((ROOT / "docs" / "schemas").glob("*.json"))


def references(schema: Any) -> list[str]:
    """Every `$ref` below a schema."""
    if isinstance(schema, list):
        return [found for item in schema for found in references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return own + [found for item in schema.values() for found in references(item)]


@pytest.mark.parametrize("path", [path for path in SCHEMAS if path.stem != "openapi"], ids=lambda path: path.stem)
def test_schema__names_itself_and_others_by_file_name(path: Path) -> None:
    """A validator that is given the folder resolves every reference."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema["$id"] == path.name
    for reference in references(schema):
        file, _, pointer = reference.partition("#")
        target = json.loads((path.parent / file).read_text(encoding="utf-8")) if file else schema
        for part in filter(None, pointer.split("/")):
            target = target[part]


def promises(schema: Any, at: str = "") -> set[str]:
    """What a schema promises of every answer: the keys that are there, and the keys that may be."""
    if not isinstance(schema, dict):
        below = enumerate(schema) if isinstance(schema, list) else ()
        return {found for number, item in below for found in promises(item, f"{at}/{number}")}
    required = schema.get("required")
    found = {f"{at} has {name}" for name in required} if isinstance(required, list) else set()
    properties = schema.get("properties")
    found |= {f"{at} may have {name}" for name in properties} if isinstance(properties, dict) else set()
    return found.union(*(promises(item, f"{at}/{key}") for key, item in schema.items()))


def test_versions__what_was_promised__is_kept_or_the_version_goes_up() -> None:
    """A schema may promise more at any time. What it takes back needs `version N` in its `$comment` to go up; the
    record is written anew with BEAKER_RECORD=1."""
    record = ROOT / "tests" / "vectors" / "schema_promises.json"
    current = {}
    for path in SCHEMAS:
        if path.stem not in ("openapi", "beaker-yaml"):
            schema = json.loads(path.read_text(encoding="utf-8"))
            current[path.name] = {"version": schema_version(schema), "promises": sorted(promises(schema))}
            assert current[path.name]["version"] >= 1, f'{path.name} needs "$comment": "version 1"'
    if os.environ.get("BEAKER_RECORD"):
        record.write_text(json.dumps(current, indent=1) + "\n", encoding="utf-8")
    recorded = json.loads(record.read_text(encoding="utf-8"))
    assert current.keys() == recorded.keys(), "run this with BEAKER_RECORD=1"
    for name, before in recorded.items():
        taken_back = set(before["promises"]) - set(current[name]["promises"])
        assert not taken_back or current[name]["version"] > before["version"], f"{name}: {taken_back}"


def test_openapi__published_document__is_made_from_the_table() -> None:
    """`python docs/openapi.py` would change nothing."""
    spec = spec_from_file_location("openapi", ROOT / "docs" / "openapi.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.FILE.read_text(encoding="utf-8") == made.written()


def test_wheel__carries_the_schemas() -> None:
    """The wheel is told to include the folder; where one is installed, it holds what is published."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert wheel["wheel"]["force-include"] == {"docs/schemas": "beaker/schemas"}
    installed = Path(str(files("beaker"))) / "schemas"
    if installed.exists():
        published = {path.name: path.read_bytes() for path in SCHEMAS}
        assert {path.name: path.read_bytes() for path in installed.iterdir()} == published
