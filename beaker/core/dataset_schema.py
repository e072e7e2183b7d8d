"""The JSON Schema of a dataset's rows, as it travels with an upload."""

from collections.abc import Mapping
from typing import Any

from beaker.core.values import value

FORMAT = "jsonl"
VERSION = "v1"

STANDARD_JSONL_CASE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "input", "expected"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "input": {"type": "object"},
        "expected": {"type": "object"},
        "metadata": {"type": "object"},
        "group_key": {"type": "string", "default": "default"},
    },
    "additionalProperties": True,
}
"""Rows that are cases already: an id, an input, what is expected."""


@value
class DatasetSchema:
    """The schema of the rows of a dataset: `json_schema`, with the `format` of the files and its `schema_version`.

    Nothing is checked or copied here; an upload does that.
    """

    json_schema: Any
    format: str = FORMAT
    schema_version: str = VERSION

    def to_metadata(self) -> dict[str, Any]:
        """The form that travels. `ValueError` or `TypeError` when `json_schema` is no mapping."""
        return {
            "format": self.format,
            "schema_version": self.schema_version,
            "json_schema": dict(self.json_schema),
        }


def schema_metadata(data: Mapping[str, Any]) -> dict[str, Any]:
    """The normal form of a schema that came in: `{"format", "schema_version", "json_schema"}`.

    Keys may be in camel case (`jsonSchema`, `schemaVersion`); snake case wins. `format` is `jsonl` or absent, else
    `ValueError`; `json_schema` a mapping, else `TypeError`; `schema_version` any text, `v1` when empty. Two schemas are
    the same when their normal forms are equal.
    """
    form = data.get("format")
    if form not in (None, FORMAT):
        raise ValueError(f"format must be {FORMAT!r}, not {form!r}")
    schema = data.get("json_schema", data.get("jsonSchema"))
    if not isinstance(schema, Mapping):
        raise TypeError(f"json_schema must be a mapping, not {type(schema).__name__}")
    version = data.get("schema_version", data.get("schemaVersion"))
    return {
        "format": FORMAT,
        "schema_version": str(version) if version not in (None, "") else VERSION,
        "json_schema": dict(schema),
    }
