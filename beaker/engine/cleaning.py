"""Taking out of text what must not be kept: secrets, and the run's own folders, whose names differ each time."""

import re
from collections.abc import Callable
from pathlib import Path

CHECKOUTS, ROLLOUTS, PROPOSALS, DATASET = "checkouts", "rollouts", "proposals", "dataset"
"""Folders of a run's working space."""


def cleaner(redact: Callable[[str], str], work: Path) -> Callable[[str], str]:
    """A function from what customer code said to what may be stored.

    A path in a checkout or the dataset counts from its root afterwards; the folders of a rollout and of a proposal have
    a name that is always the same, so that a result which is made again after a crash reads the same.
    """
    root = re.escape(str(work))
    places = re.compile(
        rf"{root}/(?:(?:{CHECKOUTS}/[a-z]+|{DATASET})(?P<file>/)?|{ROLLOUTS}/\d+(?P<rollout>)|{PROPOSALS}/\d+(?P<proposal>))"
    )

    def named(match: re.Match[str]) -> str:
        if match["rollout"] is not None:
            return "{rollout}"
        if match["proposal"] is not None:
            return "{workspace}"
        return "" if match["file"] else "."

    return lambda text: places.sub(named, redact(text)).replace(str(work), "{run}")
