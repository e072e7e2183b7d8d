"""`beaker run candidates`: every candidate of a run in the order of decision, and what became of the proposals."""

import argparse
from collections import Counter
from collections.abc import Mapping
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.run_view import listed, mapping, outcome_text, score
from beaker.cli.shell import DONE, Io, one_line
from beaker.cli.tables import show_table
from beaker.cli.words import counted

_COLUMNS = (("CANDIDATE", 38), ("STATUS", 9), ("PARENT", 6), ("ORIGIN", 12), ("TRAIN", 5), ("TEST", 5), ("CHANGED", 0))


def add_candidates(actions: Any) -> None:
    """Add `run candidates`."""
    leaf = add_leaf(
        actions,
        "candidates",
        help="list the candidates of a run, with parents, scores and what they changed",
        description="Lists the candidates of a run in the order of decision. TRAIN is the mean over the selection set, "
        "a failed case counting 0; only the winner and the baseline are ever scored on TEST.",
    )
    leaf.add_argument("run_id", metavar="RUN_ID")
    add_agent_option(leaf)


def candidates(arguments: argparse.Namespace, io: Io) -> int:
    """Print the candidates of a run."""
    from beaker.cli.place import opened

    with opened(arguments, io) as place:
        answer = place.call("list_candidates", run_id=arguments.run_id)
    if io.json:
        io.json_line(answer)
        return DONE
    found = [mapping(one) for one in listed(answer.get("candidates"))]
    winner = answer.get("winner_id")
    if not found:
        io.out("no candidates yet")
        return DONE
    show_table(io, _COLUMNS, [_row(one, winner) for one in found])
    outcomes = Counter(outcome_text(mapping(one).get("outcome")) for one in listed(answer.get("proposals")))
    if outcomes:
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        io.out(f"{counted(outcomes.total(), 'proposal')}: {told}")
    return DONE


def changed_text(summary: Mapping[str, Any]) -> str:
    """What a candidate changed against its parent: each path with `+`, `~` or `-` before it."""
    marks = (("+", "created"), ("~", "updated"), ("-", "deleted"))
    return ", ".join(one_line(f"{mark}{path}") for mark, kind in marks for path in listed(summary.get(kind)))


def _row(candidate: Mapping[str, Any], winner: object) -> list[object]:
    scores = mapping(candidate.get("scores"))
    train, test = (mapping(scores.get(split)).get("objective") for split in ("train", "test"))
    named = candidate.get("id")
    parent = candidate.get("parent_id")
    return [
        named,
        "winner" if winner is not None and named == winner else candidate.get("status"),
        str(parent).rpartition(".")[2] if parent is not None else None,
        candidate.get("origin"),
        None if train is None else score(train),
        None if test is None else score(test),
        changed_text(mapping(candidate.get("summary"))),
    ]
