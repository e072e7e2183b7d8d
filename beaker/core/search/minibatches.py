"""The walk over the evidence set that deals minibatches: all of it once per epoch, in another keyed order each time."""

import attrs

from beaker.core.keyed import shuffled


def batches_per_epoch(evidence: int, size: int) -> int:
    """The fewest batches of at most `size` cases that hold `evidence` cases, and at least one."""
    return max(-(-evidence // size), 1)


def largest_minibatch(evidence: int, size: int) -> int:
    """The most cases a minibatch will have, the batches of an epoch being as even as they can be."""
    return -(-evidence // batches_per_epoch(evidence, size))


@attrs.define
class Walk:
    """Deals minibatches without end.

    An epoch is cut into the fewest batches that hold at most `size` cases; their lengths differ by one at most, so
    that no batch is a poor remainder.
    """

    _evidence: tuple[str, ...]
    _size: int
    _seed: int
    _epoch: int = 0
    _batch: int = 0
    _order: tuple[str, ...] = ()

    def deal(self) -> tuple[str, ...]:
        """The next minibatch."""
        count = len(self._evidence)
        batches = batches_per_epoch(count, self._size)
        if not self._batch:
            self._epoch += 1
            self._order = shuffled(self._evidence, self._seed, "minibatches", self._epoch)
        start, end = self._batch * count // batches, (self._batch + 1) * count // batches
        self._batch = (self._batch + 1) % batches
        return self._order[start:end]
