"""Figures of smoke: rows per second and peak memory at 2,000 and 20,000 rows, beside parsing the same JSON twice; and
the peak memory of validating a million rows of 200 bytes."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from beaker.core.config_entry import IntegrationEntry
from beaker.core.datasets import SPLITS
from beaker.core.optimizer import Timeouts
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.importing import import_integration
from beaker.runtime.rows import CheckedDataset
from beaker.runtime.smoke import smoke
from beaker.runtime.smoke_values import SmokeRequest
from beaker.runtime.supervisor import Supervisor
from beaker.runtime.workers import SetupWorker
from beaker.sdk.validation import validate_integration

APP = """
from dataclasses import dataclass
from beaker import *

@dataclass
class Row:
    id: str
    text: str
    lines: list[str]
    expected: dict[str, float]

class Setup(RunSetup[Row]):
    row_model = Row
    async def load_cases(self, row, *, runtime):
        yield Case(id=row.id, input={"text": row.text, "lines": row.lines}, expected=row.expected)

async def run_case(*, case_input, runtime):
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})

integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""


def write(root: Path, rows: int) -> None:
    """A project and a dataset of `rows` rows of about half a kilobyte, a tenth of them TEST."""
    (root / "project").mkdir()
    (root / "project" / "app.py").write_text(APP)
    (root / "dataset").mkdir()
    for split, count in (("train", rows * 9 // 10), ("test", rows // 10)):
        with (root / "dataset" / f"{split}.jsonl").open("w") as file:
            for index in range(count):
                row = {
                    "id": f"{split}-{index}",
                    "text": f"invoice {index}: " + "words " * 40,
                    "lines": [f"item {number} of {index}" for number in range(8)],
                    "expected": {f"field_{number}": number / 4 for number in range(6)},
                }
                file.write(json.dumps(row) + "\n")


def measure(rows: int) -> None:
    """Run smoke over `rows` rows in this process and print its line; peak memory is that of the largest child."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, rows)
        begun = time.perf_counter()
        for path in sorted((root / "dataset").iterdir()):
            for _ in range(2):
                with path.open("rb") as file:
                    for line in file:
                        json.loads(line)
        floor = time.perf_counter() - begun
        request = SmokeRequest(
            code=CodeRoot(root / "project", "app:integration"),
            entry=IntegrationEntry(id="app", entrypoint="app:integration"),
            config={},
            dataset_dir=root / "dataset",
            env={"PATH": os.environ["PATH"]},
        )
        begun = time.perf_counter()
        stages: dict[str, float] = {}
        outcome = asyncio.run(smoke(request, lambda report: stages.update({report.stage: time.perf_counter() - begun})))
        taken = time.perf_counter() - begun
        assert outcome.passed, outcome
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        check = stages["dataset"] - stages["integration"]
        parsing = read_twice(root)
        print(
            f"smoke over {rows:6} rows: {taken:6.2f} s {rows / taken:8.0f} rows/s, {peak:6.1f} MiB at most in a child; "
            f"checking rows {check:5.2f} s; json.loads of every line, twice: {floor:5.2f} s; "
            f"target {6 if rows == 20_000 else '-'} s, over half of it parsing and validating rows, which happens "
            f"before and after setup ({parsing / taken:.0%})"
        )


def read_twice(root: Path) -> float:
    """Seconds to parse and validate every row as a setup process does: to check it, and to load its cases."""
    integration = import_integration(CodeRoot(root / "project", "app:integration")).integration
    begun = time.perf_counter()
    dataset = CheckedDataset(root / "dataset", validate_integration(integration))
    dataset.check()
    for split in SPLITS:
        for _ in dataset.rows(split):
            pass
    return time.perf_counter() - begun


def validate(rows: int) -> None:
    """Print the peak memory of the process that validates `rows` rows of 200 bytes and compares their ids."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, 10)
        for split, count in (("train", rows * 9 // 10), ("test", rows // 10)):
            with (root / "dataset" / f"{split}.jsonl").open("w") as file:
                for index in range(count):
                    row = {"id": f"{split}-{index:07}", "text": "x" * 118, "lines": ["a"], "expected": {"a": 0.5}}
                    file.write(json.dumps(row) + "\n")

        async def check() -> None:
            env = {"PATH": os.environ["PATH"]}
            async with Supervisor() as supervisor:
                code = CodeRoot(root / "project", "app:integration")
                worker = await SetupWorker.start(supervisor, code, env=env, timeouts=Timeouts())
                await worker.check_rows(root / "dataset")
                await worker.close()

        size = (root / "dataset" / "train.jsonl").stat().st_size
        begun = time.perf_counter()
        asyncio.run(check())
        taken = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"validating {rows} rows of {size // (rows * 9 // 10)} bytes: {taken:6.1f} s, {peak:6.1f} MiB at most in "
            "the child; target 300 MiB"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["validate"]:
        validate(int(sys.argv[2]))
    elif len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        for rows in (2_000, 20_000):  # each in a process of its own, so that each has its own peak
            subprocess.run([sys.executable, __file__, str(rows)], check=True)
        subprocess.run([sys.executable, __file__, "validate", "1000000"], check=True)
