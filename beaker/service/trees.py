"""Candidate trees of runs: a tree names its contents by SHA-256, so what two trees share is kept once."""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

from beaker.core.repository_tree import RepositoryFile, edits_to_json
from beaker.core.strict_json import JsonObject, JsonValue, dumps
from beaker.engine.candidates import CandidateTree
from beaker.service.database import Database


def keep_tree(
    database: Database, run_id: str, digest: str, tree: CandidateTree, *, is_tracked: Callable[[str], bool], now: str
) -> None:
    """Store a tree of a run under its digest; a digest that is there already stays as it is. `is_tracked` tells whether
    the run's commit has a path.
    """
    if tree_created_at(database, run_id, digest) is not None:
        return
    texts = {_key(text.encode()): text for named in tree.documents.values() for text in named.values()}
    files = {_key(file.content): file.content for file in tree.repository.values() if file is not None}
    manifest: JsonObject = {
        "documents": {
            group: {name: _key(text.encode()) for name, text in named.items()}
            for group, named in tree.documents.items()
        }
    }
    if tree.repository:
        manifest["repository"] = edits_to_json(tree.repository)
        manifest["tracked"] = [path for path in sorted(tree.repository) if is_tracked(path)]
    with database.transaction():
        for table, contents in (("documents", texts), ("repository_files", files)):
            database.execute_many(
                f"INSERT INTO {table} VALUES (:sha256, :content) ON CONFLICT (sha256) DO NOTHING",
                [{"sha256": key, "content": content} for key, content in contents.items()],
            )
        database.execute(
            """INSERT INTO trees VALUES (:run_id, :digest, :manifest, :now)
            ON CONFLICT (run_id, digest) DO NOTHING""",
            run_id=run_id,
            digest=digest,
            manifest=dumps(manifest),
            now=now,
        )


def tree_created_at(database: Database, run_id: str, digest: str) -> str | None:
    """When a tree of a run was stored first, `None` for no such tree."""
    row = database.row(
        "SELECT created_at FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest
    )
    return None if row is None else str(row["created_at"])


def load_tree(database: Database, run_id: str, digest: str) -> CandidateTree:
    """A tree of a run with all its contents; `KeyError` when it was never stored."""
    manifest = _manifest(database, run_id, digest)
    if manifest is None:
        raise KeyError(digest)
    documents = {
        group: {name: str(_content(database, "documents", key)) for name, key in named.items()}
        for group, named in manifest["documents"].items()
    }
    repository = {
        path: None
        if file is None
        else RepositoryFile(file["mode"], bytes(_content(database, "repository_files", file["sha256"])))
        for path, file in manifest.get("repository", {}).items()
    }
    return CandidateTree(documents, repository)


def changed_between(database: Database, run_id: str, before: str, after: str) -> JsonObject:
    """What the tree `after` has `created`, `updated` and `deleted` against `before`, without reading contents: sorted
    `group/name` of documents, then sorted paths of the repository. A tree that was never stored is empty.
    """
    old, new = (_manifest(database, run_id, digest) or {"documents": {}} for digest in (before, after))
    tracked = {*old.get("tracked", ()), *new.get("tracked", ())}
    edited = {*old.get("repository", {}), *new.get("repository", {})}
    made: dict[str, list[JsonValue]] = {"created": [], "updated": [], "deleted": []}
    files = (_files(old, edited, tracked), _files(new, edited, tracked))
    for one, other in ((_documents(old), _documents(new)), files):
        made["created"] += sorted(other.keys() - one.keys())
        made["updated"] += sorted(path for path in one.keys() & other.keys() if one[path] != other[path])
        made["deleted"] += sorted(one.keys() - other.keys())
    return {**made}


def _documents(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{group}/{name}": key for group, named in manifest["documents"].items() for name, key in named.items()}


def _files(manifest: Mapping[str, Any], paths: Iterable[str], tracked: set[str]) -> dict[str, Any]:
    """The state of those of `paths` that exist in a tree; one that is as in the commit is `"commit"`."""
    edits = manifest.get("repository", {})
    states = {path: edits.get(path, "commit" if path in tracked else None) for path in paths}
    return {path: state for path, state in states.items() if state is not None}


def _manifest(database: Database, run_id: str, digest: str) -> dict[str, Any] | None:
    row = database.row(
        "SELECT manifest FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest
    )
    return None if row is None else dict(json.loads(row["manifest"]))


def _content(database: Database, table: str, key: str) -> Any:
    row = database.row(f"SELECT content FROM {table} WHERE sha256 = :key", key=key)
    if row is None:
        raise KeyError(key)
    return row["content"]


def _key(content: bytes) -> str:
    return sha256(content).hexdigest()
