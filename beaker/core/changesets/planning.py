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
    Place,
    TargetDocument,
    directories_of,
    document_key,
    name_fault,
    utf8_size,
)
from beaker.core.problems import Problem, Problems
from beaker.core.values import value

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
            problems.append(Problem("BK613", "two operations on one document", where(change)))
        steps[key] = _judge(change, present.get(key))
    if not problems:
        problems += _ambiguities(steps, ambiguous)
        problems += _tree_faults(present, steps)
    return Failure(tuple(problems)) if problems else Success(ChangePlan(tuple(steps.values())))


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
    return Conflict(code, f"cannot {step.change.op}: {step.reason}", where(step.change), hint, planned=step)


def _misfits(change_set: DocumentChangeSet) -> Iterator[Problem]:
    """What makes an operation impossible whatever the store holds."""
    groups = set(change_set.groups)
    for change in change_set.changes:
        if groups and change.group not in groups:
            own = ", ".join(sorted(groups))
            yield Problem("BK617", f"{change.group!r} is none of the change set's groups ({own})", where(change))
        if change.op == "delete":
            continue
        if (fault := name_fault(change.name)) is not None:
            yield Problem("BK600", fault, where(change))
        if len(change.content) * 4 > MAX_DOCUMENT_BYTES and (size := utf8_size(change.content)) > MAX_DOCUMENT_BYTES:
            yield Problem("BK602", f"{size} bytes; a document may have at most {MAX_DOCUMENT_BYTES}", where(change))


def _ambiguities(steps: Mapping[Place, PlannedChange], ambiguous: Mapping[Place, str]) -> Iterator[Problem]:
    for key in sorted(steps.keys() & ambiguous.keys()):
        message = f"the store holds more than one document under this name (also as {ambiguous[key]})"
        yield Problem("BK614", message, where(steps[key].change))


def _tree_faults(present: Mapping[Place, TargetDocument], steps: Mapping[Place, PlannedChange]) -> Iterator[Problem]:
    """Documents that would be a directory of another one, or need one that is a document, once every step is done."""
    deleted = {key for key, step in steps.items() if step.change.op == "delete"}
    created = {key for key, step in steps.items() if step.found is None} - deleted
    parents = {(group, name[: name.rfind("/")]) for group, name in chain(present, created) if "/" in name}
    directories = parents.union((group, above) for group, name in parents for above in directories_of(name))
    clashes = {key for key in directories if (key in present and key not in deleted) or key in created}
    for group, name in sorted(chain(present, created)) if clashes else ():
        for directory in directories_of(name):
            above = (group, directory)
            if above in clashes and (group, name) not in deleted:
                touched = steps.get((group, name)) or steps.get(above)
                if touched:
                    message = f"{group}/{directory} would be both a document and a directory"
                    yield Problem("BK614", message, where(touched.change))


def where(change: DocumentChange) -> str:
    """The place of a change as people read it: `<group>/<name>`."""
    return f"{change.group}/{change.name}"
