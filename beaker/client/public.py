"""The public client: a method for each endpoint that takes an API key, and uploading a dataset, over HTTP.

Each method opens a connection of its own and closes it, so a client is a plain value without a lifetime.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
from returns.pipeline import is_successful

from beaker.client.api import Api
from beaker.client.errors import BeakerClientError
from beaker.client.flows import upload_dataset
from beaker.client.network import TIMEOUT_SECONDS, HttpTransport
from beaker.core.api import ApiProblem
from beaker.core.problems import Problem, Refused
from beaker.core.strict_json import JsonObject, dumps
from beaker.core.values import value


@value
class BeakerClient:
    """A Beaker API at `base_url`, used with `api_key` as bearer.

    Methods answer with the decoded JSON object. Calls about one agent need its key: the argument `agent_key`, else the
    client's. `timeout_seconds` holds for connecting and for each read.

    Raises `BeakerClientError` for what did not succeed, `ValueError` for wrong arguments, `OSError` for local files.
    """

    base_url: str
    api_key: str = attrs.field(default="", repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    agent_key: str | None = None

    def list_models(self, *, agent_key: str | None = None) -> JsonObject:
        """The models that runs can compare."""
        return self._call("list_models", {"agent_key": agent_key})

    def get_current_agent(self, *, agent_key: str | None = None) -> JsonObject:
        """The agent of the agent key."""
        return self._call("get_current_agent", {"agent_key": agent_key})

    def list_agents(self) -> JsonObject:
        """All agents."""
        return self._call("list_agents")

    def create_agent(self, *, name: str, github_repository: str, beaker_config_path: str) -> JsonObject:
        """A new agent."""
        arguments = {"name": name, "github_repository": github_repository, "beaker_config_path": beaker_config_path}
        return self._call("create_agent", arguments)

    def list_agent_env_vars(self, *, agent_id: str) -> JsonObject:
        """The names of the variables that an agent has."""
        return self._call("list_agent_env_vars", {"agent_id": agent_id})

    def set_agent_env_var(self, *, agent_id: str, name: str, value: str) -> JsonObject:
        """Set a variable of an agent."""
        return self._call("set_agent_env_var", {"agent_id": agent_id, "name": name, "value": value})

    def delete_agent_env_var(self, *, agent_id: str, name: str) -> None:
        """Delete a variable of an agent."""
        self._call("delete_agent_env_var", {"agent_id": agent_id, "name": name})

    def list_llm_credentials(self) -> JsonObject:
        """The providers that the organization has keys for."""
        return self._call("list_llm_credentials")

    def list_integrations(self, *, status: str | None = None, agent_key: str | None = None) -> JsonObject:
        """The integrations of an agent."""
        return self._call("list_integrations", {"status": status, "agent_key": agent_key})

    def list_integration_versions(self, *, name: str, agent_key: str | None = None) -> JsonObject:
        """The versions of an integration."""
        return self._call("list_integration_versions", {"name": name, "agent_key": agent_key})

    def get_integration_version(self, *, name: str, version: str, agent_key: str | None = None) -> JsonObject:
        """One version of an integration."""
        return self._call("get_integration_version", {"name": name, "version": version, "agent_key": agent_key})

    def create_optimization_run(
        self,
        *,
        config: Mapping[str, Any] | None = None,
        trigger_metadata: Mapping[str, Any] | None = None,
        input_artifacts: Sequence[Mapping[str, Any]] | None = None,
        dataset_ref: str | None = None,
        dataset_id: str | None = None,
        github_source: Mapping[str, Any] | None = None,
        agent_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> JsonObject:
        """Launch a run. With an idempotency key the launch is repeated when there is no answer, and happens once."""
        arguments = {
            "config": config,
            "trigger_metadata": trigger_metadata,
            "input_artifacts": input_artifacts,
            "dataset_ref": dataset_ref,
            "dataset_id": dataset_id,
            "github_source": github_source,
            "agent_key": agent_key,
        }
        return self._call("create_optimization_run", arguments, idempotency_key=idempotency_key)

    def get_optimization_run(self, run_id: str, *, agent_key: str | None = None) -> JsonObject | None:
        """A run, `None` when there is none of this id."""
        return self._found("get_optimization_run", {"run_id": run_id, "agent_key": agent_key})

    def list_optimization_runs(
        self,
        *,
        status: str | None = None,
        trigger_reason: str | None = None,
        limit: int = 25,
        offset: int = 0,
        agent_key: str | None = None,
    ) -> JsonObject:
        """Runs, the newest first."""
        arguments = {
            "status": status,
            "trigger_reason": trigger_reason,
            "limit": limit,
            "offset": offset,
            "agent_key": agent_key,
        }
        return self._call("list_optimization_runs", arguments)

    def cancel_optimization_run(self, run_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Stop a run."""
        return self._call("cancel_optimization_run", {"run_id": run_id, "agent_key": agent_key})

    def resume_optimization_run(
        self, run_id: str, *, review_id: str, model_target_id: str | None = None, agent_key: str | None = None
    ) -> JsonObject:
        """Let a run that waits for a review go on."""
        arguments = {
            "run_id": run_id,
            "review_id": review_id,
            "model_target_id": model_target_id,
            "agent_key": agent_key,
        }
        return self._call("resume_optimization_run", arguments)

    def get_run_debug(self, run_id: str, *, agent_key: str | None = None) -> JsonObject:
        """The jobs of a run."""
        return self._call("get_run_debug", {"run_id": run_id, "agent_key": agent_key})

    def retry_run_debug(self, run_id: str, job_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Try a job of a run again."""
        return self._call("retry_run_debug", {"run_id": run_id, "job_id": job_id, "agent_key": agent_key})

    def list_candidates(self, run_id: str, *, agent_key: str | None = None) -> JsonObject:
        """The candidates of a run, and what became of its proposals."""
        return self._call("list_candidates", {"run_id": run_id, "agent_key": agent_key})

    def list_eval_reports(self, run_id: str, *, agent_key: str | None = None) -> JsonObject:
        """The reports of a run's evaluations."""
        return self._call("list_eval_reports", {"run_id": run_id, "agent_key": agent_key})

    def get_optimization_candidate(self, candidate_id: str, *, agent_key: str | None = None) -> JsonObject | None:
        """A candidate, `None` when there is none of this id."""
        return self._found("get_optimization_candidate", {"candidate_id": candidate_id, "agent_key": agent_key})

    def list_eval_reports_for_candidate(self, candidate_id: str, *, agent_key: str | None = None) -> JsonObject:
        """The reports of a candidate's evaluations."""
        return self._call("list_eval_reports_for_candidate", {"candidate_id": candidate_id, "agent_key": agent_key})

    def get_candidate_pull_request(self, candidate_id: str, *, agent_key: str | None = None) -> JsonObject:
        """The pull request of a candidate."""
        return self._call("get_candidate_pull_request", {"candidate_id": candidate_id, "agent_key": agent_key})

    def create_candidate_pull_request(self, candidate_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Open a pull request for a candidate."""
        return self._call("create_candidate_pull_request", {"candidate_id": candidate_id, "agent_key": agent_key})

    def create_candidate_download(self, candidate_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Where the files of a candidate can be fetched."""
        return self._call("create_candidate_download", {"candidate_id": candidate_id, "agent_key": agent_key})

    def create_artifact_upload(
        self,
        *,
        kind: str,
        files: Sequence[Mapping[str, Any]],
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
    ) -> JsonObject:
        """Announce an artifact; where to send its files."""
        arguments = {
            "kind": kind,
            "files": files,
            "artifact_key": artifact_key,
            "metadata": metadata,
            "expires_in_seconds": expires_in_seconds,
            "agent_key": agent_key,
        }
        return self._call("create_artifact_upload", arguments)

    def complete_artifact_upload(self, artifact_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Say that all files of an artifact were sent."""
        return self._call("complete_artifact_upload", {"artifact_id": artifact_id, "agent_key": agent_key})

    def list_artifacts(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        limit: int = 100,
        offset: int = 0,
        agent_key: str | None = None,
    ) -> JsonObject:
        """Artifacts, the newest first."""
        arguments = {"kind": kind, "status": status, "limit": limit, "offset": offset, "agent_key": agent_key}
        return self._call("list_artifacts", arguments)

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
    ) -> JsonObject:
        """Announce a dataset; where to send its files."""
        arguments = {
            "name": name,
            "files": files,
            "display_name": display_name,
            "artifact_key": artifact_key,
            "metadata": metadata,
            "total_count": total_count,
            "splits": splits,
            "promote": promote,
            "expires_in_seconds": expires_in_seconds,
            "agent_key": agent_key,
        }
        return self._call("create_dataset_upload", arguments)

    def complete_dataset_upload(self, artifact_id: str, *, agent_key: str | None = None) -> JsonObject:
        """Say that all files of a dataset were sent."""
        return self._call("complete_dataset_upload", {"artifact_id": artifact_id, "agent_key": agent_key})

    def upload_dataset_directory(
        self,
        directory: Path | str,
        *,
        name: str,
        metadata: Mapping[str, Any] | None = None,
        total_count: int | None = None,
        splits: Mapping[str, int] | None = None,
        promote: bool = True,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
    ) -> JsonObject:
        """Upload `train.jsonl`, `test.jsonl` and `manifest.json` of a folder; the artifact, with `reused`.

        Rows are counted and checked first: `ValueError` lists every fault of the files.
        """
        with closing(self._transport()) as transport:
            done = upload_dataset(
                Api(transport, agent_key or self.agent_key),
                Path(directory),
                name=name,
                splits=splits,
                metadata=metadata,
                promote=promote,
                total_count=total_count,
                expires_in_seconds=expires_in_seconds,
            )
        if not is_successful(done):
            problems = done.failure()
            if all(problem.code.startswith("BK2") or problem.code in ("BK815", "BK816") for problem in problems):
                raise ValueError("; ".join(map(str, problems)))
            raise _error(problems[0])
        return done.unwrap()

    def list_datasets(self, *, limit: int = 100, offset: int = 0, agent_key: str | None = None) -> JsonObject:
        """Datasets, the newest first."""
        return self._call("list_datasets", {"limit": limit, "offset": offset, "agent_key": agent_key})

    def resolve_dataset(self, reference: str, *, agent_key: str | None = None) -> JsonObject:
        """The dataset that `name`, `name@production` or `name@revision` stands for."""
        return self._call("resolve_dataset", {"reference": reference, "agent_key": agent_key})

    def promote_dataset(self, *, name: str, revision: str, agent_key: str | None = None) -> JsonObject:
        """Make a revision the one that the name stands for."""
        return self._call("promote_dataset", {"name": name, "revision": revision, "agent_key": agent_key})

    def get_dataset_download_urls(
        self, *, reference: str | None = None, artifact_id: str | None = None, agent_key: str | None = None
    ) -> JsonObject:
        """Where the files of a dataset can be fetched; by reference or by id."""
        arguments = {"reference": reference, "artifact_id": artifact_id, "agent_key": agent_key}
        return self._call("get_dataset_download_urls", arguments)

    def _found(self, name: str, arguments: Mapping[str, Any]) -> JsonObject | None:
        try:
            return self._call(name, arguments)
        except BeakerClientError as error:
            if error.status_code == 404:
                return None
            raise

    def _call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> JsonObject:
        with closing(self._transport()) as transport:
            answered = Api(transport, self.agent_key).call(name, idempotency_key=idempotency_key, **arguments or {})
        if not is_successful(answered):
            raise _error(answered.failure())
        return answered.unwrap()

    def _transport(self) -> HttpTransport:
        try:
            return HttpTransport(self.base_url, self.api_key, timeout=self.timeout_seconds)
        except Refused as refused:
            raise _error(refused.problems[0]) from None


def _error(problem: Problem) -> Exception:
    if problem.code == "BK801":
        return ValueError(str(problem))
    if not isinstance(problem, ApiProblem) or not problem.status:
        return BeakerClientError(0, f"{problem}; {problem.hint}" if problem.hint else str(problem))
    detail = problem.detail
    return BeakerClientError(problem.status, detail if isinstance(detail, str) else dumps(detail))
