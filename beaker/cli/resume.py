"""`beaker run resume`: lets a run go on whose baseline was waiting for a review."""

import argparse
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf, agent_words
from beaker.cli.run_view import styled_status
from beaker.cli.shell import DONE, Io, one_line


def add_resume(actions: Any) -> None:
    """Add `run resume`."""
    leaf = add_leaf(
        actions,
        "resume",
        help="let a run go on whose baseline waits for a review",
        description="Says that the paused baseline of a run was reviewed, so that the run goes on. On this machine no "
        "run waits for a review, and one that was cut off goes on by itself with the next command.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    leaf.add_argument("--review-id", required=True, metavar="ID", help="the review that has been done")
    leaf.add_argument("--model-target-id", metavar="ID", help="the model that waits, where several do")
    add_agent_option(leaf)


def resume(arguments: argparse.Namespace, io: Io) -> int:
    """Let the run go on; exit code 0 when the service took the review."""
    from beaker.cli.place import answered, opened
    from beaker.core.investigations import review_id

    review = answered(review_id(arguments.review_id))
    with opened(arguments, io, resume=False) as place:
        run = place.call(
            "resume_optimization_run",
            run_id=arguments.run_id,
            review_id=review,
            model_target_id=arguments.model_target_id,
        )
    if io.json:
        io.json_line(run)
        return DONE
    io.out(f"{one_line(arguments.run_id)}: ", styled_status(run.get("status", "RUNNING")), "  it goes on")
    io.note(f"watch it: {io.command('run', 'status', arguments.run_id, '--watch', *agent_words(arguments))}")
    return DONE
