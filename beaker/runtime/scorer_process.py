"""The scorer process: scores results with the baseline's code."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beaker.core.cases import Case, CaseFile, CaseResult
from beaker.core.convert import to_json
from beaker.core.evaluations import CaseError
from beaker.core.inference import SCORER_MODEL_VARIABLE
from beaker.core.sandbox_refusals import Confinement, refused_perhaps
from beaker.runtime.channel import Channel
from beaker.runtime.code_root import code_root_from_json
from beaker.runtime.denials import os_faults
from beaker.runtime.failures import StageFailed, StageProblem
from beaker.runtime.hooks import call, error_json, large_score, score_error, score_json
from beaker.runtime.importing import Imported, import_integration
from beaker.runtime.recording import case_recorder
from beaker.sdk.loading import origin_of
from beaker.tracing.context import activate_trace
from beaker.tracing.recording import RecordingTrace

Request = dict[str, Any]


async def serve(channel: Channel) -> None:
    """Answer `start`, then any number of `score`, until `close`."""
    requests: asyncio.Queue[Request] = asyncio.Queue()
    channel.listen(requests.put_nowait)
    start = await requests.get()
    confinement: Confinement | None = start.get("confinement")
    try:
        imported = import_integration(code_root_from_json(start["code"]))
    except StageFailed as failure:
        channel.refuse(start, "raised", [to_json(problem) for problem in _refused(failure, confinement)])
        return
    channel.answer(start, imported.described())
    if (origin := origin_of(imported.integration)) is not None and origin.judge is not None:
        os.environ.setdefault(SCORER_MODEL_VARIABLE, origin.judge)  # unless the configuration names another
    no_files = Path(start["case_files_dir"])
    running: set[asyncio.Task[None]] = set()
    while (request := await requests.get())["op"] != "close":
        task = asyncio.create_task(_score(channel, imported, request, no_files, confinement))
        running.add(task)
        task.add_done_callback(running.discard)
    if running:
        await asyncio.wait(running)
    channel.answer(request, {})


def _refused(failure: StageFailed, confinement: Confinement | None) -> Iterator[StageProblem]:
    """What failed, and the sandbox where that may have refused something."""
    faults = os_faults(failure.raised)
    for one in failure.problems:
        message = refused_perhaps(one.message, faults, confinement)
        yield StageProblem(one.code, message, one.where, one.hint, one.stage, one.traceback)


async def _score(
    channel: Channel, imported: Imported, request: Request, no_files: Path, confinement: Confinement | None
) -> None:
    # What a judge said is the scorer's own business; what it used is everybody's.
    recorder = case_recorder(channel, request, budget=0)
    with activate_trace(RecordingTrace(recorder)):
        score, error, damaged = await _scored(imported, request, no_files, confinement)
    recorder.close()
    if error is None:
        plain = score_json(score)
        if isinstance(plain, CaseError):
            error = plain
        elif not channel.answer(request, {"score": plain, "error": None}):
            error = large_score()
    if error is not None:
        channel.answer(request, {"score": None, "error": error_json(error), "damaged": damaged})


async def _scored(
    imported: Imported, request: Request, no_files: Path, confinement: Confinement | None
) -> tuple[Any, CaseError | None, bool]:
    """What `score_case` returned, or an error and whether it may come of something else that ran in this process."""
    try:
        files = [CaseFile(**file) for file in request["case"]["files"]]
        case = Case(**{**request["case"], "files": files})
        result = CaseResult(request["output"], request["output_kind"], request["context"])
    except (TypeError, ValueError) as broken:
        return None, CaseError("invalid_result", str(broken)), False
    score_case = imported.integration.score_case
    case_files_dir = no_files if request["case_files_dir"] is None else Path(request["case_files_dir"])
    outcome = await call(lambda: score_case(case=case, result=result, case_files_dir=case_files_dir), kind="scorer")
    error, damaged = score_error(outcome), outcome.damaged
    if error is not None:
        message = refused_perhaps(error.message, os_faults(outcome.raised), confinement)
        error = CaseError(error.kind, message, error.traceback)
    if (foreign := imported.foreign_problem()) is not None:
        error, damaged = CaseError("scorer", foreign.message), True
    return outcome.returned, error, damaged
