"""Candidates as content-addressed trees: what a candidate consists of, its digest and its JSON form.

A tree holds the documents of every declared group, empty groups included, and what differs from the pinned commit in
the repository. The digest covers content alone, so two proposals that write the same text are the same candidate,
whatever made them.
"""

from collections.abc import Iterable, Mapping

import attrs
from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.convert import from_json
from beaker.core.problems import Problem, Problems
from beaker.core.repository_tree import Mode, RepositoryEdits, RepositoryFile, changed_files, edits_to_json
from beaker.core.strict_json import JsonObject, digest
from beaker.core.values import value


@value
class CandidateTree:
    """`documents` maps every declared group to its documents, name to content; `repository` holds the edits that
    `core.repository_tree.settle_edits` passed.
    """

    documents: Mapping[str, Mapping[str, str]]
    repository: RepositoryEdits = attrs.field(factory=dict)


def tree_digest(tree: CandidateTree) -> str:
    """SHA-256 (hex) of the canonical JSON of `tree`: equal exactly for equal content under equal names."""
    return digest(tree_to_json(tree))


def tree_from_files(groups: Iterable[str], files: Mapping[tuple[str, str], str]) -> CandidateTree:
    """A tree of `files`, (group, name) to content, with an entry for each of `groups`; sorted, so it prints alike.

    `KeyError` when a file's group is not among `groups`.
    """
    documents: dict[str, dict[str, str]] = {group: {} for group in sorted(groups)}
    for (group, name), content in sorted(files.items()):
        documents[group][name] = content
    return CandidateTree(documents)


def tree_files(tree: CandidateTree) -> dict[tuple[str, str], str]:
    """The documents of `tree` by (group, name), as the functions on documents take them."""
    return {(group, name): content for group, named in tree.documents.items() for name, content in named.items()}


def changed_paths(before: CandidateTree, after: CandidateTree) -> tuple[str, ...]:
    """What was created, deleted or rewritten between the two, sorted: `group/name` of documents, then the paths of
    files of the repository.
    """
    old, new = tree_files(before), tree_files(after)
    documents = sorted(
        f"{group}/{name}" for group, name in old.keys() | new.keys() if old.get((group, name)) != new.get((group, name))
    )
    return (*documents, *changed_files(before.repository, after.repository))


def tree_to_json(tree: CandidateTree) -> JsonObject:
    """`{"documents": {group: {name: content}}}`, and when the repository is edited also
    `"repository": {path: {"mode", "sha256"} | null}`.
    """
    made: JsonObject = {"documents": {group: dict(named) for group, named in tree.documents.items()}}
    return {**made, "repository": edits_to_json(tree.repository)} if tree.repository else made


@value
class _StoredFile:
    mode: Mode
    sha256: str


@value
class _StoredTree:
    documents: Mapping[str, Mapping[str, str]]
    repository: Mapping[str, _StoredFile | None] = attrs.field(factory=dict)


def tree_from_json(data: object, contents: Mapping[str, bytes] | None = None) -> Result[CandidateTree, Problems]:
    """Read what `tree_to_json` wrote; `contents` gives the files' bytes by SHA-256. Every fault is a BK501."""
    read = from_json(data, _StoredTree, code="BK501", label="candidate tree")
    if not is_successful(read):
        return Failure(read.failure())
    stored, known = read.unwrap(), contents or {}
    missing = [path for path, file in stored.repository.items() if file is not None and file.sha256 not in known]
    if missing:
        return Failure(tuple(Problem("BK501", "the content is missing", path) for path in missing))
    edits = {
        path: None if file is None else RepositoryFile(file.mode, known[file.sha256])
        for path, file in stored.repository.items()
    }
    return Success(CandidateTree(stored.documents, edits))
