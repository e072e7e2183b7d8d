"""What a change set does to the documents a store holds now, operation by operation.

The count and total limits of `check_documents` bound seeds and candidates. A store may be larger, so `plan` judges only
what the set touches: documents that it leaves alone never decide anything, except by standing in the way.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from beaker.core.documents import (
    MAX_DOCUMENT_BYTES,
    CreateDocumentChange,
    DeleteDocumentChange,
    DocumentChange,
    DocumentChangeSet,
    TargetDocument,
    directories_of,
    name_fault,
    utf8_size,
)
from beaker.core.problems import Problem, Problems
from beaker.core.text import collision_key
from beaker.core.values import value

Outcome: TypeAlias = Literal["applies", "already_applied", "version_conflict", "content_conflict"]


@value
class PlannedChange:
    """One operation and the document it meets, if any. `reason` says why they conflict, and is empty otherwise."""

    change: DocumentChange
    found: TargetDocument | None
    outcome: Outcome
    reason: str = ""


Judgement: TypeAlias = tuple[DocumentChange, TargetDocument | None, Outcome, str]
"""The fields of a `PlannedChange`."""


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


def plan(documents: Iterable[TargetDocument], change_set: DocumentChangeSet) -> Result[ChangePlan, Problems]:
    """Judge every operation against the documents a store holds now.

    Per operation, first match: `already_applied` (the document has the operation's result, or is absent for a delete),
    `version_conflict` (both sides state a version and they differ), `content_conflict` (SHA-256 differs, the name is
    taken, the document is missing or spelled differently), `applies`.

    The whole set is refused for two operations on one document, for an operation outside its own groups or on a name
    that no document may have, and when a document it leaves behind could not stand beside the others in a valid tree.
    """
    return judge(documents, change_set).map(lambda judged: ChangePlan(tuple(PlannedChange(*one) for one in judged)))


def judge(
    documents: Iterable[TargetDocument], change_set: DocumentChangeSet
) -> Result[tuple[Judgement, ...], Problems]:
    """`plan` in plain tuples: for 20,000 operations, making a value of each would cost as much as their hashes."""
    listed = tuple(documents)
    present = {_key(one.group, one.name): one for one in listed}
    judged: dict[str, Judgement] = {}
    for change in change_set.changes:
        key = _key(change.group, change.name)
        judged[key] = _judge(change, present.get(key))
    problems = [*_misfits(change_set)]
    if len(judged) != len(change_set.changes):
        problems += _repetitions(change_set)
    if not problems and len(present) != len(listed):
        problems += _ambiguities(listed, judged)
    if not problems:
        problems += _tree_faults(present, judged)
    return Failure(tuple(problems)) if problems else Success(tuple(judged.values()))


def conflicts_among(judged: Iterable[Judgement]) -> tuple[Conflict, ...]:
    """The judgements that refuse their operation, as problems."""
    return tuple(_conflict(PlannedChange(*one)) for one in judged if one[3])


def _key(group: str, name: str) -> str:
    """`document_key` as one text, which is found faster than a tuple; a group holds no `/`."""
    place = f"{group}/{name}"
    return place.lower() if place.isascii() else f"{group.casefold()}/{collision_key(name)}"


def _judge(change: DocumentChange, found: TargetDocument | None) -> Judgement:
    op = change.op
    if found is None:
        if op == "update":
            return change, None, "content_conflict", "the document is missing"
        return change, None, "applies" if op == "create" else "already_applied", ""
    if found.name != change.name or found.group != change.group:
        spelled = f"{found.group}/{found.name}"
        reason = f"the name is taken by {spelled}" if op == "create" else f"the document is {spelled} here"
        return change, found, "content_conflict", reason
    content = found.content
    if not isinstance(change, DeleteDocumentChange) and content == change.content:
        return change, found, "already_applied", ""
    if isinstance(change, CreateDocumentChange):
        return change, found, "content_conflict", "the name is taken by another document"
    base = change.base_version
    if base is not None and found.version is not None and base != found.version:
        reason = f"version {found.version} here, but the change was made from version {base}"
        return change, found, "version_conflict", reason
    if sha256(content.encode()).hexdigest() != change.base_sha256:
        reason = "the document is not what the change was made from"
        return change, found, "content_conflict", reason
    return change, found, "applies", ""


def _conflict(step: PlannedChange) -> Conflict:
    code = "BK615" if step.outcome == "version_conflict" else "BK616"
    hint = "nothing was changed; run again from the current documents, or take this change over by hand"
    return Conflict(code, f"cannot {step.change.op}: {step.reason}", where(step.change), hint, planned=step)


def _misfits(change_set: DocumentChangeSet) -> Iterator[Problem]:
    """What makes an operation impossible whatever the store holds."""
    groups = set(change_set.groups)
    for change in change_set.changes:
        if groups and change.group not in groups:
            own = ", ".join(sorted(groups))
            yield Problem("BK617", f"{change.group!r} is none of the change set's groups ({own})", where(change))
        if (fault := name_fault(change.name)) is not None:
            yield Problem("BK600", fault, where(change))
        if isinstance(change, DeleteDocumentChange):
            continue
        if len(change.content) * 4 > MAX_DOCUMENT_BYTES and (size := utf8_size(change.content)) > MAX_DOCUMENT_BYTES:
            yield Problem("BK602", f"{size} bytes; a document may have at most {MAX_DOCUMENT_BYTES}", where(change))


def _repetitions(change_set: DocumentChangeSet) -> Iterator[Problem]:
    seen: set[str] = set()
    for change in change_set.changes:
        key = _key(change.group, change.name)
        if key in seen:
            yield Problem("BK613", "two operations on one document", where(change))
        seen.add(key)


def _ambiguities(documents: Iterable[TargetDocument], judged: Mapping[str, Judgement]) -> Iterator[Problem]:
    """Operations on a name that more than one document of the store has."""
    seen: set[str] = set()
    for one in documents:
        key = _key(one.group, one.name)
        if key in seen and key in judged:
            message = f"the store holds more than one document under this name (also as {one.group}/{one.name})"
            yield Problem("BK614", message, where(judged[key][0]))
        seen.add(key)


def _tree_faults(present: Mapping[str, TargetDocument], judged: Mapping[str, Judgement]) -> Iterator[Problem]:
    """Documents that would be a directory of another one, or need one that is a document, once every step is done."""
    deleted = {key for key, one in judged.items() if type(one[0]) is DeleteDocumentChange}
    created = {key for key, one in judged.items() if one[1] is None} - deleted
    directories = {key[: key.rfind("/")] for key in chain(present, created)}
    directories.update([above for key in directories for above in directories_of(key)])
    clashes = {key for key in directories if (key in present and key not in deleted) or key in created}
    for key in sorted(chain(present, created)) if clashes else ():
        for above in directories_of(key):
            touched = judged.get(key) or judged.get(above)
            if touched and above in clashes and key not in deleted:
                message = f"{above} would be both a document and a directory"
                yield Problem("BK614", message, where(touched[0]))


def where(change: DocumentChange) -> str:
    """The place of a change as people read it: `<group>/<name>`."""
    return f"{change.group}/{change.name}"
