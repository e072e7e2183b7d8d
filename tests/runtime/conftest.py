"""Small projects on disk, and a host that must leave nothing behind."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from beaker.runtime import processes
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import RolloutWorker, ScorerWorker, SetupWorker, Timeouts

DEFAULTS = """
import asyncio, contextlib, os, sys, time
from contextlib import asynccontextmanager
from pathlib import Path
from beaker import *

TARGETS = repository()
open_candidate = None

class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["x"], expected=row["x"])

async def run_case(*, case_input, runtime):
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(case.expected == result.output), {"equal": float(case.expected == result.output)})
"""

END = """
integration = Integration(
    targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case, open_candidate=open_candidate
)
"""


class Project:
    """A repository with `app.py`, a dataset beside it, and workers started on both."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.dataset = root / "dataset"
        self.dataset.mkdir()
        self.storage = root / "storage"
        self.scratch = root / "scratch"
        self.case_files = root / "case-files"
        self.case_files.mkdir()
        self.code = CodeRoot(self.root, "app:integration")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root)}
        self.timeouts = Timeouts(teardown=5.0)
        self.rows(train=3, test=2)

    def hooks(self, text: str = "") -> "Project":
        """Write `app.py`: plain hooks, with `text` overriding some of them."""
        (self.root / "app.py").write_text(DEFAULTS + dedent(text) + END)
        return self

    def rows(self, **splits: int | list[Any]) -> "Project":
        """Write splits: a number of good rows, or rows as they are (text is written as the line itself)."""
        for split, rows in splits.items():
            if isinstance(rows, int):
                rows = [{"id": f"{split}-{index}", "x": index} for index in range(rows)]
            lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
            (self.dataset / f"{split}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        return self

    async def setup(self, supervisor: Supervisor) -> SetupWorker:
        return await SetupWorker.start(supervisor, self.code, env=self.env, timeouts=self.timeouts)

    async def prepare(self, worker: SetupWorker, **more: Any) -> Any:
        arguments = {
            "run_id": "run-1",
            "extra": {"k": 1},
            "dataset_dir": self.dataset,
            "dataset_name": "demo",
            "dataset_revision": "r1",
            "storage": self.storage,
        }
        return await worker.prepare(**{**arguments, **more})

    async def rollout(self, supervisor: Supervisor, targets_dir: Path | None = None, **more: Any) -> RolloutWorker:
        return await RolloutWorker.start(
            supervisor,
            self.code,
            env=self.env,
            timeouts=self.timeouts,
            targets_dir=targets_dir,
            scratch_dir=self.scratch,
            case_files_dir=self.case_files,
            **more,
        )

    async def scorer(self, supervisor: Supervisor) -> ScorerWorker:
        return await ScorerWorker.start(
            supervisor, self.code, env=self.env, timeouts=self.timeouts, case_files_dir=self.case_files
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with plain hooks, three TRAIN and two TEST rows."""
    return Project(tmp_path).hooks()


@pytest.fixture(scope="session")
def make_project() -> Callable[[Path], Project]:
    """Makes such a project below a folder, for what several tests share."""
    return lambda root: Project(root).hooks()


@pytest.fixture
def hosted() -> Callable[..., Any]:
    """Runs `work(supervisor)` in a host of its own and checks that the host leaves no process and no descriptor."""

    def run(work: Callable[[Supervisor], Awaitable[Any]], **options: Any) -> Any:
        async def host() -> Any:
            async with Supervisor(**options) as supervisor:
                supervisor.become_subreaper()
                return await asyncio.wait_for(work(supervisor), 60)

        before, earlier = _descriptors(), _children()
        made = asyncio.run(host())
        assert _children() <= earlier
        assert _descriptors() <= before
        return made

    return run


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Waits until a condition holds, and fails when it does not within seconds."""

    def wait(condition: Callable[[], object], seconds: float = 10.0) -> None:
        import time

        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "waited too long"
            time.sleep(0.01)

    return wait


def _children() -> set[int]:
    return set(processes.children_of(os.getpid())) if processes.LINUX else set()


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if processes.LINUX else 0
