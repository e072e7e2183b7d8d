"""Which of a model's words for reasoning effort comes nearest to a budget of tokens."""

from collections.abc import Iterable

SHARES = {"minimal": 10, "low": 20, "medium": 50, "high": 80, "xhigh": 95, "max": 95}
"""The share of the output's tokens that each word stands for, in per cent, the weak words first."""


def nearest_effort(budget: float, *, base: float, supported: Iterable[str]) -> str | None:
    """The supported word whose share is nearest to `budget / base`; of two as near, the stronger.

    `budget` and `base` are numbers of tokens, `base` above 0. `None` when no supported word is known.
    """
    offered = set(supported)
    words = [word for word in SHARES if word in offered]
    if not words:
        return None
    # Multiplied out, so that two words which are as near to a whole budget really are.
    return min(reversed(words), key=lambda word: abs(SHARES[word] * base - 100 * budget))
