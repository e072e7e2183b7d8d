"""The Pareto front over the selection set, kept case by case, and the best candidate with it.

Every case of S has one leader: of the candidates that were scored on all of S, the one with the best score on the
case; of those with equal scores the one with the best mean over S; of those the earliest. The mean over S has a leader
in the same way, and that is the best candidate. The leaders are the front.

So every leader is Pareto-optimal (whatever is nowhere worse than a leader, and somewhere better, has the better mean
and leads in its place), the best score on every case is held by a leader, and the best candidate is one. Adding a
candidate costs O(|S|), whatever number came before.
"""

from collections.abc import Sequence

import attrs


@attrs.define
class Front:
    """Who leads where. Places 0 to |S| - 1 are the cases of S in their order, the last place is the mean."""

    _leaders: list[int]
    _scores: list[int]
    _totals: list[int]
    _share: dict[int, int]

    @classmethod
    def of(cls, baseline: int, scores: Sequence[int], total: int) -> "Front":
        """The front of one candidate, which leads everywhere. `total` is the sum of its scores over S."""
        places = len(scores) + 1
        return cls([baseline] * places, [*scores, total], [total] * places, {baseline: places})

    def add(self, candidate: int, scores: Sequence[int], total: int) -> None:
        """Add a later candidate with its scores over S and their sum."""
        for place, score in enumerate([*scores, total]):
            if self.would_lead(place, score, total):
                before = self._leaders[place]
                self._share[before] -= 1
                if not self._share[before]:
                    del self._share[before]
                self._share[candidate] = self._share.get(candidate, 0) + 1
                self._leaders[place], self._scores[place], self._totals[place] = candidate, score, total

    def would_lead(self, place: int, score: int, total: int) -> bool:
        """Whether a later candidate with this score in one place, and this sum over S, would lead there."""
        return (score, total) > (self._scores[place], self._totals[place])

    @property
    def best(self) -> int:
        """The candidate with the best mean over S, the earliest of equals."""
        return self._leaders[-1]

    @property
    def best_total(self) -> int:
        """The sum of the best candidate's scores over S."""
        return self._totals[-1]

    def members(self) -> tuple[tuple[int, int], ...]:
        """The front as (candidate, number of places it leads in), earliest candidate first."""
        return tuple(sorted(self._share.items()))
