"""The word for reasoning effort that comes nearest to a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.reasoning_effort import SHARES, nearest_effort

WORDS = ("minimal", "low", "medium", "high", "xhigh", "max")


def test_shares__as_the_generation_had_them() -> None:
    """Six words, the weak ones first."""
    assert dict(SHARES) == dict(zip(WORDS, (10, 20, 50, 80, 95, 95), strict=True))
    assert tuple(SHARES) == WORDS


@pytest.mark.parametrize(
    "budget, base, supported, expected",
    [
        (10, 100, WORDS, "minimal"),
        (20, 100, WORDS, "low"),
        (60, 100, WORDS, "medium"),
        (80, 100, WORDS, "high"),
        (95, 100, WORDS, "max"),
        (95, 100, ("high", "xhigh"), "xhigh"),
        (350, 1000, ("low", "medium"), "medium"),  # as near to either
        (0, 100, ("high", "low"), "low"),
        (1000, 100, ("low", "unheard"), "low"),
        (5, 10, ("unheard",), None),
        (5, 10, (), None),
    ],
)
def test_nearest_effort__budget_of_a_base__as_listed(
    budget: float, base: float, supported: tuple[str, ...], expected: str | None
) -> None:
    """Nearest among what is supported; of two as near the stronger; nothing without a known word."""
    assert nearest_effort(budget, base=base, supported=supported) == expected


@given(st.integers(0, 10_000), st.integers(1, 10_000), st.lists(st.sampled_from(WORDS), min_size=1))
def test_nearest_effort__order_of_support__does_not_matter(budget: int, base: int, supported: list[str]) -> None:
    """The answer is supported, none is nearer, and order and repetition change nothing."""
    word = nearest_effort(budget, base=base, supported=supported)
    assert word == nearest_effort(budget, base=base, supported=reversed(supported))
    assert word in supported
    assert all(
        abs(SHARES[word] * base - 100 * budget) <= abs(SHARES[other] * base - 100 * budget) for other in supported
    )
