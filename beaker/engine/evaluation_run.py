"""One candidate over one split, without a search: what `run eval` measures."""

import asyncio
from collections.abc import Callable

from beaker.core.evaluations import Evaluation
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.values import value
from beaker.engine.candidates import CandidateTree, tree_digest
from beaker.engine.checkouts import Checkouts
from beaker.engine.cleaning import cleaner
from beaker.engine.evaluating import make_evaluator
from beaker.engine.guard import guard
from beaker.engine.in_flight import InFlight
from beaker.engine.memory import ShortMemory
from beaker.engine.plan import RunPlan
from beaker.engine.seeds import seed_tree
from beaker.engine.setting_up import Opened, open_setup
from beaker.runtime.supervisor import Supervisor

PATIENCE = 0.8
"""Seconds that idle processes get to leave what they entered when an evaluation is stopped."""

Told = Callable[[int, int], None]
"""Told how many cases are done, of how many."""


@value(kw_only=True)
class EvaluationRun:
    """What came of it: the evaluations in the order of the cases, how many cases the split has, how often a case was
    tried again, and what went wrong when the setup was left."""

    evaluations: tuple[Evaluation, ...]
    split_cases: int
    retried: int
    teardown: Problems


async def evaluate_split(
    plan: RunPlan,
    supervisor: Supervisor,
    *,
    split: str,
    tree: CandidateTree | None = None,
    limit: int | None = None,
    told: Told = lambda done, total: None,
    remark: Callable[[str], None] = lambda _: None,
) -> EvaluationRun:
    """Set up as a run does, and run and score every case of `split` (`train` or `test`), at most the first `limit`.

    `tree` is the candidate, the seeds when it is `None`. The scorer has the code of the plan's commit, whatever the
    candidate edits. Raises `WorkerFailed` when customer code fails outside a case, `Refused` (BK532 for a split without
    a case, BK533 for a candidate without the groups that the Integration declares, the guard), and `OSError`.
    Cancelling the call ends every process.
    """
    checkouts = Checkouts(plan.check_out, plan.work)
    teardown: list[Problem] = []
    trees: dict[str, CandidateTree] = {}
    memory = ShortMemory(trees)
    checkout = await asyncio.to_thread(checkouts.setup)
    async with open_setup(plan, checkout, memory, supervisor, teardown) as opened:
        cases = opened.train if split == "train" else opened.test
        if not cases:
            hint = "give the dataset a row for it"
            raise Refused(Problem("BK532", f"the split {split} has no case", hint=hint))
        chosen = seed_tree(opened.groups, opened.seeds) if tree is None else tree
        _check_groups(chosen, opened)
        digest = tree_digest(chosen)
        trees[digest] = chosen
        done: list[str] = []
        retries: list[None] = []
        wanted = cases[:limit]

        def stored(evaluation: Evaluation) -> None:
            done.append(evaluation.case_id)
            told(len(done), len(wanted))

        scorer = await asyncio.to_thread(checkouts.scorer)
        watch = await guard(scorer)
        note = InFlight(plan.note)
        evaluator = make_evaluator(
            plan,
            opened,
            journal=memory,
            supervisor=supervisor,
            checkouts=checkouts,
            note=note,
            watch=watch,
            clean=cleaner(plan.redact, plan.work),
            stored=stored,
            retried=lambda: retries.append(None),
            remark=remark,
        )
        try:
            found = await evaluator.evaluate(digest, [case.id for case in wanted], held_out=split == "test")
        except BaseException:
            await evaluator.close(patience=PATIENCE)
            raise
        else:
            await evaluator.close()
            await watch.whole()
        finally:
            note.close()
    return EvaluationRun(
        evaluations=tuple(found.values()), split_cases=len(cases), retried=len(retries), teardown=tuple(teardown)
    )


def _check_groups(tree: CandidateTree, opened: Opened) -> None:
    if sorted(tree.documents) != sorted(opened.groups):
        have, want = (", ".join(sorted(names)) or "none" for names in (tree.documents, opened.groups))
        message = f"the candidate has documents of the groups {have}, the Integration declares {want}"
        raise Refused(Problem("BK533", message, hint="evaluate it with the Integration that made it"))
