"""A store's documents after a change set, and the set that leads back."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.changesets.planning import conflicts_among, judge, where
from beaker.core.documents import (
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    Place,
    TargetDocument,
    UpdateDocumentChange,
    candidate_hash,
    content_sha256,
    seed_hash,
)
from beaker.core.problems import Problems

Applying: TypeAlias = tuple[tuple[DocumentChange, TargetDocument | None], ...]


def apply(
    documents: Iterable[TargetDocument], change_set: DocumentChangeSet
) -> Result[tuple[TargetDocument, ...], Problems]:
    """The store's documents after the set, or every conflict and nothing changed.

    Kept documents keep their order, created ones follow by place. An updated document states no version, since only
    the store can say the new one; a created one is known as `<group>/<name>`, with a number behind it when another
    document has that `source_id`. Applying a set again changes nothing.
    """
    listed = tuple(documents)
    return _applying(listed, change_set).map(lambda applying: _after(listed, applying))


def invert(
    documents_before: Iterable[TargetDocument], change_set: DocumentChangeSet
) -> Result[DocumentChangeSet, Problems]:
    """The set that leads from the state after `change_set` back to the content of `documents_before`.

    It restores content by `(group, name)`, on the condition that nobody changed it since. Operations that had nothing
    left to do get no inverse. Refused for the same reasons as `apply`.
    """
    listed = tuple(documents_before)
    judged = _applying(listed, change_set)
    if not is_successful(judged):
        return Failure(judged.failure())
    applying = judged.unwrap()
    groups = change_set.groups or tuple(sorted({change.group for change in change_set.changes}))
    own_before = [one for one in listed if one.group in groups]
    own_after = [one for one in _after(listed, applying) if one.group in groups]
    return Success(
        DocumentChangeSet(
            change_set.run_id,
            seed_hash(own_after),
            candidate_hash({(one.group, one.name): one.content for one in own_before}),
            tuple(_inverse(change, found) for change, found in sorted(applying, key=lambda step: _place(step[0]))),
            groups=change_set.groups,
        )
    )


def _applying(documents: Sequence[TargetDocument], change_set: DocumentChangeSet) -> Result[Applying, Problems]:
    """The operations that have something to do, with the document each meets; a conflict refuses all of them."""
    judged = judge(documents, change_set)
    if not is_successful(judged):
        return Failure(judged.failure())
    if conflicts := conflicts_among(judged.unwrap()):
        return Failure(conflicts)
    return Success(tuple((change, found) for change, found, outcome, _ in judged.unwrap() if outcome == "applies"))


def _after(documents: Sequence[TargetDocument], applying: Applying) -> tuple[TargetDocument, ...]:
    """The documents once operations that apply to them are done."""
    # By identity: each operation knows the very document it met, and hashing places again would cost more.
    met = {id(found): change for change, found in applying}
    after: list[TargetDocument] = []
    for one in documents:
        change = met.get(id(one))
        if change is None:
            after.append(one)
        elif not isinstance(change, DeleteDocumentChange):
            after.append(_with_content(one, change.content))
    created = [change for change, _ in applying if isinstance(change, CreateDocumentChange)]
    taken = {one.source_id for one in after} if created else set()
    for change in sorted(created, key=_place):
        source_id = _free_source_id(change, taken)
        taken.add(source_id)
        after.append(TargetDocument(source_id=source_id, group=change.group, name=change.name, content=change.content))
    return tuple(after)


def _with_content(document: TargetDocument, content: str) -> TargetDocument:
    """`document` with other content and no version.

    Put straight into the slots, past the constructor: all fields were settled when document and change were made, and
    settling them again for each of 20,000 updates would cost more than their hashes.
    """
    made = object.__new__(TargetDocument)
    _put_source_id(made, document.source_id)
    _put_group(made, document.group)
    _put_name(made, document.name)
    _put_content(made, content)
    _put_version(made, None)
    _put_editable(made, document.editable)
    return made


_put_source_id, _put_group, _put_name, _put_content, _put_version, _put_editable = (
    vars(TargetDocument)[field].__set__ for field in ("source_id", "group", "name", "content", "version", "editable")
)


def _free_source_id(change: CreateDocumentChange, taken: set[str]) -> str:
    plain = candidate = where(change)
    number = 2
    while candidate in taken:
        candidate, number = f"{plain}#{number}", number + 1
    return candidate


def _inverse(change: DocumentChange, found: TargetDocument | None) -> DocumentChange:
    place = {"group": change.group, "name": change.name}
    before = found.content if found else ""
    match change:
        case CreateDocumentChange():
            base = content_sha256(change.content)
            return DeleteDocumentChange(source_id=where(change), base_sha256=base, **place)
        case UpdateDocumentChange():
            base = content_sha256(change.content)
            return UpdateDocumentChange(source_id=change.source_id, content=before, base_sha256=base, **place)
        case DeleteDocumentChange():
            return CreateDocumentChange(content=before, **place)
        case _:
            assert_never(change)


def _place(change: DocumentChange) -> Place:
    return change.group, change.name
