"""Scores as whole points, so that sums add up in any order and equal sums are equal.

As floats, 0.1 + 0.2 beats 0.3, and three times a third loses against one. A child must not be accepted, nor a winner
replaced, by such noise. In points every fraction with a denominator up to 20, and every decimal with up to six places,
is a whole number; what lies between is rounded to the nearest point, less than 3e-15 away.
"""

FULL = 232_792_560 * 1_000_000
"""The points of a solved case: the least common multiple of 1 to 20, times a million."""


def points(objective: float | None) -> int:
    """An objective in [0, 1] in points; a failed case (`None`) has none."""
    return round(objective * FULL) if objective else 0


def mean_objective(total: int, cases: int) -> float:
    """The mean objective of so many cases (at least one) with `total` points together."""
    return total / (cases * FULL)
