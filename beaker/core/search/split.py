"""TRAIN in two: the cases that select candidates, and the cases whose results a proposer may see."""

from collections.abc import Iterable

from beaker.core.keyed import shuffled
from beaker.core.search.settings import SearchSettings
from beaker.core.values import value

SHARED_BELOW = 20
"""With fewer TRAIN cases than this both sets are all of TRAIN: halves would be too small to say anything."""


@value
class Split:
    """The ids of the selection set S and of the evidence set, each in the order in which it is worked through.

    `shared` says that both hold all of TRAIN; otherwise they have no case in common.
    """

    selection: tuple[str, ...]
    evidence: tuple[str, ...]
    shared: bool


def split_train(train_ids: Iterable[str], settings: SearchSettings) -> Split:
    """Divide distinct TRAIN ids by a keyed hash of the id; the order in which they are given does not matter."""
    order = shuffled(train_ids, settings.seed, "split")
    selection, evidence = split_sizes(len(order), settings)
    return Split(order[:selection], order[len(order) - evidence :], shared=len(order) < SHARED_BELOW)


def split_sizes(train: int, settings: SearchSettings) -> tuple[int, int]:
    """How many of `train` cases select and how many give evidence; of 20 or more, at least one each."""
    if train < SHARED_BELOW:
        return train, train
    selection = min(max(round(train * settings.selection_fraction), 1), train - 1)
    return selection, train - selection
