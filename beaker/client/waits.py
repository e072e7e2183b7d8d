"""Waiting for a run, as steps: looked at again and again, through trouble that passes."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime

from returns.pipeline import is_successful
from returns.result import Result

from beaker.client.errors import client_error
from beaker.client.methods import Call, Pause, Steps, unwrapped
from beaker.core.problems import Problem
from beaker.core.results import Run, read_run
from beaker.core.retry import Stop, decide, trouble_in, watch_policy
from beaker.core.strict_json import JsonObject


def wait_for_run(
    run_id: str,
    *,
    interval: float,
    timeout: float | None,
    on_change: Callable[[Run], None] | None,
    agent_key: str | None,
) -> Steps[Run]:
    """The run once nobody has to wait for it any more. Times are in seconds; raises `TimeoutError`, and what
    `client_error` makes of trouble that does not pass."""
    started = time.monotonic()
    before: Run | None = None
    troubled_at, attempt = started, 0
    while True:
        answered: Result[JsonObject, Problem] = yield Call(
            "get_optimization_run", {"run_id": run_id, "agent_key": agent_key}, patient=False
        )
        now = time.monotonic()
        if is_successful(answered):
            run = unwrapped(read_run(answered.unwrap()))
            attempt, wait = 0, interval
            if on_change is not None and run != before:
                on_change(run)
            before = run
            if run.outcome.settled:
                return run
        else:
            troubled_at = troubled_at if attempt else now
            attempt += 1
            wait = _patience(answered.failure(), interval, attempt, now - troubled_at, answered=before is not None)
        if timeout is not None:
            left = timeout - (now - started)
            if left <= 0:
                status = "has not been seen" if before is None else f"is {before.status}"
                raise TimeoutError(f"the run {run_id} has not ended after {timeout:g} seconds; it {status}")
            wait = min(wait, left)
        yield Pause(wait)


def _patience(problem: Problem, interval: float, attempt: int, elapsed: float, *, answered: bool) -> float:
    """Seconds until the run is looked at again; raises when the trouble is not borne."""
    trouble = trouble_in(problem)
    if trouble is None:
        raise client_error(problem)
    decision = decide(
        watch_policy(interval, answered=answered),
        trouble,
        repeatable=True,
        attempt=attempt,
        elapsed=elapsed,
        draw=random.random(),
        now=datetime.now(UTC),
    )
    if isinstance(decision, Stop):
        raise client_error(problem)
    return decision.wait
