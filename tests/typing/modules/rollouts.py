"""A rollout that is generic over what `open_candidate` yields: `RolloutRuntime[Index]`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import assert_type

from beaker import CaseResult, InferenceTarget, RetryableCaseError, RolloutRuntime, inference_target
from beaker.tracing import Trace, current_trace


class Index:
    def search(self, text: str) -> list[str]:
        return [text]


@asynccontextmanager
async def open_candidate(*, targets_dir: Path | None, scratch_dir: Path) -> AsyncIterator[Index]:
    yield Index()


async def run_case(*, case_input: dict[str, str], runtime: RolloutRuntime[Index]) -> CaseResult:
    assert_type(runtime.candidate, Index | None)
    assert_type(runtime.targets_dir, Path | None)
    assert_type(runtime.deadline, float | None)
    runtime.candidate.search("x")  # E union-attr | reportOptionalMemberAccess
    if runtime.candidate is None:
        raise RetryableCaseError("not ready")
    assert_type(runtime.candidate, Index)
    runtime.candidate.find("x")  # E attr-defined | reportAttributeAccessIssue
    with runtime.trace.model_call(operation="chat", provider="p", model="m", input_messages=[]) as call:
        call.usage(input_tokens=1, output_tokens=2)
        call.usage(input_tokens="many")  # E arg-type | reportArgumentType
    async with runtime.trace.stage("search", attributes={"k": 1}) as stage:
        stage.output(runtime.candidate.search(case_input["q"]))
    runtime.trace.model_call("chat")  # E call-arg | reportCallIssue
    assert_type(current_trace(), Trace)
    target = inference_target(runtime)
    assert_type(target, InferenceTarget)
    assert_type(target.litellm_model, str)
    assert_type(target.env(), dict[str, str])
    return CaseResult({"found": runtime.candidate.search("x")}, output_kind="record")


async def wrong_result(*, case_input: str, runtime: RolloutRuntime[Index]) -> CaseResult:
    if case_input:
        return {"found": []}  # E return-value | reportReturnType
    return CaseResult(1, output_kind="table")  # E arg-type | reportArgumentType


def made(trace: Trace, folder: Path) -> RolloutRuntime[Index]:
    RolloutRuntime[Index](folder, trace)  # E call-arg | reportCallIssue
    RolloutRuntime[Index](
        case_files_dir=folder,
        trace=trace,
        candidate="index",  # E arg-type | reportArgumentType
    )
    RolloutRuntime[Index](trace=trace)  # E call-arg | reportCallIssue
    runtime = RolloutRuntime[Index](case_files_dir=folder, trace=trace)
    runtime.candidate = None  # E misc | reportAttributeAccessIssue
    return RolloutRuntime(case_files_dir=folder, trace=trace, candidate=Index())
