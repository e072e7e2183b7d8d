"""Whole Integrations, and hooks that do not fit."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, assert_type

from beaker import (
    Case,
    CaseResult,
    CaseScore,
    Integration,
    OpenCandidate,
    OptimizationTarget,
    RolloutRuntime,
    RunCase,
    RunSetup,
    ScoreCase,
    SetupRuntime,
    documents,
    load_integration,
    repository,
)


class Setup(RunSetup[dict[str, Any]]):
    row_model = dict[str, Any]

    async def load_cases(self, row: dict[str, Any], *, runtime: SetupRuntime) -> AsyncIterator[Case]:
        yield Case(row["id"], row)


async def run_case(*, case_input: Any, runtime: RolloutRuntime[str]) -> CaseResult:
    return CaseResult(case_input)


async def score_case(*, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
    return CaseScore(objective=1, field_scores={"all": 1.0})


@asynccontextmanager
async def open_candidate(*, targets_dir: Path | None, scratch_dir: Path) -> AsyncIterator[str]:
    yield "index"


class Runner:
    """Instances are hooks, too."""

    async def __call__(self, *, case_input: Any, runtime: RolloutRuntime[Any], extra: int = 0) -> CaseResult:
        return CaseResult(extra)


whole = Integration(
    targets=(repository(["src"]), documents(groups=["rules"])),
    run_setup=Setup,
    run_case=run_case,
    score_case=score_case,
    open_candidate=open_candidate,
)
assert_type(whole.targets, tuple[OptimizationTarget, ...])
assert_type(whole.open_candidate, OpenCandidate | None)
assert_type(load_integration("app:integration"), Integration)
hooks: tuple[RunCase, ScoreCase] = (Runner(), score_case)

Integration(targets=repository(), run_setup=Setup, run_case=Runner(), score_case=score_case)
Integration(targets=[repository()], run_setup=Setup, run_case=run_case, score_case=score_case, open_candidate=None)


def run_sync(*, case_input: Any, runtime: RolloutRuntime[Any]) -> CaseResult:
    return CaseResult(case_input)


async def run_other(*, case: Any, runtime: RolloutRuntime[Any]) -> CaseResult:
    return CaseResult(case)


async def score_number(*, case: Case, result: CaseResult, case_files_dir: Path) -> float:
    return 1.0


async def open_plain(*, targets_dir: Path | None, scratch_dir: Path) -> AbstractAsyncContextManager[str]:
    return open_candidate(targets_dir=targets_dir, scratch_dir=scratch_dir)


def faulty() -> None:
    Integration(
        targets="all",  # E arg-type | reportArgumentType
        run_setup=Setup(),  # E arg-type | reportArgumentType
        run_case=run_sync,  # E arg-type | reportArgumentType
        score_case=score_number,  # E arg-type | reportArgumentType
        open_candidate=open_plain,  # E arg-type | reportArgumentType
    )
    Integration(
        targets=repository(),
        run_setup=Setup,
        run_case=run_other,  # E arg-type | reportArgumentType
        score_case=score_case,
    )
    Integration(targets=repository(), run_setup=Setup, run_case=run_case)  # E call-arg | reportCallIssue
    documents(["rules"])  # E call-arg | reportCallIssue
    whole.run_case = run_case  # E misc | reportAttributeAccessIssue
