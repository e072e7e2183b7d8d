"""What an evaluation costs whose case does nothing: run, scored, stored in running processes, beside a bare Python."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from beaker.core.cases import Case, CaseScore
from beaker.core.evaluations import Evaluation
from beaker.core.optimizer import Timeouts
from beaker.engine.candidates import CandidateTree, tree_digest
from beaker.engine.checkouts import Checkouts
from beaker.engine.evaluator import Evaluator, Places
from beaker.engine.guard import guard
from beaker.engine.in_flight import InFlight
from beaker.engine.rollout import Rollout, RolloutStarter
from beaker.runtime.case_views import CaseViews
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import ScorerWorker
from beaker.service.journal import StoredJournal
from beaker.service.place import open_place

COUNT = 2_000
STARTS = 20

INTEGRATION = """
from contextlib import asynccontextmanager
from beaker import *

class Setup(RunSetup[dict]):
    row_model = dict
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        yield {}
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=None)

async def run_case(*, case_input, runtime):
    return CaseResult(None)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})

integration = Integration(
    targets=documents(groups=("g",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
"""


async def main() -> None:
    """Print one line per figure."""
    with tempfile.TemporaryDirectory() as named:
        folder = Path(os.path.realpath(named))
        (folder / "project").mkdir()
        (folder / "project" / "app.py").write_text(INTEGRATION)
        async with Supervisor(pycache=folder / "pycache") as supervisor:
            await measured(folder, supervisor)


async def measured(folder: Path, supervisor: Supervisor) -> None:
    """Evaluate `COUNT` cases one after the other in one process, then as many bare rollouts in one."""
    code = CodeRoot(folder / "project", "app:integration")
    env = {"PATH": os.environ["PATH"]}
    place = open_place(folder / "local")
    place.database.execute("PRAGMA foreign_keys=OFF")  # the rows that a run refers to are not what is measured
    journal = StoredJournal(place.database, "run_1", now=lambda: datetime.now(UTC))
    tree = CandidateTree({"g": {}})
    journal.store_tree(tree_digest(tree), tree)
    views = CaseViews(folder / "views")
    starter = RolloutStarter(
        supervisor,
        code=lambda checkout: code,
        checkouts=Checkouts(lambda checkout: checkout.mkdir(parents=True), folder),
        tree=journal.tree,
        views=views,
        env=env,
        timeouts=Timeouts(),
        work=folder,
        remark=print,
    )
    kept: list[Rollout] = []

    async def start_rollout(digest: str) -> Rollout:
        kept.append(await starter.start(digest))
        return kept[-1]

    async def start_scorer(_: str) -> ScorerWorker:
        return await ScorerWorker.start(supervisor, code, env=env, timeouts=Timeouts(), case_files_dir=folder)

    cases = {f"case-{number}": Case(f"case-{number}", None) for number in range(COUNT + 1)}
    evaluator = Evaluator(
        cases=cases,
        views=views,
        journal=journal,
        places=Places(max_concurrency=1, cases_per_process=1, case_retry_limit=0),
        in_flight=InFlight(folder / "note"),
        start_rollout=start_rollout,
        start_scorer=start_scorer,
        guard=await guard(folder / "project"),
        clean=lambda text: text,
        stored=lambda _: None,
        retried=lambda: None,
        remark=print,
    )
    await evaluator.evaluate(tree_digest(tree), ["case-0"], held_out=False)
    began = time.perf_counter()
    await evaluator.evaluate(tree_digest(tree), list(cases), held_out=False)
    whole = (time.perf_counter() - began) * 1000 / COUNT
    began = time.perf_counter()
    for _ in range(COUNT):
        await kept[0].run(cases["case-0"], attempt=1)
    bare = (time.perf_counter() - began) * 1000 / COUNT
    journal.store_tree("again", tree)
    began = time.perf_counter()
    for number in range(COUNT):
        made = await kept[0].run(cases["case-0"], attempt=1)
        score = CaseScore(1.0, {})
        journal.store_evaluation(
            "again", Evaluation(f"case-{number}", score=score, output=made.output, duration_ms=made.duration_ms)
        )
    recorded = (time.perf_counter() - began) * 1000 / COUNT
    await evaluator.close()
    place.database.close()

    began = time.perf_counter()
    for _ in range(STARTS):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    start = (time.perf_counter() - began) * 1000 / STARTS
    print(f"run a case that does nothing:     {bare:.3f} ms ({bare / start:.1%} of the floor)")
    print(f"run and store such a case:        {recorded:.3f} ms ({recorded / start:.1%} of the floor; target 5 %)")
    print(f"run, score, store such a case:    {whole:.3f} ms ({whole / start:.1%} of the floor)")
    print(f"floor, starting a bare Python:    {start:.3f} ms")


if __name__ == "__main__":
    asyncio.run(main())
