"""Watching a run until it ends: what changed, when, and patience with a place that answers badly for a while."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from beaker.cli.run_view import (
    details,
    failure_lines,
    mapping,
    phase_text,
    progress_text,
    rollouts_text,
    search_text,
    styled_status,
)
from beaker.cli.shell import DONE, NEGATIVE, REFUSED, UNFINISHED, Io, Styled, Terminated, one_line
from beaker.cli.signals import heard_out, held_back, let_through
from beaker.cli.words import counted

if TYPE_CHECKING:
    from returns.result import Result

    from beaker.cli.place import Answer
    from beaker.core.problems import Problem
    from beaker.core.strict_json import JsonObject

T = TypeVar("T")

ROLLOUT_LINES = 5.0
"""Seconds at least between two lines that tell of nothing but more rollouts."""

Fetch = Callable[[], "Result[JsonObject, Problem]"]


@held_back()
def watch_run(
    fetch: Fetch,
    io: Io,
    run_id: str,
    *,
    interval: float,
    timeout: float,
    stands_still: Callable[[], bool] = lambda: False,
    pause: Callable[[], bool] = lambda: False,
    draw: Callable[[], float] = random.random,
) -> int:
    """Print every change of a run until it ends, needs a person, or `timeout` seconds (0: none) have passed.

    `fetch` gets the run's answer, `draw` numbers in [0, 1); `stands_still` tells whether nobody works on the run. After
    an interrupt `pause` tells whether somebody wants to watch on. Times are local. A terminal shows the rollouts in a
    line that is drawn over. Under JSON each change is one line, the whole answer. The exit code is that of `run
    status`: 0 completed, 1 ended otherwise, 2 no answer, 3 not ended.

    Signals unwind while it waits, for an answer or for time to pass, so none can come between seeing a change and
    telling of it.
    """
    from returns.pipeline import is_successful

    from beaker.core.retry import Stop, decide, trouble_in, watch_policy
    from beaker.core.runs import outcome

    started = io.now()
    since: float | None = None
    shown: Any = None
    shown_at = 0.0
    attempt = 0
    still = False
    while True:
        wait = interval
        still, told_still = stands_still(), still  # asked first: a run that has ended needs no worker any more
        while (fetched := _waited(fetch, pause)) is None:
            pass
        if is_successful(fetched):
            run: Answer = fetched.unwrap()
            seen = outcome(run)
            since, attempt = None, 0
            long_ago = io.line is None and io.now() - shown_at > ROLLOUT_LINES
            if seen.settled or _notable(run, shown) or (long_ago and rollouts_text(run) != rollouts_text(shown)):
                before, shown, shown_at = shown, run, io.now()
                show_change(run, io, run_id, before)
            if still and not told_still and not seen.settled:
                io.tell(standing_text(io, run_id))
            if seen.needs_review:
                io.note(f"{one_line(run_id)}: a paused baseline has to be reviewed before this run goes on")
            if seen.settled:
                return seen.exit_code
            draw_rollouts(run, io, run_id)
        else:
            problem = fetched.failure()
            found = trouble_in(problem)
            if found is None:
                return io.fail(problem, code=REFUSED)
            since = io.now() if since is None else since
            attempt += 1
            decision = decide(
                watch_policy(interval, answered=shown is not None),
                found,
                repeatable=True,
                attempt=attempt,
                elapsed=io.now() - since,
                draw=draw(),
                now=datetime.now(UTC),
            )
            if isinstance(decision, Stop):
                return io.fail(problem, code=REFUSED)
            if attempt == 1:
                io.note(f"{clock(io)}  no answer, trying again: {problem.message}")
            wait = decision.wait
        if timeout > 0 and io.now() - started >= timeout:
            goes_on = "nobody works on it" if still else "it goes on without this watch"
            io.note(f"{one_line(run_id)} has not ended after {counted(f'{timeout:g}', 'second')}; {goes_on}")
            return UNFINISHED
        _waited(partial(io.sleep, wait), pause)


def _waited(wait: Callable[[], T], pause: Callable[[], bool]) -> T | None:
    """What `wait` gives. `None` when an interrupt that was held back, or came meanwhile, ended it and `pause` says to
    go on; SIGTERM and SIGHUP end everything."""
    try:
        with let_through():
            return wait()
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, Terminated):
            raise
        with let_through():
            on = pause()
        if not on:
            raise
    return None


def pause_watch(io: Io, run_id: str, again: str) -> bool:
    """The watch was interrupted: say that the run was not, and that `again` comes back to it, and wait for Enter.

    True to watch on. False where nobody can answer: no terminal, JSON, or the input has ended. Another interrupt while
    waiting ends the watch.
    """
    if io.json or not (io.stdin.isatty() and io.stderr.isatty()):
        return False
    heard_out()
    io.tell(f"the watch is paused, {one_line(run_id)} goes on without it")
    io.tell(f"  Enter watches on, Ctrl-C ends the watch; to come back later: {again}")
    return io.stdin.readline() != ""


def draw_rollouts(run: "Answer", io: Io, run_id: str) -> None:
    """On a terminal, how many of a run's rollouts are done, in the line that is drawn over."""
    rollouts = mapping(mapping(run.get("progress")).get("rollouts"))
    done, limit = rollouts.get("done"), rollouts.get("limit")
    if io.line is not None and isinstance(done, int) and isinstance(limit, int):
        from beaker.core.progress import bar

        io.line.draw(f"{run_id}: {rollouts_text(run)}  {bar(done, limit)}")


def standing_text(io: Io, run_id: str) -> str:
    """What to say of a run of this machine that has not ended and has no worker."""
    again = io.command("run", "status", run_id, "--watch")
    return f"{one_line(run_id)} has no worker at the moment and stands still; this goes on with it: {again}"


def tell_next(io: Io, run_id: str, code: int, words: Sequence[str]) -> None:
    """Say what to do after a watch: fetch what the run has, if it ended by `code`; `words` name the agent."""
    if code in (DONE, NEGATIVE):
        io.note(Styled("Next:", "heading"))
        io.note(f"  1. fetch what it has: {io.command('run', 'pull', run_id, *words)}")


def show_change(run: "Answer", io: Io, run_id: str, before: Any = None) -> None:
    """One change of a run since `before`: a JSON line, or a line with the time, and with the proposal that failed; with
    the details once the run has ended."""
    from beaker.core.runs import has_ended

    if io.json:
        io.json_line(run)
        return
    progress = progress_text(run)
    io.out(f"{clock(io)}  {one_line(run_id)}: ", styled_status(run.get("status")), f"  {progress}" if progress else "")
    if has_ended(run.get("status")):
        for line in details(run, progress=False):
            io.out(line)
    elif (failure := failure_lines(run)) and failure != failure_lines(before or {}):
        for line in failure:
            io.out("  ", line)


def clock(io: Io) -> str:
    """The time of day, local."""
    return datetime.fromtimestamp(io.now()).strftime("%H:%M:%S")


def _notable(run: Any, shown: Any) -> bool:
    """Whether a run differs from what was shown last by more than its count of rollouts."""
    return shown is None or any(part(run) != part(shown) for part in (_status, phase_text, search_text))


def _status(run: "Answer") -> Any:
    return run.get("status")
