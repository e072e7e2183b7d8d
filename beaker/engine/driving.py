"""Driving the search: execute what it commands, tell it what came of it, and keep its log.

The order of things is what makes a run survive a kill: results are stored before the search hears of them, and what
the search says is in the log before anything of it is done.
"""

import asyncio
from collections.abc import Awaitable, Callable

from returns.pipeline import is_successful

from beaker.core.problems import Refused
from beaker.core.search import (
    Command,
    Evaluate,
    Evaluated,
    Finish,
    LogEntry,
    Propose,
    Proposed,
    SearchState,
    Started,
    entries_to_json,
    progress,
    replay,
    step,
)
from beaker.engine.journal import Journal

Execute = Callable[[Evaluate | Propose], Awaitable[Evaluated | Proposed]]


def resumed(journal: Journal) -> SearchState | None:
    """The search as the log left it, `None` when it has not begun. `Refused` when the log cannot be replayed."""
    log = journal.log()
    if not log:
        return None
    replayed = replay(log)
    if not is_successful(replayed):
        raise Refused(replayed.failure())
    state = replayed.unwrap()
    if state.unlogged:
        _append(journal, state, state.unlogged)
    return state


async def drive(state: SearchState, *, journal: Journal, execute: Execute) -> SearchState:
    """Take the search to its end: a new one, or one that `resumed` gave. Whatever `execute` raises ends it."""
    if state.phase == "new":
        state, entries = step(state, Started())
        _append(journal, state, entries)
    running: set[asyncio.Task[Evaluated | Proposed]] = set()
    try:
        _launch(running, state.outstanding, execute)
        while state.finished is None:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for event in sorted((task.result() for task in done), key=lambda event: event.seq):
                state, entries = step(state, event)
                if entries:
                    _append(journal, state, entries)
                    _launch(running, entries, execute)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return state


def _launch(
    running: set[asyncio.Task[Evaluated | Proposed]], entries: tuple[Command | LogEntry, ...], execute: Execute
) -> None:
    loop = asyncio.get_running_loop()
    for entry in entries:
        if isinstance(entry, Evaluate | Propose):
            running.add(loop.create_task(_executed(entry, execute)))


async def _executed(command: Evaluate | Propose, execute: Execute) -> Evaluated | Proposed:
    return await execute(command)


def _append(journal: Journal, state: SearchState, entries: tuple[LogEntry, ...]) -> None:
    journal.append(entries_to_json(entries), progress(state))


__all__ = ["Execute", "Finish", "drive", "resumed"]
