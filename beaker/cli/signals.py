"""SIGINT and SIGTERM: the first one of either unwinds the command, which tears down; the second ends the process."""

from __future__ import annotations

import os
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from beaker.cli.shell import Terminated

TYPE_CHECKING = False  # as in `beaker.cli.shell`
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")


@contextmanager
def ending_signals() -> Iterator[None]:
    """SIGTERM unwinds like SIGINT; a second signal of either kind ends the process at once, with its exit code."""

    def end(number: int, _frame: object) -> NoReturn:
        os._exit(128 + number)

    def unwind(number: int, _frame: object) -> NoReturn:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, end)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {number: signal.signal(number, unwind) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in an event loop. The first SIGINT or SIGTERM cancels it, so that it can tear down, and is then
    raised here as `KeyboardInterrupt` or `Terminated`; the second ends the process at once."""
    import asyncio

    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    async def guarded() -> T:
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            if received:
                os._exit(128 + number)
            received.append(number)
            task.cancel()

        for number in before:
            try:
                asyncio.get_running_loop().add_signal_handler(number, end, number)
            except (NotImplementedError, RuntimeError, ValueError):
                break  # Windows, or not the main thread: signals keep their ordinary way
        return await main

    try:
        result = asyncio.run(guarded())
    except asyncio.CancelledError:
        if not received:
            raise
    finally:
        main.close()  # a signal may have come before it was started
        for number, handler in before.items():
            if signal.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
    if received:
        raise Terminated if received[0] == signal.SIGTERM else KeyboardInterrupt
    return result
