"""Running a coroutine from a plain test, without touching the event loop of anybody else."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Callable[[], Coroutine[Any, Any, T]], name: str) -> T:
    """Run `work()` in an event loop of its own, which is closed again; tasks that it leaves behind are cancelled.

    `RuntimeError` where a loop runs already; `name` is what was called there.
    """
    __tracebackhide__ = True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(f"an event loop runs here; write `await asyncio.to_thread({name}, ...)`")
    # With a factory the runner leaves alone what asyncio.get_event_loop() answers in this thread.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work())
