"""Evaluates cases of candidates: asks what is stored, runs and scores the rest, and stores each result at once.

A rollout and its scoring take one of `max_concurrency` places together, so no more evaluations can be lost with a
killed process than there are places. A case is not blamed for what another one did to the process they share: what ends
or spoils a process counts when it happened alone in a fresh one (`Pool.use`), and being tried again for that is no
further attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from beaker.core.case_retry import wait_before_retry
from beaker.core.cases import Case, CaseScore
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.limits import DEFAULT_LIMITS, Limits
from beaker.core.repeated_scores import mean_score
from beaker.core.strict_json import JsonObject
from beaker.core.traces import with_usage
from beaker.core.usage import ModelUsage, usage_of
from beaker.core.values import value
from beaker.engine.candidate_clock import CandidateClock
from beaker.engine.cleaning import clean_json, clean_score, clean_trace
from beaker.engine.guard import Guard
from beaker.engine.in_flight import InFlight
from beaker.engine.memory import Results
from beaker.engine.pool import Pool
from beaker.engine.rollout import Rollout
from beaker.runtime.case_views import CaseViews
from beaker.runtime.starting import lost_kind
from beaker.runtime.workers import RolloutResult, ScorerWorker, WorkerFailed

_BASELINE = "baseline"


@value(kw_only=True)
class Places:
    """How much may go on at once, how often a case may be tried again (`beaker.core.case_retry` says which), and how
    long the cases of a candidate may take (`limits`).

    With `process_per_case` a rollout process ends with its case. A result is scored `score_repeats` times.
    """

    max_concurrency: int
    cases_per_process: int
    case_retry_limit: int
    score_repeats: int = 1
    process_per_case: bool = False
    limits: Limits = DEFAULT_LIMITS


class Evaluator:
    """Runs and scores cases in processes of their own, within one event loop; `views` has the files of the cases.

    `start_rollout(tree)` starts a process for the candidate with that digest, `start_scorer(_)` one with the
    baseline's code, which `guard` watches. `clean` takes secrets and the run's own folders out of text. `stored` and
    `retried` are told of each new result and each further attempt, `remark` of what goes wrong without consequences.
    """

    def __init__(
        self,
        *,
        cases: Mapping[str, Case],
        views: CaseViews,
        journal: Results,
        places: Places,
        in_flight: InFlight,
        start_rollout: Callable[[str], Awaitable[Rollout]],
        start_scorer: Callable[[str], Awaitable[ScorerWorker]],
        guard: Guard,
        clean: Callable[[str], str],
        stored: Callable[[Evaluation], None],
        retried: Callable[[], None],
        remark: Callable[[str], None],
    ) -> None:
        self._cases = cases
        self._views = views
        self._journal = journal
        self._places = places
        self._in_flight = in_flight
        self._guard = guard
        self._clean = clean
        self._stored = stored
        self._retried = retried
        per_process = 1 if places.process_per_case else min(places.cases_per_process, places.max_concurrency)
        self._free = asyncio.Semaphore(places.max_concurrency)
        self._rollouts = Pool(
            start_rollout,
            processes=places.max_concurrency // per_process,
            per_process=per_process,
            reuse=not places.process_per_case,
            failed_close=lambda error: remark(f"a rollout process did not end well: {clean(str(error))}"),
        )
        self._scorers = Pool(
            start_scorer,
            processes=1,
            per_process=places.max_concurrency,
            failed_close=lambda error: remark(f"the scorer process did not end well: {clean(str(error))}"),
        )
        self._running: dict[tuple[str, str], asyncio.Task[Evaluation]] = {}
        self._clock = CandidateClock(places.limits)

    async def evaluate(self, tree: str, case_ids: Sequence[str], *, held_out: bool) -> dict[str, Evaluation]:
        """The evaluation of each of these cases, in their order: stored ones as they are, the others made now.

        `held_out` says that they are of TEST. Raises `Refused` (the guard, captured files that changed), `OSError`, and
        whatever the journal raises.
        """
        known = self._journal.evaluations(tree, case_ids)
        missing = [case_id for case_id in case_ids if case_id not in known]
        for evaluation in known.values():
            self._clock.note(tree, evaluation, held_out=held_out)
        if missing:
            await self._guard.before(held_out)
            tasks = [self._task(tree, case_id, held_out) for case_id in missing]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await self._guard.after()
            known |= {case_id: task.result() for case_id, task in zip(missing, tasks, strict=True)}
        return {case_id: known[case_id] for case_id in case_ids}

    async def close(self, *, patience: float | None = None) -> None:
        """Let every process leave what it entered, and end it; after `patience` seconds kill it."""
        await asyncio.gather(self._rollouts.close(patience=patience), self._scorers.close(patience=patience))

    def _task(self, tree: str, case_id: str, held_out: bool) -> "asyncio.Task[Evaluation]":
        """The task that evaluates this case, the same one for everybody who asks while it runs."""
        key = tree, case_id
        if key not in self._running:
            task = asyncio.get_running_loop().create_task(self._evaluate(tree, self._cases[case_id], held_out))
            task.add_done_callback(lambda _: self._running.pop(key, None))
            self._running[key] = task
        return self._running[key]

    async def _evaluate(self, tree: str, case: Case, held_out: bool) -> Evaluation:
        attempt = 1
        used = _Used()
        result: RolloutResult | None = None
        while True:
            async with self._free:
                if attempt == 1:
                    self._in_flight.begin(tree, case.id)
                if result is None and (late := self._clock.error(tree, held_out=held_out)) is not None:
                    result = RolloutResult(error=late)
                elif result is None or result.error is not None:
                    result = await self._roll_out(tree, case, attempt, used)
                outcome = result.error or await self._score(case, result, used)
                kind = outcome.kind if isinstance(outcome, CaseError) else None
                wait = wait_before_retry(kind, attempt=attempt, retry_limit=self._places.case_retry_limit)
                if wait is None:
                    evaluation = self._evaluation(case, result, outcome, attempts=attempt, used=used)
                    self._journal.store_evaluation(tree, evaluation)
                    self._clock.note(tree, evaluation, held_out=held_out)
                    self._stored(evaluation)
                    return evaluation
            self._retried()
            await asyncio.sleep(wait)
            attempt += 1

    def _evaluation(
        self, case: Case, result: RolloutResult, outcome: CaseScore | CaseError, *, attempts: int, used: "_Used"
    ) -> Evaluation:
        error = None
        if isinstance(outcome, CaseError):
            kind = "scorer" if result.error is None else outcome.kind
            # A process that died could not say more than what it printed.
            told = outcome.traceback or (result.captured if result.error is not None else "")
            error = CaseError(kind, self._clean(outcome.message), self._clean(told))
        return Evaluation(
            case_id=case.id,
            output=clean_json(result.output, self._clean),  # what was scored is the output as it was
            output_kind=result.output_kind,
            score=clean_score(outcome, self._clean) if isinstance(outcome, CaseScore) else None,
            error=error,
            duration_ms=result.duration_ms,
            attempts=attempts,
            trace=clean_trace(used.with_trace(result), self._clean),
        )

    async def _roll_out(self, tree: str, case: Case, attempt: int, used: "_Used") -> RolloutResult:
        async def run(rollout: Rollout) -> RolloutResult:
            used.runs.append(await rollout.run(case, attempt=attempt))
            return used.runs[-1]

        try:
            return await self._rollouts.use(
                tree,
                run,
                failed=lambda result: result.error is not None,
            )
        except WorkerFailed as failed:
            return RolloutResult(error=_start_failure(failed, "import"), captured=failed.captured)

    async def _score(self, case: Case, result: RolloutResult, used: "_Used") -> CaseScore | CaseError:
        """The mean of as many scores as were asked for, or the first error."""
        scores: list[CaseScore] = []
        for _ in range(self._places.score_repeats):
            found = await self._score_once(case, result, used)
            if isinstance(found, CaseError):
                return found
            scores.append(found)
        return mean_score(scores)

    async def _score_once(self, case: Case, result: RolloutResult, used: "_Used") -> CaseScore | CaseError:
        if case.files:
            await asyncio.to_thread(self._views.check, case)
        try:
            return await self._scorers.use(
                _BASELINE,
                lambda scorer: scorer.score(
                    case, result, case_files_dir=self._views.folder(case), used=used.judge.extend
                ),
                failed=lambda found: isinstance(found, CaseError),
            )
        except WorkerFailed as failed:
            return _start_failure(failed, "scorer")


class _Used:
    """Everything that was run and scored for one evaluation, also what did not count in the end: it was paid for."""

    def __init__(self) -> None:
        self.runs: list[RolloutResult] = []
        self.judge: list[ModelUsage] = []

    def with_trace(self, result: RolloutResult) -> JsonObject | None:
        """The trace of the run that counts, with the usage of all."""
        others = [usage for run in self.runs if run is not result for usage in usage_of(run.trace)]
        return with_usage(result.trace, others=others, judge=self.judge)


def _start_failure(failed: WorkerFailed, kind: str) -> CaseError:
    return CaseError(lost_kind(failed, kind), str(failed.problem), getattr(failed.problem, "traceback", ""))
