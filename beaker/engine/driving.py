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
    LogEntry,
    Propose,
    Proposed,
    SearchState,
    Started,
    entries_to_json,
    progress,
)
from beaker.engine.engines import PARETO_ENGINE, Engine
from beaker.engine.journal import Journal

Execute = Callable[[SearchState, Evaluate | Propose], Awaitable[Evaluated | Proposed]]
"""Does what a command asks for, given the search as it was when the command was handed out."""


def resumed(journal: Journal, engine: Engine = PARETO_ENGINE) -> SearchState | None:
    """The search as the log left it, `None` when it has not begun. `Refused` when the log cannot be replayed."""
    log = journal.log()
    if not log:
        return None
    replayed = engine.replay(log)
    if not is_successful(replayed):
        raise Refused(replayed.failure())
    state = replayed.unwrap()
    if state.unlogged:
        _append(journal, state, state.unlogged)
    return state


async def drive(
    state: SearchState, *, journal: Journal, execute: Execute, engine: Engine = PARETO_ENGINE
) -> SearchState:
    """Take the search to its end: a new one, or one that `resumed` gave. Whatever `execute` raises ends it."""
    if state.phase == "new":
        state, entries = engine.step(state, Started())
        _append(journal, state, entries)
    running: set[asyncio.Task[Evaluated | Proposed]] = set()
    try:
        _launch(running, state, state.outstanding, execute)
        while state.finished is None:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for event in sorted((task.result() for task in done), key=lambda event: event.seq):
                state, entries = engine.step(state, event)
                if entries:
                    _append(journal, state, entries)
                    _launch(running, state, entries, execute)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return state


def _launch(
    running: set[asyncio.Task[Evaluated | Proposed]],
    state: SearchState,
    entries: tuple[Command | LogEntry, ...],
    execute: Execute,
) -> None:
    async def executed(command: Evaluate | Propose) -> Evaluated | Proposed:
        return await execute(state, command)

    for entry in entries:
        if isinstance(entry, Evaluate | Propose):
            running.add(asyncio.get_running_loop().create_task(executed(entry)))


def _append(journal: Journal, state: SearchState, entries: tuple[LogEntry, ...]) -> None:
    journal.append(entries_to_json(entries), progress(state))
