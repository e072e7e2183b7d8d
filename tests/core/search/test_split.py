"""TRAIN in two, and the smallest budget that follows from it."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.search import (
    SearchSettings,
    default_max_rollouts,
    minimum_rollouts,
    split_train,
)
from beaker.core.search.split import split_sizes

IDS = st.lists(st.text(max_size=3), unique=True, min_size=1, max_size=60)
FRACTIONS = st.floats(0, 1, exclude_min=True, exclude_max=True)


@given(IDS, FRACTIONS, st.integers(0, 9))
def test_split__few_cases_share_and_many_divide(ids: list[str], fraction: float, seed: int) -> None:
    """Below 20 cases both sets are all of TRAIN; from 20 on they divide it, and neither is empty."""
    chosen = SearchSettings(1, selection_fraction=fraction, seed=seed)
    split = split_train(ids, chosen)
    assert split.shared == (len(ids) < 20)
    assert (len(split.selection), len(split.evidence)) == split_sizes(len(ids), chosen)
    if split.shared:
        assert sorted(split.selection) == sorted(split.evidence) == sorted(ids)
    else:
        assert sorted(split.selection + split.evidence) == sorted(ids)
        assert min(len(split.selection), len(split.evidence)) >= 1
        assert abs(len(split.selection) - fraction * len(ids)) <= 1
    assert split_train(sorted(ids), chosen) == split


def test_split__another_seed__divides_otherwise() -> None:
    """The seed decides who selects."""
    ids = [str(number) for number in range(40)]
    assert len({split_train(ids, SearchSettings(1, seed=seed)).selection for seed in range(5)}) == 5


@pytest.mark.parametrize(
    "train, test, changes, expected",
    [
        (60, 40, {}, 30 + (3 + 3 + 30) + 80),
        (60, 40, {"test_baseline": False}, 30 + (3 + 3 + 30) + 40),
        (60, 40, {"minibatch_size": 4}, 30 + (4 + 4 + 30) + 80),
        (60, 40, {"minibatch_size": 14}, 30 + (10 + 10 + 30) + 80),
        (60, 40, {"minibatch_size": 100, "selection_fraction": 0.9}, 54 + (6 + 6 + 54) + 80),
        (10, 5, {}, 10 + 10 + 10),
        (1, 1, {}, 1 + 1 + 2),
        (0, 0, {}, 0),
    ],
)
def test_minimum_rollouts__vectors(train: int, test: int, changes: dict[str, object], expected: int) -> None:
    """The baseline on S, the dearest proposal, and TEST."""
    chosen = attrs.evolve(SearchSettings(1), **changes)  # type: ignore[arg-type]  # any of the fields
    assert minimum_rollouts(train, test, chosen) == expected


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 500), FRACTIONS)
def test_default_max_rollouts__is_always_enough(train: int, test: int, minibatch: int, fraction: float) -> None:
    """Whoever sets no budget can run."""
    chosen = SearchSettings(1, minibatch_size=minibatch, selection_fraction=fraction)
    assert default_max_rollouts(train, test) >= minimum_rollouts(train, test, chosen)
