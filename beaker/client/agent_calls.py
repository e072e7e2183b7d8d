"""Methods of the public clients about agents, models, integrations, datasets and artifacts, one for each endpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

from beaker.client.methods import Steps, call, method
from beaker.core.strict_json import JsonObject


class AgentCalls:
    """What an organization has: agents, models, credentials, integrations."""

    __slots__ = ()

    @method
    def list_models(self, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The models that runs can compare."""
        return call("list_models", agent_key=agent_key)

    @method
    def get_current_agent(self, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The agent of the agent key."""
        return call("get_current_agent", agent_key=agent_key)

    @method
    def list_agents(self) -> Steps[JsonObject]:
        """All agents."""
        return call("list_agents")

    @method
    def create_agent(self, *, name: str, github_repository: str, beaker_config_path: str) -> Steps[JsonObject]:
        """A new agent."""
        return call(
            "create_agent", name=name, github_repository=github_repository, beaker_config_path=beaker_config_path
        )

    @method
    def list_agent_env_vars(self, *, agent_id: str) -> Steps[JsonObject]:
        """The names of the variables that an agent has."""
        return call("list_agent_env_vars", agent_id=agent_id)

    @method
    def set_agent_env_var(self, *, agent_id: str, name: str, value: str) -> Steps[JsonObject]:
        """Set a variable of an agent."""
        return call("set_agent_env_var", agent_id=agent_id, name=name, value=value)

    @method
    def delete_agent_env_var(self, *, agent_id: str, name: str) -> Steps[None]:
        """Delete a variable of an agent."""
        yield from call("delete_agent_env_var", agent_id=agent_id, name=name)

    @method
    def list_llm_credentials(self) -> Steps[JsonObject]:
        """The providers that the organization has keys for."""
        return call("list_llm_credentials")

    @method
    def list_integrations(self, *, status: str | None = None, agent_key: str | None = None) -> Steps[JsonObject]:
        """The integrations of an agent."""
        return call("list_integrations", status=status, agent_key=agent_key)

    @method
    def list_integration_versions(self, *, name: str, agent_key: str | None = None) -> Steps[JsonObject]:
        """The versions of an integration."""
        return call("list_integration_versions", name=name, agent_key=agent_key)

    @method
    def get_integration_version(self, *, name: str, version: str, agent_key: str | None = None) -> Steps[JsonObject]:
        """One version of an integration."""
        return call("get_integration_version", name=name, version=version, agent_key=agent_key)


class DatasetCalls:
    """Datasets and artifacts."""

    __slots__ = ()

    @method
    def create_artifact_upload(
        self,
        *,
        kind: str,
        files: Sequence[Mapping[str, Any]],
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
    ) -> Steps[JsonObject]:
        """Announce an artifact; where to send its files."""
        return call(
            "create_artifact_upload",
            kind=kind,
            files=files,
            artifact_key=artifact_key,
            metadata=metadata,
            expires_in_seconds=expires_in_seconds,
            agent_key=agent_key,
        )

    @method
    def complete_artifact_upload(self, artifact_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Say that all files of an artifact were sent."""
        return call("complete_artifact_upload", artifact_id=artifact_id, agent_key=agent_key)

    @method
    def list_artifacts(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        limit: int = 100,
        offset: int = 0,
        agent_key: str | None = None,
    ) -> Steps[JsonObject]:
        """A page of artifacts, the newest first."""
        return call("list_artifacts", kind=kind, status=status, limit=limit, offset=offset, agent_key=agent_key)

    @method
    def create_dataset_upload(
        self,
        *,
        name: str,
        files: Sequence[Mapping[str, Any]],
        display_name: str | None = None,
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        total_count: int | None = None,
        splits: Mapping[str, int] | None = None,
        promote: bool = True,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
    ) -> Steps[JsonObject]:
        """Announce a dataset; where to send its files."""
        return call(
            "create_dataset_upload",
            name=name,
            files=files,
            display_name=display_name,
            artifact_key=artifact_key,
            metadata=metadata,
            total_count=total_count,
            splits=splits,
            promote=promote,
            expires_in_seconds=expires_in_seconds,
            agent_key=agent_key,
        )

    @method
    def complete_dataset_upload(self, artifact_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Say that all files of a dataset were sent."""
        return call("complete_dataset_upload", artifact_id=artifact_id, agent_key=agent_key)

    @method
    def list_datasets(self, *, limit: int = 100, offset: int = 0, agent_key: str | None = None) -> Steps[JsonObject]:
        """A page of datasets, the newest first."""
        return call("list_datasets", limit=limit, offset=offset, agent_key=agent_key)

    @method
    def resolve_dataset(self, reference: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The dataset that `name`, `name@production` or `name@revision` stands for."""
        return call("resolve_dataset", reference=reference, agent_key=agent_key)

    @method
    def promote_dataset(self, *, name: str, revision: str, agent_key: str | None = None) -> Steps[JsonObject]:
        """Make a revision the one that the name stands for."""
        return call("promote_dataset", name=name, revision=revision, agent_key=agent_key)

    @method
    def get_dataset_download_urls(
        self, *, reference: str | None = None, artifact_id: str | None = None, agent_key: str | None = None
    ) -> Steps[JsonObject]:
        """Where the files of a dataset can be fetched; by reference or by id."""
        return call("get_dataset_download_urls", reference=reference, artifact_id=artifact_id, agent_key=agent_key)
