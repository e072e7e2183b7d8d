"""Limits of rollout processes: what may be set, and what a case says that met one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.limits import (
    LIMIT_RULES,
    MIB,
    Limits,
    Met,
    candidate_is_late,
    killed_in_memory,
    large_output,
    limits_of,
    met_limit,
    result_bytes,
)

SET = Limits(memory_mb=256, file_mb=7, result_mb=2, candidate_seconds=1.5)


def test_limits__defaults__are_generous() -> None:
    """Nobody who sets none meets one, but for a file that would fill a disk and a result no message carries."""
    assert Limits() == Limits(None, 4096, 64, None)
    assert limits_of({}) == Limits()
    assert limits_of({"memory_mb": 100, "file_mb": 5}) == Limits(100, 5)


@pytest.mark.parametrize(
    ("key", "lowest", "highest"),
    [("memory_mb", 64, 2**40), ("file_mb", 1, 2**40), ("result_mb", 1, 64)],
)
def test_limit_rules__ranges__hold_at_both_ends(key: str, lowest: int, highest: int) -> None:
    """What may be given is taken, and nothing beside it."""
    assert LIMIT_RULES[key](lowest) == lowest
    assert LIMIT_RULES[key](highest) == highest
    for wrong in (lowest - 1, highest + 1, 100.0, "100", True):
        with pytest.raises(ValueError, match="must be an integer"):
            LIMIT_RULES[key](wrong)


def test_limit_rules__seconds__are_above_nothing() -> None:
    """No time at all is no limit that anybody means."""
    assert LIMIT_RULES["candidate_seconds"](0.5) == 0.5
    with pytest.raises(ValueError, match="must be a number of seconds above 0, not 0"):
        LIMIT_RULES["candidate_seconds"](0)


@pytest.mark.parametrize(
    ("met", "limits", "said"),
    [
        ("memory_mb", SET, "it broke; a process may have 256 MiB of memory (harness_optimization.limits.memory_mb)"),
        ("file_mb", SET, "it broke; a file may have 7 MiB (harness_optimization.limits.file_mb)"),
        ("memory_mb", Limits(), "it broke"),
        (None, SET, "it broke"),
    ],
)
def test_met_limit__names_the_limit_that_is_set(met: Met | None, limits: Limits, said: str) -> None:
    """Without a limit of ours the machine had too little, which the error says itself."""
    assert met_limit("it broke", met, limits) == said


def test_killed_in_memory__names_the_limit_where_a_signal_ended_it() -> None:
    """What exits on its own had its say; what aborts may have been out of memory."""
    told = (
        "it ended; it could have 256 MiB of memory (harness_optimization.limits.memory_mb), which may have been too few"
    )
    assert killed_in_memory("it ended", -6, SET) == told
    for status, limits in ((0, SET), (1, SET), (None, SET), (-6, Limits(file_mb=1))):
        assert killed_in_memory("it ended", status, limits) == "it ended"


def test_large_output__says_both_sizes() -> None:
    """How much it was and how much is allowed, in the same unit."""
    assert result_bytes(SET) == 2 * MIB == 2_097_152
    assert large_output(3_000_000, SET) == (
        "the output of run_case is too large: 3000000 bytes as JSON, where 2097152 are allowed "
        "(harness_optimization.limits.result_mb)"
    )


@given(st.floats(0, 1e9))
def test_candidate_is_late__from_its_limit_on(taken: float) -> None:
    """Exactly the limit is used up; without one nothing ever is."""
    assert (candidate_is_late(taken, SET) is None) == (taken < 1500)
    assert candidate_is_late(taken, Limits()) is None


def test_candidate_is_late__says_how_much_was_taken() -> None:
    """The case was not run, and why."""
    assert candidate_is_late(1500, SET) == (
        "not run: the cases before it took 1.5 s together, and those of one candidate may take 1.5 s "
        "(harness_optimization.limits.candidate_seconds)"
    )
