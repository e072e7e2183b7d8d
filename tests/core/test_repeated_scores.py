"""Several scores of one result come to one."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import CaseScore, Check, FieldDiff
from beaker.core.repeated_scores import AGREEMENT, mean_score

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
        0.5,
        {"kind": 0.5, "size": 0.75, "new": 0.25},
        [FieldDiff("kind", 3, 4)],
        [Check("middle", 0.5), agreement(3, 0.0, 1.0, "3 scores of this result, from 0 to 1")],
    )
    assert mean_score([low, high]).checks[:-1] == low.checks  # as near, and earlier
    assert mean_score([high, low]).checks[:-1] == high.checks


def test_mean_score__of_several__shows_how_far_apart_they_were() -> None:
    """As a check that counts for nothing; a score alone agrees with nobody."""
    made = mean_score([CaseScore(0.25, {}), CaseScore(0.75, {}), CaseScore(0.5, {})])
    assert made.checks == (agreement(3, 0.25, 0.75, "3 scores of this result, from 0.25 to 0.75"),)
    assert mean_score([CaseScore(0.5, {})]).checks == ()


def agreement(scores: int, lowest: float, highest: float, message: str) -> Check:
    """The check that several scores come with."""
    return Check(
        "agreement of repeated scores",
        1.0 - (highest - lowest),
        predicted={"scores": scores, "lowest": lowest, "highest": highest},
        message=message,
        informational=True,
    )


@given(st.lists(SCORES, min_size=1, max_size=4))
def test_mean_score__any_scores__stay_between_the_lowest_and_the_highest(scores: list[CaseScore]) -> None:
    """It depends on no order but for what explains it, and one of a kind is itself."""
    made = mean_score(scores)
    objectives = [score.objective for score in scores]
    assert min(objectives) <= made.objective <= max(objectives)
    turned = mean_score(scores[::-1])
    assert (turned.objective, dict(turned.field_scores)) == (made.objective, dict(made.field_scores))
    assert tuple(check for check in made.checks if check.name != AGREEMENT) in [score.checks for score in scores]
    assert mean_score(scores[:1]) == scores[0]
    alike = mean_score([CaseScore(1.0, {"a": 1.0})] * 7)
    assert (alike.objective, dict(alike.field_scores), alike.checks[0].verdict) == (1.0, {"a": 1.0}, 1.0)
