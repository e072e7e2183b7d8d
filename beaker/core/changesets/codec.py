"""A change set as JSON: the fields of the value, and a `format` that says which rules it was written by."""

from collections.abc import Iterator, Mapping
from typing import cast

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.convert import from_json, to_json
from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    UpdateDocumentChange,
)
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject

FORMAT = "beaker.document-changes/1"


def change_set_to_json(change_set: DocumentChangeSet) -> JsonObject:
    """The JSON form: the fields of the value, and `format`."""
    return {"format": FORMAT, **cast(JsonObject, to_json(change_set))}


def change_set_from_json(data: object) -> Result[DocumentChangeSet, Problems]:
    """Read decoded JSON as a change set; every fault with its JSON path. Unknown keys and operations are refused."""
    if not isinstance(data, dict):
        return Failure((Problem("BK612", "a change set is a JSON object", "$"),))
    problems = [*_format_faults(data)]
    changes = data.get("changes")
    read: list[DocumentChange] = []
    if not isinstance(changes, list):
        problems.append(Problem("BK612", "must be a list of operations", "$.changes"))
        changes = []
    for index, item in enumerate(changes):
        outcome = _change_from_json(item, f"$.changes[{index}]")
        if is_successful(outcome):
            read.append(outcome.unwrap())
        else:
            problems += outcome.failure()
    rest = {key: item for key, item in data.items() if key not in ("format", "changes")}
    head = from_json({**rest, "changes": []}, DocumentChangeSet, code="BK612")
    if not is_successful(head):
        problems += head.failure()
    else:
        problems += _altered(rest, head.unwrap(), "$")
        given = rest.get("groups") or ()
        groups = zip(given, head.unwrap().groups, strict=True) if isinstance(given, list) else ()
        problems += [_not_as_meant(f"$.groups[{index}]") for index, (text, group) in enumerate(groups) if text != group]
    if problems:
        return Failure(tuple(problems))
    found = head.unwrap()
    return Success(
        DocumentChangeSet(found.run_id, found.seed_hash, found.candidate_hash, tuple(read), groups=found.groups)
    )


_KINDS: dict[object, type[DocumentChange]] = {
    "create": CreateDocumentChange,
    "update": UpdateDocumentChange,
    "delete": DeleteDocumentChange,
}


def _change_from_json(item: object, label: str) -> Result[DocumentChange, Problems]:
    if not isinstance(item, dict):
        return Failure((Problem("BK612", "an operation is a JSON object", label),))
    op = item.get("op")
    kind = _KINDS.get(op) if isinstance(op, str) else None
    if kind is None:
        return Failure((Problem("BK612", 'must be "create", "update" or "delete"', f"{label}.op"),))
    given = {key: entry for key, entry in item.items() if key != "op"}
    read = from_json(given, kind, code="BK612", label=label)
    if is_successful(read) and (altered := (*_altered(given, read.unwrap(), label),)):
        return Failure(altered)
    return read


def _altered(given: Mapping[str, object], read: object, label: str) -> Iterator[Problem]:
    """Texts that the value stores otherwise than they are given: what names something must not be put right here."""
    for key in ("run_id", "group", "name", "source_id", "base_version"):
        if (text := given.get(key)) is not None and text != getattr(read, key):
            yield _not_as_meant(f"{label}.{key}")


def _not_as_meant(where: str) -> Problem:
    return Problem("BK612", "must not begin or end with white space, nor hold backslashes in a path", where)


def _format_faults(data: Mapping[str, object]) -> Iterator[Problem]:
    found = data.get("format")
    if found == FORMAT:
        return
    if found is None:
        yield Problem("BK612", "the key 'format' is missing", "$.format", f'a change set says "format": "{FORMAT}"')
    elif isinstance(found, str) and found.startswith("beaker.document-changes/"):
        yield Problem("BK612", f"this version reads {FORMAT}, not {found[:80]}", "$.format", "install a newer Beaker")
    else:
        yield Problem("BK612", f'must be "{FORMAT}"', "$.format", "this is no change set")
