"""What a candidate gives to take away: a patch, a change set per document target, documents, edited files, a report."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from returns.pipeline import is_successful

from beaker.core.api import Response
from beaker.core.problems import Problems, Refused
from beaker.core.repository_tree import Mode, RepositoryEdits, RepositoryFile
from beaker.core.strict_json import JsonObject
from beaker.core.text import relative_path
from beaker.engine.candidates import CandidateTree
from beaker.service.candidates import Found, find_candidate
from beaker.service.ports import Call, answer
from beaker.service.report_file import report_file
from beaker.service.result_table import stored_facts
from beaker.service.sources import source_files
from beaker.service.trees import load_tree

Documents = Mapping[str, Mapping[str, str]]
"""Group to name to content."""

PLAIN: Mode = "100644"
EXECUTABLE: Mode = "100755"

_SHA256_DIGITS = 64
"""Digits of a commit id in a repository that names its objects by SHA-256."""


def create_candidate_download(call: Call) -> Response:
    """Make the files of a candidate ready, and say where they are."""
    found = find_candidate(call)
    if isinstance(found, Response):
        return found
    ports = call.ports
    baseline = load_tree(ports.database, found.run.id, found.state.candidates[0].tree).documents
    tree = load_tree(ports.database, found.run.id, found.state.candidates[found.number].tree)
    facts = stored_facts(ports.database, found.run.id, "seed_documents", "targets_imported")
    made = [
        *_patch_files(call, found, tree.repository),
        *_change_files(found, facts, baseline, tree.documents),
        *_tree_files(tree),
    ]
    files = []
    with ports.blobs.batch() as batch:
        for path, data in (*made, *report_file(ports.database, found, (baseline, tree.documents), made)):
            digest = batch.put(data)
            files.append(
                {
                    "path": path,
                    "download_url": ports.transfers.blob_url(digest, path),
                    "sha256": digest,
                    "size_bytes": len(data),
                }
            )
    return answer({"files": files})


def _patch_files(call: Call, found: Found, edits: RepositoryEdits) -> Iterator[tuple[str, bytes]]:
    """`patch.diff` on the pinned commit, when the candidate edits the repository."""
    from beaker.files.patches import make_patch

    if not edits:
        return
    blobs, run = call.ports.blobs, found.run
    before = {
        file.path: RepositoryFile(EXECUTABLE if file.mode == EXECUTABLE else PLAIN, blobs.read(file.sha256))
        for file in source_files(blobs, run.source)
        if file.path in edits
    }
    patch = make_patch(before, edits, sha256_ids=len(run.commit_id) == _SHA256_DIGITS)
    if not is_successful(patch):
        raise Refused(patch.failure())
    yield "patch.diff", patch.unwrap()


def _change_files(
    found: Found, facts: JsonObject, baseline: Documents, documents: Documents
) -> Iterator[tuple[str, bytes]]:
    """`changes/<first group>.json` for each document target, also when nothing changed."""
    from beaker.core.changesets import change_set_to_json, derive
    from beaker.core.documents import TargetDocument
    from beaker.core.targets import DocumentTargets, parse_declaration

    run = found.run
    declaration = run.targets if run.targets is not None else facts.get("targets_imported")
    targets = parse_declaration(declaration)
    if not is_successful(targets):
        raise Refused(targets.failure())
    seeds: Any = facts.get("seed_documents") or []
    for target in targets.unwrap():
        if not isinstance(target, DocumentTargets):
            continue
        own = [seed for seed in seeds if seed["group"] in target.groups]
        derived = derive(
            run.id,
            target.groups,
            [TargetDocument(**seed, content=baseline[seed["group"]][seed["name"]]) for seed in own],
            {(group, name): text for group in target.groups for name, text in documents.get(group, {}).items()},
        )
        if not is_successful(derived):
            refused: Problems = derived.failure()
            raise Refused(refused)
        shown = json.dumps(change_set_to_json(derived.unwrap()), indent=2, ensure_ascii=False, allow_nan=False)
        yield f"changes/{min(target.groups)}.json", f"{shown}\n".encode()


def _tree_files(tree: CandidateTree) -> Iterator[tuple[str, bytes]]:
    """The candidate's documents, and the files it edits in the repository as they are then."""
    for group, named in sorted(tree.documents.items()):
        for name, text in sorted(named.items()):
            yield f"tree/documents/{group}/{name}", text.encode()
    for path, file in sorted(tree.repository.items()):
        # A name that a download has to spell otherwise is left to the patch, which carries every name.
        if file is not None and _is_plain(path):
            yield f"tree/repository/{path}", file.content


def _is_plain(path: str) -> bool:
    try:
        return path.isprintable() and relative_path(path, "path") == path
    except ValueError:
        return False
