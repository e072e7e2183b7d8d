"""From the seeds of a document target and a candidate's files to the change set between them."""

from collections.abc import Iterable, Mapping
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.documents import (
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
    content_sha256,
    document_key,
    seed_hash,
)
from beaker.core.problems import Problem, Problems


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


def _change(seed: TargetDocument | None, place: Place | None, content: str) -> DocumentChange | None:
    if seed is None:
        return CreateDocumentChange(group=place[0], name=place[1], content=content) if place else None
    if place is not None and content == seed.content:
        return None
    base: dict[str, Any] = {
        "source_id": seed.source_id,
        "group": seed.group,
        "name": seed.name,
        "base_sha256": content_sha256(seed.content),
        "base_version": seed.version,
    }
    return DeleteDocumentChange(**base) if place is None else UpdateDocumentChange(content=content, **base)
