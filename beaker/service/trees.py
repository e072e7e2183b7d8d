"""Candidate trees of runs: a tree names its documents by SHA-256, so what two trees share is kept once."""

import json
from collections.abc import Mapping
from hashlib import sha256

from beaker.core.strict_json import dumps
from beaker.service.database import Database

Documents = Mapping[str, Mapping[str, str]]
"""Group to name to content."""


def keep_tree(database: Database, run_id: str, digest: str, documents: Documents, *, now: str) -> None:
    """Store a tree of a run under its digest; a digest that is there already stays as it is."""
    if tree_created_at(database, run_id, digest) is not None:
        return
    contents = {sha256(text.encode()).hexdigest(): text for named in documents.values() for text in named.values()}
    manifest = {
        group: {name: sha256(text.encode()).hexdigest() for name, text in named.items()}
        for group, named in documents.items()
    }
    with database.transaction():
        database.execute_many(
            "INSERT INTO documents VALUES (:sha256, :content) ON CONFLICT (sha256) DO NOTHING",
            [{"sha256": key, "content": text} for key, text in contents.items()],
        )
        database.execute(
            """INSERT INTO trees VALUES (:run_id, :digest, :manifest, :now)
            ON CONFLICT (run_id, digest) DO NOTHING""",
            run_id=run_id,
            digest=digest,
            manifest=dumps({"documents": manifest}),
            now=now,
        )


def tree_created_at(database: Database, run_id: str, digest: str) -> str | None:
    """When a tree of a run was stored first, `None` for no such tree."""
    row = database.row(
        "SELECT created_at FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest
    )
    return None if row is None else str(row["created_at"])


def load_tree(database: Database, run_id: str, digest: str) -> Documents:
    """A tree of a run; `KeyError` when it was never stored."""
    row = database.row(
        "SELECT manifest FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest
    )
    if row is None:
        raise KeyError(digest)
    manifest: dict[str, dict[str, str]] = json.loads(row["manifest"])["documents"]
    return {group: {name: _content(database, key) for name, key in named.items()} for group, named in manifest.items()}


def tree_manifest(database: Database, run_id: str, digest: str) -> dict[str, str]:
    """`group/name` to SHA-256 of every document of a tree, without reading the documents; empty for no such tree."""
    row = database.row(
        "SELECT manifest FROM trees WHERE run_id = :run_id AND digest = :digest", run_id=run_id, digest=digest
    )
    manifest: dict[str, dict[str, str]] = {} if row is None else json.loads(row["manifest"])["documents"]
    return {f"{group}/{name}": key for group, named in manifest.items() for name, key in named.items()}


def _content(database: Database, key: str) -> str:
    row = database.row("SELECT content FROM documents WHERE sha256 = :key", key=key)
    if row is None:
        raise KeyError(key)
    return str(row["content"])
