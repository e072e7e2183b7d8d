"""The public client of a Beaker API, over HTTP."""

import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar, Self, TypeVar

import attrs

from beaker.client.agent_calls import AgentCalls, DatasetCalls
from beaker.client.api import Api
from beaker.client.conveniences import Conveniences
from beaker.client.errors import client_error, client_errors
from beaker.client.methods import Call, Found, Pause, Step, Steps, Walk, Work, walking
from beaker.client.network import TIMEOUT_SECONDS, HttpTransport
from beaker.client.person_calls import PersonCalls
from beaker.client.run_calls import RunCalls
from beaker.core.problems import Refused
from beaker.core.values import value

T = TypeVar("T")

_making = threading.Lock()


class _Kept:
    """An API with its connections, as long as a client keeps it; a fork of the process makes its own."""

    __slots__ = ("api", "close", "process")

    def __init__(self, api: Api, close: Any) -> None:
        self.api = api
        self.close = close
        self.process = os.getpid()


class Runner:
    """What does the steps of methods before they return, over connections that are kept and used again."""

    __slots__ = ("_kept",)

    awaits: ClassVar[bool] = False

    base_url: str
    api_key: str
    timeout_seconds: float
    agent_key: str | None

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        kept = getattr(self, "_kept", None)
        if kept is not None:
            object.__delattr__(self, "_kept")
            kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        came: Any = None
        try:
            api = self._api()
            while True:
                try:
                    step = steps.send(came)
                except StopIteration as ended:
                    result: T = ended.value
                    return result
                came = _perform(api, step)
        finally:
            steps.close()

    def _walk(self, walk: Walk[T]) -> Iterator[T]:
        steps, came = walking(walk), None
        while True:
            try:
                step = steps.send(came)
            except StopIteration:
                return
            came = None
            if isinstance(step, Found):
                yield from step.items
            else:
                came = _perform(self._api(), step)

    def _api(self) -> Api:
        with _making:
            kept = getattr(self, "_kept", None)
            if kept is None or kept.process != os.getpid():
                transport = new_transport(self.base_url, self.api_key, self.timeout_seconds)
                kept = _Kept(Api(transport, self.agent_key), weakref.finalize(self, transport.close))
                object.__setattr__(self, "_kept", kept)
            api: Api = kept.api
            return api


@value
class BeakerClient(PersonCalls, AgentCalls, DatasetCalls, RunCalls, Conveniences, Runner):
    """A Beaker API at `base_url`, used with `api_key` as bearer.

    There is a method for each endpoint, named as it is, whose answer is the decoded JSON object; calls about one agent
    need its key: the argument `agent_key`, else the client's. `cli_token` is the token of a login that a call uses in
    place of the client's key. `timeout_seconds` holds for connecting and for each read; an answer must be there as a
    whole after ten times as much. Connections are used again by all calls and threads, until `close`, the end of a
    `with` block, or the end of the client.

    Calls that only read, and launches with an idempotency key, are made again after trouble that passes. Raises
    `BeakerClientError` for what did not succeed, `ValueError` for wrong arguments, `OSError` for local files.
    """

    base_url: str
    api_key: str = attrs.field(default="", repr=False)
    timeout_seconds: float = TIMEOUT_SECONDS
    agent_key: str | None = None


def new_transport(base_url: str, api_key: str, timeout: float) -> HttpTransport:
    """The transport of a client; raises what `client_error` makes of a base URL or a key that cannot be used."""
    try:
        return HttpTransport(base_url, api_key or None, timeout=timeout)
    except Refused as refused:
        raise client_error(refused.problems[0]) from None


def do_work(api: Api, work: Work) -> Any:
    """What work gives; raises what `client_errors` makes of a refusal."""
    try:
        return work.what(api.of_agent(work.agent_key))
    except Refused as refused:
        raise client_errors(refused.problems) from None


def _perform(api: Api, step: Step) -> Any:
    match step:
        case Call(name, arguments, token, idempotency_key, patient):
            if not patient:
                return api.once(name, token=token, **arguments)
            return api.call(name, token=token, idempotency_key=idempotency_key, **arguments)
        case Pause(seconds):
            return api.sleep(seconds)
        case Work():
            return do_work(api, step)
