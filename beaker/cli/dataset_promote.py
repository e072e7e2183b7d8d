"""`beaker dataset promote`: make a revision what its name stands for."""

import argparse
from typing import Any

from beaker.cli.parser import add_agent_option, add_leaf
from beaker.cli.shell import DONE, Io, Styled, one_line


def add_promote(actions: Any) -> None:
    """Add `dataset promote`."""
    leaf = add_leaf(
        actions,
        "promote",
        help="make a revision what NAME stands for",
        description="Makes a revision the production revision of its name: the one that runs use when they name the "
        "dataset alone. Without a revision the newest one is promoted.",
    )
    leaf.add_argument("reference", metavar="REFERENCE", help="NAME@REVISION, or NAME for its newest revision")
    leaf.add_argument("--revision", metavar="REV", help="the revision, when REFERENCE is a name alone")
    add_agent_option(leaf)


def promote(arguments: argparse.Namespace, io: Io) -> int:
    """Promote, after looking for the newest revision when none is named."""
    from beaker.cli.place import answered, opened
    from beaker.core.datasets import MOST_LISTED, newest_revision, promotion

    wanted = answered(promotion(arguments.reference, arguments.revision))
    with opened(arguments, io) as place:
        revision = wanted.revision
        if revision is None:
            listed = place.call("list_datasets", limit=MOST_LISTED, offset=0)["datasets"]
            revision = answered(newest_revision(listed, wanted.name))
        answer = place.call("promote_dataset", name=wanted.name, revision=revision)
    if io.json:
        io.json_line(answer)
        return DONE
    name = one_line(wanted.name)
    io.out(Styled("beaker dataset promote:", "ok"), f" {name}@{one_line(revision)} is what {name} stands for")
    return DONE
