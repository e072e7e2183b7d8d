"""Exact sums: no order, no error, one rounding."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.exact import ONE, exact, exact_sum, mean, mean_of

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20)


@given(NUMBERS)
def test_exact_sum__any_order__is_the_true_sum(numbers: list[float]) -> None:
    """The sum is that of the fractions the floats stand for."""
    assert Fraction(exact_sum(numbers), ONE) == sum(map(Fraction, numbers))
    assert exact_sum(sorted(numbers)) == exact_sum(numbers)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_mean__rounded_once(numbers: list[float]) -> None:
    """A mean is the float nearest to the true mean."""
    assert mean(numbers) == float(sum(map(Fraction, numbers)) / len(numbers))


@given(st.floats(0, 1), st.integers(1, 100))
def test_mean__of_equal_numbers__is_that_number(number: float, count: int) -> None:
    """Averaging equal numbers changes nothing."""
    assert mean_of(exact(number) * count, count) == number
