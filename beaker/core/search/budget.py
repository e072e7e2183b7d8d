"""The budget in distinct evaluations (candidate, case): its default, its minimum, what is set aside for TEST."""

from beaker.core.search.minibatches import largest_minibatch
from beaker.core.search.settings import SearchSettings
from beaker.core.search.split import SHARED_BELOW, split_sizes


def default_max_rollouts(train: int, test: int) -> int:
    """The budget when none is set, for so many TRAIN and TEST cases."""
    return 10 * train + 2 * test


def minimum_rollouts(train: int, test: int, settings: SearchSettings) -> int:
    """The smallest `max_rollouts` that pays for the baseline on S, one proposal and TEST.

    `train` and `test` count cases; `settings.max_rollouts` is not looked at. The proposal is the dearest one possible:
    its parent knows nothing of the minibatch yet.
    """
    selection, evidence = split_sizes(train, settings)
    minibatch = largest_minibatch(evidence, settings.minibatch_size)
    # Where S is all of TRAIN, the parent's minibatch is paid for already and the child's lies within S.
    proposal = selection if train < SHARED_BELOW else minibatch + minibatch + selection
    return selection + proposal + reserve_for_test(test, settings)


def reserve_for_test(test: int, settings: SearchSettings) -> int:
    """What is set aside for TEST from the start: winner and baseline, or the winner alone.

    While the baseline leads only half of it would be used. It is set aside all the same: any proposal may bring the
    candidate that needs the rest, so no proposal could ever be paid from it.
    """
    return 2 * test if settings.test_baseline else test
