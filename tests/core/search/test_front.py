"""The front: what it keeps step by step is what the definition says of all candidates at once."""

from hypothesis import given
from hypothesis import strategies as st

from beaker.core.search.front import Front

TABLES = st.integers(1, 6).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 3), min_size=size, max_size=size), min_size=1, max_size=8)
)


def front_of(table: list[list[int]]) -> Front:
    front = Front.of(0, table[0], sum(table[0]))
    for candidate, scores in enumerate(table[1:], start=1):
        front.add(candidate, scores, sum(scores))
    return front


@given(TABLES)
def test_front__step_by_step__is_the_front_of_the_whole_table(table: list[list[int]]) -> None:
    """Each case and the mean count for the candidate with the best (score, mean, earliness)."""
    totals = [sum(scores) for scores in table]
    columns = [*zip(*table, strict=True), totals]
    leaders = [max(range(len(table)), key=lambda n: (column[n], totals[n], -n)) for column in columns]
    front = front_of(table)
    assert front.members() == tuple(sorted((n, leaders.count(n)) for n in set(leaders)))
    assert (front.best, front.best_total) == (leaders[-1], max(totals))


@given(TABLES)
def test_front__members__are_pareto_optimal_and_hold_every_best_score(table: list[list[int]]) -> None:
    """Nothing dominates a member, and on every case some member has the best score of all."""
    members = [table[n] for n, _ in front_of(table).members()]
    for ours in members:
        assert not any(
            theirs != ours and all(other >= mine for mine, other in zip(ours, theirs, strict=True)) for theirs in table
        )
    for place in range(len(table[0])):
        assert max(scores[place] for scores in members) == max(scores[place] for scores in table)


@given(TABLES, st.data())
def test_would_lead__says_what_adding_does(table: list[list[int]], data: st.DataObject) -> None:
    """A candidate that would lead somewhere becomes a member when it is added, and only then."""
    front = front_of(table)
    size = len(table[0])
    scores = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    total = sum(scores)
    expected = sum(front.would_lead(place, score, total) for place, score in enumerate([*scores, total]))
    front.add(len(table), scores, total)
    assert dict(front.members()).get(len(table), 0) == expected
