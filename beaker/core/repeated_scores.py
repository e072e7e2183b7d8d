"""One score out of several of the same result: what noisy judges come to when they are asked more than once."""

from collections.abc import Sequence

from beaker.core.cases import CaseScore, Check
from beaker.core.exact import exact, mean

AGREEMENT = "agreement of repeated scores"
"""The check that shows the spread: 1 when every score was the same, 0 when one was perfect and another nothing."""


def mean_score(scores: Sequence[CaseScore]) -> CaseScore:
    """The mean of at least one score of one result.

    The objective is the mean; so is each field, over the scores that have it. What explains it (differences, checks) is
    that of the score nearest to the mean, of equals the first: it is one judge's word, not a mixture of several.
    Of more than one score an informational check, `AGREEMENT`, shows how far apart the objectives were.
    """
    if len(scores) == 1:
        return scores[0]
    objectives = [score.objective for score in scores]
    objective = mean(objectives)
    fields = dict.fromkeys(name for score in scores for name in score.field_scores)
    told = min(scores, key=lambda score: abs(exact(score.objective) - exact(objective)))
    return CaseScore(
        objective,
        {name: mean(score.field_scores[name] for score in scores if name in score.field_scores) for name in fields},
        told.field_diffs,
        (*told.checks, _agreement(objectives)),
    )


def _agreement(objectives: Sequence[float]) -> Check:
    lowest, highest = min(objectives), max(objectives)
    return Check(
        AGREEMENT,
        1.0 - (highest - lowest),
        predicted={"scores": len(objectives), "lowest": lowest, "highest": highest},
        message=f"{len(objectives)} scores of this result, from {lowest:.6g} to {highest:.6g}",
        informational=True,
    )
