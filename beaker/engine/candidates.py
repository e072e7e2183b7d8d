"""Candidates as content-addressed trees: what a candidate consists of, its digest and its JSON form.

A tree holds the documents of every declared group, empty groups included. The digest covers content alone, so two
proposals that write the same text are the same candidate, whatever made them.
"""

from collections.abc import Iterable, Mapping

from returns.result import Result

from beaker.core.convert import from_json, to_json
from beaker.core.problems import Problems
from beaker.core.strict_json import JsonObject, digest
from beaker.core.values import value


@value
class CandidateTree:
    """`documents` maps every declared group to its documents, name to content."""

    documents: Mapping[str, Mapping[str, str]]


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
    """`group/name` of every document created, deleted or rewritten between the two, sorted."""
    old, new = tree_files(before), tree_files(after)
    return tuple(
        sorted(
            f"{group}/{name}"
            for group, name in old.keys() | new.keys()
            if old.get((group, name)) != new.get((group, name))
        )
    )


def tree_to_json(tree: CandidateTree) -> JsonObject:
    """`{"documents": {group: {name: content}}}`."""
    made: JsonObject = to_json(tree)
    return made


def tree_from_json(data: object) -> Result[CandidateTree, Problems]:
    """Read what `tree_to_json` wrote; every fault is a BK501."""
    return from_json(data, CandidateTree, code="BK501", label="candidate tree")
