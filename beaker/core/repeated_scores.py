"""One score out of several of the same result: what noisy judges come to when they are asked more than once."""

from collections.abc import Sequence

from beaker.core.cases import CaseScore
from beaker.core.exact import exact, mean


def mean_score(scores: Sequence[CaseScore]) -> CaseScore:
    """The mean of at least one score of one result.

    The objective is the mean; so is each field, over the scores that have it. What explains it (differences, checks) is
    that of the score nearest to the mean, of equals the first: it is one judge's word, not a mixture of several.
    """
    objective = mean(score.objective for score in scores)
    fields = dict.fromkeys(name for score in scores for name in score.field_scores)
    told = min(scores, key=lambda score: abs(exact(score.objective) - exact(objective)))
    return CaseScore(
        objective,
        {name: mean(score.field_scores[name] for score in scores if name in score.field_scores) for name in fields},
        told.field_diffs,
        told.checks,
    )
