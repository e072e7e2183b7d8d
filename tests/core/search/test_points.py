"""Points: equal sums are equal, whatever the floats say."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.search.points import FULL, mean_objective, points


@pytest.mark.parametrize(
    "one, other",
    [
        ([0.1, 0.2], [0.3, 0.0]),
        ([1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]),
        ([1 / 7] * 7, [0.5, 0.5]),
        ([0.7, 0.1, 0.8], [0.6, 0.5, 0.5]),
        ([0.123456, 0.654321], [0.777777]),
    ],
)
def test_points__sums_that_people_call_equal__are_equal(one: list[float], other: list[float]) -> None:
    """Tenths, thirds, sevenths and six decimals add up."""
    assert sum(map(points, one)) == sum(map(points, other))


@given(st.integers(1, 20).flatmap(lambda below: st.tuples(st.integers(0, below), st.just(below))))
def test_points__small_fractions__are_exact(fraction: tuple[int, int]) -> None:
    """Every fraction with a denominator up to 20 is a whole number of points."""
    assert Fraction(points(fraction[0] / fraction[1]), FULL) == Fraction(*fraction)


@given(st.floats(0, 1), st.floats(0, 1))
def test_points__keep_the_order(one: float, other: float) -> None:
    """A higher score never has fewer points."""
    assert (points(one) <= points(other)) or one > other
    assert abs(mean_objective(points(one), 1) - one) < 3e-15


def test_points__ends_of_the_scale() -> None:
    """A solved case has all points, a failed one none."""
    assert (points(1.0), points(0.0), points(None)) == (FULL, 0, 0)
