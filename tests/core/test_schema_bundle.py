"""Schemas as one document: what is taken along, and the version that a schema states."""

import pytest

from beaker.core.schema_bundle import DIALECT, bundle, schema_version

SCHEMAS = {
    "a.json": {"$id": "a.json", "properties": {"b": {"$ref": "b.json#/$defs/x"}, "c": {"$ref": "#/$defs/own"}}},
    "b.json": {"$id": "b.json", "items": {"anyOf": [{"type": "null"}, {"$ref": "c.json"}]}},
    "c.json": {"$id": "c.json", "properties": {"again": {"$ref": "a.json"}, "$ref": {"type": "string"}}},
    "d.json": {"$id": "d.json"},
}


def test_bundle__takes_along__what_is_referred_to_and_nothing_else() -> None:
    """Files that are referred to, near and far and in circles, are there once, as they were."""
    made = bundle("t", ["a.json"], SCHEMAS)
    assert made["$schema"] == DIALECT
    assert made["title"] == "t"
    assert made["anyOf"] == [{"$ref": "a.json"}]
    assert list(made["$defs"]) == ["a.json", "b.json", "c.json"]
    assert all(made["$defs"][name] is SCHEMAS[name] for name in made["$defs"])


def test_bundle__several__takes_what_any_of_them_takes() -> None:
    """The forms of an answer are alternatives, in the order given."""
    made = bundle("t", iter(["d.json", "c.json"]), SCHEMAS)
    assert made["anyOf"] == [{"$ref": "d.json"}, {"$ref": "c.json"}]
    assert list(made["$defs"]) == ["a.json", "b.json", "c.json", "d.json"]


@pytest.mark.parametrize(
    ("comment", "version"),
    [("version 1", 1), ("version 12", 12), ("version", 0), ("version x", 0), ("edition 3", 0), ("", 0), (None, 0)],
)
def test_schema_version__is_what_the_comment_states(comment: object, version: int) -> None:
    """Anything else than `version N` states none."""
    assert schema_version({"$comment": comment}) == version
    assert schema_version({}) == 0
