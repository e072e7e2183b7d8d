"""Several JSON Schemas as one document that needs no other file, for whoever validates what a command prints."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beaker.core.strict_json import JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def bundle(title: str, names: Iterable[str], schemas: Mapping[str, JsonObject]) -> JsonObject:
    """A schema that takes what any of `names` takes, with every schema that these refer to below `$defs`.

    `schemas` are by file name, as they are published. Each keeps its `$id`, so its references stay as they are.
    """
    chosen = tuple(names)
    return {
        "$schema": DIALECT,
        "title": title,
        "anyOf": [{"$ref": name} for name in chosen],
        "$defs": {name: schemas[name] for name in _needed(chosen, schemas)},
    }


def schema_version(schema: Mapping[str, Any]) -> int:
    """The version that a published schema states in its `$comment`; 0 for one that states none.

    It goes up when something that was promised is taken back; more may be promised at any time.
    """
    word, _, number = str(schema.get("$comment", "")).partition(" ")
    return int(number) if word == "version" and number.isdecimal() else 0


def _needed(names: Iterable[str], schemas: Mapping[str, JsonObject]) -> list[str]:
    """`names` and the files that they refer to, near and far, in alphabetical order."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _references(schemas[name])
    return sorted(found)


def _references(schema: Any) -> Iterator[str]:
    """The files that a schema refers to."""
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str) and (file := reference.partition("#")[0]):
            yield file
    below = schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ()
    for item in below:
        yield from _references(item)
