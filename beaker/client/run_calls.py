"""Methods of the public clients about runs and candidates, one for each endpoint, named as it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from returns.pipeline import is_successful
from returns.result import Result

from beaker.client.errors import BeakerClientError
from beaker.client.launch_config import (
    LaunchConfig,
    ensure_one_dataset,
    ensure_supported_launch_config_keys,
    launch_body,
)
from beaker.client.methods import Call, Client, Steps, call, method, unwrapped
from beaker.core.problems import Problem
from beaker.core.responses import ApiProblem
from beaker.core.strict_json import JsonObject


class RunCalls:
    """Launching, looking, and what became of it."""

    __slots__ = ()

    @method
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
    ) -> Steps[JsonObject]:
        """Launch a run. With an idempotency key the launch is repeated when there is no answer, and happens once.

        Keys of `config` that no launch knows raise `ValueError`, and so do two datasets.
        """
        ensure_supported_launch_config_keys(config or {})
        ensure_one_dataset(dataset_ref, dataset_id)
        return call(
            "create_optimization_run",
            idempotency_key=idempotency_key,
            config=config,
            trigger_metadata=trigger_metadata,
            input_artifacts=input_artifacts,
            dataset_ref=dataset_ref,
            dataset_id=dataset_id,
            github_source=github_source,
            agent_key=agent_key,
        )

    @method
    def create_optimization_run_from_config(
        self: Client,
        beaker_config: LaunchConfig,
        *,
        config: Mapping[str, Any] | None = None,
        trigger_metadata: Mapping[str, Any] | None = None,
        input_artifacts: Sequence[Mapping[str, Any]] | None = None,
        agent_key: str | None = None,
        integration_id: str | None = None,
        ref: str | None = None,
        dataset_ref: str | None = None,
        dataset_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[JsonObject]:
        """Launch a run as a configuration says, in the repository of its agent; arguments go before what it says.

        `beaker_config` has an `agent_key`, an `integration_id` and `config_defaults`, over which `config` is laid.
        """
        key = agent_key if agent_key is not None else beaker_config.agent_key or self.agent_key
        agent = yield from call("get_current_agent", agent_key=key)
        repository = agent.get("github_repository")
        if not isinstance(repository, str) or not repository:
            raise BeakerClientError(0, "the agent has no repository to run; bind one with `beaker agent setup`")
        body = launch_body(
            beaker_config,
            agent_key=key or "",
            repository=repository,
            config=config,
            trigger_metadata=trigger_metadata,
            input_artifacts=input_artifacts,
            integration_id=integration_id,
            ref=ref,
            dataset_ref=dataset_ref,
            dataset_id=dataset_id,
        )
        launched: Result[JsonObject, Problem] = yield Call(
            "create_optimization_run", body, idempotency_key=idempotency_key
        )
        return unwrapped(launched)

    @method
    def get_optimization_run(self, run_id: str, *, agent_key: str | None = None) -> Steps[JsonObject | None]:
        """A run, `None` when there is none of this id."""
        return found("get_optimization_run", run_id=run_id, agent_key=agent_key)

    @method
    def list_optimization_runs(
        self,
        *,
        status: str | None = None,
        trigger_reason: str | None = None,
        limit: int = 25,
        offset: int = 0,
        agent_key: str | None = None,
    ) -> Steps[JsonObject]:
        """A page of runs, the newest first."""
        return call(
            "list_optimization_runs",
            status=status,
            trigger_reason=trigger_reason,
            limit=limit,
            offset=offset,
            agent_key=agent_key,
        )

    @method
    def cancel_optimization_run(self, run_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Stop a run."""
        return call("cancel_optimization_run", run_id=run_id, agent_key=agent_key)

    @method
    def resume_optimization_run(
        self, run_id: str, *, review_id: str, model_target_id: str | None = None, agent_key: str | None = None
    ) -> Steps[JsonObject]:
        """Let a run go on whose baseline waits for a review. A blank `review_id` raises `ValueError`."""
        if not review_id.strip():
            raise ValueError("review_id is blank")
        return call(
            "resume_optimization_run",
            run_id=run_id,
            review_id=review_id,
            model_target_id=model_target_id,
            agent_key=agent_key,
        )

    @method
    def get_run_debug(self, run_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The investigations of a failed run."""
        return call("get_run_debug", run_id=run_id, agent_key=agent_key)

    @method
    def retry_run_debug(self, run_id: str, job_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Ask for one more investigation; the run itself is not started again."""
        return call("retry_run_debug", run_id=run_id, job_id=job_id, agent_key=agent_key)

    @method
    def list_candidates(self, run_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The candidates of a run, and what became of its proposals."""
        return call("list_candidates", run_id=run_id, agent_key=agent_key)

    @method
    def list_eval_reports(self, run_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The reports of a run's evaluations."""
        return call("list_eval_reports", run_id=run_id, agent_key=agent_key)

    @method
    def get_optimization_candidate(
        self, candidate_id: str, *, agent_key: str | None = None
    ) -> Steps[JsonObject | None]:
        """A candidate, `None` when there is none of this id."""
        return found("get_optimization_candidate", candidate_id=candidate_id, agent_key=agent_key)

    @method
    def list_eval_reports_for_candidate(self, candidate_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """The reports of a candidate's evaluations."""
        return call("list_eval_reports_for_candidate", candidate_id=candidate_id, agent_key=agent_key)

    @method
    def get_candidate_pull_request(self, candidate_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Whether a pull request may be opened for a candidate, and the one that there is."""
        return call("get_candidate_pull_request", candidate_id=candidate_id, agent_key=agent_key)

    @method
    def create_candidate_pull_request(self, candidate_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Open a draft pull request for a winner."""
        return call("create_candidate_pull_request", candidate_id=candidate_id, agent_key=agent_key)

    @method
    def create_candidate_download(self, candidate_id: str, *, agent_key: str | None = None) -> Steps[JsonObject]:
        """Where the files of a candidate can be fetched, for a while."""
        return call("create_candidate_download", candidate_id=candidate_id, agent_key=agent_key)


def found(name: str, /, **arguments: Any) -> Steps[JsonObject | None]:
    """What an endpoint answers, `None` when it says 404."""
    answered: Result[JsonObject, Problem] = yield Call(name, arguments)
    if not is_successful(answered):
        problem = answered.failure()
        if isinstance(problem, ApiProblem) and problem.status == 404:
            return None
    return unwrapped(answered)
