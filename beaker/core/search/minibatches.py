"""The walk over the evidence set that deals minibatches: all of it once per epoch, in another keyed order each time."""

import attrs

from beaker.core.keyed import shuffled


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
        batches = -(-count // self._size)
        if not self._batch:
            self._epoch += 1
            self._order = shuffled(self._evidence, self._seed, "minibatches", self._epoch)
        start, end = self._batch * count // batches, (self._batch + 1) * count // batches
        self._batch = (self._batch + 1) % batches
        return self._order[start:end]
