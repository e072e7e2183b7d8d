"""The example of docs/writing-an-integration.md is executed as it stands there."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beaker import Case, Integration, PinnedDatasetInfo, RolloutRuntime, SetupRuntime, load_integration
from beaker import validate_integration as validate
from beaker.sdk.trace import NOOP_TRACE

PAGE = Path(__file__).parents[2] / "docs" / "writing-an-integration.md"
BLOCK = re.compile(r"^```\{code-block\} \w+\n:caption: (?P<path>\S+)\n\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the page, as a project."""
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        path = tmp_path / block["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"], encoding="utf-8")
    return tmp_path


@pytest.fixture
def integration(project: Path, monkeypatch: pytest.MonkeyPatch) -> Integration:
    monkeypatch.syspath_prepend(project)
    for module in ("tickets", "ticket_integration"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return load_integration("ticket_integration:integration")


def test_page__integration__is_short(project: Path) -> None:
    """Under forty lines of code bring an existing function to Beaker."""
    lines = (project / "ticket_integration.py").read_text(encoding="utf-8").splitlines()
    assert 0 < sum(bool(line.strip()) for line in lines) < 40


def test_page__rows_become_cases_that_run_and_score(project: Path, integration: Integration) -> None:
    """Every row of the page is valid; its cases run on the seeds and score as the page's data says."""
    adapter = validate(integration)
    rows = [
        adapter.validate_python(json.loads(line))
        for split in ("train", "test")
        for line in (project / "dataset" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    runtime = SetupRuntime("r", {}, PinnedDatasetInfo("d", "r", {"train": 3, "test": 1}), lambda case_id: project)

    async def objectives() -> list[float]:
        setup = integration.run_setup()
        scored = []
        async with setup.prepare_run(runtime=runtime) as results:
            for document in results["documents"].target_documents:  # type: ignore[union-attr]  # a documents result
                path = project / "targets" / document.group / document.name
                path.parent.mkdir(parents=True)
                path.write_text(document.content, encoding="utf-8")
            cases: list[Case] = [case for row in rows async for case in setup.load_cases(row, runtime=runtime)]
            rollout = RolloutRuntime[None](case_files_dir=project, trace=NOOP_TRACE, targets_dir=project / "targets")
            for case in cases:
                result = await integration.run_case(case_input=case.input, runtime=rollout)
                score = await integration.score_case(case=case, result=result, case_files_dir=project)
                scored.append(score.objective)
        return scored

    assert asyncio.run(objectives()) == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.e2e
def test_page__smoke__passes(project: Path) -> None:
    """The command of the page, in the page's project, ends well."""
    done = subprocess.run(
        [sys.executable, "-m", "beaker.cli", "run", "smoke", "--run-one"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
