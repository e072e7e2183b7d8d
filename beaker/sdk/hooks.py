"""The hooks a customer writes, as typing protocols, and the exception that asks for another attempt."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from beaker.core.cases import Case, CaseResult, CaseScore
from beaker.sdk.runtimes import RolloutRuntime


class RunCase(Protocol):
    """Runs the application on one case.

    It sees the case's input only, neither its id nor what is expected, and returns the application's JSON answer.
    """

    async def __call__(self, *, case_input: Any, runtime: RolloutRuntime[Any]) -> CaseResult:
        """Run the application on `case_input`, with what `runtime` gives it."""


class ScoreCase(Protocol):
    """Scores one result against its case; `case_files_dir` holds the case's files."""

    async def __call__(self, *, case: Case, result: CaseResult, case_files_dir: Path) -> CaseScore:
        """Score `result`, which is that of `case`."""


class OpenCandidate(Protocol):
    """Opens what every case of one rollout process shares, such as an index over the candidate's documents.

    Called plainly, it returns an asynchronous context manager: entered once before the process's first case, left once
    behind its last. What it yields is `runtime.candidate`. `targets_dir` is `None` without document targets;
    `scratch_dir` starts empty and is writable.
    """

    def __call__(self, *, targets_dir: Path | None, scratch_dir: Path) -> AbstractAsyncContextManager[Any]:
        """Return what is entered before the first case of a process and left behind its last."""


class RetryableCaseError(Exception):
    """Raised by `run_case`: asks for another attempt of the same case, up to `case_retry_limit` of them."""
