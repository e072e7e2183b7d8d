"""A Beaker API from Python: calls by name, over any transport."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.client.transport import Transport, TransportFailed
from beaker.core.api import Request, build_request, read_response
from beaker.core.problems import Problem, Refused
from beaker.core.retry import ONCE, RetryPolicy, RetryQuota, Stop, Trouble, decide, may_repeat, trouble_in
from beaker.core.strict_json import JsonObject

T = TypeVar("T")


class Api:
    """Calls a place's API; which calls there are is decided by `beaker.core.endpoints`.

    `agent_key` is used by calls that need one and are not given their own. `policy` says how patiently calls are made
    again, `sleep` and `clock` are in seconds, `draw` gives numbers in [0, 1).
    """

    def __init__(
        self,
        transport: Transport,
        agent_key: str | None = None,
        *,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.transport = transport
        self.agent_key = agent_key
        self._policy = policy or RetryPolicy()
        self._quota = RetryQuota()
        self._sleep = sleep
        self._clock = clock
        self._draw = draw

    def call(
        self, name: str, /, *, idempotency_key: str | None = None, **arguments: Any
    ) -> Result[JsonObject, Problem]:
        """The JSON object that the endpoint `name` answers with, `{}` for an empty answer.

        Without an answer, and after one that says to come back, the call is made again where `beaker.core.retry`
        allows it: reading calls, and launches with an idempotency key, for which the place gives the outcome of the
        first one. Failures are those of `build_request`, of the transport, and `ApiProblem` for what the place
        answered last.
        """
        return self._call(name, arguments, self._policy, idempotency_key)

    def once(self, name: str, /, **arguments: Any) -> Result[JsonObject, Problem]:
        """As `call`, but never made again: for whoever comes back anyway, with a patience of its own."""
        return self._call(name, arguments, ONCE, None)

    def _call(
        self, name: str, arguments: dict[str, Any], policy: RetryPolicy, idempotency_key: str | None
    ) -> Result[JsonObject, Problem]:
        built = build_request(name, arguments, agent_key=self.agent_key, idempotency_key=idempotency_key)
        if not is_successful(built):
            return Failure(built.failure())
        request = built.unwrap()
        return self.persist(
            lambda: self._attempt(name, request), method=request.method, keyed=bool(idempotency_key), policy=policy
        )

    def persist(
        self,
        attempt: Callable[[], tuple[T, Trouble | None]],
        *,
        method: str,
        keyed: bool = False,
        policy: RetryPolicy | None = None,
    ) -> T:
        """What `attempt` comes to in the end. It is made again after the trouble it tells of, where
        `beaker.core.retry` allows it for requests of this HTTP `method`, `keyed` or not. Several threads may do this.
        """
        started, number = self._clock(), 1
        while True:
            outcome, trouble = attempt()
            if trouble is None:
                self._quota = self._quota.earned()
                return outcome
            decision = decide(
                self._policy if policy is None else policy,
                trouble,
                repeatable=may_repeat(method, keyed=keyed),
                attempt=number,
                elapsed=self._clock() - started,
                draw=self._draw(),
                now=datetime.now(UTC),
                quota=self._quota,
            )
            if isinstance(decision, Stop):
                return outcome
            self._quota = decision.quota
            self._sleep(decision.wait)
            number += 1

    def _attempt(self, name: str, request: Request) -> tuple[Result[JsonObject, Problem], Trouble | None]:
        """What one sending of a request came to, and the trouble it had."""
        try:
            read = read_response(name, self.transport.send(request))
        except TransportFailed as failed:
            return Failure(failed.problems[0]), Trouble()
        except Refused as refused:
            return Failure(refused.problems[0]), None
        if is_successful(read):
            return read, None
        return Failure(read.failure()), trouble_in(read.failure())
