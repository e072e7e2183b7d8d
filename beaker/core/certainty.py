"""How much an interval is worth, in words: from a few cases, or cases that all say the same, it says little."""

from beaker.core.wording import counted

FEW = 10
"""Fewer pairs or cases than this are too few to tell: a bootstrap of them is narrower than it should be."""


def doubt(n: int, low: float, high: float, *, thing: str = "pair") -> str:
    """Why the interval from `low` to `high` over `n` things is not to be trusted; empty when nothing speaks against it.

    `thing` is `pair` for a difference and `case` for a mean.
    """
    if n < FEW:
        return f"{counted(n, thing)} {'is' if n == 1 else 'are'} too few to tell"
    if low == high:
        alike = "differ by the same" if thing == "pair" else "score the same"
        return f"all {n} {thing}s {alike}, so the interval does not show how sure this is"
    return ""


def stated_doubt(n: object, low: object, high: object, *, thing: str = "pair") -> str:
    """`doubt` about figures of an answer, which may be of any kind; empty for what are no figures."""
    if isinstance(n, int) and isinstance(low, int | float) and isinstance(high, int | float):
        return doubt(n, low, high, thing=thing)
    return ""
