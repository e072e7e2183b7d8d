"""The queue of a server: who gets a worker, and when a lost one is replaced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.run_queue import (
    FOREIGN_SECONDS,
    LONGEST_WAIT,
    STEADY_SECONDS,
    RunQueue,
    Standing,
    announce,
    begin,
    lose,
    meet,
    next_run,
    refuse,
)

RUNS = ("a", "b", "c")


def queue(limit: int = 2, *, due: float = 10.0) -> RunQueue:
    """Three runs, all due at the same time."""
    return meet(RunQueue(limit), RUNS, due=due)


def test_next__due_runs__come_in_the_order_of_the_queue() -> None:
    """The oldest that has no worker, as long as there is room."""
    assert next_run(queue(), (), now=10.0) == "a"
    assert next_run(queue(), ("a",), now=10.0) == "b"
    assert next_run(queue(), ("b",), now=10.0) == "a"
    assert next_run(queue(), ("a", "b"), now=10.0) is None
    assert next_run(queue(3), ("a", "b"), now=10.0) == "c"


def test_next__busy_strangers__take_room() -> None:
    """Workers of runs that have ended meanwhile still run."""
    assert next_run(queue(), ("old", "older"), now=10.0) is None
    assert next_run(queue(), ("old",), now=10.0) == "a"


def test_next__not_due__waits() -> None:
    """A run that is not due yet is passed over by one that is."""
    assert next_run(queue(), (), now=9.9) is None
    assert next_run(announce(queue(), "b", now=3.0), (), now=3.0) == "b"


def test_meet__known_runs__keep_their_standing() -> None:
    """Who has ended is gone, who is new is due as told, and the order is the one that is given."""
    later = meet(announce(queue(), "b", now=1.0), ("b", "d"), due=20.0)
    assert dict(later.standings) == {"b": Standing(1.0), "d": Standing(20.0)}
    assert later.limit == 2
    assert list(meet(queue(), ("c", "a"), due=0.0).standings) == ["c", "a"]


def test_announce__unknown_run__changes_nothing() -> None:
    """It was cancelled before anybody looked."""
    assert announce(queue(), "x", now=1.0) == queue()


def test_announce__keeps_what_was_lost() -> None:
    """Only the time changes."""
    worn = lose(begin(queue(), "a", now=10.0), "a", now=11.0)[0]
    assert announce(worn, "a", now=30.0).standings["a"] == Standing(30.0, 10.0, 1)


def test_refuse__run__comes_later_and_lets_others_by() -> None:
    """One that lacks a variable, say, holds up nobody."""
    after = refuse(queue(), "a", now=10.0)
    assert after.standings["a"] == Standing(10.0 + FOREIGN_SECONDS)
    assert next_run(after, (), now=10.0) == "b"
    assert next_run(after, (), now=10.0 + FOREIGN_SECONDS) == "a"


def test_lose__again_and_again__is_answered_with_patience() -> None:
    """At once, then after 1, 2, 4, ... seconds, never more than the longest wait; the limit stays."""
    now, waits, standing = 10.0, [], queue()
    for _ in range(9):
        standing = begin(standing, "a", now=now)
        standing, wait = lose(standing, "a", now=now + 1.0)
        waits.append(wait)
        assert standing.standings["a"].due == now + 1.0 + wait
        now += 1.0 + wait
    assert waits == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, LONGEST_WAIT, LONGEST_WAIT]
    assert standing.limit == 2
    assert lose(RunQueue(1, {"a": Standing(0.0, 0.0, 10_000)}), "a", now=1.0)[1] == LONGEST_WAIT


@pytest.mark.parametrize(("lived", "losses"), [(STEADY_SECONDS, 4), (STEADY_SECONDS + 0.1, 1)])
def test_lose__after_a_long_life__begins_anew(lived: float, losses: int) -> None:
    """What ended a worker after a while is not what ended the one before."""
    worn = RunQueue(1, {"a": Standing(0.0, 100.0, 3)})
    assert lose(worn, "a", now=100.0 + lived)[0].standings["a"].losses == losses


def test_lose__unknown_run__changes_nothing() -> None:
    """A worker of a run that has ended meanwhile."""
    assert lose(queue(), "x", now=1.0) == (queue(), 0.0)


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from(["go", "lose", "end", "refuse"]), st.sampled_from("abcdef")), max_size=40),
)
def test_queue__whatever_happens__never_exceeds_its_limit_and_starves_nobody(
    limit: int, happenings: list[tuple[str, str]]
) -> None:
    """Workers are never more than the limit, and once nothing is lost any more every run gets its turn."""
    now, busy, open_runs = 0.0, set[str](), list("abcdef")
    queued = meet(RunQueue(limit), open_runs, due=0.0)
    for what, run_id in happenings:
        now += 1.0
        if what == "go":
            while (chosen := next_run(queued, busy, now=now)) is not None:
                assert chosen not in busy
                queued = begin(queued, chosen, now=now)
                busy.add(chosen)
        elif what == "refuse" and run_id in open_runs and run_id not in busy:
            queued = refuse(queued, run_id, now=now)
        elif run_id in busy:
            busy.discard(run_id)
            if what == "end":
                open_runs.remove(run_id)
            else:
                queued, _ = lose(queued, run_id, now=now)
        queued = meet(queued, open_runs, due=now)
        assert len(busy) <= limit
    served = []
    while open_runs:
        now += LONGEST_WAIT
        while (chosen := next_run(queued, busy, now=now)) is not None:
            busy.add(chosen)
        assert busy
        served += [open_runs.pop(open_runs.index(run_id)) for run_id in sorted(busy) if run_id in open_runs]
        busy.clear()
        queued = meet(queued, open_runs, due=now)
    assert len(served) == len(set(served))
