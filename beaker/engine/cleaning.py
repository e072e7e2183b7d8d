"""Taking out of text what must not be kept: secrets, and the run's own folders, whose names differ each time."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.strict_json import JsonObject
from beaker.core.traces import LONGEST, bounded
from beaker.runtime.shortening import shortened

Clean = Callable[[str], str]
"""From what customer code said to what may be stored."""

CHECKOUTS, ROLLOUTS, PROPOSALS, DATASET = "checkouts", "rollouts", "proposals", "dataset"
"""Folders of a run's working space."""


def cleaner(redact: Callable[[str], str], work: Path) -> Clean:
    """A function from what customer code said to what may be stored.

    A path in a checkout or the dataset counts from its root afterwards; the folders of a rollout and of a proposal have
    a name that is always the same, so that a result which is made again after a crash reads the same.
    """
    root = re.escape(str(work))
    places = re.compile(
        rf"{root}/(?:(?:{CHECKOUTS}/[a-z]+(?:-\d+)?|{DATASET})(?P<file>/)?|{ROLLOUTS}/\d+(?P<rollout>)|{PROPOSALS}/\d+(?P<proposal>))"
    )

    def named(match: re.Match[str]) -> str:
        if match["rollout"] is not None:
            return "{rollout}"
        if match["proposal"] is not None:
            return "{workspace}"
        return "" if match["file"] else "."

    return lambda text: places.sub(named, redact(text)).replace(str(work), "{run}")


def clean_json(data: Any, clean: Clean) -> Any:
    """JSON with every text in it cleaned, names included."""
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, Mapping):
        return {clean(str(name)): clean_json(item, clean) for name, item in data.items()}
    if isinstance(data, list | tuple):
        return [clean_json(item, clean) for item in data]
    return data


def clean_trace(trace: JsonObject | None, clean: Clean) -> JsonObject | None:
    """A trace with every text in it cleaned, and cut where it is too long for one, which it must not be before."""
    if trace is None:
        return None

    def cut(text: str) -> str:
        return clean(text) if len(text) <= LONGEST else shortened(text, LONGEST, clean)

    made = {name: clean_json(item, clean if name == "evidence" else cut) for name, item in trace.items()}
    return bounded(made)


def clean_score(score: CaseScore, clean: Clean) -> CaseScore:
    """A score with what explains it cleaned; its numbers and the names of its fields stay."""
    if not score.field_diffs and not score.checks:
        return score
    return CaseScore(
        score.objective,
        score.field_scores,
        [
            FieldDiff(clean(diff.field), clean_json(diff.predicted, clean), clean_json(diff.expected, clean))
            for diff in score.field_diffs
        ],
        [_clean_check(check, clean) for check in score.checks],
    )


def _clean_check(check: Check, clean: Clean) -> Check:
    return Check(
        name=clean(check.name).strip() or "{run}",
        verdict=check.verdict,
        expected=clean_json(check.expected, clean),
        predicted=clean_json(check.predicted, clean),
        message=None if check.message is None else clean(check.message),
        group=None if check.group is None else clean(check.group),
        informational=check.informational,
        description=None if check.description is None else clean(check.description),
    )
