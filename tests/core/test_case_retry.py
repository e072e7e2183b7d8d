"""Whether a failed case is tried again: only what may pass, only so often, after waits that grow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.case_retry import INFRASTRUCTURE, LONGEST_WAIT, PASSING_KINDS, crash_kind, wait_before_retry

KINDS = ["raised", "crashed", "timed_out", "open_candidate", "invalid_result", "scorer", "import", "installed_copy"]


@given(st.sampled_from([*KINDS, *sorted(PASSING_KINDS), None]), st.integers(1, 2000), st.integers(0, 1000))
def test_wait_before_retry__only_what_may_pass__within_the_limit(kind: str | None, attempt: int, limit: int) -> None:
    """A limit of n allows n + 1 attempts; every wait is a time, and none is longer than the longest."""
    wait = wait_before_retry(kind, attempt=attempt, retry_limit=limit)
    assert (wait is not None) == (kind in PASSING_KINDS and attempt <= limit)
    if wait is not None:
        assert 0 < wait <= LONGEST_WAIT


def test_wait_before_retry__doubles_up_to_the_longest() -> None:
    """The machine gets time to recover, and nobody waits for ever."""
    waits = [wait_before_retry(INFRASTRUCTURE, attempt=attempt, retry_limit=9) for attempt in range(1, 11)]
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0, None]


@pytest.mark.parametrize(
    ("status", "passing", "kind"),
    [(-9, False, "infrastructure"), (-11, False, "crashed"), (0, False, "crashed"), (9, False, "crashed"),
     (None, False, "crashed"), (None, True, "infrastructure")],
)  # fmt: skip
def test_crash_kind__of_a_kill_from_outside__is_the_machine_s(status: int | None, passing: bool, kind: str) -> None:
    """A process that ends itself, or breaks, would do so again."""
    assert crash_kind(status, passing=passing) == kind
