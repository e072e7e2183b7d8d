"""Keyed chance: a number depends on its key alone, and on all of it."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.keyed import below, shuffled, words

IDS = st.lists(st.text(max_size=4), unique=True, max_size=12)


def test_keyed__fixed_vectors() -> None:
    """The draws are part of what a run gives, so they are pinned: changing them changes `search_version`."""
    assert below(1000, 7, "parent", 3, 0) == 970
    assert shuffled("abcdef", 7, "split") == ("e", "f", "a", "c", "b", "d")
    assert words(3, 7, "bootstrap", 1) == (4147343191, 1279409918, 2722495316)


@given(st.integers(1, 10**9), st.integers(), st.integers())
def test_below__stays_below(limit: int, seed: int, counter: int) -> None:
    """A draw lies in [0, limit) and does not change."""
    drawn = below(limit, seed, "purpose", counter)
    assert 0 <= drawn < limit
    assert drawn == below(limit, seed, "purpose", counter)


def test_below__each_value_about_as_often() -> None:
    """10,000 draws below 10 hit each value within five standard deviations of 1,000 times."""
    drawn = [below(10, 1, "purpose", counter) for counter in range(10_000)]
    assert all(abs(drawn.count(one) - 1000) < 5 * 30 for one in range(10))


def test_below__keys_that_look_alike_when_joined__differ() -> None:
    """("1", 2), (1, 2), ("12",) and (12,) are four keys."""
    keys: list[tuple[int | str, ...]] = [("1", 2), (1, 2), ("12",), (12,), (1, "2")]
    assert len({below(2**200, 0, "purpose", *key) for key in keys}) == len(keys)


@given(IDS, st.integers(0, 5))
def test_shuffled__is_a_permutation_that_ignores_the_given_order(ids: list[str], seed: int) -> None:
    """Every id stands once, and the order of the input does not matter."""
    order = shuffled(ids, seed, "purpose", 1)
    assert sorted(order) == sorted(ids)
    assert shuffled(reversed(ids), seed, "purpose", 1) == order


@given(IDS, st.integers(0, 5), st.data())
def test_shuffled__one_id_less__keeps_the_order_of_the_rest(ids: list[str], seed: int, data: st.DataObject) -> None:
    """The place of an id among the others does not depend on which others there are."""
    order = shuffled(ids, seed, "purpose")
    if ids:
        gone = data.draw(st.sampled_from(ids))
        assert shuffled((one for one in ids if one != gone), seed, "purpose") == tuple(i for i in order if i != gone)
