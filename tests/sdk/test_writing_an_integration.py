"""The example of docs/writing-an-integration.md is executed as it stands there."""

import asyncio
import doctest
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beaker import (
    Case,
    CaseResult,
    Check,
    FieldDiff,
    Integration,
    PinnedDatasetInfo,
    RolloutRuntime,
    SetupRuntime,
    load_integration,
)
from beaker import validate_integration as validate
from beaker.sdk.trace import NOOP_TRACE

PAGE = Path(__file__).parents[2] / "docs" / "writing-an-integration.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def test_page__score_that_explains_itself__names_what_was_expected(project: Path, monkeypatch: Any) -> None:
    """Predicted and expected stand where the page says, in both explanations."""
    monkeypatch.syspath_prepend(project)
    scorer = importlib.import_module("explained_score")
    case = Case(id="t1", input="My invoice is wrong", expected="billing")
    score = asyncio.run(scorer.score_case(case=case, result=CaseResult("unknown"), case_files_dir=project))
    (diff,), (check,) = score.field_diffs, score.checks
    assert (diff.field, diff.predicted, diff.expected) == ("team", "unknown", "billing")
    assert (check.verdict, check.predicted) == ("fail", "unknown")
    assert "billing" in check.expected


@pytest.mark.parametrize("explained", [FieldDiff, Check])
def test_docstring__example__is_true(explained: type) -> None:
    """The example with named arguments does what it says."""
    (found,) = doctest.DocTestFinder(recurse=False).find(explained, globs={explained.__name__: explained})
    assert found.examples
    assert doctest.DocTestRunner(verbose=False).run(found).failed == 0


def beaker(project: Path, *argv: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "beaker.cli", *argv],
        cwd=project,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def git(project: Path, *argv: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *identity, *argv], cwd=project, check=True, capture_output=True)


@pytest.mark.e2e
def test_page__commands__lead_to_a_run_that_improves(project: Path) -> None:
    """Every command of the page, in its order, in the page's project: smoke passes, and the run finds a better rule."""
    commands = [
        shlex.split(line.removeprefix("$ "))
        for block in CONSOLE.findall(PAGE.read_text(encoding="utf-8"))
        for line in block.splitlines()
    ]
    assert [command[0] for command in commands] == ["beaker", "git", "git", "git", "beaker", "beaker", "beaker"]
    said = []
    for program, *argv in commands:
        if program == "git":
            git(project, *argv)
            continue
        done = beaker(project, *argv)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        said.append(done)
    first, committed, _, run = said
    assert "BK711" in first.stderr
    assert "warning" not in committed.stderr
    assert "winner" in run.stdout
    (listed,) = json.loads(beaker(project, "--local", "run", "list", "--json").stdout)["runs"]
    found = json.loads(beaker(project, "--local", "run", "status", listed["id"], "--json").stdout)
    assert (found["result"]["test"]["baseline"], found["result"]["test"]["winner"]) == (0.0, 1.0)


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("module", "shown"),
    [("code_integration", "paths rules, tickets.py"), ("both_integration", "paths tickets.py; documents rules")],
)
def test_page__code_and_both_as_targets__run_and_score_a_case(project: Path, module: str, shown: str) -> None:
    """The page's other Integrations pass smoke in the same project, with one case run and scored."""
    config = project / ".beaker" / "beaker.yaml"
    config.write_text(config.read_text("utf-8").replace("ticket_integration", module), "utf-8")
    done = beaker(project, "run", "smoke", "--run-one", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{module}:integration, {shown}" in done.stdout
    assert "objective 1" in done.stdout


def test_readme__integration__is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's excerpt is a whole module beside a system with an `extract`."""
    readme = PAGE.parents[1] / "README.md"
    (text,) = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "readme_integration.py").write_text(text, encoding="utf-8")
    (tmp_path / "invoices.py").write_text("def extract(text, playbook): return playbook", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "invoices", raising=False)
    assert load_integration("readme_integration:integration")
