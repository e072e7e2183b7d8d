"""`beaker run status`, `run list` and `run cancel`: looking at runs, and ending one."""

import argparse
from typing import TYPE_CHECKING, Any

from beaker.cli.parser import add_agent_option, add_leaf, agent_words, positive, seconds
from beaker.cli.run_view import details, mapping, styled_status
from beaker.cli.shell import DONE, Io, one_line
from beaker.cli.tables import show_table

if TYPE_CHECKING:
    from returns.result import Result

    from beaker.cli.place import Answer, Place
    from beaker.core.problems import Problem
    from beaker.core.strict_json import JsonObject

_COLUMNS = (("RUN ID", 38), ("STATUS", 14), ("CREATED", 27), ("STARTED", 27), ("COMPLETED", 27))


def add_status(actions: Any) -> None:
    """Add `run status`."""
    leaf = add_leaf(actions, "status", help="show a run, or watch it until it ends")
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--watch", action="store_true", help="print every change until the run ends")
    leaf.add_argument("--poll-interval", type=seconds, metavar="SECONDS", help="between two looks (15; 0.5 locally)")
    leaf.add_argument("--poll-timeout", type=seconds, default=0.0, metavar="SECONDS", help="stop watching then (never)")
    add_agent_option(leaf)


def add_list(actions: Any) -> None:
    """Add `run list`."""
    leaf = add_leaf(actions, "list", help="list the agent's runs, newest first")
    leaf.add_argument("--status", metavar="STATUS", help="only runs with this status")
    leaf.add_argument("--trigger-reason", metavar="REASON", help="only runs triggered for this reason")
    leaf.add_argument("--limit", type=positive(100), default=25, metavar="N", help="at most so many, 1 to 100 (25)")
    leaf.add_argument("--offset", type=positive(None, least=0), default=0, metavar="N", help="skip so many (0)")
    leaf.add_argument(
        "--all", action="store_true", help="all of them, asked for page by page; --limit is that of a page"
    )
    add_agent_option(leaf)


def add_cancel(actions: Any) -> None:
    """Add `run cancel`."""
    leaf = add_leaf(actions, "cancel", help="end a run; what it has found so far stays readable")
    leaf.add_argument("run_id", metavar="RUN_ID")
    add_agent_option(leaf)


def status(arguments: argparse.Namespace, io: Io) -> int:
    """Exit code 0 completed, 1 ended otherwise, 2 no answer, 3 not ended."""
    from beaker.cli.place import answered, opened
    from beaker.cli.watch import standing_text, tell_next, watch_run
    from beaker.core.runs import outcome, watch_interval

    run_id: str = arguments.run_id
    with opened(arguments, io) as place:
        if arguments.watch:
            interval = watch_interval(arguments.poll_interval, near=place.near)
            try:
                code = watch_run(
                    lambda: fetch(place, run_id, watching=True),
                    io,
                    run_id,
                    interval=interval,
                    timeout=arguments.poll_timeout,
                    stands_still=lambda: place.stands_still(run_id),
                    pause=lambda: pause(arguments, io, run_id),
                )
                tell_next(io, run_id, code, agent_words(arguments))
                return code
            except KeyboardInterrupt:
                if not place.stands_still(run_id):
                    tell_goes_on(arguments, io, run_id)
                raise
        still = place.stands_still(run_id)
        run: Answer = answered(fetch(place, run_id))
        still = still and place.stands_still(run_id)
    seen = outcome(run)
    if io.json:
        io.json_line(run)
        return seen.exit_code
    io.out(f"{one_line(run_id)}: ", styled_status(run.get("status")))
    for line in details(run):
        io.out(line)
    if still and not seen.settled:
        io.tell(standing_text(io, run_id))
    if seen.needs_review:
        io.out("  a paused baseline has to be reviewed before this run goes on")
    return seen.exit_code


def tell_goes_on(arguments: argparse.Namespace, io: Io, run_id: str) -> None:
    """A watch was interrupted: say that the run was not."""
    io.tell(f"{one_line(run_id)} goes on; watch it again: {_again(arguments, io, run_id)}")


def pause(arguments: argparse.Namespace, io: Io, run_id: str) -> bool:
    """A watch was interrupted: whether somebody wants to watch on after a pause."""
    from beaker.cli.watch import pause_watch

    return pause_watch(io, run_id, _again(arguments, io, run_id))


def _again(arguments: argparse.Namespace, io: Io, run_id: str) -> str:
    return io.command("run", "status", run_id, "--watch", *agent_words(arguments))


def fetch(place: "Place", run_id: str, *, watching: bool = False) -> "Result[JsonObject, Problem]":
    """The run's answer; on this machine a lost worker is started again first, as with every command.

    A watch asks once at a time: it comes back anyway, and has a patience of its own.
    """
    place.resume()
    call = place.api.once if watching else place.api.call
    return call("get_optimization_run", run_id=run_id)


def listing(arguments: argparse.Namespace, io: Io) -> int:
    """Print a page of runs, or all of them."""
    from beaker.cli.place import opened

    with opened(arguments, io) as place:
        page = _page(place, arguments, arguments.offset)
        if arguments.all:
            page = _with_the_rest(place, arguments, page)
    if io.json:
        io.json_line(page)
        return DONE
    runs = [mapping(run) for run in page["runs"]]
    if not runs:
        io.out("no runs")
    else:
        keys = ("id", "status", "created_at", "started_at", "completed_at")
        show_table(io, _COLUMNS, ([run.get(key) for key in keys] for run in runs))
    first = page.get("offset", arguments.offset)
    io.out(f"{first + 1}-{first + len(runs)} of {page.get('total')}" if runs else f"0-0 of {page.get('total')}")
    return DONE


def _page(place: "Place", arguments: argparse.Namespace, offset: int) -> "Answer":
    return place.call(
        "list_optimization_runs",
        limit=arguments.limit,
        offset=offset,
        status=arguments.status,
        trigger_reason=arguments.trigger_reason,
    )


def _with_the_rest(place: "Place", arguments: argparse.Namespace, first: "Answer") -> "Answer":
    """The first page with the runs of the pages behind it; one that moved on while they were fetched comes once."""
    from beaker.cli.place import answered
    from beaker.core.pages import read_page

    runs: list[Any] = []
    seen: set[object] = set()
    answer, offset = first, arguments.offset
    while True:
        page = answered(read_page(answer, "runs", limit=arguments.limit, offset=offset, seen=seen))
        runs.extend(page.items)
        seen |= page.ids
        if page.next_offset is None:
            return {**first, "runs": runs, "total": answer.get("total")}
        offset = page.next_offset
        answer = _page(place, arguments, offset)


def cancel(arguments: argparse.Namespace, io: Io) -> int:
    """Cancel a run; one that is cancelled already stays so."""
    from beaker.cli.place import opened
    from beaker.core.runs import cancelled

    with opened(arguments, io, resume=False) as place:
        run = place.call("cancel_optimization_run", run_id=arguments.run_id)
    if (problem := cancelled(run)) is not None:
        return io.fail(problem)
    if io.json:
        io.json_line(run)
    else:
        io.out(f"{one_line(arguments.run_id)}: ", styled_status("CANCELLED"))
    return DONE
