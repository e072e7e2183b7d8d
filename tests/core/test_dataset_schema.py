"""The schema of a dataset's rows: a plain value, and the one form in which it travels."""

import copy
import dataclasses
import pickle
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.dataset_schema import STANDARD_JSONL_CASE_SCHEMA, DatasetSchema, schema_metadata

SCHEMAS = st.dictionaries(st.text(), st.integers() | st.text(), max_size=4)
INCOMING = st.fixed_dictionaries(
    {},
    optional={
        "format": st.sampled_from(["jsonl", None]),
        "json_schema": SCHEMAS,
        "jsonSchema": SCHEMAS,
        "schema_version": st.none() | st.text() | st.integers(),
        "schemaVersion": st.none() | st.text(),
    },
).filter(lambda data: "json_schema" in data or "jsonSchema" in data)


def test_schema__nothing_is_checked_or_copied() -> None:
    """Any format and any schema is taken, and a change of the caller's dict shows."""
    given_schema: dict[str, Any] = {"type": "object"}
    schema = DatasetSchema(given_schema, format="csv")
    given_schema["title"] = "T"
    assert schema.json_schema == {"type": "object", "title": "T"}
    assert DatasetSchema("no mapping").format == "jsonl"


def test_schema__is_a_frozen_value() -> None:
    """Compared by its fields, unhashable with a dict inside, and copied in every way."""
    schema = DatasetSchema({"type": "object"})
    assert schema == DatasetSchema({"type": "object"}, "jsonl", "v1")
    assert schema == copy.copy(schema) == copy.deepcopy(schema) == pickle.loads(pickle.dumps(schema))
    assert dataclasses.replace(schema, schema_version="v2") == DatasetSchema({"type": "object"}, schema_version="v2")
    with pytest.raises(dataclasses.FrozenInstanceError):
        schema.format = "csv"  # type: ignore[misc]  # the point of the test
    with pytest.raises(TypeError, match="unhashable"):
        hash(schema)
    assert hash(DatasetSchema("text")) == hash(DatasetSchema("text"))


def test_to_metadata__copies_the_schema_shallowly() -> None:
    """The form that travels is the caller's to change; a schema that is text fails there."""
    inner: list[str] = []
    schema = DatasetSchema(MappingProxyType({"required": inner}))
    made = schema.to_metadata()
    assert made == {"format": "jsonl", "schema_version": "v1", "json_schema": {"required": []}}
    assert type(made["json_schema"]) is dict
    assert made["json_schema"]["required"] is inner
    with pytest.raises(ValueError, match="dictionary update sequence"):
        DatasetSchema("text").to_metadata()


@given(INCOMING)
def test_schema_metadata__is_idempotent_and_complete(data: Mapping[str, Any]) -> None:
    """One normal form, which is its own, with snake case before camel case."""
    made = schema_metadata(data)
    assert schema_metadata(made) == made
    assert list(made) == ["format", "schema_version", "json_schema"]
    assert made["format"] == "jsonl"
    assert made["json_schema"] == data.get("json_schema", data.get("jsonSchema"))
    assert made == DatasetSchema(made["json_schema"], schema_version=made["schema_version"]).to_metadata()


@pytest.mark.parametrize(
    "data, version",
    [
        ({}, "v1"),
        ({"schema_version": None}, "v1"),
        ({"schema_version": ""}, "v1"),
        ({"schema_version": 0}, "0"),
        ({"schema_version": 3, "schemaVersion": "x"}, "3"),
        ({"schemaVersion": "v9"}, "v9"),
    ],
)
def test_schema_metadata__version__is_text(data: dict[str, Any], version: str) -> None:
    """Whatever was sent is written as text; nothing at all is the first version."""
    assert schema_metadata({"jsonSchema": {}, **data})["schema_version"] == version


@pytest.mark.parametrize(
    "data, error, words",
    [
        ({"json_schema": {}, "format": "csv"}, ValueError, "format must be 'jsonl', not 'csv'"),
        ({"json_schema": {}, "format": ""}, ValueError, "format must be 'jsonl', not ''"),
        ({"json_schema": []}, TypeError, "json_schema must be a mapping, not list"),
        ({}, TypeError, "json_schema must be a mapping, not NoneType"),
    ],
)
def test_schema_metadata__other_forms__are_refused(data: Any, error: type[Exception], words: str) -> None:
    """A format of another kind, and a schema that is none."""
    with pytest.raises(error, match=words):
        schema_metadata(data)


def test_standard_schema__asks_for_id_input_and_expected() -> None:
    """The rows of the older generation: three required keys, two optional ones, others allowed."""
    assert STANDARD_JSONL_CASE_SCHEMA == {
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
