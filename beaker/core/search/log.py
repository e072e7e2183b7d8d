"""The log of a search: its JSON lines, and the replay that rebuilds a state from them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from beaker.core.convert import from_json, to_json
from beaker.core.problems import Problem
from beaker.core.search.machine import start, step
from beaker.core.search.messages import (
    SEARCH_VERSION,
    Cancelled,
    Evaluate,
    Evaluated,
    Event,
    Finish,
    LogEntry,
    Opened,
    Propose,
    Proposed,
    Started,
)
from beaker.core.search.settings import SearchSettings
from beaker.core.search.state import SearchState
from beaker.core.strict_json import JsonObject

Start: TypeAlias = Callable[[SearchSettings, Sequence[str], Sequence[str], str], Result[SearchState, Problem]]
Step: TypeAlias = Callable[[SearchState, Event], tuple[SearchState, tuple[LogEntry, ...]]]
"""The two functions of an engine, as in `machine`."""

_KINDS: dict[str, type[LogEntry]] = {
    "opened": Opened,
    "evaluated": Evaluated,
    "proposed": Proposed,
    "cancelled": Cancelled,
    "evaluate": Evaluate,
    "propose": Propose,
    "finish": Finish,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def entries_to_json(entries: Iterable[LogEntry]) -> list[JsonObject]:
    """One JSON object per entry: its fields after `type`, which names it (`opened`, `evaluate`, `evaluated`, ...)."""
    return [{"type": _NAMES[type(entry)], **_plain(to_json(entry))} for entry in entries]


def entry_from_json(data: object) -> Result[LogEntry, Problem]:
    """Read one entry back. BK545 for the head of another search version, BK546 for anything that is no entry."""
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(kind, str) or kind not in _KINDS:
        return Failure(Problem("BK546", f"not an entry of a search log: its type is {kind!r}"))
    if kind == "opened" and data.get("search_version") != SEARCH_VERSION:
        return Failure(
            Problem(
                "BK545",
                f"this log was written by version {data.get('search_version')!r} of the search, "
                f"and this Beaker replays version {SEARCH_VERSION}",
                hint="finish the run with the version of Beaker that started it, or start a new one",
            )
        )
    fields: dict[str, Any] = {key: item for key, item in data.items() if key != "type"}
    read = from_json(fields, _KINDS[kind], code="BK546", label=kind)
    if not is_successful(read):
        return Failure(read.failure()[0])
    return Success(read.unwrap())


def replay(entries: Sequence[JsonObject], *, start: Start = start, step: Step = step) -> Result[SearchState, Problem]:
    """The state after a log, with `outstanding` as it was: exactly what `step` had returned, arrivals aside.

    Every event is taken again, and what it causes must be what the log says; else BK546 with the number of the entry
    (from 1). A log cut between an event and its commands is completed: `state.unlogged` holds what has to be appended
    before anything else. (A journal that appends what one `step` returned in one transaction never leaves any.)

    `start` and `step` are those of the engine that wrote the log.
    """
    state: SearchState | None = None
    expected: Iterator[LogEntry] = iter(())
    for number, data in enumerate(entries, start=1):
        read = entry_from_json(data)
        if not is_successful(read):
            return Failure(_at(number, read.failure()))
        entry = read.unwrap()
        caused = next(expected, None)
        if caused is None:
            stepped = _take(state, entry, start, step)
            if not is_successful(stepped):
                return Failure(_at(number, stepped.failure()))
            state, taken = stepped.unwrap()
            expected = iter(taken)
            caused = next(expected, None)
        if caused != entry:
            return Failure(_at(number, Problem("BK546", "the log does not follow from what stands before")))
    if state is None:
        return Failure(Problem("BK546", "the log is empty"))
    state.unlogged = tuple(expected)
    return Success(state)


def _plain(fields: JsonObject) -> JsonObject:
    """Fields that came after the first logs stand only where they say something: other logs stay as they were."""
    settings = fields.get("settings")
    if isinstance(settings, dict) and settings["spend_budget_usd"] is None:
        fields = {**fields, "settings": {name: item for name, item in settings.items() if name != "spend_budget_usd"}}
    return fields if fields.get("spend", True) is not None else {k: v for k, v in fields.items() if k != "spend"}


def _take(
    state: SearchState | None, entry: LogEntry, start: Start, step: Step
) -> Result[tuple[SearchState, tuple[LogEntry, ...]], Problem]:
    """Start with the head of the log, or take the next event."""
    try:
        if isinstance(entry, Opened) and state is None:
            started = start(entry.settings, entry.train_ids, entry.test_ids, entry.baseline_tree)
            return started.map(lambda made: step(made, Started()))
        if isinstance(entry, Evaluated | Proposed | Cancelled) and state is not None:
            return Success(step(state, entry))
    except ValueError as error:
        return Failure(Problem("BK546", str(error)))
    return Failure(Problem("BK546", f"{_NAMES[type(entry)]!r} does not stand here"))


def _at(number: int, problem: Problem) -> Problem:
    where = f"search log, entry {number}"
    return Problem(problem.code, problem.message, f"{where}, {problem.where}" if problem.where else where, problem.hint)
