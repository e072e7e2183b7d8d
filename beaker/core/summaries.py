"""What an evaluation comes to beside its report: how sure its mean is, which checks fail, which failures are alike."""

from collections.abc import Iterable, Sequence

from beaker.core.cases import Check
from beaker.core.exact import mean
from beaker.core.scoring import CaseReport, Interval, mean_interval
from beaker.core.values import value
from beaker.core.wording import alike

SLOWEST = 5
"""Cases that are named as the slowest ones."""

SHOWN_IDS = 20
"""Case ids that a group of failures names; the count says how many there are."""


@value
class CheckMean:
    """One check over the `n` cases that have it: the mean of its verdicts (pass 1, fail 0), how many are below 1."""

    name: str
    group: str | None
    informational: bool
    mean: float
    n: int
    failed: int


@value
class FailureGroup:
    """Failed cases whose errors are of one kind and say the same but for numbers and quoted names.

    `message` is the first line of the first one's. `case_ids` are those of the first `SHOWN_IDS` of the `count` cases.
    """

    kind: str
    message: str
    count: int
    case_ids: tuple[str, ...]


@value
class SlowCase:
    """A case with the wall time of its last attempt, in milliseconds."""

    id: str
    duration_ms: float


@value
class Summary:
    """A summary of cases: the interval of the objective (`None` without a case), checks, failures, the slowest."""

    interval: Interval | None
    checks: tuple[CheckMean, ...]
    failures: tuple[FailureGroup, ...]
    slowest: tuple[SlowCase, ...]


def summarize(cases: Sequence[CaseReport], *, seed: int) -> Summary:
    """The summary of `cases`; a failed case counts 0 in the interval, whose resamples are keyed with `seed`.

    Checks come with the most failed first, groups of failures with the largest first.
    """
    objectives = [case.objective or 0.0 for case in cases]
    return Summary(
        interval=mean_interval(objectives, seed) if objectives else None,
        checks=check_means(check for case in cases for check in case.checks),
        failures=failure_groups(cases),
        slowest=tuple(
            SlowCase(case.id, case.duration_ms) for case in sorted(cases, key=lambda one: -one.duration_ms)[:SLOWEST]
        ),
    )


def check_means(checks: Iterable[Check]) -> tuple[CheckMean, ...]:
    """The mean of every check, by group and name; a check that any case calls informational is."""
    found: dict[tuple[str | None, str], list[Check]] = {}
    for check in checks:
        found.setdefault((check.group, check.name), []).append(check)
    means = [_check_mean(name, group, several) for (group, name), several in found.items()]
    return tuple(sorted(means, key=lambda one: (one.informational, -one.failed, one.group or "", one.name)))


def failure_groups(cases: Iterable[CaseReport]) -> tuple[FailureGroup, ...]:
    """The failed cases, grouped by what their errors say."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for case in cases:
        if case.error is not None:
            first = case.error.message.strip().partition("\n")[0]
            found.setdefault((case.error.kind, alike(first)), []).append((case.id, first))
    groups = [
        FailureGroup(kind, several[0][1], len(several), tuple(case_id for case_id, _ in several[:SHOWN_IDS]))
        for (kind, _), several in found.items()
    ]
    return tuple(sorted(groups, key=lambda one: -one.count))


def _check_mean(name: str, group: str | None, checks: Sequence[Check]) -> CheckMean:
    scores = [
        {"pass": 1.0, "fail": 0.0}[one.verdict] if isinstance(one.verdict, str) else one.verdict for one in checks
    ]
    informational = any(one.informational for one in checks)
    failed = sum(score < 1.0 for score in scores)
    return CheckMean(name, group, informational, mean(scores), len(scores), failed)
