"""Figures of the child processes: a no-op rollout in a running process; starting one, in a sandbox too; a guardian."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from returns.pipeline import is_successful

from beaker.core.optimizer import Timeouts
from beaker.core.sandbox import Sandbox, sandbox_of
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.sandbox import find_sandbox
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import RolloutWorker

APP = """
from beaker import *

class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=1)

async def run_case(*, case_input, runtime):
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})

integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""


def bare_python() -> float:
    """Seconds to start and end an interpreter that does nothing, the median of 20."""
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


async def commands() -> float:
    """Seconds to run `true` under a supervisor, guardian included, the median of 20."""
    times = []
    async with Supervisor() as supervisor:
        for _ in range(21):
            begun = time.perf_counter()
            await supervisor.run_command(["true"], cwd=Path("/"), env={"PATH": os.environ["PATH"]}, timeout=60)
            times.append(time.perf_counter() - begun)
    return statistics.median(times[1:])  # the first one starts the watchdog


async def rollouts(root: Path, sandbox: Sandbox | None = None) -> tuple[float, float]:
    """Seconds to start a process and have it import the Integration; seconds of one rollout inside it."""
    async with Supervisor() as supervisor:
        supervisor.sandbox = sandbox
        starts, each = [], []
        for number in range(8):
            begun = time.perf_counter()
            worker = await RolloutWorker.start(
                supervisor,
                CodeRoot(root, "app:integration"),
                env={"PATH": os.environ["PATH"]},
                timeouts=Timeouts(),
                targets_dir=None,
                scratch_dir=root / f"scratch-{number}",
                case_files_dir=root,
            )
            starts.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            for count in range(500):
                await worker.run(f"case-{count}", {"text": "an input"}, attempt=1)
            each.append((time.perf_counter() - begun) / 500)
            await worker.close()
        return statistics.median(starts), min(each)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "app.py").write_text(APP)
        start, rollout = asyncio.run(rollouts(root))
        found = find_sandbox()
        confined = None
        if is_successful(found):
            sandbox = sandbox_of(found.unwrap(), network=False, judged=False)
            confined = asyncio.run(rollouts(root, sandbox))
    guarded, bare = asyncio.run(commands()), bare_python()
    print(f"start a bare Python                    {bare * 1000:8.2f} ms")
    print(f"run `true` with its guardian           {guarded * 1000:8.2f} ms   {guarded / bare:6.1f} x bare Python")
    print(f"start a rollout process, import        {start * 1000:8.2f} ms   {start / bare:6.1f} x bare Python")
    print(f"one no-op rollout in a running process {rollout * 1000:8.3f} ms   {rollout / bare:6.1%} of bare Python")
    if confined is None:
        print(f"in a sandbox: {found.failure().message}")
    else:
        start, rollout = confined
        print(f"start one in a sandbox, import         {start * 1000:8.2f} ms   {start / bare:6.1f} x bare Python")
        print(f"one no-op rollout in a sandbox         {rollout * 1000:8.3f} ms   {rollout / bare:6.1%} of bare Python")


if __name__ == "__main__":
    main()
