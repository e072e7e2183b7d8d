"""One attempt at a run, from its setup to its ending; the run worker calls `optimize` once per process."""

import asyncio
from collections.abc import Callable, Sequence

from returns.pipeline import is_successful

from beaker.core.optimizer import settings_to_json
from beaker.core.problems import Problem, Refused
from beaker.core.search import (
    Cancelled,
    SearchSettings,
    SearchState,
    default_max_rollouts,
    entries_to_json,
    progress,
)
from beaker.core.strict_json import JsonObject
from beaker.core.text import visible
from beaker.engine.candidates import tree_digest
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import cleaner
from beaker.engine.driving import drive, resumed
from beaker.engine.engines import Engine, engine_of
from beaker.engine.evaluating import make_evaluator
from beaker.engine.executing import Executor
from beaker.engine.guard import guard
from beaker.engine.in_flight import InFlight, count_lost, forget, lost_cases
from beaker.engine.journal import Journal
from beaker.engine.plan import RunPlan
from beaker.engine.proposers.choosing import choose_proposer
from beaker.engine.result import Ending, failed, search_ending
from beaker.engine.seeds import seed_tree
from beaker.engine.setting_up import Opened, open_setup
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import StageProblem, WorkerFailed

BARREN_LIMIT = 3
"""So many attempts in a row that ended without storing anything new fail the run."""

SHOWN_CASES = 10
"""Cases in flight that a message names at most."""

PATIENCE = 0.8
"""Seconds that idle processes get to leave what they entered when a run is stopped."""


async def optimize(
    plan: RunPlan, journal: Journal, supervisor: Supervisor, *, remark: Callable[[str], None] = lambda _: None
) -> None:
    """Take the run as far as it goes and end it in the journal.

    Cancelling the call stops everything: a run that somebody cancelled ends CANCELLED, any other stays as it is, to be
    resumed. A fault of the customer's code or of the run itself ends it FAILED. Raised are `OSError` and what the
    journal raises: then too the run stays as it is. `remark` is told what is worth a line in the worker's log.
    """
    attempt = _Attempt(plan, journal, supervisor, remark)
    if (worn_out := attempt.begin()) is not None:
        ending = worn_out
    else:
        try:
            ending = await attempt.run()
        except asyncio.CancelledError:
            attempt.interrupted()
            raise
        except Refused as refused:
            ending = failed(refused.problems)
        except WorkerFailed as failure:
            _remark_all(failure, remark)
            ending = failed(failure.problems)
    message = "\n".join([*filter(None, [ending.error_message]), *map(str, attempt.teardown)])
    clean = cleaner(plan.redact, plan.work)
    journal.finish(
        ending.status,
        finish_reason=ending.finish_reason,
        error_message=clean(message) or None,
        result=ending.result,
    )


class _Attempt:
    """What one attempt holds: the search's state, and what it counts in the run's facts."""

    def __init__(self, plan: RunPlan, journal: Journal, supervisor: Supervisor, remark: Callable[[str], None]) -> None:
        self.teardown: list[Problem] = []
        self._plan = plan
        self._journal = journal
        self._supervisor = supervisor
        self._remark = remark
        self._checkouts = Checkouts(plan.check_out, plan.work)
        self._barren = 0
        self._retried = 0
        self._stored_any = False

    def begin(self) -> Ending | None:
        """Count this attempt; the ending of a run that has had too many without a result."""
        facts = self._journal.facts()
        self._barren, self._retried = (_count(facts, name) for name in ("barren_attempts", "rollouts_retried"))
        if self._barren >= BARREN_LIMIT:
            last = facts.get("last_error")
            message = f"{self._barren} attempts in a row ended without a new result"
            message += f"; the last one: {last}" if last else ""
            return Ending("FAILED", "error", message + _under_way(lost_cases(self._plan.note, self._journal)))
        self._journal.set_facts(barren_attempts=self._barren + 1)
        count_lost(self._plan.note, self._journal)
        forget(self._plan.note)  # the next one may not come as far as to write its own
        return None

    def interrupted(self) -> None:
        """Somebody stopped the attempt: that is no fault of the run. A cancelled one ends."""
        if not self._stored_any:
            self._journal.set_facts(barren_attempts=self._barren)
        if self._journal.cancelled():
            state = resumed(self._journal, self._engine())
            if state is not None and state.finished is None:
                state, entries = self._engine().step(state, Cancelled())
                self._journal.append(entries_to_json(entries), progress(state))
            self._journal.finish("CANCELLED", finish_reason="cancelled", error_message=None, result=None)

    async def run(self) -> Ending:
        """Set up, search, and say how it ended."""
        state = resumed(self._journal, self._engine())
        if state is None or state.finished is None:
            checkout = await asyncio.to_thread(self._checkouts.setup)
            async with open_setup(self._plan, checkout, self._journal, self._supervisor, self.teardown) as opened:
                state = await self._search(self._new_search(opened) if state is None else state, opened)
        return search_ending(self._plan.run_id, state, self._journal)

    def _new_search(self, opened: Opened) -> SearchState:
        """A search over these cases with the defaults resolved; `Refused` when the budget is below the minimum."""
        settings = self._plan.settings
        optimizer = settings.optimizer
        train, test = ([case.id for case in cases] for cases in (opened.train, opened.test))
        limit = optimizer.max_rollouts
        search = SearchSettings(
            max_rollouts=default_max_rollouts(len(train), len(test)) if limit is None else limit,
            max_proposals=optimizer.max_proposals,
            max_proposals_in_flight=optimizer.max_proposals_in_flight,
            minibatch_size=optimizer.minibatch_size,
            selection_fraction=optimizer.selection_fraction,
            seed=optimizer.seed,
            test_baseline=settings.test_baseline,
            spend_budget_usd=settings.spend_budget_usd,
        )
        tree = seed_tree(opened.groups, opened.seeds)
        digest = tree_digest(tree)
        self._journal.store_tree(digest, tree)
        resolved = settings_to_json(settings)
        self._journal.set_facts(
            settings={
                **resolved,
                "harness_optimization": {
                    **_object(resolved["harness_optimization"]),
                    "max_rollouts": search.max_rollouts,
                },
            }
        )
        started = self._engine().start(search, train, test, digest)
        if not is_successful(started):
            raise Refused(started.failure())
        state = started.unwrap()
        self._journal.set_facts(
            selection={"cases": len(state.split.selection), "shared_with_evidence": state.split.shared}
        )
        return state

    async def _search(self, state: SearchState, opened: Opened) -> SearchState:
        """The search at its end; whatever stops it, no process of a rollout, scorer or proposer stays."""
        plan, clean = self._plan, cleaner(self._plan.redact, self._plan.work)
        scorer = await asyncio.to_thread(self._checkouts.scorer)
        watch = await guard(scorer)
        note = InFlight(plan.note)
        evaluator = make_evaluator(
            plan,
            opened,
            journal=self._journal,
            supervisor=self._supervisor,
            checkouts=self._checkouts,
            note=note,
            watch=watch,
            clean=clean,
            stored=lambda _: self._stored(),
            retried=self._count_retry,
            remark=self._remark,
        )
        proposer = choose_proposer(plan, self._supervisor, self._checkouts, opened=opened, clean=clean)
        executor = Executor(
            opened,
            journal=self._journal,
            evaluator=evaluator,
            proposer=proposer,
            stored=self._stored,
            clean=clean,
            prices=plan.settings.optimizer.prices,
        )
        driving = asyncio.create_task(
            drive(state, journal=self._journal, execute=executor.execute, engine=self._engine())
        )
        try:
            await asyncio.wait([driving])
            ended = driving.result()
        except BaseException:
            driving.cancel()
            # At the same time, so that all of it takes no longer than the slowest; then what ended late.
            await asyncio.gather(driving, evaluator.close(patience=PATIENCE), return_exceptions=True)
            await evaluator.close(patience=PATIENCE)
            raise
        else:
            await evaluator.close()
            await watch.whole()
        finally:
            note.close()
        return ended

    def _engine(self) -> Engine:
        """The engine that the settings name; `Refused` when it is not installed."""
        optimizer = self._plan.settings.optimizer
        return engine_of(optimizer.engine, optimizer.engine_options)

    def _stored(self) -> None:
        """The first new result shows that the run gets on."""
        if not self._stored_any:
            self._stored_any = True
            self._journal.set_facts(barren_attempts=0)

    def _count_retry(self) -> None:
        self._retried += 1
        self._journal.set_facts(rollouts_retried=self._retried)


def _remark_all(failure: WorkerFailed, remark: Callable[[str], None]) -> None:
    """What is too long for the run's error message: tracebacks, and what the process printed."""
    for problem in failure.problems:
        if isinstance(problem, StageProblem) and problem.traceback:
            remark(problem.traceback)
    if failure.captured:
        remark(f"the process printed:\n{failure.captured}")


def _under_way(case_ids: Sequence[str]) -> str:
    """The end of a sentence that says what ran when the last attempt was killed."""
    if not case_ids:
        return ""
    more = f" and {len(case_ids) - SHOWN_CASES} more" if len(case_ids) > SHOWN_CASES else ""
    shown = ", ".join(visible(case_id) for case_id in case_ids[:SHOWN_CASES])
    return f"; it ended while these cases ran: {shown}{more}"


def _count(facts: JsonObject, name: str) -> int:
    found = facts.get(name, 0)
    return found if isinstance(found, int) else 0


def _object(data: object) -> JsonObject:
    return data if isinstance(data, dict) else {}
