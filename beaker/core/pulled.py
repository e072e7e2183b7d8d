"""What is brought of a run, and which of it somebody asked for."""

from collections.abc import Collection, Mapping
from typing import Any

from beaker.core.values import value

PULLED = (
    "run.json", "candidates.json", "eval_reports.json", "proposals", "patch.diff", "changes", "tree", "report.html",
)  # fmt: skip
"""Everything that stands directly in the folder of a run."""

PULLED_OF_A_CANDIDATE = PULLED[4:]
"""What stands directly in the folder of a candidate."""

PULLED_BESIDE = PULLED[1:3]
"""What stands beside the folder of the run too, where it always stood."""


def wanted_files(only: Collection[str], path: str) -> bool:
    """Whether `only` asks for the file `path`; an empty one asks for everything."""
    return not only or path.partition("/")[0] in only


@value
class Chosen:
    """The candidate whose files are brought: the winner, or the best one so far where there is none (`best`)."""

    candidate_id: str | None
    best: bool


def choose_candidate(run: Mapping[str, Any], candidates: Mapping[str, Any]) -> Chosen:
    """The candidate to bring of a run, from the answers about it; none where neither names one."""
    winner = candidates.get("winner_id")
    if isinstance(winner, str):
        return Chosen(winner, best=False)
    progress = run.get("progress")
    best = progress.get("best") if isinstance(progress, Mapping) else None
    found = best.get("candidate_id") if isinstance(best, Mapping) else None
    return Chosen(found if isinstance(found, str) else None, best=True)
