"""Unit tests with `beaker.testing` and its fixtures."""

from pathlib import Path
from typing import assert_type

from beaker import Case, CaseResult, CaseScore, Integration, RolloutRuntime, SetupRuntime, TargetDocument
from beaker.testing import (
    PreparedRun,
    load_integration,
    open_setup,
    recorded_trace,
    rollout_runtime,
    run_case_once,
    run_setup_once,
    score_once,
    setup_runtime,
)


class Index: ...


def test_one(beaker_integration: Integration, beaker_cases: tuple[Case, ...], beaker_setup: PreparedRun) -> None:
    assert_type(load_integration(Path("app.py")), Integration)
    setup = run_setup_once(beaker_integration, {"train": [{"id": "a"}]}, config={"k": 1})
    assert_type(setup.cases, tuple[Case, ...])
    assert_type(setup.documents, tuple[TargetDocument, ...])
    with open_setup(beaker_integration, "dataset") as opened:
        assert_type(opened, PreparedRun)
    result = run_case_once(beaker_integration, beaker_cases[0], documents=setup.documents)
    assert_type(result, CaseResult)
    assert_type(score_once(beaker_integration, beaker_cases[0], result), CaseScore)
    assert_type(rollout_runtime(candidate=Index()), RolloutRuntime[Index])
    assert_type(setup_runtime(), SetupRuntime)
    recorded_trace(rollout_runtime(candidate=Index()))
    run_case_once(beaker_integration, beaker_cases[0], documents={"rules": {"a.md": "text"}})


def faulty(beaker_integration: Integration, case: Case) -> None:
    run_case_once(beaker_integration, {"q": 1})  # E arg-type | reportArgumentType
    run_case_once(beaker_integration, case, documents={"a.md": "text"})  # E arg-type | reportArgumentType
    score_once(beaker_integration, case, 1.0)  # E arg-type | reportArgumentType
    run_setup_once(beaker_integration)  # E call-arg | reportCallIssue
