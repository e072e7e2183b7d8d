"""The schema of the store, as the steps that lead to it. A step that was released is never edited."""

_FIRST = (
    "CREATE TABLE schema_version (version INTEGER NOT NULL)",
    "INSERT INTO schema_version VALUES (0)",
    """CREATE TABLE agents (
        id TEXT PRIMARY KEY,
        organization TEXT NOT NULL,
        key TEXT NOT NULL,
        name TEXT NOT NULL,
        github_repository TEXT,
        beaker_config_path TEXT NOT NULL,
        created_at TEXT NOT NULL,
        UNIQUE (organization, key)
    )""",
    # One artifact per content and name: an upload that was cut off is continued, a repeated one is reused.
    """CREATE TABLE artifacts (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        display_name TEXT,
        artifact_key TEXT,
        manifest_digest TEXT NOT NULL,
        status TEXT NOT NULL,
        metadata TEXT NOT NULL,
        splits TEXT,
        total_count INTEGER,
        row_counts TEXT,
        promote INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        expires_at TEXT NOT NULL,
        completed_at TEXT,
        UNIQUE (agent_id, kind, name, manifest_digest)
    )""",
    # A file counts as received once its bytes were verified, or when the agent has them in another artifact.
    """CREATE TABLE artifact_files (
        artifact_id TEXT NOT NULL REFERENCES artifacts (id),
        position INTEGER NOT NULL,
        path TEXT NOT NULL,
        content_type TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        received INTEGER NOT NULL,
        PRIMARY KEY (artifact_id, path)
    )""",
    "CREATE INDEX artifacts_with_content ON artifact_files (sha256)",
    """CREATE TABLE productions (
        agent_id TEXT NOT NULL REFERENCES agents (id),
        name TEXT NOT NULL,
        artifact_id TEXT NOT NULL REFERENCES artifacts (id),
        promoted_at TEXT NOT NULL,
        PRIMARY KEY (agent_id, name)
    )""",
    """CREATE TABLE runs (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        status TEXT NOT NULL,
        created_at TEXT NOT NULL,
        started_at TEXT,
        completed_at TEXT,
        finish_reason TEXT,
        error_message TEXT,
        cancelled INTEGER NOT NULL DEFAULT 0,
        repository TEXT NOT NULL,
        checkout TEXT,
        ref TEXT NOT NULL,
        commit_id TEXT NOT NULL,
        integration_id TEXT NOT NULL,
        entry TEXT NOT NULL,
        source TEXT NOT NULL,
        dataset_id TEXT NOT NULL REFERENCES artifacts (id),
        dataset TEXT NOT NULL,
        targets TEXT,
        config TEXT NOT NULL,
        settings TEXT NOT NULL,
        trigger_metadata TEXT NOT NULL,
        trigger_reason TEXT,
        warnings TEXT NOT NULL,
        progress TEXT,
        result TEXT,
        attempts INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX runs_of_agent ON runs (agent_id, position)",
    """CREATE TABLE facts (
        run_id TEXT NOT NULL REFERENCES runs (id),
        name TEXT NOT NULL,
        fact TEXT NOT NULL,
        PRIMARY KEY (run_id, name)
    )""",
    """CREATE TABLE launches (
        agent_id TEXT NOT NULL REFERENCES agents (id),
        idempotency_key TEXT NOT NULL,
        body_digest TEXT NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (id),
        PRIMARY KEY (agent_id, idempotency_key)
    )""",
    """CREATE TABLE log (
        run_id TEXT NOT NULL REFERENCES runs (id),
        position INTEGER NOT NULL,
        entry TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, position)
    )""",
    """CREATE TABLE evaluations (
        run_id TEXT NOT NULL REFERENCES runs (id),
        tree TEXT NOT NULL,
        case_id TEXT NOT NULL,
        failed INTEGER NOT NULL,
        evaluation TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, tree, case_id)
    )""",
    "CREATE INDEX failures_of_run ON evaluations (run_id, failed)",
    """CREATE TABLE proposals (
        run_id TEXT NOT NULL REFERENCES runs (id),
        seq INTEGER NOT NULL,
        result TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    )""",
    # Trees of a run share most of their documents, so a tree names its documents by digest.
    """CREATE TABLE trees (
        run_id TEXT NOT NULL REFERENCES runs (id),
        digest TEXT NOT NULL,
        manifest TEXT NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, digest)
    )""",
    "CREATE TABLE documents (sha256 TEXT PRIMARY KEY, content TEXT NOT NULL)",
)

# Contents of files that candidates changed in the repository; they need not be text.
_REPOSITORY_FILES = ("CREATE TABLE repository_files (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL)",)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _REPOSITORY_FILES)
"""Step `n` leads from schema version `n` to `n + 1`."""
