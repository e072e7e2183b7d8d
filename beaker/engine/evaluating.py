"""Putting an evaluator together from a plan and an open setup: which code rolls out, which scores, in which places."""

from collections.abc import Callable

from beaker.core.evaluations import Evaluation
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import Clean
from beaker.engine.evaluator import Evaluator, Places
from beaker.engine.guard import Guard
from beaker.engine.in_flight import InFlight
from beaker.engine.memory import EvaluationMemory
from beaker.engine.plan import RunPlan
from beaker.engine.rollout import RolloutStarter
from beaker.engine.setting_up import Opened
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import ScorerWorker


def make_evaluator(
    plan: RunPlan,
    opened: Opened,
    *,
    journal: EvaluationMemory,
    supervisor: Supervisor,
    checkouts: Checkouts,
    note: InFlight,
    watch: Guard,
    clean: Clean,
    stored: Callable[[Evaluation], None],
    retried: Callable[[], None],
    remark: Callable[[str], None],
) -> Evaluator:
    """An evaluator of candidates, whose trees are the journal's. `watch` guards the checkout that scores.

    From here on `supervisor` confines the processes that the plan wants confined.
    """
    supervisor.sandbox = plan.sandbox
    optimizer = plan.settings.optimizer
    rollouts = RolloutStarter(
        supervisor,
        code=plan.code,
        checkouts=checkouts,
        tree=journal.tree,
        views=opened.views,
        env=plan.rollout_env,
        timeouts=optimizer.timeouts,
        limits=optimizer.limits,
        work=plan.work,
        remark=remark,
    )
    no_files = plan.work / "no_case_files"
    no_files.mkdir(mode=0o555)

    async def start_scorer(_: str) -> ScorerWorker:
        return await ScorerWorker.start(
            supervisor,
            plan.code(checkouts.scorer()),
            env=plan.scorer_env,
            timeouts=optimizer.timeouts,
            case_files_dir=no_files,
        )

    return Evaluator(
        cases={case.id: case for case in (*opened.train, *opened.test)},
        views=opened.views,
        journal=journal,
        places=Places(
            max_concurrency=plan.settings.max_concurrency,
            cases_per_process=optimizer.cases_per_process,
            case_retry_limit=plan.settings.case_retry_limit,
            score_repeats=optimizer.score_repeats,
            process_per_case=plan.process_per_case,
            limits=optimizer.limits,
        ),
        in_flight=note,
        start_rollout=rollouts.start,
        start_scorer=start_scorer,
        guard=watch,
        clean=clean,
        stored=stored,
        retried=retried,
        remark=remark,
    )
