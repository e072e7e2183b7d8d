"""The walk over the evidence set: every epoch deals every case once, in batches of nearly one size."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.search.minibatches import Walk


@given(count=st.integers(1, 40), size=st.integers(1, 12), seed=st.integers(0, 9))
def test_walk__an_epoch__deals_each_case_once_in_even_batches(count: int, size: int, seed: int) -> None:
    """No batch is larger than asked for, and none is smaller than another by more than one."""
    ids = tuple(map(str, range(count)))
    walk = Walk(ids, size, seed)
    for _ in range(3):
        batches = [walk.deal() for _ in range(-(-count // size))]
        assert sorted(one for batch in batches for one in batch) == sorted(ids)
        lengths = [len(batch) for batch in batches]
        assert max(lengths) <= size
        assert max(lengths) - min(lengths) <= 1


def test_walk__epochs_and_seeds__differ() -> None:
    """Each epoch, and each seed, has an order of its own."""
    ids = tuple(map(str, range(12)))
    walk, other = Walk(ids, 12, 0), Walk(ids, 12, 1)
    assert len({walk.deal(), walk.deal(), other.deal(), other.deal()}) == 4
