"""SIGINT, SIGTERM and SIGHUP: the first one unwinds the command, which tears down; the second ends the process.

SIGHUP stays ignored where whoever started the command ignores it (`nohup`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from beaker.cli.shell import HungUp, Terminated

TYPE_CHECKING = False  # as in `beaker.cli.shell`
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")


class _Gate:
    """Where signals wait while a block holds them back; `open` lets the next one through at once."""

    def __init__(self) -> None:
        self.open = False
        self.waiting: int | None = None


_gate: _Gate | None = None
"""The gate of the block that holds signals back; signals reach the main thread alone, so there is one at most."""


@contextmanager
def ending_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP unwind like SIGINT; a second signal of any kind ends the process at once, with its exit
    code."""

    before = {number: signal.signal(number, _unwind_on) for number in _heard()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def heard_out() -> None:
    """The signal that came was no end: the next one unwinds again, and only the one after it ends the process."""
    for number in _heard():
        if signal.getsignal(number) is _end_on:
            signal.signal(number, _unwind_on)


def _end_on(number: int, _frame: object) -> NoReturn:
    _end(number)


def _unwind_on(number: int, _frame: object) -> None:
    for each in _heard():
        signal.signal(each, _end_on)
    if _gate is not None and not _gate.open:
        _gate.waiting = number
        return
    if _gate is not None:
        _gate.open = False
    raise _unwinding(number)


@contextmanager
def held_back() -> Iterator[None]:
    """A signal that comes in the block unwinds where the block lets it through, at its end at the latest; a second one
    ends the process at once all the same."""
    global _gate
    _gate = gate = _Gate()
    try:
        yield
    finally:
        _gate = None
    if gate.waiting is not None:
        raise _unwinding(gate.waiting)


@contextmanager
def let_through() -> Iterator[None]:
    """In a block that holds signals back: one that waits, or comes in this block, unwinds this block."""
    gate = _gate
    if gate is None:
        yield
        return
    gate.open = True
    try:
        if gate.waiting is not None:
            number, gate.waiting = gate.waiting, None
            raise _unwinding(number)
        yield
    finally:
        gate.open = False


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in an event loop. The first signal cancels it, so that it can tear down, and is then raised here as
    `KeyboardInterrupt`, `Terminated` or `HungUp`; the second ends the process at once."""
    import asyncio

    received: list[int] = []
    before = {number: signal.getsignal(number) for number in _heard()}

    async def guarded() -> T:
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            if received:
                _end(number)
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
        raise _unwinding(received[0])
    return result


def _heard() -> list[signal.Signals]:
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    others = [] if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN else [hangup]
    return [signal.SIGINT, signal.SIGTERM, *others]


def _unwinding(number: int) -> KeyboardInterrupt:
    kinds: dict[int, type[KeyboardInterrupt]] = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}
    return kinds.get(number, HungUp)()


def _end(number: int) -> NoReturn:
    """End at once; the temporary folders of the command go with it. Their guardians end the processes it started."""
    folders = sys.modules.get("beaker.runtime.folders")  # without it, no such folder was made
    try:
        if folders is not None:
            folders.remove_temporary()
    finally:
        os._exit(128 + number)
