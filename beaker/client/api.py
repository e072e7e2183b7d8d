"""A Beaker API from Python: calls by name, over any transport."""

import time
from collections.abc import Callable
from typing import Any

from returns.pipeline import is_successful
from returns.result import Failure, Result

from beaker.client.transport import Transport, TransportFailed
from beaker.core.api import build_request, read_response
from beaker.core.problems import Problem, Refused
from beaker.core.strict_json import JsonObject

ATTEMPTS = 3
BACK_OFF_SECONDS = 0.5


class Api:
    """Calls a place's API; which calls there are is decided by `beaker.core.endpoints`.

    `agent_key` is used by calls that need one and are not given their own. `sleep` takes seconds.
    """

    def __init__(
        self, transport: Transport, agent_key: str | None = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.transport = transport
        self.agent_key = agent_key
        self._sleep = sleep

    def call(
        self, name: str, /, *, idempotency_key: str | None = None, **arguments: Any
    ) -> Result[JsonObject, Problem]:
        """The JSON object that the endpoint `name` answers with, `{}` for an empty answer.

        A call without an answer is repeated, twice at most, when it carries an idempotency key: the place then gives
        the outcome of the first one. Failures are those of `build_request`, of the transport, and `ApiProblem` for
        what the place answered.
        """
        built = build_request(name, arguments, agent_key=self.agent_key, idempotency_key=idempotency_key)
        if not is_successful(built):
            return Failure(built.failure())
        attempts = ATTEMPTS if idempotency_key else 1
        for attempt in range(1, attempts + 1):
            try:
                return read_response(name, self.transport.send(built.unwrap()))
            except TransportFailed as failed:
                if attempt == attempts:
                    return Failure(failed.problems[0])
            except Refused as refused:
                return Failure(refused.problems[0])
            self._sleep(BACK_OFF_SECONDS * attempt)
        raise AssertionError("the loop returns at its last attempt")
