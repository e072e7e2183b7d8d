"""Scores: one objective out of field scores, a report out of evaluations, the paired difference of two candidates."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from beaker.core.cases import Check
from beaker.core.certainty import doubt
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.exact import exact_sum, mean, mean_of
from beaker.core.keyed import words
from beaker.core.values import value
from beaker.core.wording import counted

RESAMPLES = 10_000
BOOTSTRAP_LIMIT = 2_000
"""Up to this many pairs the interval is bootstrapped; above it, the mean of the differences is as good as normal."""

_Z_975 = 1.959963984540054  # the 97.5 % point of the standard normal distribution


def objective_score(field_scores: Mapping[str, Any], field_weights: Mapping[str, Any] | None = None) -> float:
    """The weighted mean of `field_scores`, in [0, 1]; exactly 1.0 when every weighted field is perfect.

    Without `field_weights` (`None` or empty) every field counts alike, and no field at all gives 0.0. With weights,
    fields without a weight or with one that is not above 0 do not count. A score is read with `float()` and clamped to
    [0, 1]; one that cannot be read (`None`, text) counts as 0.

    `ValueError` for a score or weight that is not finite, for a weight of a field that has no score, and when no
    weight is above 0. `TypeError` or `ValueError` for a weight that is no number, `AttributeError` for something that
    is no mapping, `OverflowError` for an `int` beyond the floats.
    """
    scores = {name: _read_score(name, score) for name, score in field_scores.items()}
    weights = dict.fromkeys(scores, 1.0)
    if field_weights:
        weights = {name: _read_weight(name, weight) for name, weight in field_weights.items()}
        if unknown := [name for name in weights if name not in scores]:
            raise ValueError(f"no such field to weigh: {', '.join(map(repr, unknown))}")
        weights = {name: weight for name, weight in weights.items() if weight > 0}
        if not weights:
            raise ValueError("no field weight is above 0, so there is nothing to score")
    if not weights:
        return 0.0
    if all(scores[name] == 1.0 for name in weights):
        return 1.0  # dividing and adding again would give 0.9999999999999998 for seven fields
    # Dividing by the largest first keeps huge weights from overflowing in their sum.
    largest = max(weights.values())
    scale = largest if largest > 1e300 else 1.0
    whole = _added(weight / scale for weight in weights.values())
    return min(_added(weight / scale / whole * scores[name] for name, weight in weights.items()), 1.0)


def _added(numbers: Iterable[float]) -> float:
    """One float addition after the other, as the contract's vectors do; `sum` compensates from Python 3.12 on."""
    return reduce(add, numbers, 0.0)


def _read_score(name: str, score: Any) -> float:
    try:
        number = float(score)
    except (TypeError, ValueError):
        return 0.0
    if not math.isfinite(number):
        raise ValueError(f"the score of {name!r} must be finite, not {number!r}")
    return min(max(number, 0.0), 1.0)


def _read_weight(name: str, weight: Any) -> float:
    number = float(weight)
    if not math.isfinite(number):
        raise ValueError(f"the weight of {name!r} must be finite, not {number!r}")
    return number


@value
class FieldMean:
    """The mean of one field's scores over the `n` cases that have it."""

    mean: float
    n: int


@value
class Latency:
    """Percentiles (nearest rank) of the wall time of `run_case` over scored cases, in milliseconds; `None` without."""

    p50: float | None
    p95: float | None


@value
class CaseReport:
    """One case in a report. `objective` is `None` and `error` is set when the case failed."""

    id: str
    objective: float | None
    field_scores: Mapping[str, float]
    checks: tuple[Check, ...]
    error: CaseError | None
    duration_ms: float
    attempts: int


@value
class EvalReport:
    """Evaluations of one candidate, aggregated.

    `objective` is the mean over all cases, a failed one counting 0; `objective_scored` the mean over the scored ones.
    Both are in [0, 1], and `None` when there is no case to average. `scored + failed == cases_total`.
    """

    objective: float | None
    objective_scored: float | None
    cases_total: int
    scored: int
    failed: int
    field_scores: Mapping[str, FieldMean]
    latency_ms: Latency
    cases: tuple[CaseReport, ...]


def aggregate(evaluations: Sequence[Evaluation]) -> EvalReport:
    """The report of `evaluations`, in their order; field names sorted. The means do not depend on the order."""
    objectives = [evaluation.objective for evaluation in evaluations]
    scored = [objective for objective in objectives if objective is not None]
    fields: dict[str, list[float]] = {}
    for evaluation in evaluations:
        if evaluation.score is not None:
            for name, score in evaluation.score.field_scores.items():
                fields.setdefault(name, []).append(score)
    durations = sorted(evaluation.duration_ms for evaluation in evaluations if evaluation.score is not None)
    return EvalReport(
        objective=mean_of(exact_sum(scored), len(objectives)) if objectives else None,
        objective_scored=mean(scored) if scored else None,
        cases_total=len(objectives),
        scored=len(scored),
        failed=len(objectives) - len(scored),
        field_scores={name: FieldMean(mean(fields[name]), len(fields[name])) for name in sorted(fields)},
        latency_ms=Latency(_percentile(durations, 50), _percentile(durations, 95)),
        cases=tuple(map(_case_report, evaluations)),
    )


def _case_report(evaluation: Evaluation) -> CaseReport:
    score = evaluation.score
    return CaseReport(
        id=evaluation.case_id,
        objective=evaluation.objective,
        field_scores={} if score is None else score.field_scores,
        checks=() if score is None else score.checks,
        error=evaluation.error,
        duration_ms=evaluation.duration_ms,
        attempts=evaluation.attempts,
    )


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    return ordered[-(-percent * len(ordered) // 100) - 1] if ordered else None


@value
class Interval:
    """A mean over cases with its 95 % interval, and in words how that was made."""

    value: float
    low: float
    high: float
    n: int
    method: str


@value
class Difference:
    """Winner minus baseline over `n` paired cases: the mean, its 95 % interval, and in words how that was made."""

    value: float
    low: float
    high: float
    n: int
    method: str


def paired_difference(baseline: Sequence[float], winner: Sequence[float], seed: int) -> Difference:
    """The mean of `winner[i] - baseline[i]` with a 95 % confidence interval.

    Both hold one objective in [0, 1] per TEST case, in the same order, a failed case as 0.0. Up to 2,000 pairs the
    interval is the percentile bootstrap over pairs (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993,
    section 13.3): 10,000 resamples, each drawn by one call of SHAKE-256 keyed with `seed` and its number. Above, it is
    Student's t. `ValueError` for no pair or unequal lengths.
    """
    differences = [after - before for before, after in zip(baseline, winner, strict=True)]
    if not differences:
        raise ValueError("a difference needs at least one pair")
    n = len(differences)
    center = mean_of(exact_sum(winner) - exact_sum(baseline), n)
    low, high = _bounds(differences, center, seed)
    return Difference(center, low, high, n, _method(n, low, high, "paired bootstrap", "pair"))


def mean_interval(objectives: Sequence[float], seed: int) -> Interval:
    """The mean of `objectives`, each in [0, 1], a failed case as 0.0, with a 95 % confidence interval within [0, 1].

    The interval is made as that of `paired_difference`, over cases instead of pairs. `ValueError` for no case.
    """
    if not objectives:
        raise ValueError("a mean needs at least one case")
    n = len(objectives)
    center = mean(objectives)
    low, high = _bounds(objectives, center, seed)
    return Interval(center, max(low, 0.0), min(high, 1.0), n, _method(n, low, high, "bootstrap", "case"))


def _method(n: int, low: float, high: float, bootstrap: str, thing: str) -> str:
    doubts = doubt(n, low, high, thing=thing)
    but = f"; {doubts}" if doubts else ""
    over = counted(n, thing)
    if n > BOOTSTRAP_LIMIT:
        return f"95 % interval of Student's t over {over}{but}"
    return f"95 % interval of the {bootstrap} over {over}, {RESAMPLES:,} resamples, percentiles 2.5 and 97.5{but}"


def _bounds(values: Sequence[float], center: float, seed: int) -> tuple[float, float]:
    """The ends of the 95 % interval of the mean of `values`, which is `center`."""
    n = len(values)
    if n > BOOTSTRAP_LIMIT:
        reach = student_t_975(n - 1) * _standard_error(values)
        return center - reach, center + reach
    if min(values) == max(values):
        return center, center  # so is every resample
    means = sorted(_resampled_mean(values, seed, number) for number in range(RESAMPLES))
    cut = RESAMPLES // 40  # 2.5 % on either side
    # The mean itself is among what is plausible, also where rounding puts it a last digit outside.
    return min(means[cut - 1], center), max(means[-cut], center)


def student_t_975(freedom: int) -> float:
    """The 97.5 % point of Student's t with `freedom` degrees of freedom (at least 100), to 9 digits.

    The expansion around the normal point in powers of 1/freedom: Abramowitz and Stegun, *Handbook of Mathematical
    Functions*, 1964, formula 26.7.5.
    """
    z = _Z_975
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _standard_error(differences: Sequence[float]) -> float:
    n = len(differences)
    center = mean(differences)
    variance = math.fsum((difference - center) ** 2 for difference in differences) / (n - 1)
    return math.sqrt(variance / n)


def _resampled_mean(differences: Sequence[float], seed: int, number: int) -> float:
    n = len(differences)
    # A 32-bit word modulo n favours no pair by more than n / 2**32, at most one in two million.
    drawn = [word % n for word in words(n, seed, "bootstrap", number)]
    return math.fsum(map(differences.__getitem__, drawn)) / n
