"""The rows of agents: the named things that runs and datasets belong to."""

from beaker.core.values import value
from beaker.service.database import Database


@value(kw_only=True)
class Agent:
    """One agent. `key` is its public selector; `beaker_config_path` counts from the root of its repository."""

    id: str
    organization: str
    key: str
    name: str
    github_repository: str | None
    beaker_config_path: str
    created_at: str


def find_agent(database: Database, organization: str, key: str) -> Agent | None:
    """The agent of an organization with this key."""
    row = database.row(
        "SELECT * FROM agents WHERE organization = :organization AND key = :key", organization=organization, key=key
    )
    return None if row is None else Agent(**dict(row))


def agent_by_id(database: Database, organization: str, agent_id: str) -> Agent | None:
    """The agent of an organization with this id."""
    row = database.row(
        "SELECT * FROM agents WHERE organization = :organization AND id = :id", organization=organization, id=agent_id
    )
    return None if row is None else Agent(**dict(row))


def agent_key_of(database: Database, agent_id: str) -> str:
    """The key of an agent that is known to be there: the one of a run."""
    row = database.row("SELECT key FROM agents WHERE id = :id", id=agent_id)
    assert row is not None
    return str(row["key"])


def list_agents(database: Database, organization: str) -> list[Agent]:
    """Every agent of an organization, by key."""
    rows = database.rows(
        "SELECT * FROM agents WHERE organization = :organization ORDER BY key", organization=organization
    )
    return [Agent(**dict(row)) for row in rows]


def keep_agent(database: Database, agent: Agent) -> Agent:
    """Store a new agent, or bring the repository and configuration path of the one with its key up to date."""
    database.execute(
        """INSERT INTO agents
        VALUES (:id, :organization, :key, :name, :github_repository, :beaker_config_path, :created_at)
        ON CONFLICT (organization, key) DO UPDATE
        SET github_repository = excluded.github_repository, beaker_config_path = excluded.beaker_config_path""",
        id=agent.id,
        organization=agent.organization,
        key=agent.key,
        name=agent.name,
        github_repository=agent.github_repository,
        beaker_config_path=agent.beaker_config_path,
        created_at=agent.created_at,
    )
    kept = find_agent(database, agent.organization, agent.key)
    assert kept is not None
    return kept
