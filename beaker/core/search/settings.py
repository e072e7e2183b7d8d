"""What decides how a search runs, besides the cases and the proposer."""

import math

from beaker.core.problems import Problem
from beaker.core.values import value


@value
class SearchSettings:
    """Everything besides the cases that decides how a search runs; the number of workers is not part of it.

    `max_rollouts` bounds distinct evaluations (candidate, case), TEST included; `max_proposals` bounds proposals,
    failed ones included. `max_proposals_in_flight` (K) proposals are worked on at a time. `minibatch_size` is the
    largest acceptance minibatch, in cases. `selection_fraction`, strictly between 0 and 1, is the share of TRAIN that
    selects. `test_baseline` says whether a winner other than the baseline is compared with it on TEST.
    `spend_budget_usd` bounds what models may cost, in US dollars, TEST included; `None`: nothing does.
    """

    max_rollouts: int
    max_proposals: int = 50
    max_proposals_in_flight: int = 1
    minibatch_size: int = 3
    selection_fraction: float = 0.5
    seed: int = 0
    test_baseline: bool = True
    spend_budget_usd: float | None = None


def check_settings(settings: SearchSettings) -> Problem | None:
    """The first thing wrong with `settings` by themselves (BK541), or `None`."""
    for name in ("max_proposals", "max_proposals_in_flight", "minibatch_size"):
        if getattr(settings, name) < 1:
            return Problem("BK541", f"{name} must be at least 1, not {getattr(settings, name)}")
    if not 0.0 < settings.selection_fraction < 1.0:
        return Problem(
            "BK541", f"selection_fraction must lie between 0 and 1, both excluded, not {settings.selection_fraction}"
        )
    budget = settings.spend_budget_usd
    if budget is not None and not (math.isfinite(budget) and budget >= 0.0):
        return Problem("BK541", f"spend_budget_usd must be an amount of at least 0, not {budget}")
    return None
