"""Calling a customer's hook and turning whatever comes of it into an answer: shared by all that run cases."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from returns.pipeline import is_successful

from beaker.core.cases import CaseResult, CaseScore
from beaker.core.convert import from_json, to_json
from beaker.core.evaluations import CaseError
from beaker.core.strict_json import JsonObject
from beaker.runtime.damage import shows_damage
from beaker.runtime.failures import said, traced
from beaker.sdk.hooks import RetryableCaseError


class Outcome(NamedTuple):
    """What a hook returned or what error it gave, and its wall time in milliseconds.

    `damaged` says that the error may come of something else that ran in this process; `raised` is what the hook
    raised.
    """

    returned: Any
    error: CaseError | None
    duration_ms: float
    damaged: bool = False
    raised: BaseException | None = None


async def call(hook: Callable[[], Awaitable[Any]], *, kind: str) -> Outcome:
    """Await a hook. Whatever it raises is an error of `kind`, or `retryable` for a `RetryableCaseError`."""
    returned: Any = None
    error: CaseError | None = None
    damaged = False
    thrown: BaseException | None = None
    started = time.perf_counter()
    try:
        returned = await hook()
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the process is ending
            raise
        error, thrown = case_error(cancelled, kind), cancelled
    except RetryableCaseError as retry:
        error, damaged, thrown = case_error(retry, "retryable"), shows_damage(retry), retry
    except BaseException as raised:
        error, damaged, thrown = case_error(raised, kind), shows_damage(raised), raised
    return Outcome(returned, error, (time.perf_counter() - started) * 1000, damaged, thrown)


def result_error(outcome: Outcome) -> CaseError | None:
    """The error of a `run_case`: what it raised, or that it returned something else than a `CaseResult`."""
    if outcome.error is None and not isinstance(outcome.returned, CaseResult):
        message = f"run_case must return a CaseResult, not {type(outcome.returned).__name__}"
        return CaseError("invalid_result", message)
    return outcome.error


def score_error(outcome: Outcome) -> CaseError | None:
    """The error of a `score_case`: what it raised, or that it returned something else than a `CaseScore`."""
    if outcome.error is None and not isinstance(outcome.returned, CaseScore):
        message = f"score_case must return a CaseScore, not {type(outcome.returned).__name__}"
        return CaseError("scorer", message)
    return outcome.error


def changed_result(error: Exception) -> CaseError:
    """The error of a result that was JSON when it was made and is none any more."""
    return CaseError("invalid_result", f"the result of run_case is no JSON any more: {error}")


def score_json(score: CaseScore) -> JsonObject | CaseError:
    """A score as it travels; the error of one that was changed since it was made, which a value cannot prevent."""
    try:
        plain: JsonObject = to_json(score)
        read = from_json(plain, CaseScore, code="BK552", label="score")
    except Exception as broken:  # whatever stands where a field was
        fault = said(broken)
    else:
        if is_successful(read):
            return plain
        fault = read.failure()[0].message
    return CaseError("scorer", f"the score was changed after it was made and is none any more: {fault}")


def large_score() -> CaseError:
    """The error of a score that does not fit into a message."""
    return CaseError("scorer", "the score is too large to be handed over")


def case_error(error: BaseException, kind: str) -> CaseError:
    """An exception as a case's error."""
    return CaseError(kind, said(error), traced(error))


def error_json(error: CaseError | None) -> dict[str, str] | None:
    """An error as it travels."""
    return None if error is None else {"kind": error.kind, "message": error.message, "traceback": error.traceback}
