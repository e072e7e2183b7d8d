"""The documents a run started from, as the run's facts keep them: their contents are those of the baseline's tree."""

from collections.abc import Iterable, Mapping
from typing import Any

from beaker.core.documents import TargetDocument
from beaker.core.strict_json import JsonObject
from beaker.engine.candidates import CandidateTree, tree_files, tree_from_files


def seed_tree(groups: Iterable[str], documents: Iterable[TargetDocument]) -> CandidateTree:
    """The baseline's tree: every declared group with its seed documents."""
    return tree_from_files(groups, {(one.group, one.name): one.content for one in documents})


def seeds_to_json(documents: Iterable[TargetDocument]) -> list[JsonObject]:
    """What the tree does not say about the seeds: `{source_id, group, name, version, editable}` of each, by place."""
    return [
        {
            "source_id": one.source_id,
            "group": one.group,
            "name": one.name,
            "version": one.version,
            "editable": one.editable,
        }
        for one in sorted(documents, key=lambda one: (one.group, one.name))
    ]


def seeds_from_json(stored: Iterable[Mapping[str, Any]], baseline: CandidateTree) -> tuple[TargetDocument, ...]:
    """The seed documents again, from the fact `seed_documents` and the tree of the baseline; ordered by place."""
    contents = tree_files(baseline)
    return tuple(TargetDocument(**one, content=contents[one["group"], one["name"]]) for one in stored)
