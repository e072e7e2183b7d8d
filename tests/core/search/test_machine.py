"""The search, situation by situation: what starts, what is skipped, what stops, and what it says."""

from collections.abc import Callable

import pytest
from returns.pipeline import is_successful

from beaker.core.search import (
    Cancelled,
    Evaluate,
    Evaluated,
    Event,
    Finish,
    LogEntry,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    Started,
    minimum_rollouts,
    split_train,
    start,
    step,
)
from beaker.core.search.minibatches import Walk
from beaker.core.search.state import PHASES, STAGES, Slot

Run = Callable[..., tuple[SearchState, list[LogEntry]]]


def evaluated(log: list[LogEntry], purpose: str, tree: str | None = None) -> list[str]:
    """The ids of the cases that were asked for, in order."""
    commands = [one for one in log if isinstance(one, Evaluate) and one.purpose == purpose]
    return [case_id for one in commands if tree in (None, one.tree) for case_id in one.case_ids]


def proposes(log: list[LogEntry]) -> list[Propose]:
    return [one for one in log if isinstance(one, Propose)]


def zero(tree: str, case_id: str) -> float:
    return 0.0


def no_change(command: Propose) -> Proposed:
    return Proposed(command.seq, "no_change")


def new_child(command: Propose) -> Proposed:
    return Proposed(command.seq, "child", f"tree-{command.proposal}")


# Starting


@pytest.mark.parametrize(
    "settings, train, test, code, words",
    [
        (SearchSettings(145), 60, 40, "BK540", "needs 146"),
        (SearchSettings(1000, max_proposals=0), 60, 40, "BK541", "max_proposals must be at least 1"),
        (SearchSettings(1000, max_proposals_in_flight=0), 60, 40, "BK541", "max_proposals_in_flight"),
        (SearchSettings(1000, minibatch_size=0), 60, 40, "BK541", "minibatch_size"),
        (SearchSettings(1000, selection_fraction=1.0), 60, 40, "BK541", "selection_fraction"),
        (SearchSettings(1000, selection_fraction=0.0), 60, 40, "BK541", "selection_fraction"),
        (SearchSettings(1000, selection_fraction=float("nan")), 60, 40, "BK541", "selection_fraction"),
        (SearchSettings(1000), 0, 40, "BK542", "TRAIN split has no case"),
        (SearchSettings(1000), 60, 0, "BK542", "TEST split has no case"),
    ],
)
def test_start__what_cannot_run__is_refused(
    settings: SearchSettings, train: int, test: int, code: str, words: str
) -> None:
    """A budget below the minimum (which is named), settings out of range and empty splits never start."""
    refused = start(settings, [f"a{n}" for n in range(train)], [f"t{n}" for n in range(test)], "base")
    assert not is_successful(refused)
    assert refused.failure().code == code
    assert words in refused.failure().message


@pytest.mark.parametrize("train, test", [(["a", "a"], ["t"]), (["a", "t"], ["t"]), (["a"], ["t", "t"])])
def test_start__an_id_twice__is_refused(train: list[str], test: list[str]) -> None:
    """Ids are unique over both splits, so that no TEST case can pass for a TRAIN case."""
    refused = start(SearchSettings(1000), train, test, "base")
    assert refused.failure().code == "BK542"
    assert "stands twice" in refused.failure().message


@pytest.mark.parametrize("train", [1, 3, 19, 20, 60])
@pytest.mark.parametrize("test_baseline", [True, False])
def test_minimum__is_just_enough(run: Run, train: int, test_baseline: bool) -> None:
    """With the minimum one proposal is made, its child accepted, and TEST scored."""
    chosen = SearchSettings(1, test_baseline=test_baseline)
    minimum = minimum_rollouts(train, 7, chosen)
    state, log = run(
        train,
        7,
        lambda tree, case_id: 0.5 if tree == "base" else 0.75,
        new_child,
        max_rollouts=minimum,
        test_baseline=test_baseline,
    )
    assert [one.outcome for one in state.proposals] == ["accepted"]
    assert (state.finished, state.winner) == ("budget", 1)
    assert minimum - 2 <= state.issued <= minimum  # the minibatch dealt may be one smaller than the largest
    assert len(evaluated(log, "test")) == (14 if test_baseline else 7)


def test_cancel__before_the_start__is_refused() -> None:
    """There is no log yet that could say so."""
    state = start(SearchSettings(1000), ["a"], ["t"], "base").unwrap()
    with pytest.raises(ValueError, match="not started"):
        step(state, Cancelled())


# The baseline


def test_baseline__nothing_runs__ends_as_an_error_without_test(run: Run) -> None:
    """When every TRAIN case fails there is nothing to improve on; all of TRAIN was tried, TEST was not touched."""
    state, log = run(30, 10, lambda tree, case_id: None, new_child)
    assert isinstance(log[-1], Finish)
    assert log[-1].reason == "error"
    assert "the baseline runs on no TRAIN case: of 30 cases, none could be scored" in log[-1].message
    assert (state.issued, proposes(log), evaluated(log, "test"), state.winner) == (30, [], [], None)


def test_baseline__nothing_of_s_runs_but_evidence_does__goes_on(run: Run) -> None:
    """One case of the evidence set that runs is enough: a child may bring the rest to run."""
    state, _ = run(30, 10, lambda tree, case_id: None if case_id != "a3" and tree == "base" else 0.5, new_child)
    assert "a3" in state.split.evidence
    assert state.finished != "error"
    assert state.candidates[0].train == 0.0
    assert state.winner


def test_baseline__nothing_runs_and_little_budget__stops_before_test_is_touched(run: Run) -> None:
    """Looking for a case that runs never spends what is set aside for TEST."""
    chosen = SearchSettings(1, selection_fraction=0.05, minibatch_size=1)
    minimum = minimum_rollouts(100, 10, chosen)
    state, log = run(
        100,
        10,
        lambda tree, case_id: None,
        new_child,
        max_rollouts=minimum,
        selection_fraction=0.05,
        minibatch_size=1,
    )
    assert isinstance(log[-1], Finish)
    assert "none of the 5 tried could be scored" in log[-1].message
    assert state.issued == 5


def test_baseline__perfect__proposes_nothing_and_tests_once(run: Run) -> None:
    """A baseline that solves S cannot be beaten on it: TEST is scored for it alone."""
    state, log = run(30, 10, lambda tree, case_id: 1.0, new_child)
    assert (state.finished, state.winner, proposes(log)) == ("perfect", 0, [])
    assert state.issued == len(state.split.selection) + 10
    assert state.test_objective(0) == 1.0


def test_winner__is_the_baseline__test_is_scored_once(run: Run) -> None:
    """When nothing better was found the baseline is the winner, and its TEST cases run once."""
    state, log = run(30, 10, zero, no_change, max_proposals=4)
    assert (state.finished, state.winner) == ("proposals", 0)
    assert evaluated(log, "test") == [f"t{n}" for n in range(10)]


# Proposals


def test_perfect__child_that_solves_s__ends_the_search(run: Run) -> None:
    """As soon as the best solves all of S no more proposals are made; those in flight are decided."""
    state, log = run(
        30, 4, lambda tree, case_id: float(tree == "tree-2"), new_child, max_proposals=20, max_proposals_in_flight=3
    )
    assert (state.finished, state.candidates[state.winner or 0].tree) == ("perfect", "tree-2")
    assert len(state.proposals) == len(proposes(log)) == 4


def test_perfect__while_a_parent_is_measured__that_proposal_is_dropped(run: Run) -> None:
    """A proposal that was not made yet when the search ends is not made, though its evaluations are under way."""
    split = split_train([f"a{n}" for n in range(20)], SearchSettings(1, selection_fraction=0.3))
    walk = Walk(split.evidence, 3, 0)
    first, second, third, fourth = (walk.deal() for _ in range(4))

    def score(tree: str, case_id: str) -> float:
        return float(tree == "tree-2" or (tree == "base" and case_id in third + fourth))

    state, log = run(20, 4, score, new_child, selection_fraction=0.3, max_proposals_in_flight=2)
    assert evaluated(log, "parent_minibatch") == [*first, *second, *third, *fourth]
    assert [(one.n, one.outcome) for one in state.proposals] == [(1, "rejected"), (2, "accepted")]
    assert (state.finished, len(proposes(log)), state.reserved) == ("perfect", 2, 0)


def test_proposals_in_flight__each_with_a_parent_to_measure__are_asked_side_by_side() -> None:
    """Measuring waits for no proposer, so all of them work at once, whoever answers first."""
    chosen = SearchSettings(1000, max_proposals_in_flight=3)
    state, _ = step(start(chosen, [f"a{n}" for n in range(40)], ["t0"], "base").unwrap(), Started())
    while evaluations := [one for one in state.outstanding if isinstance(one, Evaluate)]:
        asked = evaluations[0]
        state, _ = step(state, Evaluated(asked.seq, tuple((case_id, 0.0) for case_id in asked.case_ids)))
    assert [one.proposal for one in state.outstanding if isinstance(one, Propose)] == [1, 2, 3]
    minibatches = [set(one.minibatch) for one in state.outstanding if isinstance(one, Propose)]
    assert len(set.union(*minibatches)) == sum(map(len, minibatches))


def test_exhausted__baseline_solves_the_evidence__ends_the_search(run: Run) -> None:
    """With nothing left to learn from, the walk stops after seeing every evidence case once."""
    wanted = split_train([f"a{n}" for n in range(30)], SearchSettings(1))
    state, log = run(30, 4, lambda tree, case_id: 0.0 if case_id in wanted.selection else 1.0, new_child)
    assert (state.finished, proposes(log), state.winner) == ("exhausted", [], 0)
    assert sorted(evaluated(log, "parent_minibatch")) == sorted(wanted.evidence)


def test_minibatch__solved_by_the_parent__is_skipped(run: Run) -> None:
    """Only minibatches with something to learn reach a proposer, and each evidence case of a parent is run once."""
    split = split_train([f"a{n}" for n in range(40)], SearchSettings(1))
    unsolved = {split.evidence[0], split.evidence[7]}
    state, log = run(
        40,
        4,
        lambda tree, case_id: 0.5 if case_id in unsolved or case_id in split.selection else 1.0,
        no_change,
        max_proposals=6,
    )
    assert len(state.proposals) == 6
    assert all(unsolved.intersection(one.minibatch) for one in proposes(log))
    assert sorted(evaluated(log, "parent_minibatch")) == sorted(split.evidence)


def test_child__that_only_equals_its_parent__is_rejected(run: Run) -> None:
    """A tie on the minibatch is no evidence, also where floats would see a difference."""
    values = {"base": 0.3, "other": 0.1 + 0.2}

    def score(tree: str, case_id: str) -> float:
        return values["base" if tree == "base" else "other"]

    state, log = run(30, 4, score, new_child, max_proposals=3)
    assert [one.outcome for one in state.proposals] == ["rejected"] * 3
    assert evaluated(log, "selection", "tree-1") == []
    assert state.candidates[1].reason == "0.3 on the minibatch, its parent 0.3"


def test_child__better_on_the_minibatch_alone__is_stopped_by_racing(run: Run) -> None:
    """A child that cannot reach the best mean any more and leads nowhere is not scored to the end."""
    split = split_train([f"a{n}" for n in range(200)], SearchSettings(1))

    def score(tree: str, case_id: str) -> float:
        if case_id in split.evidence:
            return 0.0 if tree == "base" else 1.0
        return 0.9 if tree == "base" else 0.0

    state, log = run(200, 4, score, new_child, max_proposals=1)
    assert len(evaluated(log, "selection", "tree-1")) == 16  # after 8 of 100 cases 0.92 was still possible
    assert (state.candidates[1].status, state.candidates[1].train) == ("rejected", None)
    assert state.candidates[1].reason == (
        "stopped after 16 of 100 selection cases: it could have reached 0.84, candidate 0 has 0.9"
    )


def test_child__that_leads_on_one_case__is_scored_to_the_end(run: Run) -> None:
    """A child that is worse on average but the only one to solve a case joins the front."""
    split = split_train([f"a{n}" for n in range(200)], SearchSettings(1))

    def score(tree: str, case_id: str) -> float:
        if case_id in split.evidence:
            return 0.0 if tree == "base" else 1.0
        if case_id == split.selection[0]:
            return 0.0 if tree == "base" else 1.0
        return 0.9 if tree == "base" else 0.0

    state, _ = run(200, 4, score, new_child, max_proposals=1)
    assert (state.candidates[1].status, state.best) == ("accepted", 0)
    assert dict(state.front.members()) == {0: 100, 1: 1}


def test_duplicate__of_any_known_tree__costs_no_rollout(run: Run) -> None:
    """The baseline's tree, a rejected one, and one still in flight are recognised; the earlier proposal keeps it."""
    trees = {1: "base", 2: "new", 3: "new", 4: "new"}
    state, log = run(
        30,
        4,
        zero,
        lambda command: Proposed(command.seq, "child", trees[command.proposal]),
        max_proposals=4,
        max_proposals_in_flight=3,
    )
    assert [(one.outcome, one.candidate) for one in state.proposals] == [
        ("duplicate", 0),
        ("rejected", 1),
        ("duplicate", 1),
        ("duplicate", 1),
    ]
    assert state.proposals[0].message == "the same tree as candidate 0"
    assert len(evaluated(log, "minibatch")) == 3


def test_decisions__in_order_of_proposals__though_a_later_one_is_done_first(run: Run) -> None:
    """With three in flight, a failure that comes back first still waits for the child before it."""
    state, log = run(
        30,
        4,
        lambda tree, case_id: 0.5 if tree == "base" else 0.6,
        lambda command: new_child(command) if command.proposal == 1 else Proposed(command.seq, "crashed"),
        max_proposals=3,
        max_proposals_in_flight=3,
    )
    assert [(one.n, one.outcome) for one in state.proposals] == [(1, "accepted"), (2, "crashed"), (3, "crashed")]
    assert [one.seen for one in proposes(log)] == [0, 0, 0]


def test_budget__held_by_proposals_in_flight__is_waited_for(run: Run) -> None:
    """A budget for few proposals at a time is used up as far as with one at a time, not given up early."""
    budget = minimum_rollouts(40, 5, SearchSettings(1)) + 40
    made = {}
    for in_flight in (1, 4):
        state, log = run(40, 5, zero, new_child, max_rollouts=budget, max_proposals_in_flight=in_flight)
        assert state.finished == "budget"
        made[in_flight] = len(proposes(log))
        assert [one.seen for one in proposes(log)] == [max(0, n + 1 - in_flight) for n in range(made[in_flight])]
    assert made[1] == made[4] > 4


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize("outcome", ["crashed", "timed_out"])
def test_proposer__ten_times_without_any_success__ends_as_an_error(run: Run, in_flight: int, outcome: str) -> None:
    """A proposer that never works is not asked fifty times; TEST stays unspent and the last message is kept."""
    state, log = run(
        30,
        10,
        zero,
        lambda command: Proposed(command.seq, outcome, message=f"exit {command.proposal}"),
        max_proposals_in_flight=in_flight,
    )
    assert isinstance(log[-1], Finish)
    assert log[-1].reason == "error"
    assert log[-1].message.endswith(f"the last one {outcome.replace('_', ' ')}: exit 10")
    assert (len(state.proposals), state.failed, evaluated(log, "test")) == (10, 10, [])


@pytest.mark.parametrize("interlude", ["no_change", "child", "outside_targets", "special_file", "invalid_tree"])
def test_proposer__nine_failures_then_something_else__goes_on(run: Run, interlude: str) -> None:
    """Ten in a row count; anything else in between starts the row again, and a success settles the question."""

    def answer(command: Propose) -> Proposed:
        if command.proposal != 10:
            return Proposed(command.seq, "crashed")
        return Proposed(command.seq, interlude, "tree" if interlude == "child" else None)

    state, _ = run(30, 10, zero, answer, max_proposals=25)
    worked = interlude in ("no_change", "child")
    assert (state.finished, len(state.proposals)) == (("proposals", 25) if worked else ("error", 20))


def test_evidence__other_results_of_the_parent__unsolved_and_latest_first(run: Run) -> None:
    """A parent asked again is shown with what it did on earlier minibatches, up to 100 results."""

    def half(tree: str, case_id: str) -> float:
        return float(int(case_id[1:]) % 2) if case_id.startswith("a") else 0.0

    _, log = run(400, 4, half, no_change, max_proposals=50)
    last = proposes(log)[-1]
    solved = [half("base", case_id) == 1.0 for case_id in last.evidence]
    assert len(last.evidence) == 100
    assert solved == sorted(solved)
    earlier = [case_id for one in proposes(log)[:-1] for case_id in one.minibatch if half("", case_id) == 0.0]
    assert last.evidence[0] == earlier[-1]


@pytest.mark.parametrize("table", [PHASES, STAGES])
def test_tables__lead_from_the_first_state_to_the_last(table: dict[str, tuple[str, ...]]) -> None:
    """Every state is reached, every state leads on, and only the last one ends."""
    reached = {next(iter(table))}
    while following := {after for one in reached for after in table[one]} - reached:
        reached |= following
    assert reached == set(table)
    assert [one for one in table if not table[one]] == [list(table)[-1]]


@pytest.mark.parametrize(
    "answer, words",
    [
        (Proposed(3, "child"), "a tree comes with the outcome 'child'"),
        (Proposed(3, "no_change", "tree"), "and only with it"),
        (Proposed(3, "accepted", "tree"), "not 'accepted'"),
        (Evaluated(3, ()), "asked for something else"),
        (Proposed(2, "no_change"), "nothing outstanding has the number 2"),
        (Started(), "starts once"),
    ],
)
def test_events__that_do_not_fit__are_refused(answer: Event, words: str) -> None:
    """A proposal is answered with an outcome of a proposer, and a child with its tree."""
    train = [f"a{n}" for n in range(12)]
    state, _ = step(start(SearchSettings(1000), train, ["t"], "base").unwrap(), Started())
    while not isinstance(state.outstanding[0], Propose):
        command = state.outstanding[0]
        assert isinstance(command, Evaluate)
        state, _ = step(state, Evaluated(command.seq, tuple((case_id, 0.5) for case_id in command.case_ids)))
    assert state.outstanding[0].seq == 3
    with pytest.raises(ValueError, match=words):
        step(state, answer)


def test_moves__outside_the_tables__are_refused(run: Run) -> None:
    """A move that the table does not know is a fault of the program."""
    with pytest.raises(AssertionError, match="waiting to settled"):
        Slot(1, 0, ()).move("settled")
    state, _ = run(3, 1, zero, no_change)
    with pytest.raises(AssertionError, match="finished to testing"):
        state.move("testing")


def test_events__after_an_answer__are_refused_once_more() -> None:
    """A command is answered once, whether its turn has come or not."""
    chosen = SearchSettings(1000)
    train = [f"a{n}" for n in range(40)]
    state, _ = step(start(chosen, train, ["t"], "base").unwrap(), Started())
    commands = [one for one in state.outstanding if isinstance(one, Evaluate)]
    later = Evaluated(commands[1].seq, tuple((case_id, 0.0) for case_id in commands[1].case_ids))
    first = Evaluated(commands[0].seq, tuple((case_id, 0.0) for case_id in commands[0].case_ids))
    assert step(state, later)[1] == ()
    with pytest.raises(ValueError, match="nothing outstanding"):
        step(state, later)
    assert step(state, first)[1] == (first, later)
    with pytest.raises(ValueError, match="nothing outstanding"):
        step(state, first)
