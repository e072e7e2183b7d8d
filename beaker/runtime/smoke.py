"""`run smoke`: everything that can go wrong before a run, tried out on a local dataset, stage by stage.

Customer code runs in child processes only. What a launch would refuse fails here; what may be right elsewhere warns.
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.cases import CaseScore
from beaker.core.datasets import SPLITS
from beaker.core.evaluations import CaseError
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.targets import DocumentTargets, OptimizationTarget, compare_targets, target_groups
from beaker.core.untraced import untraced
from beaker.core.usage import usage_of
from beaker.core.wording import counted
from beaker.files.documents import tree_difference, write_tree
from beaker.files.tracing_scan import scan_repo
from beaker.runtime.case_views import CaseViews
from beaker.runtime.failures import case_problem
from beaker.runtime.folders import temporary_folder
from beaker.runtime.interpreters import use_project_python
from beaker.runtime.launchable import (
    judge_budget,
    process_limits_of,
    timeouts_of,
    visible_test,
)
from beaker.runtime.sandbox import entry_sandbox
from beaker.runtime.smoke_config import judge_config
from beaker.runtime.smoke_values import SmokeOutcome, SmokeRequest, Stage, StageReport, TriedCase
from beaker.runtime.smoke_words import described_targets, run_detail, setup_detail, stage_of
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import Prepared, RolloutWorker, ScorerWorker, SetupWorker, WorkerFailed


async def smoke(
    request: SmokeRequest,
    report: Callable[[StageReport], None],
    left: Callable[[Problems], None] = lambda problems: None,
) -> SmokeOutcome:
    """Try everything out; `report` is told about each stage as it ends. The first stage that fails is the last.

    Cancelling it leaves what is open in reverse order, within the limits, before the cancellation goes on; `left` is
    told what failed meanwhile.
    """
    with temporary_folder("beaker-smoke-") as folder:
        deprecated: list[Problem] = []
        async with Supervisor(redact=request.redact, warned=deprecated.append) as supervisor:
            supervisor.become_subreaper()
            outcome = await _Smoke(request, report, left, supervisor, folder).run()
        return replace(outcome, warnings=(*outcome.warnings, *deprecated))


_UNTRACED = Problem(
    "BK350",
    "the case recorded no call of a model, so a run cannot count tokens and money, nor show proposers what was asked",
    "run_case",
    "record calls with runtime.trace.model_call if there are any; docs/tracing.md shows how",
)


class _Failed(Exception):
    def __init__(self, problems: Problems, captured: str = "") -> None:
        self.problems = problems
        self.captured = captured
        super().__init__()


class _Smoke:
    def __init__(
        self,
        request: SmokeRequest,
        report: Callable[[StageReport], None],
        left: Callable[[Problems], None],
        supervisor: Supervisor,
        folder: Path,
    ) -> None:
        self._request = request
        self._report = report
        self._left = left
        self._supervisor = supervisor
        self._folder = folder
        self._stages: list[StageReport] = []
        self._warnings: Problems = request.warnings
        self._timeouts = request.timeouts or timeouts_of(request.config)
        self._found: dict[str, Any] = {}
        self._stage: Stage = "config"

    async def run(self) -> SmokeOutcome:
        try:
            self._check_config()
            await self._check_code()
        except (_Failed, WorkerFailed) as failed:
            self._end(problems=failed.problems, captured=failed.captured)
            return SmokeOutcome(passed=False, stages=tuple(self._stages), warnings=self._warnings, **self._found)
        if _UNTRACED not in self._warnings:
            self._warnings += await asyncio.to_thread(self._untraced)
        is_scaffold = bool(self._found["reasons"])
        return SmokeOutcome(
            passed=not (is_scaffold and self._request.strict),
            stages=tuple(self._stages),
            readiness="SCAFFOLD" if is_scaffold else "INTEGRATED",
            warnings=self._warnings,
            **self._found,
        )

    def _untraced(self) -> Problems:
        """A warning where the code asks models and records nothing; what cannot be looked through is left alone."""
        scan = scan_repo(self._request.code.repository / self._request.code.source_dir)
        return untraced(scan.unwrap()) if is_successful(scan) else ()

    def _check_config(self) -> None:
        judged = judge_config(self._request)
        self._warnings += judged.warnings
        if judged.failures:
            raise _Failed(judged.failures)
        self._confine()
        named = "Spec" if self._request.entry.kind == "spec" else "integration"
        self._end(f"{named} {self._request.entry.id}", then="integration")

    def _confine(self) -> None:
        """Have the sandbox that the entry asks for; where a run goes elsewhere, there may be one there."""
        entry = self._request.entry
        judged = entry.scorer_model is not None or entry.kind == "spec"
        sandbox = entry_sandbox(entry.isolation, network=entry.sandbox_network, judged=judged)
        if is_successful(sandbox):
            self._supervisor.sandbox = sandbox.unwrap()
        elif self._request.local:
            raise _Failed((sandbox.failure(),))
        else:
            self._warnings += (sandbox.failure(),)

    async def _check_code(self) -> None:
        await self._choose_python()
        setup = await SetupWorker.start(
            self._supervisor, self._request.code, env=self._request.env, timeouts=self._timeouts
        )
        first: BaseException | None = None
        try:
            self._check_targets(setup)
            await self._check_dataset(setup)
            prepared = await self._open_setup(setup)
        except BaseException as error:
            first = error
            raise
        finally:
            await self._close(setup, first)
        self._end(setup_detail(prepared), captured=setup.output(), then="sample")
        samples = ", ".join(f"{tried.case.id!r} of {tried.split}" for tried in self._found["tried"])
        self._end(samples, then="runner and scorer")
        self._end(run_detail(self._found["tried"]))

    async def _choose_python(self) -> None:
        self._stage = "environment"
        python = await use_project_python(self._supervisor, self._request.python, env=self._request.env)
        if not is_successful(python):
            raise _Failed((python.failure(),))
        self._found["python"] = python.unwrap()
        self._end(python.unwrap().described, then="integration")

    def _check_targets(self, setup: SetupWorker) -> None:
        if self._request.entry.targets is not None:
            compared = compare_targets(self._request.entry.targets, setup.loaded.targets)
            if not is_successful(compared):
                raise _Failed((self._placed(compared.failure()),), setup.output())
        detail = f"{self._request.code.entrypoint}, {described_targets(setup.loaded.targets)}"
        self._end(detail, captured=setup.output(), then="dataset")

    def _placed(self, problem: Problem) -> Problem:
        """A problem of the targets, at the Integration that declares them when it says no place of its own."""
        where = problem.where or f"{self._request.entry.place}.targets"
        return Problem(problem.code, problem.message, where, problem.hint)

    async def _check_dataset(self, setup: SetupWorker) -> None:
        if self._request.dataset_problems:
            raise _Failed(self._request.dataset_problems, setup.output())
        counts = await setup.check_rows(self._request.dataset_dir)
        self._found["row_counts"] = counts
        empty = tuple(
            Problem("BK348", f"the split {split} has no rows", str(self._request.dataset_dir / f"{split}.jsonl"),
                    "a run needs rows in both splits: it learns on TRAIN and proves it on TEST")
            for split in SPLITS if counts[split] == 0
        )  # fmt: skip
        if self._request.local:
            empty += visible_test(self._request.code.repository, self._request.dataset_dir / "test.jsonl")
        if empty:
            raise _Failed(empty, setup.output())
        detail = ", ".join(counted(counts[split], f"{split} row") for split in SPLITS)
        self._end(detail, captured=setup.output(), then="setup")

    async def _open_setup(self, setup: SetupWorker) -> Prepared:
        request = self._request
        prepared = await setup.prepare(
            run_id=f"smoke-{uuid.uuid4()}",
            extra=request.config.get("extra") or {},
            dataset_dir=request.dataset_dir,
            dataset_name=request.dataset_name,
            dataset_revision=request.dataset_revision,
            storage=self._folder / "storage",
            keep_cases=1,
            row_limit=request.limit,
            case_ids=request.case_ids,
        )
        self._found.update(case_counts=prepared.case_counts, reasons=prepared.placeholders)
        empty = tuple(
            Problem("BK348", f"the split {split} has rows but gives no case", hint="load_cases must yield some")
            for split in SPLITS
            if prepared.case_counts[split] == 0
        )
        if empty:
            raise _Failed(empty, setup.output())
        if request.local and request.limit is None:
            budget = judge_budget(request.config, prepared.case_counts, kind=request.entry.kind)
            if budget:
                raise _Failed(budget, setup.output())
        self._found["tried"] = self._samples(prepared)
        if setup.loaded.has_open_candidate or request.run_one:
            await self._try_candidate(setup, prepared)
        return prepared

    def _samples(self, prepared: Prepared) -> tuple[TriedCase, ...]:
        """The cases that were asked for, in that order, else the first one of the split."""
        if not self._request.case_ids:
            return (TriedCase(self._request.split, prepared.cases[self._request.split][0]),)
        found = {case.id: TriedCase(split, case) for split in SPLITS for case in prepared.cases[split]}
        return tuple(found[one] for one in dict.fromkeys(self._request.case_ids))

    async def _try_candidate(self, setup: SetupWorker, prepared: Prepared) -> None:
        """Enter and leave `open_candidate` with the seeds standing for a candidate; run and score the samples in it."""
        rollout = await RolloutWorker.start(
            self._supervisor,
            self._request.code,
            env=self._request.env,
            timeouts=self._timeouts,
            targets_dir=self._lay_out(setup.loaded.targets, prepared),
            limits=process_limits_of(self._request.config),
            difference=lambda: self._difference(setup.loaded.targets, prepared),
            scratch_dir=self._folder / "scratch",
            case_files_dir=self._empty_folder(),
        )
        first: BaseException | None = None
        try:
            if (error := await rollout.open()) is not None:
                raise self._failed_case("setup", error, rollout.output())
            if self._request.run_one:
                await self._run_samples(rollout, prepared.views)
        except BaseException as error:
            first = error
            raise
        finally:
            if (left := await rollout.close()) is not None:
                self._then(first, self._failed_case("setup", left, rollout.output()))

    async def _run_samples(self, rollout: RolloutWorker, views: CaseViews) -> None:
        """Run every sample, then score every one, and keep what each gave."""
        samples: list[TriedCase] = [*self._found["tried"]]
        for index, tried in enumerate(samples):
            files = await asyncio.to_thread(views.copy, tried.case, self._folder / f"sample-files-{index}")
            result = await rollout.run(tried.case.id, tried.case.input, attempt=1, case_files_dir=files)
            samples[index] = TriedCase(tried.split, tried.case, result)
            self._found["tried"] = tuple(samples)
            if result.error is not None:
                raise self._failed_case("run_case", result.error, result.captured)
            if not usage_of(result.trace) and _UNTRACED not in self._warnings:
                self._warnings += (_UNTRACED,)
        env = dict(self._request.env)
        if self._request.entry.scorer_model is not None:
            env["BEAKER_SCORER_MODEL"] = self._request.entry.scorer_model
        scorer = await ScorerWorker.start(
            self._supervisor,
            self._request.code,
            env=env,
            timeouts=self._timeouts,
            case_files_dir=self._empty_folder(),
        )
        try:
            for index, tried in enumerate(samples):
                score = await self._score(scorer, tried, views)
                samples[index] = TriedCase(tried.split, tried.case, tried.result, score)
                self._found["tried"] = tuple(samples)
        finally:
            await scorer.close()

    async def _score(self, scorer: ScorerWorker, tried: TriedCase, views: CaseViews) -> CaseScore:
        assert tried.result is not None
        try:
            await asyncio.to_thread(views.check, tried.case)
        except Refused as refused:
            raise _Failed(refused.problems, tried.result.captured) from None
        score = await scorer.score(tried.case, tried.result, case_files_dir=views.folder(tried.case))
        if isinstance(score, CaseError):
            raise self._failed_case("score_case", score, scorer.output())
        return score

    def _failed_case(self, stage: str, error: CaseError, captured: str) -> _Failed:
        return _Failed((case_problem(stage, error, self._request.code.repository),), captured)

    async def _close(self, setup: SetupWorker, first: BaseException | None) -> None:
        """Leave `prepare_run`; what fails then is told after the failure that came first."""
        try:
            await setup.close()
        except WorkerFailed as failed:
            self._then(first, failed)
        if setup.interrupted:
            self._left(setup.interrupted)

    def _then(self, first: BaseException | None, failed: "_Failed | WorkerFailed") -> None:
        """A failure while cleaning up: the failure when there was none before, else told after the first."""
        if first is None:
            raise failed
        if isinstance(first, _Failed | WorkerFailed):
            first.problems += failed.problems
        elif isinstance(first, asyncio.CancelledError):
            self._left(failed.problems)

    def _lay_out(self, targets: tuple[OptimizationTarget, ...], prepared: Prepared) -> Path | None:
        if not any(isinstance(target, DocumentTargets) for target in targets):
            return None
        root = self._folder / "targets"
        root.mkdir()
        write_tree(root, target_groups(targets), _seeds(prepared))
        return root

    def _difference(self, targets: tuple[OptimizationTarget, ...], prepared: Prepared) -> str:
        root = self._folder / "targets"
        return tree_difference(root, target_groups(targets), _seeds(prepared)) if root.exists() else ""

    def _empty_folder(self) -> Path:
        folder = self._folder / "case-files"
        folder.mkdir(mode=0o555, exist_ok=True)
        return folder

    def _end(self, detail: str = "", *, problems: Problems = (), captured: str = "", then: Stage | None = None) -> None:
        stage = stage_of(problems) or self._stage
        ended = StageReport(stage=stage, detail=detail, problems=problems, captured=captured)
        self._stages.append(ended)
        self._report(ended)
        self._stage = then or self._stage


def _seeds(prepared: Prepared) -> dict[tuple[str, str], str]:
    return {(document.group, document.name): document.content for document in prepared.documents}
