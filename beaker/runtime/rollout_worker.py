"""The host's side of a rollout process."""

import asyncio
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from beaker.core.cases import CaseResult, OutputKind
from beaker.core.convert import to_json
from beaker.core.evaluations import CaseError
from beaker.core.limits import DEFAULT_LIMITS, Limits, killed_in_memory
from beaker.core.optimizer import Timeouts
from beaker.core.strict_json import JsonObject
from beaker.core.traces import TraceParts, take, trace_of
from beaker.core.values import value
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.connection import Connection
from beaker.runtime.failures import WorkerFailed
from beaker.runtime.starting import LoadedIntegration, limits_of, lost_kind, start_child, worker_error
from beaker.runtime.supervisor import Supervisor


@value
class RolloutResult:
    """What one attempt at a case gave: an output, or an error.

    `context` is the scorer's alone. `duration_ms` is the wall time of `run_case` in milliseconds. `captured` is what
    the process printed meanwhile, other cases running in it at the same time included. `trace` is what `run_case`
    recorded, as far as it came when the process was lost or late; `None` when nothing was recorded. Secrets may be in
    it.
    """

    output: Any = None
    output_kind: OutputKind | None = None
    context: Mapping[str, Any] = attrs.field(factory=dict)
    error: CaseError | None = None
    duration_ms: float = 0.0
    captured: str = ""
    trace: JsonObject | None = None


class RolloutWorker:
    """A process that runs cases of one candidate; `open_candidate` is entered once, before the first."""

    def __init__(
        self,
        connection: Connection,
        loaded: LoadedIntegration,
        timeouts: Timeouts,
        *,
        limits: Limits,
        difference: Callable[[], str],
    ) -> None:
        self.loaded = loaded
        self._connection = connection
        self._limits = limits_of(timeouts)
        self._taking = limits
        self._difference = difference
        self._opening: asyncio.Task[CaseError | None] | None = None
        self._running = 0
        self._retired = False  # it is given no further case
        self._spoilt = False  # nor asked anything else

    @classmethod
    async def start(
        cls,
        supervisor: Supervisor,
        code: CodeRoot,
        *,
        env: Mapping[str, str],
        timeouts: Timeouts,
        targets_dir: Path | None,
        scratch_dir: Path,
        case_files_dir: Path,
        limits: Limits = DEFAULT_LIMITS,
        difference: Callable[[], str] = lambda: "",
    ) -> "RolloutWorker":
        """Start the process and import the Integration from `code`; `WorkerFailed` when that fails.

        `targets_dir` has one folder per document group (`None` without document targets), `scratch_dir` is created and
        should be empty, `case_files_dir` is an empty folder, for cases without files. The process, import included, is
        held to `limits`. In a sandbox it writes to `scratch_dir`, and to one for temporary files beside it.
        `difference`, called in a thread once `open_candidate` was entered, says how the documents below `targets_dir`
        differ from those of the candidate: entering fails then.
        """
        scratch_dir.mkdir(parents=True, exist_ok=True)
        arguments: dict[str, Any] = {
            "targets_dir": None if targets_dir is None else str(targets_dir),
            "scratch_dir": str(scratch_dir),
            "case_files_dir": str(case_files_dir),
            "limits": to_json(limits),
        }
        connection, loaded = await start_child(
            supervisor,
            "rollout",
            code,
            env=env,
            timeouts=timeouts,
            arguments=arguments,
            writable=(scratch_dir, scratch_dir.with_name(f"{scratch_dir.name}-tmp")),
        )
        return cls(connection, loaded, timeouts, limits=limits, difference=difference)

    @property
    def alive(self) -> bool:
        """Whether the process may be given another case: it lives, and no case in it was late or found it damaged."""
        return self._connection.alive and not self._retired

    async def open(self) -> CaseError | None:
        """Enter `open_candidate` unless that was done; the error of a failing one, which is every case's error."""
        if not self.loaded.has_open_candidate:
            return None
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
        return await asyncio.shield(self._opening)

    async def run(
        self,
        case_id: str,
        case_input: Any,
        *,
        attempt: int,
        model: str | None = None,
        case_files_dir: Path | None = None,
    ) -> RolloutResult:
        """Run one case; several may run at a time. Never raises: a process that dies or is late gives an error.

        `case_files_dir` holds the files of the case, `None` for a case without any.

        After a late case, or one that found the process damaged, it takes no further one and is killed once nothing
        else runs in it. After a cancelled one it takes no further one either: `close` ends that one, and leaves
        `open_candidate`; where there is none, the process is killed at once.
        """
        if self.loaded.has_open_candidate and (error := await self.open()) is not None:
            return RolloutResult(error=error, captured=self._connection.output())
        if self._retired:
            return RolloutResult(error=CaseError("crashed", "the rollout process was ended after another case"))
        self._running += 1
        answered = False  # and the process can go on
        cancelled = False
        parts = TraceParts()
        try:
            arguments = {
                "case_id": case_id,
                "input": case_input,
                "attempt": attempt,
                "model": model,
                "limit": self._limits["run_case"],
                "case_files_dir": None if case_files_dir is None else str(case_files_dir),
            }
            answer = await self._connection.request(
                "run",
                arguments,
                stage="run_case",
                limits=self._limits,
                on_event=lambda name, message: take(parts, message) if name == "trace" else None,
            )
            result = self._result(answer, trace_of(parts))
            answered = answer.get("damaged") is not True
            return result
        except WorkerFailed as failure:
            captured = self._connection.output()
            late = failure.kind == "timed_out"
            error = self._lost(failure, "timed_out" if late else "crashed", captured)
            duration = self._limits["run_case"] * 1000 if late else 0.0
            return RolloutResult(error=error, duration_ms=duration, captured=captured, trace=trace_of(parts))
        except asyncio.CancelledError:
            cancelled = True
            raise
        finally:
            self._running -= 1
            self._retired = self._retired or not answered
            self._spoilt = self._spoilt or not (answered or (cancelled and self.loaded.has_open_candidate))
            if self._spoilt and not self._running:
                await self._connection.kill()

    async def close(self) -> CaseError | None:
        """End what still runs, leave `open_candidate` and end the process within `timeouts.teardown`; what failed while
        leaving."""
        self._retired = True
        if self._spoilt or not self._connection.alive:
            await self._connection.kill()
            return None
        try:
            answer = await self._connection.request("close", {}, stage="teardown", limits=self._limits)
            await self._connection.finish()
            return self._said_error(answer)
        except WorkerFailed as failure:
            return worker_error(failure, "open_candidate", self._connection.output())
        finally:
            await self.kill()

    async def kill(self) -> None:
        """End the process at once, without leaving `open_candidate`."""
        self._retired = self._spoilt = True
        await self._connection.kill()

    def output(self) -> str:
        """What the process printed since the last look."""
        return self._connection.output()

    async def _open(self) -> CaseError | None:
        try:
            answer = await self._connection.request("open", {}, stage="open_candidate", limits=self._limits)
            if (error := self._said_error(answer)) is not None:
                return error
            if changed := await asyncio.to_thread(self._difference):
                return CaseError("open_candidate", f"open_candidate changed the documents of the candidate: {changed}")
            return None
        except WorkerFailed as failure:
            self._retired = self._spoilt = True
            await self._connection.kill()
            return self._lost(failure, "open_candidate", self._connection.output())

    def _said_error(self, answer: dict[str, Any]) -> CaseError | None:
        try:
            return self._connection.case_error(answer["error"])
        except (KeyError, TypeError) as nonsense:
            raise self._connection.nonsense(nonsense) from None

    def _lost(self, failure: WorkerFailed, kind: str, captured: str) -> CaseError:
        """The error of a case that the process did not answer."""
        error = worker_error(failure, lost_kind(failure, kind), captured)
        return CaseError(error.kind, killed_in_memory(error.message, failure.status, self._taking), error.traceback)

    def _result(self, answer: dict[str, Any], trace: JsonObject | None) -> RolloutResult:
        # Candidates run in that process, so what it says is judged again.
        try:
            error = self._connection.case_error(answer.get("error"))
            duration = float(answer["duration_ms"])
            if not 0 <= duration < math.inf:
                raise ValueError("a case took no time that there is")
            if error is None:
                result = CaseResult(answer["output"], answer["output_kind"], answer.get("context", {}))
        except (KeyError, TypeError, ValueError, OverflowError) as nonsense:
            raise self._connection.nonsense(nonsense) from None
        captured = self._connection.output()
        if error is not None:
            return RolloutResult(error=error, duration_ms=duration, captured=captured, trace=trace)
        return RolloutResult(
            output=result.output,
            output_kind=result.output_kind,
            context=result.context,
            duration_ms=duration,
            captured=captured,
            trace=trace,
        )
