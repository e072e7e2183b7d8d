"""What an evaluation comes to: checks, failures that are alike, the slowest cases, and how sure the mean is."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import Check
from beaker.core.evaluations import CaseError
from beaker.core.scoring import CaseReport, mean_interval
from beaker.core.summaries import (
    SHOWN_IDS,
    SLOWEST,
    CheckMean,
    FailureGroup,
    SlowCase,
    check_means,
    failure_groups,
    summarize,
)


def case(
    name: str,
    objective: float | None = None,
    *,
    error: CaseError | None = None,
    ms: float = 1.0,
    checks: tuple[Check, ...] = (),
) -> CaseReport:
    return CaseReport(name, objective, {}, checks, error, ms, 1)


def test_failure_groups__same_words__are_one_group() -> None:
    """Numbers and quoted names may differ; the kind may not, nor the words."""
    cases = [
        case("a", error=CaseError("raised", "KeyError: 'total'\n  at line 3")),
        case("b", 0.5),
        case("c", error=CaseError("timed_out", "after 30.5 s")),
        case("d", error=CaseError("raised", 'KeyError: "date"')),
        case("e", error=CaseError("timed_out", "after 31 s")),
        case("f", error=CaseError("raised", "KeyError: `number`")),
        case("g", error=CaseError("scorer", "KeyError: 'total'")),
        case("h", error=CaseError("raised", "ValueError: 'total'")),
    ]
    assert failure_groups(cases) == (
        FailureGroup("raised", "KeyError: 'total'", 3, ("a", "d", "f")),
        FailureGroup("timed_out", "after 30.5 s", 2, ("c", "e")),
        FailureGroup("scorer", "KeyError: 'total'", 1, ("g",)),
        FailureGroup("raised", "ValueError: 'total'", 1, ("h",)),
    )


@given(st.lists(st.none() | st.tuples(st.sampled_from("xy"), st.text("ab1'", max_size=4))))
def test_failure_groups__count_every_failed_case_once(errors: list[tuple[str, str] | None]) -> None:
    """No failure is lost, and the largest group comes first."""
    groups = failure_groups(
        case(str(n), error=None if one is None else CaseError(*one)) for n, one in enumerate(errors)
    )
    failed = [str(n) for n, one in enumerate(errors) if one is not None]
    assert sum(group.count for group in groups) == len(failed)
    assert sorted(name for group in groups for name in group.case_ids) == sorted(failed) or len(failed) > SHOWN_IDS
    assert [group.count for group in groups] == sorted((group.count for group in groups), reverse=True)


def test_failure_groups__many_ids__are_counted_not_listed() -> None:
    """The count says how many there are."""
    (group,) = failure_groups(case(str(n), error=CaseError("raised", "no")) for n in range(SHOWN_IDS + 1))
    assert (group.count, len(group.case_ids)) == (SHOWN_IDS + 1, SHOWN_IDS)


def test_check_means__by_group_and_name__the_failing_first() -> None:
    """Verdicts in words and numbers make one mean; informational checks come last."""
    checks = [
        Check("ok", "pass"), Check("rubric", 0.25), Check("rubric", 1.0), Check("polite", "fail", group="tone"),
        Check("polite", "fail"), Check("ok", 1), Check("aside", "pass"), Check("aside", "fail", informational=True),
    ]  # fmt: skip
    assert check_means(checks) == (
        CheckMean("polite", None, False, 0.0, 1, 1),
        CheckMean("rubric", None, False, 0.625, 2, 1),
        CheckMean("polite", "tone", False, 0.0, 1, 1),
        CheckMean("ok", None, False, 1.0, 2, 0),
        CheckMean("aside", None, True, 0.5, 2, 1),
    )


def test_summarize__puts_it_together() -> None:
    """The mean counts a failed case 0; the slowest come first, of equals the earlier."""
    cases = [case(str(n), 1.0, ms=float(n % 4), checks=(Check("ok", "pass"),)) for n in range(7)]
    cases.append(case("lost", error=CaseError("raised", "no")))
    summary = summarize(cases, seed=3)
    assert summary.interval == mean_interval([1.0] * 7 + [0.0], 3)
    assert summary.interval is not None
    assert summary.interval.value == 0.875
    assert summary.checks == (CheckMean("ok", None, False, 1.0, 7, 0),)
    assert [group.case_ids for group in summary.failures] == [("lost",)]
    assert len(summary.slowest) == SLOWEST
    assert summary.slowest[:3] == (SlowCase("3", 3.0), SlowCase("2", 2.0), SlowCase("6", 2.0))
    assert summarize([], seed=0).interval is None
