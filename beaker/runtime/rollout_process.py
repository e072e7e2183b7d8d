"""The rollout process: runs cases of one candidate, several at a time when asked to."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beaker.core.cases import CaseResult
from beaker.core.convert import to_json
from beaker.core.evaluations import CaseError
from beaker.core.limits import Limits, large_output, met_limit, result_bytes
from beaker.core.sandbox_refusals import Confinement, refused_perhaps
from beaker.runtime.channel import Channel
from beaker.runtime.code_root import code_root_from_json
from beaker.runtime.contexts import HookContext
from beaker.runtime.denials import os_faults
from beaker.runtime.failures import StageFailed, StageProblem
from beaker.runtime.hooks import call, case_error, changed_result, error_json, result_error
from beaker.runtime.importing import Imported, import_integration
from beaker.runtime.process_limits import confine, give_up_reserve, limit_met
from beaker.runtime.recording import case_recorder
from beaker.sdk.runtimes import RolloutRuntime
from beaker.tracing.context import activate_trace
from beaker.tracing.recording import RecordingTrace

Request = dict[str, Any]


async def serve(channel: Channel) -> None:
    """Answer `start`, then `open` and any number of `run`, until `close`."""
    requests: asyncio.Queue[Request] = asyncio.Queue()
    channel.listen(requests.put_nowait)
    start = await requests.get()
    limits = Limits(**start.get("limits", {}))
    confine(limits)
    try:
        imported = import_integration(code_root_from_json(start["code"]))
    except StageFailed as failure:
        channel.refuse(
            start, "raised", [to_json(problem) for problem in _within(limits, failure, start.get("confinement"))]
        )
        return
    channel.answer(start, imported.described())
    await _Rollouts(channel, imported, start, limits).run(requests)


def _within(limits: Limits, failure: StageFailed, confinement: Confinement | None) -> Iterator[StageProblem]:
    """What failed, and what bounds of the process it met."""
    give_up_reserve()
    met, faults = limit_met(failure.raised), os_faults(failure.raised)
    for one in failure.problems:
        message = refused_perhaps(met_limit(one.message, met, limits), faults, confinement)
        yield StageProblem(one.code, message, one.where, one.hint, one.stage, one.traceback)


class _Rollouts:
    def __init__(self, channel: Channel, imported: Imported, start: Request, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self._confinement: Confinement | None = start.get("confinement")
        self._imported = imported
        self._integration = imported.integration
        self._targets_dir = None if start["targets_dir"] is None else Path(start["targets_dir"])
        self._scratch_dir = Path(start["scratch_dir"])
        self._no_files = start["case_files_dir"]
        self._context: HookContext | None = None
        self._candidate: Any = None
        self._running: set[asyncio.Task[None]] = set()
        self._main = asyncio.current_task()
        self._is_opening = False

    async def run(self, requests: "asyncio.Queue[Request]") -> None:
        def heard(request: Request) -> None:
            requests.put_nowait(request)
            if request["op"] == "close" and self._is_opening and self._main is not None:
                self._main.cancel()  # what is being entered is left again

        self._channel.listen(heard)
        while (request := await requests.get())["op"] != "close":
            if request["op"] == "open":
                self._channel.answer(request, {"error": error_json(await self._open())})
            else:
                task = asyncio.create_task(self._run_case(request))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
        self._channel.answer(request, {"error": error_json(await self._close())})

    async def _open(self) -> CaseError | None:
        # Entered and left by the one task that reads requests, as some context managers insist on.
        open_candidate = self._integration.open_candidate
        if open_candidate is None:
            return None
        try:
            manager = open_candidate(targets_dir=self._targets_dir, scratch_dir=self._scratch_dir)
            context = HookContext(manager, "open_candidate", open_candidate)
            self._is_opening = True
            self._candidate = await context.enter()
        except StageFailed as failure:
            return CaseError("open_candidate", failure.problems[0].message)
        except BaseException as error:
            if self._main is not None and self._main.cancelling():
                self._main.uncancel()
            return self._bounded(case_error(error, "open_candidate"), error)
        finally:
            self._is_opening = False
        self._context = context
        return None

    async def _close(self) -> CaseError | None:
        for task in self._running:  # which nobody waits for any more
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)
        context, self._context = self._context, None
        problem = None if context is None else await context.leave(None)
        return None if problem is None else CaseError("open_candidate", problem.message, problem.traceback)

    async def _run_case(self, request: Request) -> None:
        try:
            await self._run_and_answer(request)
        except MemoryError as error:  # Beaker itself got none: for what the case returned, or recorded
            give_up_reserve()
            told = self._bounded(case_error(error, "raised"), error)
            self._channel.answer(request, {"error": error_json(told), "duration_ms": 0.0, "damaged": True})

    async def _run_and_answer(self, request: Request) -> None:
        recorder = case_recorder(self._channel, request)
        trace = RecordingTrace(recorder)
        runtime: RolloutRuntime[Any] = RolloutRuntime(
            case_files_dir=Path(request.get("case_files_dir") or self._no_files),
            trace=trace,
            model=request["model"],
            targets_dir=self._targets_dir,
            candidate=self._candidate,
            case_id=request["case_id"],
            attempt=request["attempt"],
            deadline=time.monotonic() + request["limit"],
        )
        run_case = self._integration.run_case
        with activate_trace(trace):
            outcome = await call(lambda: run_case(case_input=request["input"], runtime=runtime), kind="raised")
        recorder.close()
        error, damaged = result_error(outcome), outcome.damaged
        if error is not None:
            error = self._bounded(error, outcome.raised)
        if (foreign := self._imported.foreign_problem()) is not None:
            error, damaged = CaseError("import", foreign.message), True
        elif (copy := self._imported.copy_problem()) is not None:
            error, damaged = CaseError("installed_copy", f"{copy.message}; {copy.hint}"), True
        if error is None:
            error = self._answer(request, outcome.returned, outcome.duration_ms)
        if error is not None:
            answer = {"error": error_json(error), "duration_ms": outcome.duration_ms, "damaged": damaged}
            self._channel.answer(request, answer)

    def _answer(self, request: Request, result: CaseResult, duration_ms: float) -> CaseError | None:
        """Send a result, without its context when it is too large otherwise; why it could not be sent."""
        ok = {"output": result.output, "output_kind": result.output_kind, "duration_ms": duration_ms}
        most = result_bytes(self._limits)
        try:
            size = self._channel.answer_within(request, {**ok, "context": result.context}, most)
            if size and result.context:
                size = self._channel.answer_within(request, ok, most)
        except (TypeError, ValueError, RecursionError) as error:
            return changed_result(error)
        return CaseError("invalid_result", large_output(size, self._limits)) if size else None

    def _bounded(self, error: CaseError, raised: BaseException | None) -> CaseError:
        """The error, with the limit that it met named, and the sandbox where that may have refused something."""
        if (met := limit_met(raised)) is not None:
            give_up_reserve()
        message = refused_perhaps(met_limit(error.message, met, self._limits), os_faults(raised), self._confinement)
        return CaseError(error.kind, message, error.traceback)
