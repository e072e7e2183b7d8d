"""Change sets: from a candidate's documents to conditional operations, and from those to a store's new state.

`derive` makes a set from seeds and a candidate; `plan` judges it against the documents a store holds now; `apply` gives
the new state, all or nothing; `invert` makes the set that leads back. A document is found by its place `(group, name)`;
`source_id` and `version` belong to the store and are only compared where a rule below says so.

The count and total limits of `check_documents` bound seeds and candidates. A store may be larger, so `plan` judges only
what the set touches: documents that it leaves alone never decide anything, except by standing in the way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Literal, TypeAlias, cast

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.changeset_diff import render_diff as render_diff
from beaker.core.convert import from_json, to_json
from beaker.core.documents import (
    MAX_DOCUMENT_BYTES,
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    Place,
    TargetDocument,
    UpdateDocumentChange,
    candidate_hash,
    check_candidate_files,
    check_documents,
    directories_of,
    document_key,
    name_fault,
    seed_hash,
    utf8_size,
)
from beaker.core.problems import Problem, Problems
from beaker.core.strict_json import JsonObject
from beaker.core.values import value

FORMAT = "beaker.document-changes/1"

Outcome: TypeAlias = Literal["applies", "already_applied", "version_conflict", "content_conflict"]


@value
class PlannedChange:
    """One operation and the document it meets, if any. `reason` says why they conflict, and is empty otherwise."""

    change: DocumentChange
    found: TargetDocument | None
    outcome: Outcome
    reason: str = ""


@value
class Conflict(Problem):
    """A change that does not fit the store. `planned` carries the operation and the kind of conflict."""

    planned: PlannedChange | None = None


@value
class ChangePlan:
    """What a change set does to a store, one step per operation, in the set's order."""

    steps: tuple[PlannedChange, ...]

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Every step that does not fit, as problems; empty when the set can be applied."""
        return tuple(_conflict(step) for step in self.steps if step.reason)

    @property
    def applying(self) -> tuple[PlannedChange, ...]:
        """The steps that still have something to do."""
        return tuple(step for step in self.steps if step.outcome == "applies")


def derive(
    run_id: str, groups: Iterable[str], seeds: Iterable[TargetDocument], files: Mapping[Place, str]
) -> Result[DocumentChangeSet, Problems]:
    """The change set that leads from the `seeds` of one document target to a candidate's `files`.

    `files` maps `(group, name)` to content. Only in the candidate = create; only in the seeds = delete; both with
    different text = update; in order of `document_key`. Refused, every fault at once: seeds or files that are no valid
    tree of these groups, a document under another spelling, a change to a document with `editable=False`.
    """
    declared, documents = tuple(sorted(groups)), tuple(seeds)
    problems: list[Problem] = [
        Problem("BK607", f"{one.group!r} is not a declared document group", f"{one.group}/{one.name}")
        for one in documents
        if one.group not in declared
    ]
    for outcome in (check_documents(documents), check_candidate_files(declared, files)):
        if not is_successful(outcome):
            problems += outcome.failure()
    if problems:
        return Failure(tuple(problems))
    before = {document_key(one.group, one.name): one for one in documents}
    after = {document_key(*place): place for place in files}
    changes: list[DocumentChange] = []
    for key in sorted(before.keys() | after.keys()):
        seed, place = before.get(key), after.get(key)
        change = _change(seed, place, files[place] if place else "")
        if seed and place and place != (seed.group, seed.name):
            message = f"is the document {seed.group}/{seed.name} under another spelling"
            hint = "keep the spelling; a new name is a delete and a create"
            problems.append(Problem("BK610", message, f"{place[0]}/{place[1]}", hint))
        elif seed and change and not seed.editable:
            verb = "deleted" if change.op == "delete" else "changed"
            message = f"is marked editable=False and must not be {verb}"
            problems.append(Problem("BK611", message, f"{seed.group}/{seed.name}"))
        elif change:
            changes.append(change)
    if problems:
        return Failure(tuple(problems))
    return Success(
        DocumentChangeSet(run_id, seed_hash(documents), candidate_hash(files), tuple(changes), groups=declared)
    )


def plan(documents: Iterable[TargetDocument], change_set: DocumentChangeSet) -> Result[ChangePlan, Problems]:
    """Judge every operation against the documents a store holds now.

    Per operation, first match: `already_applied` (the document has the operation's result, or is absent for a delete),
    `version_conflict` (both sides state a version and they differ), `content_conflict` (SHA-256 differs, the name is
    taken, the document is missing or spelled differently), `applies`.

    The whole set is refused for two operations on one document, for an operation outside its own groups, and when a
    document it leaves behind could not stand beside the others in a valid tree.
    """
    present, ambiguous = _by_key(documents)
    problems = [*_misfits(change_set)]
    steps: dict[Place, PlannedChange] = {}
    for change in change_set.changes:
        key = document_key(change.group, change.name)
        if key in steps:
            problems.append(Problem("BK613", "two operations on one document", _where(change)))
        steps[key] = _judge(change, present.get(key))
    if not problems:
        problems += _ambiguities(steps, ambiguous)
        problems += _tree_faults(present, steps)
    return Failure(tuple(problems)) if problems else Success(ChangePlan(tuple(steps.values())))


def apply(
    documents: Iterable[TargetDocument], change_set: DocumentChangeSet
) -> Result[tuple[TargetDocument, ...], Problems]:
    """The store's documents after the set, or every conflict and nothing changed.

    Kept documents keep their order, created ones follow by place. An updated document states no version, since only
    the store can say the new one; a created one is known as `<group>/<name>`, with a number behind it when another
    document has that `source_id`. Applying a set again changes nothing.
    """
    listed = tuple(documents)
    planned = plan(listed, change_set)
    if not is_successful(planned):
        return Failure(planned.failure())
    if conflicts := planned.unwrap().conflicts:
        return Failure(conflicts)
    return Success(_after(listed, planned.unwrap().applying))


def invert(
    documents_before: Iterable[TargetDocument], change_set: DocumentChangeSet
) -> Result[DocumentChangeSet, Problems]:
    """The set that leads from the state after `change_set` back to the content of `documents_before`.

    It restores content by `(group, name)`, on the condition that nobody changed it since. Operations that had nothing
    left to do get no inverse. Refused for the same reasons as `apply`.
    """
    listed = tuple(documents_before)
    planned = plan(listed, change_set)
    if not is_successful(planned):
        return Failure(planned.failure())
    if conflicts := planned.unwrap().conflicts:
        return Failure(conflicts)
    applying = planned.unwrap().applying
    groups = change_set.groups or tuple(sorted({change.group for change in change_set.changes}))
    own_before = [one for one in listed if one.group in groups]
    own_after = [one for one in _after(listed, applying) if one.group in groups]
    return Success(
        DocumentChangeSet(
            change_set.run_id,
            seed_hash(own_after),
            candidate_hash({(one.group, one.name): one.content for one in own_before}),
            tuple(_inverse(step) for step in sorted(applying, key=lambda step: _place(step.change))),
            groups=change_set.groups,
        )
    )


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
    if problems:
        return Failure(tuple(problems))
    found = head.unwrap()
    return Success(
        DocumentChangeSet(found.run_id, found.seed_hash, found.candidate_hash, tuple(read), groups=found.groups)
    )


def sha256_of(content: str) -> str:
    """What `base_sha256` is compared with: SHA-256 of the content's UTF-8 bytes."""
    return sha256(content.encode()).hexdigest()


def _change(seed: TargetDocument | None, place: Place | None, content: str) -> DocumentChange | None:
    if seed is None:
        return CreateDocumentChange(group=place[0], name=place[1], content=content) if place else None
    if place is not None and content == seed.content:
        return None
    base: dict[str, Any] = {
        "source_id": seed.source_id,
        "group": seed.group,
        "name": seed.name,
        "base_sha256": sha256_of(seed.content),
        "base_version": seed.version,
    }
    return DeleteDocumentChange(**base) if place is None else UpdateDocumentChange(content=content, **base)


def _by_key(documents: Iterable[TargetDocument]) -> tuple[dict[Place, TargetDocument], dict[Place, str]]:
    """The documents by key, and the keys that more than one of them has, each with a second spelling."""
    present: dict[Place, TargetDocument] = {}
    ambiguous: dict[Place, str] = {}
    for one in documents:
        key = document_key(one.group, one.name)
        if key in present:
            ambiguous[key] = f"{one.group}/{one.name}"
        else:
            present[key] = one
    return present, ambiguous


def _judge(change: DocumentChange, found: TargetDocument | None) -> PlannedChange:
    op = change.op
    if found is None:
        if op == "update":
            return PlannedChange(change, None, "content_conflict", "the document is missing")
        return PlannedChange(change, None, "applies" if op == "create" else "already_applied")
    if found.name != change.name or found.group != change.group:
        spelled = f"{found.group}/{found.name}"
        reason = f"the name is taken by {spelled}" if op == "create" else f"the document is {spelled} here"
        return PlannedChange(change, found, "content_conflict", reason)
    content = found.content
    if not isinstance(change, DeleteDocumentChange) and content == change.content:
        return PlannedChange(change, found, "already_applied")
    if isinstance(change, CreateDocumentChange):
        return PlannedChange(change, found, "content_conflict", "the name is taken by another document")
    base = change.base_version
    if base is not None and found.version is not None and base != found.version:
        reason = f"version {found.version} here, but the change was made from version {base}"
        return PlannedChange(change, found, "version_conflict", reason)
    if sha256(content.encode()).hexdigest() != change.base_sha256:
        reason = "the document is not what the change was made from"
        return PlannedChange(change, found, "content_conflict", reason)
    return PlannedChange(change, found, "applies")


def _conflict(step: PlannedChange) -> Conflict:
    code = "BK615" if step.outcome == "version_conflict" else "BK616"
    hint = "nothing was changed; run again from the current documents, or take this change over by hand"
    return Conflict(code, f"cannot {step.change.op}: {step.reason}", _where(step.change), hint, planned=step)


def _misfits(change_set: DocumentChangeSet) -> Iterator[Problem]:
    """What makes an operation impossible whatever the store holds."""
    groups = set(change_set.groups)
    for change in change_set.changes:
        if groups and change.group not in groups:
            own = ", ".join(sorted(groups))
            yield Problem("BK617", f"{change.group!r} is none of the change set's groups ({own})", _where(change))
        if change.op == "delete":
            continue
        if (fault := name_fault(change.name)) is not None:
            yield Problem("BK600", fault, _where(change))
        if len(change.content) * 4 > MAX_DOCUMENT_BYTES and (size := utf8_size(change.content)) > MAX_DOCUMENT_BYTES:
            yield Problem("BK602", f"{size} bytes; a document may have at most {MAX_DOCUMENT_BYTES}", _where(change))


def _ambiguities(steps: Mapping[Place, PlannedChange], ambiguous: Mapping[Place, str]) -> Iterator[Problem]:
    for key in sorted(steps.keys() & ambiguous.keys()):
        message = f"the store holds more than one document under this name (also as {ambiguous[key]})"
        yield Problem("BK614", message, _where(steps[key].change))


def _tree_faults(present: Mapping[Place, TargetDocument], steps: Mapping[Place, PlannedChange]) -> Iterator[Problem]:
    """Documents the set leaves behind that are a directory of another document, or need one that is a document."""
    created = {key for key, step in steps.items() if step.found is None and step.outcome == "applies"}
    deleted = {key for key, step in steps.items() if step.change.op == "delete" and step.outcome == "applies"}
    parents = {(group, name[: name.rfind("/")]) for group, name in chain(present, created) if "/" in name}
    directories = parents.union((group, above) for group, name in parents for above in directories_of(name))
    clashes = {key for key in directories if (key in present and key not in deleted) or key in created}
    for group, name in sorted(chain(present, created)) if clashes else ():
        for directory in directories_of(name):
            above = (group, directory)
            if above in clashes and (group, name) not in deleted:
                touched = steps.get((group, name)) or steps.get(above)
                if touched and not touched.reason:
                    message = f"{group}/{directory} would be both a document and a directory"
                    yield Problem("BK614", message, _where(touched.change))


def _after(documents: Sequence[TargetDocument], applying: Sequence[PlannedChange]) -> tuple[TargetDocument, ...]:
    """The documents once operations that apply to them are done."""
    # By identity: each step knows the very document it met, and hashing places again would cost more than their hashes.
    met = {id(step.found): step.change for step in applying}
    after: list[TargetDocument] = []
    for one in documents:
        change = met.get(id(one))
        if change is None:
            after.append(one)
        elif change.op != "delete":
            after.append(_with_content(one, change.content))
    created = [step.change for step in applying if step.change.op == "create"]
    taken = {one.source_id for one in after} if created else set()
    for change in sorted(created, key=_place):
        source_id = _free_source_id(change, taken)
        taken.add(source_id)
        after.append(TargetDocument(source_id=source_id, group=change.group, name=change.name, content=change.content))
    return tuple(after)


def _with_content(document: TargetDocument, content: str) -> TargetDocument:
    """`document` with other content and no version.

    Built past the constructor: all fields were settled when document and change were made, and settling them again for
    each of 20,000 updates would cost more than their hashes.
    """
    made = object.__new__(TargetDocument)
    put = object.__setattr__
    put(made, "source_id", document.source_id)
    put(made, "group", document.group)
    put(made, "name", document.name)
    put(made, "content", content)
    put(made, "version", None)
    put(made, "editable", document.editable)
    return made


def _free_source_id(change: CreateDocumentChange, taken: set[str]) -> str:
    plain = candidate = _where(change)
    number = 2
    while candidate in taken:
        candidate, number = f"{plain}#{number}", number + 1
    return candidate


def _inverse(step: PlannedChange) -> DocumentChange:
    change, place = step.change, {"group": step.change.group, "name": step.change.name}
    before = step.found.content if step.found else ""
    match change:
        case CreateDocumentChange():
            base = sha256_of(change.content)
            return DeleteDocumentChange(source_id=_where(change), base_sha256=base, **place)
        case UpdateDocumentChange():
            base = sha256_of(change.content)
            return UpdateDocumentChange(source_id=change.source_id, content=before, base_sha256=base, **place)
        case DeleteDocumentChange():
            return CreateDocumentChange(content=before, **place)


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
    return from_json({key: entry for key, entry in item.items() if key != "op"}, kind, code="BK612", label=label)


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


def _place(change: DocumentChange) -> Place:
    return change.group, change.name


def _where(change: DocumentChange) -> str:
    return f"{change.group}/{change.name}"
