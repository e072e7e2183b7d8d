"""Running one case, and scoring one result, in the test's own process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import attrs

from beaker.core.cases import Case, CaseResult, CaseScore
from beaker.core.convert import from_json
from beaker.core.evaluations import CaseError
from beaker.core.limits import DEFAULT_LIMITS, large_output
from beaker.core.problems import Problem
from beaker.core.strict_json import dumps
from beaker.core.targets import target_groups
from beaker.runtime.contexts import HookContext
from beaker.runtime.failures import StageFailed, case_problem
from beaker.runtime.hooks import (
    Outcome,
    call,
    changed_result,
    large_score,
    result_error,
    score_error,
    score_json,
)
from beaker.runtime.protocol import MAX_MESSAGE
from beaker.sdk.integration import Integration
from beaker.sdk.runtimes import RolloutRuntime
from beaker.testing.case_files import captured_files
from beaker.testing.faults import IntegrationFault
from beaker.testing.folders import new_folder
from beaker.testing.loops import run
from beaker.testing.rollouts import Documents, KeptTrace, rollout_runtime
from beaker.tracing.context import activate_trace


def run_case_once(
    integration: Integration,
    case: Case,
    *,
    documents: Documents | None = None,
    runtime: RolloutRuntime[Any] | None = None,
) -> CaseResult:
    """Run one `case` as a rollout would, in this process: `open_candidate` of `integration`, `run_case`, and out again.

    `documents` stand for the candidate: the seeds that `run_setup_once` gave, or `{group: {name: content}}`; groups
    without any get an empty folder. `runtime` replaces all of it (see `rollout_runtime`); one that has a `candidate`
    is used without `open_candidate`. The hook gets copies of its own, and its result is judged and copied as on its
    way to a scorer. No time limit holds, and nothing is tried again.

    Whatever the hooks raise is raised here, unchanged but for a note. `IntegrationFault` for a rule that was broken:
    a result that is no `CaseResult`, too large or no JSON any more, an `open_candidate` that is no asynchronous context
    manager or fails on the way out. `RuntimeError` inside a running event loop.
    """
    __tracebackhide__ = True
    if runtime is not None and documents is not None:
        raise TypeError("run_case_once takes documents or a runtime, which has its documents, not both")
    if runtime is None:
        runtime = rollout_runtime(case=case, documents=documents, groups=target_groups(integration.targets))
    outcome = run(lambda: _rollout(integration, case, runtime), "run_case_once")
    return _result(_unless_failed(outcome, result_error(outcome), "run_case"))


def score_once(integration: Integration, case: Case, result: CaseResult) -> CaseScore:
    """Score one `result` of `case` with `score_case` of `integration`, as the scorer process would, in this process.

    `case_files_dir` holds the files of the case. Whatever `score_case` raises is raised here, unchanged but for a note.
    `IntegrationFault` when it returns no `CaseScore`. `RuntimeError` inside a running event loop.
    """
    __tracebackhide__ = True
    scored = _result(result)
    copied = Case(case.id, _copy(case.input), _copy(case.expected), case.files, _copy(case.metadata))
    folder = captured_files(case) or new_folder("no-files")

    async def score() -> Outcome:
        with activate_trace(KeptTrace()):
            hook = integration.score_case
            return await call(lambda: hook(case=copied, result=scored, case_files_dir=folder), kind="scorer")

    outcome = run(score, "score_once")
    return _score(_unless_failed(outcome, score_error(outcome), "score_case"))


async def _rollout(integration: Integration, case: Case, runtime: RolloutRuntime[Any]) -> Outcome:
    context: HookContext | None = None
    open_candidate = integration.open_candidate
    if open_candidate is not None and runtime.candidate is None:
        entered = await call(lambda: _opened(open_candidate, runtime), kind="open_candidate")
        if entered.error is not None:
            return entered
        context, candidate = entered.returned
        runtime = attrs.evolve(runtime, candidate=candidate)  # type: ignore[misc]  # a value is an attrs class
    given = _copy(case.input)
    try:
        with activate_trace(runtime.trace):
            outcome = await call(lambda: integration.run_case(case_input=given, runtime=runtime), kind="raised")
    finally:
        if isinstance(runtime.trace, KeptTrace):
            runtime.trace.close()
        problem = None if context is None else await context.leave(None)
    if problem is not None and outcome.error is None:
        raise IntegrationFault(problem)
    return outcome


async def _opened(open_candidate: Any, runtime: RolloutRuntime[Any]) -> tuple[HookContext, Any]:
    manager = open_candidate(targets_dir=runtime.targets_dir, scratch_dir=new_folder("scratch"))
    try:
        context = HookContext(manager, "open_candidate", open_candidate)
    except StageFailed as failed:
        raise IntegrationFault(failed.problems) from None
    return context, await context.enter()


def _unless_failed(outcome: Outcome, error: CaseError | None, hook: str) -> Any:
    """What the hook returned; its own exception, or the rule that it broke, is raised."""
    __tracebackhide__ = True
    if error is None:
        return outcome.returned
    if outcome.raised is None:
        _refuse(error, hook)
    if not isinstance(outcome.raised, IntegrationFault):
        outcome.raised.add_note(f"raised by {'open_candidate' if error.kind == 'open_candidate' else hook}")
    raise outcome.raised


def _result(result: CaseResult) -> CaseResult:
    """A result as the scorer gets it: a copy, without its context where that makes it too large to be handed over."""
    __tracebackhide__ = True
    told = {"output": result.output, "output_kind": result.output_kind, "context": dict(result.context)}
    line = _line(told, changed_result, "run_case")
    if len(line) > MAX_MESSAGE:
        line = _line({**told, "context": {}}, changed_result, "run_case")
    if len(line) > MAX_MESSAGE:
        _refuse(CaseError("invalid_result", large_output(len(line), DEFAULT_LIMITS)), "run_case")
    return CaseResult(**json.loads(line))


def _score(score: CaseScore) -> CaseScore:
    """A score as a run gets it."""
    __tracebackhide__ = True
    plain = score_json(score)
    if isinstance(plain, CaseError):
        _refuse(plain, "score_case")
    line = dumps(plain)
    if len(line) > MAX_MESSAGE:
        _refuse(large_score(), "score_case")
    return from_json(json.loads(line), CaseScore, code="BK552", label="score").unwrap()


def _line(told: Any, changed: Callable[[Exception], CaseError], hook: str) -> str:
    __tracebackhide__ = True
    try:
        return dumps(told)
    except (TypeError, ValueError, RecursionError) as error:
        _refuse(changed(error), hook)


def _copy(item: Any) -> Any:
    return json.loads(dumps(item))


def _refuse(error: CaseError, hook: str) -> NoReturn:
    """Raise what a run would count as the case's error; hints are those of smoke."""
    __tracebackhide__ = True
    problem = case_problem(hook, error, Path())
    raise IntegrationFault(Problem(problem.code, problem.message, hook, problem.hint))
