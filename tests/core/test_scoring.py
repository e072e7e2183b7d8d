"""Scores: the objective, the report and the paired difference, by their vectors and their laws."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import CaseScore, Check
from beaker.core.certainty import doubt
from beaker.core.convert import to_json
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.scoring import aggregate, mean_interval, objective_score, paired_difference, student_t_975

SCORES = st.floats(0, 1)
FIELDS = st.dictionaries(st.sampled_from("abcdefg"), SCORES)
FAILED = CaseError("raised", "boom")


@pytest.mark.parametrize(
    "scores, weights, expected",
    [
        ({"total": 1.0, "date": 0.5, "vendor": 0.25}, None, 0.5833333333333334),
        ({"a": 1.0, "b": 0.5}, {"a": -1, "b": 1}, 0.5),
        ({"a": 1.0, "b": 0.5}, {"a": 0, "b": 1}, 0.5),
        ({"a": 2.0, "b": -1}, None, 0.5),
        ({"a": "0.5"}, None, 0.5),
        ({"a": True, "b": False}, {}, 0.5),
        ({"a": None, "b": 1}, None, 0.5),
        ({"a": "x", "b": 1}, None, 0.5),
        ({}, None, 0.0),
        ({}, {}, 0.0),
        (dict.fromkeys("abcdefg", 1.0), None, 1.0),
        (dict.fromkeys("abcdefg", 1.0), dict.fromkeys("abcdefg", 0.1), 1.0),
        ({"a": 1.0, "b": 0.0}, {"a": 1.7e308, "b": 1.7e308}, 0.5),
        ({"a": 1.0, "b": 0.0}, {"a": 5e-324, "b": 5e-324}, 0.5),
    ],
)
def test_objective_score__vectors(scores: Any, weights: Any, expected: float) -> None:
    """The worked examples of the contract, and the extremes of weights."""
    assert objective_score(scores, weights) == expected


@pytest.mark.parametrize(
    "scores, weights, error, message",
    [
        ({"a": math.nan}, None, ValueError, "score of 'a' must be finite"),
        ({"a": math.inf}, None, ValueError, "score of 'a' must be finite"),
        ({"a": 1, "b": "nan"}, {"a": 1}, ValueError, "score of 'b' must be finite"),
        ({"a": 1}, {"a": math.inf}, ValueError, "weight of 'a' must be finite"),
        ({"a": 1}, {"a": math.nan}, ValueError, "weight of 'a' must be finite"),
        ({"a": 1}, {"a": 1, "tax": 4}, ValueError, "no such field to weigh: 'tax'"),
        ({}, {"a": 1}, ValueError, "no such field"),
        ({"a": 1}, {"a": 0}, ValueError, "no field weight is above 0"),
        ({"a": 1}, {"a": -1}, ValueError, "no field weight is above 0"),
        ({"a": 1}, {"a": "x"}, ValueError, "could not convert"),
        ({"a": 1}, {"a": None}, TypeError, "must be a"),
        ({"a": 10**400}, None, OverflowError, "too large"),
        ([1.0], None, AttributeError, "items"),
    ],
)
def test_objective_score__nonsense__is_refused(scores: Any, weights: Any, error: type[Exception], message: str) -> None:
    """What cannot be a score or a weight is an error, never a number."""
    with pytest.raises(error, match=message):
        objective_score(scores, weights)


@given(FIELDS, st.dictionaries(st.sampled_from("abcdefg"), st.floats(0, allow_infinity=False)))
def test_objective_score__is_a_weighted_mean(scores: dict[str, float], weights: dict[str, float]) -> None:
    """It lies between the worst and the best weighted score, and is 1.0 exactly for perfect ones."""
    kept = {name: weight for name, weight in weights.items() if name in scores}
    counted = [scores[name] for name, weight in kept.items() if weight > 0] if kept else list(scores.values())
    if not counted:
        return
    objective = objective_score(scores, kept)
    assert min(counted) - 1e-12 <= objective <= max(counted) + 1e-12
    assert 0.0 <= objective <= 1.0
    assert objective_score(dict.fromkeys(scores, 1.0), kept) == 1.0


def evaluation(number: int, objective: float | None, fields: dict[str, float], duration: float = 1.0) -> Evaluation:
    score = None if objective is None else CaseScore(objective, fields, (), (Check("check", "pass"),))
    return Evaluation(f"case-{number}", score=score, error=None if score else FAILED, duration_ms=duration)


EVALUATIONS = st.lists(st.tuples(st.none() | SCORES, FIELDS, st.floats(0, 1e6)), max_size=12).map(
    lambda drawn: [evaluation(number, *one) for number, one in enumerate(drawn)]
)


@given(EVALUATIONS, st.randoms(use_true_random=False))
def test_aggregate__any_order__same_means(evaluations: list[Evaluation], chance: Any) -> None:
    """No mean, count or percentile depends on the order of the cases; the listed cases keep theirs."""
    shuffled = list(evaluations)
    chance.shuffle(shuffled)
    first, second = to_json(aggregate(evaluations)), to_json(aggregate(shuffled))
    assert [case["id"] for case in first.pop("cases")] == [one.case_id for one in evaluations]
    second.pop("cases")
    assert first == second


@given(EVALUATIONS)
def test_aggregate__failed_cases__count_zero_and_are_counted(evaluations: list[Evaluation]) -> None:
    """Every case is scored or failed; failing lowers the objective and leaves the mean over scored ones."""
    report = aggregate(evaluations)
    scored = [one.objective for one in evaluations if one.objective is not None]
    assert (report.cases_total, report.scored, report.failed) == (
        len(evaluations),
        len(scored),
        len(evaluations) - len(scored),
    )
    assert (report.objective is None, report.objective_scored is None) == (not evaluations, not scored)
    if report.objective is not None and report.objective_scored is not None:
        assert report.objective * len(evaluations) == pytest.approx(report.objective_scored * len(scored))
    worse = aggregate([*evaluations, evaluation(99, None, {})])
    assert worse.objective_scored == report.objective_scored
    assert worse.objective is not None
    assert worse.objective <= (report.objective or 0.0)


def test_aggregate__report__has_the_published_shape() -> None:
    """The JSON of a report is the one the API answers with."""
    report = aggregate([evaluation(1, 0.5, {"b": 1.0, "a": 0.0}, 10.0), evaluation(2, None, {}, 7.0)])
    assert to_json(report) == {
        "objective": 0.25,
        "objective_scored": 0.5,
        "cases_total": 2,
        "scored": 1,
        "failed": 1,
        "field_scores": {"a": {"mean": 0.0, "n": 1}, "b": {"mean": 1.0, "n": 1}},
        "latency_ms": {"p50": 10.0, "p95": 10.0},
        "cases": [
            {
                "id": "case-1",
                "objective": 0.5,
                "field_scores": {"a": 0.0, "b": 1.0},
                "checks": [to_json(Check("check", "pass"))],
                "error": None,
                "duration_ms": 10.0,
                "attempts": 1,
            },
            {
                "id": "case-2",
                "objective": None,
                "field_scores": {},
                "checks": [],
                "error": to_json(FAILED),
                "duration_ms": 7.0,
                "attempts": 1,
            },
        ],
    }


def test_aggregate__latency__is_the_nearest_rank() -> None:
    """Of 1 to 20 ms the median is the 10th and the 95 % point the 19th."""
    latency = aggregate([evaluation(number, 1.0, {}, number) for number in range(20, 0, -1)]).latency_ms
    assert (latency.p50, latency.p95) == (10, 19)


@pytest.mark.parametrize("n", [1, 7, 2_000, 2_001])
def test_paired_difference__candidate_against_itself__is_nothing(n: int) -> None:
    """No pair differs, so the difference and its interval are zero."""
    scores = [(number % 10) / 10 for number in range(n)]
    found = paired_difference(scores, scores, 0)
    assert (found.value, found.low, found.high, found.n) == (0.0, 0.0, 0.0, n)


@pytest.mark.parametrize("n", [3, 40, 2_500])
def test_paired_difference__swapped__is_mirrored_and_holds_the_value(n: int) -> None:
    """The interval holds the difference; exchanging the two sides turns it around, exactly."""
    before = [(number * 7 % 10) / 10 for number in range(n)]
    after = [(number * 3 % 11) / 10 for number in range(n)]
    found, turned = paired_difference(before, after, 5), paired_difference(after, before, 5)
    assert found.low <= found.value <= found.high
    assert (turned.value, turned.low, turned.high) == (-found.value, -found.high, -found.low)
    assert paired_difference(before, after, 5) == found


def test_paired_difference__bootstrap__agrees_with_theory() -> None:
    """For 400 well-behaved pairs the bootstrap lies where Student's t does, within a tenth of the width."""
    before = [0.0] * 400
    after = [(number * 37 % 101) / 100 for number in range(400)]
    found = paired_difference(before, after, 1)
    spread = math.sqrt(math.fsum((one - found.value) ** 2 for one in after) / 399 / 400)
    reach = student_t_975(399) * spread
    assert found.low == pytest.approx(found.value - reach, abs=reach / 10)
    assert found.high == pytest.approx(found.value + reach, abs=reach / 10)
    assert "bootstrap" in found.method
    assert "10,000" in found.method


@pytest.mark.parametrize(
    "n, expected",
    [
        (300, (-0.00015764683264443108, -0.04590662949790125, 0.0477423179211125)),
        (3_000, (0.00019247652920631708, -0.014449459816145177, 0.01483441287455781)),
    ],
)
def test_paired_difference__on_every_python__is_this_very_number(n: int, expected: tuple[float, float, float]) -> None:
    """Neither the draws nor the sums depend on the interpreter."""
    before = [(number * 7919 % 101) / 101 for number in range(n)]
    after = [(number * 104729 % 103) / 103 for number in range(n)]
    found = paired_difference(before, after, 3)
    assert (found.value, found.low, found.high) == expected


def test_paired_difference__above_the_limit__says_student() -> None:
    """More than 2,000 pairs are judged by Student's t, and the method says so."""
    after = [(number * 37 % 101) / 100 for number in range(2_001)]
    found = paired_difference([0.0] * 2_001, after, 1)
    assert "Student" in found.method
    assert found.high - found.value == pytest.approx(found.value - found.low)


@pytest.mark.parametrize("before, after", [([], []), ([0.5], []), ([0.5], [0.5, 1.0])])
def test_paired_difference__no_pairs__is_refused(before: list[float], after: list[float]) -> None:
    """Without pairs there is no difference to state."""
    with pytest.raises(ValueError):
        paired_difference(before, after, 0)


@pytest.mark.parametrize("freedom, expected", [(100, 1.9839715185), (1_000, 1.9623390808), (2_000, 1.9611508)])
def test_student_t__tabled_points(freedom: int, expected: float) -> None:
    """The expansion gives the tabled 97.5 % points."""
    assert student_t_975(freedom) == pytest.approx(expected, abs=1e-7)


@given(st.lists(SCORES, min_size=1, max_size=12), st.integers(0, 9))
def test_mean_interval__is_that_of_the_difference_to_nothing(objectives: list[float], seed: int) -> None:
    """The same resamples as for a baseline of zeros, so the same bounds; never beyond [0, 1]."""
    found = mean_interval(objectives, seed)
    same = paired_difference([0.0] * len(objectives), objectives, seed)
    assert (found.value, found.low, found.high, found.n) == (same.value, same.low, same.high, len(objectives))
    assert 0 <= found.low <= found.value <= found.high <= 1
    over = "1 case" if len(objectives) == 1 else f"{len(objectives)} cases"
    doubts = doubt(len(objectives), found.low, found.high, thing="case")
    assert found.method == (
        f"95 % interval of the bootstrap over {over}, 10,000 resamples, percentiles 2.5 and 97.5"
        + (f"; {doubts}" if doubts else "")
    )


def test_paired_difference__one_pair__says_that_it_is_too_few() -> None:
    """An interval without width is no certainty, and its method says so."""
    found = paired_difference([0.0], [1.0], 0)
    assert (found.low, found.high) == (1.0, 1.0)
    assert found.method == (
        "95 % interval of the paired bootstrap over 1 pair, 10,000 resamples, percentiles 2.5 and 97.5; "
        "1 pair is too few to tell"
    )


def test_mean_interval__many_cases__is_students_t_within_the_scores() -> None:
    """Above 2,000 cases no resampling; an end beyond what a score can be is cut."""
    found = mean_interval([1.0] * 2_500 + [0.0], 0)
    assert found.method == "95 % interval of Student's t over 2501 cases"
    assert found.low < found.value < 1.0 == found.high
    assert mean_interval([0.0] * 2_500 + [1.0], 0).low == 0.0
    with pytest.raises(ValueError, match="at least one case"):
        mean_interval([], 0)
