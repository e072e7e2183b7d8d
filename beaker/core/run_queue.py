"""Which of a server's open runs gets a worker next: the oldest first, not too many at once, lost ones with patience.

Times are seconds of a clock that only goes forward. A run stands in the queue from when it is met until it has ended,
whether it has a worker or not.
"""

from collections.abc import Collection, Mapping, Sequence

import attrs

from beaker.core.values import read_only, value

FOREIGN_SECONDS = 5.0
"""How long a run that another process launched is left to that process, whose worker needs a moment to show up; and how
long one that could not be given a worker waits before that is tried again."""

LONGEST_WAIT = 60.0
"""Seconds at most before a lost worker is replaced."""

STEADY_SECONDS = 60.0
"""A worker that lived longer than this was not ended by what ended the one before it."""


@value
class Standing:
    """One run in the queue: when a worker for it is due, when its last one began, and how many were lost in a row."""

    due: float
    begun: float = 0.0
    losses: int = 0


@value
class RunQueue:
    """The runs that have not ended, by id, the oldest first; `limit` of them may have a worker at the same time."""

    limit: int
    standings: Mapping[str, Standing] = attrs.field(factory=dict)


def meet(queue: RunQueue, run_ids: Sequence[str], *, due: float) -> RunQueue:
    """The queue of these open runs: those it does not know yet are due at `due`, and those that have ended are gone."""
    known = queue.standings
    return RunQueue(queue.limit, read_only({run_id: known.get(run_id) or Standing(due) for run_id in run_ids}))


def announce(queue: RunQueue, run_id: str, *, now: float) -> RunQueue:
    """The queue after `run_id` was launched here: it is due at once. Nothing changes for a run that is not in it."""
    standing = queue.standings.get(run_id)
    return queue if standing is None else _with(queue, run_id, Standing(now, standing.begun, standing.losses))


def next_run(queue: RunQueue, busy: Collection[str], *, now: float) -> str | None:
    """The run that gets a worker now, if any; `busy` are the runs that have one, also such as are not in the queue."""
    if len(busy) >= queue.limit:
        return None
    return next((key for key, one in queue.standings.items() if key not in busy and one.due <= now), None)


def begin(queue: RunQueue, run_id: str, *, now: float) -> RunQueue:
    """The queue after a worker was started for a run in it."""
    standing = queue.standings[run_id]
    return _with(queue, run_id, Standing(standing.due, now, standing.losses))


def refuse(queue: RunQueue, run_id: str, *, now: float) -> RunQueue:
    """The queue after a run in it could not be given a worker: it comes to it again later."""
    standing = queue.standings[run_id]
    return _with(queue, run_id, Standing(now + FOREIGN_SECONDS, standing.begun, standing.losses))


def lose(queue: RunQueue, run_id: str, *, now: float) -> tuple[RunQueue, float]:
    """The queue after the worker of a run ended before the run did, and the seconds until the next one is due.

    None after the first loss, then 1, 2, 4, ...: whatever ends the workers may not go away by itself. Nothing changes
    for a run that is not in the queue.
    """
    standing = queue.standings.get(run_id)
    if standing is None:
        return queue, 0.0
    losses = 1 if now - standing.begun > STEADY_SECONDS else standing.losses + 1
    wait = 0.0 if losses == 1 else min(LONGEST_WAIT, 2.0 ** min(losses - 2, 10))
    return _with(queue, run_id, Standing(now + wait, standing.begun, losses)), wait


def _with(queue: RunQueue, run_id: str, standing: Standing) -> RunQueue:
    return RunQueue(queue.limit, read_only({**queue.standings, run_id: standing}))
