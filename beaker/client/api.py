"""A Beaker API from Python: calls by name, over any transport."""

import random
import time
from collections.abc import Callable
from copy import copy
from datetime import UTC, datetime
from typing import Any, TypeVar

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.client.transport import Transport, TransportFailed
from beaker.core.api import Request, Response, build_request, read_response
from beaker.core.problems import Problem, Refused
from beaker.core.retry import ONCE, RetryPolicy, RetryQuota, Stop, Trouble, decide, may_repeat, trouble_in
from beaker.core.strict_json import JsonObject

T = TypeVar("T")


class Caller:
    """What calls need whoever makes them: an agent's key, patience, a clock.

    `agent_key` is used by calls that need one and are not given their own. `policy` says how patiently calls are made
    again, `clock` is in seconds, `draw` gives numbers in [0, 1).
    """

    def __init__(
        self,
        agent_key: str | None,
        *,
        policy: RetryPolicy | None,
        clock: Callable[[], float],
        draw: Callable[[], float],
    ) -> None:
        self.agent_key = agent_key
        self._policy = policy or RetryPolicy()
        self._quota = RetryQuota()
        self._clock = clock
        self._draw = draw

    def patience(self, method: str, *, keyed: bool = False, policy: RetryPolicy | None = None) -> "Patience":
        """The patience for one request of this HTTP `method`, `keyed` or not, from now on."""
        return Patience(self, method, keyed=keyed, policy=policy or self._policy)


class Patience:
    """How often one request is made again, as `beaker.core.retry` allows it and the caller's quota affords it."""

    def __init__(self, caller: Caller, method: str, *, keyed: bool, policy: RetryPolicy) -> None:
        self._caller = caller
        self._policy = policy
        self._repeatable = may_repeat(method, keyed=keyed)
        self._started = caller._clock()
        self._number = 0

    def after(self, trouble: Trouble | None) -> float | None:
        """Seconds to wait before the request is made again; `None` when its outcome counts."""
        caller = self._caller
        self._number += 1
        if trouble is None:
            caller._quota = caller._quota.earned()
            return None
        decision = decide(
            self._policy,
            trouble,
            repeatable=self._repeatable,
            attempt=self._number,
            elapsed=caller._clock() - self._started,
            draw=caller._draw(),
            now=datetime.now(UTC),
            quota=caller._quota,
        )
        if isinstance(decision, Stop):
            return None
        caller._quota = decision.quota
        return decision.wait


class Api(Caller):
    """Calls a place's API; which calls there are is decided by `beaker.core.endpoints`.

    As `Caller`; `sleep` is in seconds.
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
        super().__init__(agent_key, policy=policy, clock=clock, draw=draw)
        self.transport = transport
        self.sleep = sleep

    def of_agent(self, agent_key: str | None) -> "Api":
        """This, for calls about another agent; `None` is the same one."""
        made = copy(self)
        made.agent_key = self.agent_key if agent_key is None else agent_key
        return made

    def call(
        self, name: str, /, *, token: str | None = None, idempotency_key: str | None = None, **arguments: Any
    ) -> Result[JsonObject, Problem]:
        """The JSON object that the endpoint `name` answers with, `{}` for an empty answer.

        Without an answer, and after one that says to come back, the call is made again where `beaker.core.retry`
        allows it: reading calls, and launches with an idempotency key, for which the place gives the outcome of the
        first one. `token` replaces the transport's credential. Failures are those of `build_request`, of the
        transport, and `ApiProblem` for what the place answered last.
        """
        return self._call(name, arguments, None, token, idempotency_key)

    def once(self, name: str, /, *, token: str | None = None, **arguments: Any) -> Result[JsonObject, Problem]:
        """As `call`, but never made again: for whoever comes back anyway, with a patience of its own."""
        return self._call(name, arguments, ONCE, token, None)

    def _call(
        self,
        name: str,
        arguments: dict[str, Any],
        policy: RetryPolicy | None,
        token: str | None,
        idempotency_key: str | None,
    ) -> Result[JsonObject, Problem]:
        built = build_request(name, arguments, agent_key=self.agent_key, idempotency_key=idempotency_key, token=token)
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
        patience = self.patience(method, keyed=keyed, policy=policy)
        while True:
            outcome, trouble = attempt()
            wait = patience.after(trouble)
            if wait is None:
                return outcome
            self.sleep(wait)

    def _attempt(self, name: str, request: Request) -> tuple[Result[JsonObject, Problem], Trouble | None]:
        """What one sending of a request came to, and the trouble it had."""
        try:
            return answer_of(name, self.transport.send(request))
        except Refused as refused:
            return refusal_of(refused)


def answer_of(name: str, response: Response) -> tuple[Result[JsonObject, Problem], Trouble | None]:
    """What an answer comes to, and the trouble it tells of."""
    read = read_response(name, response)
    return (read, None) if is_successful(read) else (Failure(read.failure()), trouble_in(read.failure()))


def refusal_of(refused: Refused) -> tuple[Result[JsonObject, Problem], Trouble | None]:
    """What a request comes to that was not answered in full, or that the transport did not make."""
    return Failure(refused.problems[0]), Trouble() if isinstance(refused, TransportFailed) else None
