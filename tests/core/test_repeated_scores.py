"""Several scores of one result come to one."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.repeated_scores import mean_score

SCORES = st.builds(
    lambda objective, fields, name: CaseScore(objective, fields, checks=[Check(name, "fail")]),
    st.floats(0, 1),
    st.dictionaries(st.sampled_from("abc"), st.floats(0, 1)),
    st.sampled_from("xyz"),
)


def test_mean_score__of_three__is_their_mean_told_in_the_words_of_the_nearest() -> None:
    """Fields over the scores that have them; differences and checks of one score."""
    low = CaseScore(0.0, {"kind": 0.0, "size": 0.5}, [FieldDiff("kind", 1, 2)], [Check("low", "fail")])
    middle = CaseScore(0.5, {"kind": 1.0}, [FieldDiff("kind", 3, 4)], [Check("middle", 0.5)])
    high = CaseScore(1.0, {"kind": 0.5, "size": 1.0, "new": 0.25})
    assert mean_score([low, middle, high]) == CaseScore(
        0.5, {"kind": 0.5, "size": 0.75, "new": 0.25}, [FieldDiff("kind", 3, 4)], [Check("middle", 0.5)]
    )
    assert mean_score([low, high]).checks == low.checks  # as near, and earlier
    assert mean_score([high, low]).checks == high.checks


@given(st.lists(SCORES, min_size=1, max_size=4))
def test_mean_score__any_scores__stay_between_the_lowest_and_the_highest(scores: list[CaseScore]) -> None:
    """It depends on no order but for what explains it, and one of a kind is itself."""
    made = mean_score(scores)
    objectives = [score.objective for score in scores]
    assert min(objectives) <= made.objective <= max(objectives)
    turned = mean_score(scores[::-1])
    assert (turned.objective, dict(turned.field_scores)) == (made.objective, dict(made.field_scores))
    assert made.checks in [score.checks for score in scores]
    assert mean_score(scores[:1]) == scores[0]
    assert mean_score([CaseScore(1.0, {"a": 1.0})] * 7) == CaseScore(1.0, {"a": 1.0})
