"""Calling a customer's hook and turning whatever comes of it into an answer: shared by rollout and scorer process."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from beaker.core.evaluations import CaseError
from beaker.runtime.damage import shows_damage
from beaker.runtime.failures import said, traced
from beaker.sdk.hooks import RetryableCaseError


class Outcome(NamedTuple):
    """What a hook returned or what error it gave, and its wall time in milliseconds.

    `damaged` says that the error may come of something else that ran in this process.
    """

    returned: Any
    error: CaseError | None
    duration_ms: float
    damaged: bool = False


async def call(hook: Callable[[], Awaitable[Any]], *, kind: str) -> Outcome:
    """Await a hook. Whatever it raises is an error of `kind`, or `retryable` for a `RetryableCaseError`."""
    returned: Any = None
    error: CaseError | None = None
    damaged = False
    started = time.perf_counter()
    try:
        returned = await hook()
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the process is ending
            raise
        error = case_error(cancelled, kind)
    except RetryableCaseError as retry:
        error, damaged = case_error(retry, "retryable"), shows_damage(retry)
    except BaseException as raised:
        error, damaged = case_error(raised, kind), shows_damage(raised)
    return Outcome(returned, error, (time.perf_counter() - started) * 1000, damaged)


def case_error(error: BaseException, kind: str) -> CaseError:
    """An exception as a case's error."""
    return CaseError(kind, said(error), traced(error))


def error_json(error: CaseError | None) -> dict[str, str] | None:
    """An error as it travels."""
    return None if error is None else {"kind": error.kind, "message": error.message, "traceback": error.traceback}
