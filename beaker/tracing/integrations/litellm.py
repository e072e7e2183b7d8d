"""Recording the calls of models that LiteLLM makes, by its callbacks.

with litellm.registered(runtime.trace):
    response = await acompletion(model="openai/m", messages=messages)
"""

import asyncio
import threading
import time
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Self

from beaker.sdk.trace import Trace
from beaker.tracing.context import current_trace
from beaker.tracing.following import Ended, Following, amend, warn

GRACE_SECONDS = 2.0
"""How long leaving waits for answers that LiteLLM logs in the background."""

_LISTS = (
    "callbacks", "input_callback", "success_callback", "failure_callback",
    "_async_input_callback", "_async_success_callback", "_async_failure_callback",
)  # fmt: skip

_REGISTERED: ContextVar["Registration | None"] = ContextVar("beaker_litellm", default=None)


def registered(trace: Trace, *, existing: Sequence[Any] | None = None) -> "Registration":
    """Have what LiteLLM is asked inside the block recorded with `trace`: a context manager of both kinds.

    `existing` are callbacks that belong to the block beside it. A call belongs to the trace that is active when it is
    made. `RuntimeError` when LiteLLM is not installed and there is something to record.
    """
    return Registration(trace, existing)


def instrument(trace: Trace, *, existing: Sequence[Any] | None = None) -> list[Any]:
    """`existing` and a callback that records with `trace`, for the `callbacks` of one request; `existing` alone when
    nothing records."""
    return [*(existing or ()), *([_logger(trace)] if trace.enabled else [])]


def wait(timeout: float = 10) -> bool:
    """Wait until every call of the block around is recorded, at most so many seconds; whether it is.

    Outside of a block there is nothing to wait for; where something records all the same, that is warned of.
    """
    found = _REGISTERED.get()
    return _unregistered() if found is None else found.wait(timeout)


async def flush(timeout: float = 10) -> bool:
    """As `wait`, for asynchronous code."""
    found = _REGISTERED.get()
    return _unregistered() if found is None else await found.flush(timeout)


class Registration:
    """A block in which LiteLLM's calls are recorded. `callbacks` are what it has inside, `adapters` ours of them."""

    def __init__(self, trace: Trace, existing: Sequence[Any] | None) -> None:
        self._trace = trace
        self.adapters: list[Any] = [_logger(trace)] if trace.enabled else []
        self.callbacks: list[Any] = [*(existing or ()), *self.adapters]
        self._added: list[Any] = []
        self._token: Any = None

    def __enter__(self) -> Self:
        if self.adapters:
            module = _litellm()
            self._added = [one for one in self.callbacks if one not in module.callbacks]
            module.callbacks.extend(self._added)
            self._token = _REGISTERED.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(GRACE_SECONDS)
        self._leave()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        await self.flush(GRACE_SECONDS)
        self._leave()

    def is_settled(self) -> bool:
        """Whether every call that was made is recorded."""
        return all(one.settled() for one in self.adapters)

    def wait(self, timeout: float = 10) -> bool:
        """Wait until every call is recorded, at most so many seconds; whether it is."""
        deadline = time.monotonic() + timeout
        while not self.is_settled() and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.is_settled()

    async def flush(self, timeout: float = 10) -> bool:
        """As `wait`, for asynchronous code."""
        deadline = time.monotonic() + timeout
        while not self.is_settled() and time.monotonic() < deadline:
            await asyncio.sleep(0.005)
        return self.is_settled()

    def _leave(self) -> None:
        if not self.adapters or self._token is None:
            return
        module = _litellm()
        for name in _LISTS:
            kept: Any = getattr(module, name, None)
            # LiteLLM copies its callbacks into lists of its own.
            for one in self._added if isinstance(kept, list) else ():
                while one in kept:
                    kept.remove(one)
        for one in self.adapters:
            lost = one.give_up()
            if lost:
                warn(self._trace, f"the answer to {lost} of the calls that LiteLLM made", TimeoutError())
        token, self._token = self._token, None
        try:
            _REGISTERED.reset(token)
        except ValueError:  # left in another context than entered
            pass


class Logger:
    """What LiteLLM calls when it makes a call and when that was answered."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        self._following = Following()
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def settled(self) -> bool:
        """Whether every call that was made is answered."""
        return not self._following.keys()

    def give_up(self) -> int:
        """End the calls that were not answered; how many they are."""
        return self._following.end_all("its answer was not logged")

    def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
        """A call is made."""
        active, key = current_trace(), _key(kwargs)
        if key is None or (active.enabled and active is not self._trace):
            return
        with self._lock:
            if key in self._seen:  # a retry of the same call
                return
            self._seen.add(key)
        settings = kwargs.get("litellm_params") or {}
        call = self._trace.model_call(
            operation="text_completion" if "text" in str(kwargs.get("call_type") or "") else "chat",
            provider=str(kwargs.get("custom_llm_provider") or settings.get("custom_llm_provider") or ""),
            model=str(model or ""),
            input_messages=messages,
            server_address=kwargs.get("api_base") or settings.get("api_base") or None,
        )
        self._following.begin(key, call)
        effort = (kwargs.get("optional_params") or {}).get("reasoning_effort")
        found = self._following.find(key)
        if found is not None and isinstance(effort, str):
            found.attribute("gen_ai.request.reasoning_effort", effort)

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call was answered; a stream, whole."""
        key = _key(kwargs)
        operation = self._following.find(key)
        if operation is None:
            return
        provider = kwargs.get("custom_llm_provider")
        if isinstance(provider, str) and provider:
            amend(operation, provider=provider)
        complete = kwargs.get("complete_streaming_response") or kwargs.get("async_complete_streaming_response")
        if kwargs.get("stream") and complete is None:
            return  # a piece of a stream
        answer = complete if complete is not None else response_obj
        operation.output(answer)
        model = getattr(answer, "model", None)
        if isinstance(model, str):
            operation.attribute("gen_ai.response.model", model)
        self._following.end(key)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """A call failed."""
        error = kwargs.get("exception")
        failed = error if isinstance(error, BaseException) else Ended(str(error or response_obj or "the call failed"))
        self._following.end(_key(kwargs), failed)

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """As `log_success_event`, of an asynchronous call."""
        self.log_success_event(kwargs, response_obj, start_time, end_time)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """As `log_failure_event`, of an asynchronous call."""
        self.log_failure_event(kwargs, response_obj, start_time, end_time)


def _key(kwargs: Any) -> str | None:
    """What LiteLLM calls one call."""
    found = kwargs.get("litellm_call_id")
    return found if isinstance(found, str) else None


def _unregistered() -> bool:
    if current_trace().enabled:
        warnings.warn("nothing of LiteLLM is recorded here: put it into `with registered(trace):`", RuntimeWarning, 3)
        warn(current_trace(), "what LiteLLM did outside of `registered`", RuntimeError())
        return False
    return True


def _litellm() -> Any:
    try:
        import litellm  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise RuntimeError("LiteLLM (litellm) is not installed") from None
    return litellm


def _logger(trace: Trace) -> Logger:
    """The logger as a class that LiteLLM takes for one of its own."""
    _litellm()
    from litellm.integrations.custom_logger import CustomLogger  # type: ignore[import-not-found, unused-ignore]

    made: Logger = type("BeakerLogger", (Logger, CustomLogger), {})(trace)
    return made
