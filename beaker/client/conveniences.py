"""Methods of the public clients that take several calls, or give values in place of JSON objects."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Result

from beaker.client.api import Api
from beaker.client.change_sets import fetch_change_sets
from beaker.client.errors import client_errors
from beaker.client.fetching import Progress
from beaker.client.flows import upload_artifact, upload_dataset, upload_dataset_files
from beaker.client.methods import Steps, Walk, Work, call, method, pages, unwrapped
from beaker.client.pulls import Pulled, pull_run
from beaker.client.run_calls import found
from beaker.client.waits import wait_for_run
from beaker.core.documents import DocumentChangeSet
from beaker.core.problems import Problem, Problems
from beaker.core.results import (
    Candidate,
    Dataset,
    EvalReport,
    Run,
    read_all,
    read_candidate,
    read_dataset,
    read_eval_report,
    read_run,
)
from beaker.core.strict_json import JsonObject

T = TypeVar("T")

PAGE = 100
"""Items that are asked for at once."""


class Conveniences:
    """Values, pages, waiting, and files."""

    __slots__ = ()

    @method
    def get_run(self, run_id: str, *, agent_key: str | None = None) -> Steps[Run | None]:
        """A run, `None` when there is none of this id."""
        return _found("get_optimization_run", read_run, run_id=run_id, agent_key=agent_key)

    @pages
    def iter_runs(
        self, *, status: str | None = None, trigger_reason: str | None = None, agent_key: str | None = None
    ) -> Walk[Run]:
        """Every run, the newest first, page by page as they are asked for."""
        arguments = {"status": status, "trigger_reason": trigger_reason, "agent_key": agent_key}
        return Walk("list_optimization_runs", "runs", read_run, arguments, PAGE)

    @method
    def wait_for_run(
        self,
        run_id: str,
        *,
        interval: float = 15.0,
        timeout: float | None = None,
        on_change: Callable[[Run], None] | None = None,
        agent_key: str | None = None,
    ) -> Steps[Run]:
        """The run once it has ended, or needs somebody to review its paused baseline (`run.needs_review`).

        It is looked at every `interval` seconds; `on_change` is told of it first and whenever it differs. A place that
        does not answer for a while is borne. Raises `TimeoutError` when it has not ended after `timeout` seconds.
        """
        return wait_for_run(run_id, interval=interval, timeout=timeout, on_change=on_change, agent_key=agent_key)

    @method
    def get_candidate(self, candidate_id: str, *, agent_key: str | None = None) -> Steps[Candidate | None]:
        """A candidate, `None` when there is none of this id."""
        return _found("get_optimization_candidate", read_candidate, candidate_id=candidate_id, agent_key=agent_key)

    @method
    def get_candidates(self, run_id: str, *, agent_key: str | None = None) -> Steps[tuple[Candidate, ...]]:
        """Every candidate of a run, in the order in which they were decided."""
        answer = yield from call("list_candidates", run_id=run_id, agent_key=agent_key)
        return unwrapped(read_all(answer.get("candidates"), read_candidate))

    @method
    def get_eval_reports(self, run_id: str, *, agent_key: str | None = None) -> Steps[tuple[EvalReport, ...]]:
        """The reports of a run's evaluations."""
        answer = yield from call("list_eval_reports", run_id=run_id, agent_key=agent_key)
        return unwrapped(read_all(answer.get("eval_reports"), read_eval_report))

    @method
    def get_change_sets(
        self, candidate_id: str, *, agent_key: str | None = None
    ) -> Steps[Mapping[str, DocumentChangeSet]]:
        """What a candidate changes in documents: a change set by the first group of each target."""
        return _done(lambda api: fetch_change_sets(api, candidate_id), agent_key)

    @method
    def get_dataset(self, reference: str, *, agent_key: str | None = None) -> Steps[Dataset]:
        """The dataset that `name`, `name@production` or `name@revision` stands for."""
        answer = yield from call("resolve_dataset", reference=reference, agent_key=agent_key)
        return unwrapped(read_dataset(answer["dataset"]))

    @pages
    def iter_datasets(self, *, agent_key: str | None = None) -> Walk[Dataset]:
        """Every revision of every dataset, the newest first, page by page as they are asked for."""
        return Walk("list_datasets", "datasets", read_dataset, {"agent_key": agent_key}, PAGE)

    @method
    def pull(
        self,
        run_id: str,
        directory: Path | str,
        *,
        only: Collection[str] = (),
        progress: Progress | None = None,
        agent_key: str | None = None,
    ) -> Steps[Pulled]:
        """Write everything that the place has of a run into the folder `run_id` in `directory`, all or nothing.

        `only` names what is wanted of `run.json`, `candidates.json`, `eval_reports.json`, `proposals`, `patch.diff`,
        `changes`, `tree` and `report.html`; the rest stays as it was. `progress` is told of files: path, bytes done of
        all of them, bytes in all.
        """

        def work(api: Api) -> Result[Pulled, Problem]:
            folder = Path(directory).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            return pull_run(api, run_id, folder, only=only, progress=progress)

        return _done(work, agent_key)

    @method
    def upload_dataset_directory(
        self,
        directory: Path | str,
        *,
        name: str,
        display_name: str | None = None,
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        total_count: int | None = None,
        splits: Mapping[str, int] | None = None,
        content_types: Mapping[str, str] | None = None,
        promote: bool = True,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
        progress: Progress | None = None,
    ) -> Steps[JsonObject]:
        """Upload the dataset of a folder: `train.jsonl`, `test.jsonl`, `manifest.json`, and files that rows name; the
        artifact, with `reused`.

        Rows are counted and checked first: `ValueError` lists every fault of the files.
        """
        return _uploaded(
            lambda api: upload_dataset(
                api,
                Path(directory),
                name=name,
                display_name=display_name,
                artifact_key=artifact_key,
                metadata=metadata,
                total_count=total_count,
                splits=splits,
                content_types=content_types,
                promote=promote,
                expires_in_seconds=expires_in_seconds,
                progress=progress,
            ),
            agent_key,
        )

    @method
    def upload_dataset_files(
        self,
        files: Mapping[str, Path | str],
        *,
        name: str,
        display_name: str | None = None,
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        total_count: int | None = None,
        splits: Mapping[str, int] | None = None,
        content_types: Mapping[str, str] | None = None,
        promote: bool = True,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
        progress: Progress | None = None,
    ) -> Steps[JsonObject]:
        """Upload a dataset of these files, by the paths they are to have in it; the artifact, with `reused`."""
        return _uploaded(
            lambda api: upload_dataset_files(
                api,
                {path: Path(file) for path, file in files.items()},
                name=name,
                display_name=display_name,
                artifact_key=artifact_key,
                metadata=metadata,
                total_count=total_count,
                splits=splits,
                content_types=content_types,
                promote=promote,
                expires_in_seconds=expires_in_seconds,
                progress=progress,
            ),
            agent_key,
        )

    @method
    def upload_artifact_directory(
        self,
        directory: Path | str,
        *,
        kind: str = "input_artifact",
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        content_types: Mapping[str, str] | None = None,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
        progress: Progress | None = None,
    ) -> Steps[JsonObject]:
        """Upload all files below a folder but hidden ones as an artifact; the artifact."""
        return _uploaded(
            lambda api: upload_artifact(
                api,
                Path(directory),
                kind=kind,
                artifact_key=artifact_key,
                metadata=metadata,
                content_types=content_types,
                expires_in_seconds=expires_in_seconds,
                progress=progress,
            ),
            agent_key,
        )

    @method
    def upload_artifact_files(
        self,
        files: Mapping[str, Path | str],
        *,
        kind: str = "input_artifact",
        artifact_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        content_types: Mapping[str, str] | None = None,
        expires_in_seconds: int = 900,
        agent_key: str | None = None,
        progress: Progress | None = None,
    ) -> Steps[JsonObject]:
        """Upload these files, by the paths they are to have, as an artifact; the artifact."""
        return _uploaded(
            lambda api: upload_artifact(
                api,
                {path: Path(file) for path, file in files.items()},
                kind=kind,
                artifact_key=artifact_key,
                metadata=metadata,
                content_types=content_types,
                expires_in_seconds=expires_in_seconds,
                progress=progress,
            ),
            agent_key,
        )


def _found(name: str, read: Callable[[object], Result[T, Problem]], /, **arguments: Any) -> Steps[T | None]:
    body = yield from found(name, **arguments)
    return None if body is None else unwrapped(read(body))


def _done(work: Callable[[Api], Result[T, Problem]], agent_key: str | None) -> Steps[T]:
    result: Result[T, Problem] = yield Work(work, agent_key)
    return unwrapped(result)


def _uploaded(work: Callable[[Api], Result[JsonObject, Problems]], agent_key: str | None) -> Steps[JsonObject]:
    result: Result[JsonObject, Problems] = yield Work(work, agent_key)
    if not is_successful(result):
        raise client_errors(result.failure())
    return result.unwrap()
