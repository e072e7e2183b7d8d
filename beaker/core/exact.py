"""Exact sums of floats: no rounding, no order, the same on every Python.

A float is a whole number of steps of 2**-1074, the smallest float above zero. Sums are kept as such whole numbers, so
they can be added to one by one, in any order, and compared without error; only a mean is rounded, once.
(`sum` of floats adds differently from Python 3.12 on, which alone would break the promise of equal results.)
"""

from collections.abc import Iterable

ONE = 1 << 1074
"""1.0 in steps."""


def exact(number: float) -> int:
    """A finite float in steps of 2**-1074."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (ONE // denominator)


def exact_sum(numbers: Iterable[float]) -> int:
    """The sum of finite floats in steps of 2**-1074."""
    return sum(map(exact, numbers))


def mean_of(total: int, count: int) -> float:
    """The mean of `count` (at least 1) numbers whose exact sum is `total`, rounded once to the nearest float."""
    return total / (count * ONE)


def mean(numbers: Iterable[float]) -> float:
    """The mean of at least one finite float, rounded once to the nearest float."""
    kept = tuple(numbers)
    return mean_of(exact_sum(kept), len(kept))
