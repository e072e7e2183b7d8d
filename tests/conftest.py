"""Settings every test shares, and the check of answers against the published JSON Schemas."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


@pytest.fixture
def conforms() -> Callable[[object, str], None]:
    """Asserts that an answer obeys one of the published schemas; knows the keywords that they use, and no others."""

    def check(instance: object, name: str) -> None:
        validate(instance, load(name), load(name), "$")

    return check


def load(name: str) -> dict[str, Any]:
    """A published schema."""
    schema: dict[str, Any] = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    return schema


KEYWORDS = {
    "$schema", "$id", "$ref", "$defs", "title", "description", "type", "enum", "const", "properties", "required",
    "additionalProperties", "items", "anyOf", "pattern", "minimum", "maximum", "propertyNames",
}  # fmt: skip
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def validate(instance: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> None:
    """JSON Schema as far as our schemas use it; an `AssertionError` names the place."""
    assert schema.keys() <= KEYWORDS, f"{path}: unknown keywords {schema.keys() - KEYWORDS}"
    if (reference := schema.get("$ref")) is not None:
        file, _, pointer = reference.partition("#")
        other = load(file) if file else root
        target: Any = other
        for part in filter(None, pointer.split("/")):
            target = target[part]
        validate(instance, target, other, path)
    if "anyOf" in schema:
        faults = []
        for option in schema["anyOf"]:
            try:
                validate(instance, option, root, path)
                break
            except AssertionError as error:
                faults.append(str(error))
        else:
            raise AssertionError(f"{path}: none of the alternatives: {faults}")
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(
            isinstance(instance, TYPES[name]) and (name == "boolean" or not isinstance(instance, bool))
            for name in names
        )
        assert fits, f"{path}: {instance!r} is not of type {names}"
    if "enum" in schema:
        assert instance in schema["enum"], f"{path}: {instance!r} is none of {schema['enum']}"
    if "const" in schema:
        assert instance == schema["const"], f"{path}: {instance!r}"
    if isinstance(instance, str) and "pattern" in schema:
        assert re.search(schema["pattern"], instance), f"{path}: {instance!r} does not match {schema['pattern']}"
    if isinstance(instance, int | float) and not isinstance(instance, bool):
        assert schema.get("minimum", instance) <= instance <= schema.get("maximum", instance), f"{path}: {instance}"
    if isinstance(instance, list) and "items" in schema:
        for number, item in enumerate(instance):
            validate(item, schema["items"], root, f"{path}[{number}]")
    if isinstance(instance, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", ())) <= instance.keys(), (
            f"{path}: lacks {set(schema['required']) - instance.keys()}"
        )
        for key, item in instance.items():
            if key in properties:
                validate(item, properties[key], root, f"{path}.{key}")
            elif schema.get("additionalProperties") is False:
                raise AssertionError(f"{path}: unexpected key {key!r}")
            elif isinstance(schema.get("additionalProperties"), dict):
                validate(item, schema["additionalProperties"], root, f"{path}.{key}")
