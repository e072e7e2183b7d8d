"""Which of a model's words for reasoning effort comes nearest to a budget of tokens."""

from collections.abc import Iterable

SHARES = {"minimal": 0.1, "low": 0.2, "medium": 0.5, "high": 0.8, "xhigh": 0.95, "max": 0.95}
"""The share of the output's tokens that each word stands for, the weak words first."""


def nearest_effort(budget: float, *, base: float, supported: Iterable[str]) -> str | None:
    """The supported word whose share is nearest to `budget / base`; of two as near, the stronger.

    `budget` and `base` are numbers of tokens, `base` above 0. `None` when no supported word is known.
    """
    offered = set(supported)
    words = [word for word in SHARES if word in offered]
    if not words:
        return None
    share = budget / base
    return min(reversed(words), key=lambda word: abs(SHARES[word] - share))
