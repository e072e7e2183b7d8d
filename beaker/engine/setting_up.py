"""Opening a run's setup: import, the declaration check, rows, `prepare_run` held open, cases, seeds.

What was found the first time is kept in the run's facts; a later attempt must find the same.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from returns.pipeline import is_successful

from beaker.core.cases import Case
from beaker.core.documents import TargetDocument, seed_hash
from beaker.core.problems import Problem, Problems, Refused
from beaker.core.strict_json import canonical
from beaker.core.targets import (
    DocumentTargets,
    OptimizationTarget,
    compare_targets,
    declaration_json,
    target_groups,
)
from beaker.core.values import value
from beaker.engine.folders import remove_tree
from beaker.engine.memory import Facts
from beaker.engine.plan import RunPlan
from beaker.engine.seeds import seeds_to_json
from beaker.runtime.case_views import CaseViews
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker, WorkerFailed


@value
class Opened:
    """An open setup: the targets, the cases of both splits, the seed documents, and the files of the cases."""

    targets: tuple[OptimizationTarget, ...]
    train: tuple[Case, ...]
    test: tuple[Case, ...]
    seeds: tuple[TargetDocument, ...]
    views: CaseViews

    @property
    def groups(self) -> tuple[str, ...]:
        """Every declared group, in declared order."""
        return target_groups(self.targets)


@asynccontextmanager
async def open_setup(
    plan: RunPlan, checkout: Path, journal: Facts, supervisor: Supervisor, teardown: list[Problem]
) -> AsyncIterator[Opened]:
    """Hold the setup open for the block. What its teardown has to say is appended to `teardown`.

    Raises `WorkerFailed` when customer code fails, and `Refused`: BK311 (`TargetMismatch`, before `prepare_run`) when
    the declared targets are others, BK531 when cases or seeds are not those of the first attempt.
    """
    setup = await SetupWorker.start(
        supervisor, plan.code(checkout), env=plan.setup_env, timeouts=plan.settings.optimizer.timeouts
    )
    try:
        targets = setup.loaded.targets
        _check_targets(targets, plan.declared_targets, journal)
        prepared = await setup.prepare(
            run_id=plan.run_id,
            extra=dict(plan.settings.extra),
            dataset_dir=plan.dataset_dir,
            dataset_name=plan.dataset_name,
            dataset_revision=plan.dataset_revision,
            storage=plan.work / "storage",
        )
        if plan.dataset_dir.is_relative_to(plan.work):
            # The cases are loaded; TEST need not lie where a proposer that looks around would find it.
            await asyncio.to_thread(remove_tree, plan.dataset_dir)
        _check_unchanged(targets, prepared.documents, prepared.fingerprint, journal)
        cases = prepared.cases
        yield Opened(targets, cases["train"], cases["test"], prepared.documents, prepared.views)
    finally:
        teardown += await _close(setup)


async def _close(setup: SetupWorker) -> Problems:
    try:
        await setup.close()
    except WorkerFailed as failed:
        return failed.problems
    return ()


def _check_targets(imported: tuple[OptimizationTarget, ...], declared: Any, journal: Facts) -> None:
    """Hold the imported targets against the pinned declaration, or against those of the first attempt."""
    recorded = journal.facts().get("targets_imported")
    pinned = recorded if declared is None else declared
    if declared is not None or recorded is None:
        journal.set_facts(targets_imported=declaration_json(imported))
    if pinned is not None:
        compared = compare_targets(pinned, imported)
        if not is_successful(compared):
            raise Refused(compared.failure())


def _check_unchanged(
    targets: tuple[OptimizationTarget, ...], documents: tuple[TargetDocument, ...], fingerprint: str, journal: Facts
) -> None:
    facts = journal.facts()
    hashes = [
        seed_hash(one for one in documents if one.group in target.groups)
        for target in targets
        if isinstance(target, DocumentTargets)
    ]
    found: Mapping[str, Any] = {"fingerprint": fingerprint, "seed_hashes": hashes}
    for name, words in (("fingerprint", "cases"), ("seed_hashes", "seed documents")):
        before = facts.get(name)
        if before is not None and canonical(before) != canonical(found[name]):
            message = f"the {words} are not those this run started with: {before} then, {found[name]} now"
            hint = "make prepare_run and load_cases give the same for the same rows, and start a new run"
            raise Refused(Problem("BK531", message, hint=hint))
    if "fingerprint" not in facts:
        journal.set_facts(**found, seed_documents=seeds_to_json(documents))
