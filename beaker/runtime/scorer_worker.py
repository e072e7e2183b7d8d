"""The host's side of the scorer process."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from returns.primitives.exceptions import UnwrapFailedError

from beaker.core.cases import Case, CaseFile, CaseScore
from beaker.core.convert import from_json
from beaker.core.evaluations import CaseError
from beaker.core.optimizer import Timeouts
from beaker.core.traces import TraceParts, take
from beaker.core.usage import ModelUsage
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.connection import Connection
from beaker.runtime.failures import WorkerFailed
from beaker.runtime.rollout_worker import RolloutResult
from beaker.runtime.starting import LoadedIntegration, limits_of, lost_kind, start_child, worker_error
from beaker.runtime.supervisor import Supervisor


class ScorerWorker:
    """A process that scores results with the baseline's code and never imports a candidate."""

    def __init__(self, connection: Connection, loaded: LoadedIntegration, timeouts: Timeouts) -> None:
        self.loaded = loaded
        self._connection = connection
        self._limits = limits_of(timeouts)
        self._running = 0
        self._retired = False

    @classmethod
    async def start(
        cls,
        supervisor: Supervisor,
        code: CodeRoot,
        *,
        env: Mapping[str, str],
        timeouts: Timeouts,
        case_files_dir: Path,
    ) -> "ScorerWorker":
        """Start the process and import the Integration from the baseline `code`; `WorkerFailed` when that fails.

        `case_files_dir` is an empty folder, for cases without files. In a sandbox the process writes to a folder for
        temporary files beside it.
        """
        arguments: dict[str, Any] = {"case_files_dir": str(case_files_dir)}
        connection, loaded = await start_child(
            supervisor,
            "scorer",
            code,
            env=env,
            timeouts=timeouts,
            arguments=arguments,
            writable=(case_files_dir.with_name(f"{case_files_dir.name}-tmp"),),
        )
        return cls(connection, loaded, timeouts)

    @property
    def alive(self) -> bool:
        """Whether the process may be given another result: it lives, and no scoring was late or found it damaged."""
        return self._connection.alive and not self._retired

    async def score(
        self,
        case: Case,
        result: RolloutResult,
        *,
        case_files_dir: Path | None = None,
        used: Callable[[tuple[ModelUsage, ...]], object] = lambda usage: None,
    ) -> CaseScore | CaseError:
        """Score one result; several may be scored at a time. Never raises.

        `case_files_dir` holds the files of the case; the empty folder of `start` serves a case without any. `used` is
        told what the scorer's own model calls used, as far as it recorded them (`beaker.tracing.current_trace`).

        An error has the kind `scorer`; `retryable` when `score_case` raised `RetryableCaseError`, `infrastructure` when
        the process was killed from outside, and `invalid_result` when the result is no JSON. After a late scoring, or
        one that found the process damaged, it takes no further one.
        """
        if self._retired:
            return CaseError("scorer", "the scorer process was ended after another case")
        self._running += 1
        answered = False  # and the process can go on
        parts = TraceParts()
        try:
            arguments = {
                "case": {
                    "id": case.id,
                    "input": case.input,
                    "expected": case.expected,
                    "metadata": case.metadata,
                    "files": [_file_json(file) for file in case.files],
                },
                "case_files_dir": None if case_files_dir is None else str(case_files_dir),
                "output": result.output,
                "output_kind": result.output_kind,
                "context": result.context,
            }
            answer = await self._connection.request(
                "score",
                arguments,
                stage="score_case",
                limits=self._limits,
                on_event=lambda name, message: take(parts, message) if name == "trace" else None,
            )
            error = self._connection.case_error(answer["error"])
            made = error or from_json(answer["score"], CaseScore, code="BK552", label="score").unwrap()
            answered = answer.get("damaged") is not True
            return made
        except (KeyError, TypeError, ValueError, OverflowError, UnwrapFailedError) as nonsense:
            return worker_error(self._connection.nonsense(nonsense), "scorer")
        except WorkerFailed as failure:
            return worker_error(failure, lost_kind(failure, "scorer"), self._connection.output())
        finally:
            used(parts.usage)
            self._running -= 1
            self._retired = self._retired or not answered
            if self._retired and not self._running:
                await self._connection.kill()

    def output(self) -> str:
        """What the process printed since the last look."""
        return self._connection.output()

    async def close(self) -> None:
        """End the process."""
        if self._connection.alive and not self._retired:
            self._connection.send("close")
            await self._connection.finish()
        else:
            await self._connection.kill()

    async def kill(self) -> None:
        """End the process at once."""
        self._retired = True
        await self._connection.kill()


def _file_json(file: CaseFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "path": str(file.path),
        "expected_sha256": file.expected_sha256,
        "expected_size_bytes": file.expected_size_bytes,
    }
