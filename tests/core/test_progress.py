"""When progress is due, and how it looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.progress import BAR_WIDTH, PLAIN_PACE, TERMINAL_PACE, Pace, bar, is_due, size


@pytest.mark.parametrize(
    ("told", "now", "due"),
    [(None, 11.9, False), (None, 12.0, True), (12.0, 16.9, False), (12.0, 17.0, True), (10.5, 11.9, False)],
)
def test_is_due__patience_then_pace(told: float | None, now: float, due: bool) -> None:
    """What is over at once says nothing; what lasts says something now and then."""
    assert is_due(Pace(patience=2.0, every=5.0), began=10.0, told=told, now=now) is due


def test_paces__begin_after_two_seconds() -> None:
    """A terminal is drawn often, a log gets few lines."""
    assert (TERMINAL_PACE.patience, PLAIN_PACE.patience) == (2.0, 2.0)
    assert (TERMINAL_PACE.every, PLAIN_PACE.every) == (0.1, 5.0)


@pytest.mark.parametrize(
    ("done", "total", "shown"),
    [
        (0, 10, "[........................]   0 %"),
        (5, 10, "[############............]  50 %"),
        (29, 100, "[######..................]  29 %"),
        (99, 100, "[#######################.]  99 %"),
        (10, 10, "[########################] 100 %"),
        (11, 10, "[########################] 100 %"),
        (-1, 10, "[........................]   0 %"),
        (0, 0, "[########################] 100 %"),
        (0, 1, "[........................]   0 %"),
    ],
)
def test_bar__shows_the_share(done: int, total: int, shown: str) -> None:
    """Only what is done is full, and nothing is more than full."""
    assert bar(done, total) == shown


@given(st.integers(), st.integers())
def test_bar__any_counts__have_one_width(done: int, total: int) -> None:
    """A line that is drawn over keeps its place."""
    assert len(bar(done, total)) == BAR_WIDTH + 8


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), (3 << 30, "3.0 GiB")],
)
def test_size__is_in_the_largest_unit_that_fits(count: int, shown: str) -> None:
    """Bytes are for people here."""
    assert size(count) == shown
