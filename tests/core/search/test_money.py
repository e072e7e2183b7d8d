"""Money in the search: what is counted, what is set aside, when the budget ends a run, and that nothing depends on
the order in which results arrive."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from beaker.core.exact import ONE, exact
from beaker.core.keyed import below
from beaker.core.search import (
    Command,
    Evaluate,
    Evaluated,
    LogEntry,
    Opened,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    Started,
    entries_to_json,
    minimum_rollouts,
    progress,
    replay,
    start,
    step,
)
from beaker.core.search.money import Spending
from beaker.core.search.spending import dollars
from beaker.core.usage import Spend

UNKNOWN = Spend(None, 5, 5, 1, ("openai:new",))


def cents(amount: float) -> Spend:
    return Spend(amount / 100, 10, 2, 1)


@attrs.frozen
class Shop:
    """A search whose cases cost `case(tree, case_id)` cents and whose proposals cost `proposal(number)` cents.

    `None` is a cost that is not known, 0 no call at all. `score` is the objective of a case, `tree-N` the child of
    proposal N.
    """

    settings: SearchSettings
    case: Callable[[str, str], float | None]
    proposal: Callable[[int], float | None] = lambda number: 0
    score: Callable[[str, str], float] = lambda tree, case_id: 0.5 if tree == "base" else 0.75
    train: int = 8
    test: int = 4

    def answer(self, command: Command) -> Evaluated | Proposed:
        if isinstance(command, Propose):
            made = self.proposal(command.proposal)
            return Proposed(command.seq, "child", f"tree-{command.proposal}", spend=self.spend([made]))
        assert isinstance(command, Evaluate)
        scores = tuple((case_id, self.score(command.tree, case_id)) for case_id in command.case_ids)
        return Evaluated(command.seq, scores, self.spend([self.case(command.tree, each) for each in command.case_ids]))

    def spend(self, found: list[float | None]) -> Spend | None:
        if None in found:
            return UNKNOWN
        called = [amount for amount in found if amount]
        return Spend(sum(called) / 100, 10 * len(called), 2 * len(called), len(called)) if called else None

    def run(self, pick: Callable[[list[Command]], Command] = lambda waiting: waiting[0]) -> Any:
        train_ids, test_ids = [f"a{n}" for n in range(self.train)], [f"t{n}" for n in range(self.test)]
        state, entries = step(start(self.settings, train_ids, test_ids, "base").unwrap(), Started())
        log: list[LogEntry] = list(entries)
        while not state.finished:
            waiting = [one for one in state.outstanding if one.seq not in state.arrived]
            state, entries = step(state, self.answer(pick(waiting)))
            log.extend(entries)
        return state, log


def shop(
    budget: float | None, case: Any = lambda tree, case_id: 1, proposal: Any = lambda number: 0, **more: Any
) -> Shop:
    known = {name: more.pop(name) for name in ("score", "train", "test") if name in more}
    return Shop(SearchSettings(1000, spend_budget_usd=budget, **more), case, proposal, **known)


def asked(log: list[LogEntry], purpose: str) -> int:
    return sum(len(one.case_ids) for one in log if isinstance(one, Evaluate) and one.purpose == purpose)


def test_spend__without_a_budget__is_counted_and_ends_nothing() -> None:
    """Every evaluation and proposal counts, TEST included; the search runs as it would without money."""
    state, log = shop(None, proposal=lambda number: 3, max_proposals=2).run()
    evaluations = sum(len(one.objectives) for one in log if isinstance(one, Evaluated))
    assert state.finished == "proposals"
    assert state.spending.total == sum(
        exact(one.spend.usd) for one in log if isinstance(one, Evaluated | Proposed) and one.spend
    )
    assert round(state.spending.total / ONE * 100) == evaluations + 6
    assert progress(state)["spend"] == {
        "usd": state.spending.usd,
        "tokens": 12 * (evaluations + 2),
        "calls": evaluations + 2,
        "unpriced": [],
    }


def test_spend__nothing_recorded__is_unknown_not_zero() -> None:
    """Null says that nothing was measured, where 0 would claim that nothing was spent."""
    state, _ = shop(None, lambda tree, case_id: 0, max_proposals=1).run()
    assert progress(state)["spend"] == {"usd": None, "tokens": None, "calls": 0, "unpriced": []}


def test_spend__unpriced_call__leaves_the_sum_unknown() -> None:
    """One call without a price, and the sum is not known any more; tokens still are. The models are named."""
    spending = Spending()
    assert (spending.add(None), spending.add(cents(2)), spending.add(UNKNOWN)) == (0, exact(0.02), 0)
    spending.add(Spend(None, 1, 1, 1))
    assert (spending.usd, spending.tokens, spending.calls) == (None, 24, 3)
    assert spending.unpriced == ("a model", "openai:new")


def test_budget__ends_between_proposals_with_test_paid_for() -> None:
    """No proposal begins that could not be finished beside TEST, so a steady price never goes over the budget."""
    # In cents: the baseline 8, a proposal up to 5 + 8 (its minibatch lies in S), TEST up to 8. Two proposals that are
    # rejected on their minibatch bring it to 23, and a third could need 21 beside TEST.
    state, log = shop(0.40, proposal=lambda number: 5, max_proposals=9, score=lambda tree, case_id: 0.5).run()
    assert (state.finished, state.made) == ("budget", 2)
    assert asked(log, "test") == 4  # the baseline won
    assert round(state.spending.total / ONE, 9) == 0.27
    assert state.finish is not None
    assert state.finish.message == (
        "$0.23 of the budget of $0.40 are spent, and another proposal and TEST need about $0.21 more"
    )
    paid, _ = shop(0.30, proposal=lambda number: 5, max_proposals=9).run()
    assert (paid.finished, len(paid.proposals), paid.spending.total / ONE <= 0.30) == ("budget", 1, True)


@pytest.mark.parametrize("in_flight", [1, 3])
@given(st.integers(0, 400), st.integers(0, 9), st.integers(0, 20), st.booleans(), st.integers(1, 30))
@settings(max_examples=60)
def test_budget__steady_prices__is_never_exceeded(
    in_flight: int, budget: int, each: int, proposal: int, test_baseline: bool, train: int
) -> None:
    """When cases and proposals cost what they did before, nothing goes over; only a baseline may that is too dear."""
    state, log = shop(
        budget / 100,
        lambda tree, case_id: each,
        lambda number: proposal,
        max_proposals=6,
        max_proposals_in_flight=in_flight,
        test_baseline=test_baseline,
        train=train,
    ).run()
    event(f"{state.finished}, {len(state.proposals)} decided")
    if state.winner is None:
        assert not asked(log, "test")
        assert state.finished in ("budget", "spend_unknown")
        assert state.finish is not None
        assert state.finish.message
    elif state.made <= in_flight and proposal:
        pass  # what a proposal costs is not known before the first ones
    else:
        assert state.spending.total <= exact(budget / 100) + exact(1e-9)


def test_budget__baseline_alone_is_too_dear__ends_without_test() -> None:
    """As soon as the budget is gone nothing more is paid, and the message says what is missing."""
    state, log = shop(0.05).run()
    assert (state.finished, state.winner, asked(log, "test")) == ("budget", None, 0)
    assert state.finish is not None
    assert state.finish.message == "$0.08 of the budget of $0.05 are spent"
    state, log = shop(0.15).run()
    assert (state.finished, state.winner, asked(log, "test")) == ("budget", None, 0)
    assert state.finish is not None
    assert state.finish.message == "$0.08 of the budget of $0.15 are spent, and TEST needs about $0.08 more"


def test_budget__candidate_turns_out_dear__is_stopped_where_it_is() -> None:
    """What is in flight is paid; then no further block of the candidate runs, and TEST is scored with what was left."""

    def dear(tree: str, case_id: str) -> float:
        return 1 if tree == "base" else 50

    state, log = shop(3.0, dear, train=40, max_proposals=5, minibatch_size=3).run()
    assert (state.finished, len(state.proposals)) == ("budget", 1)
    assert state.proposals[0].outcome == "rejected"
    assert "stopped after 8 of 20 selection cases: $4." in state.candidates[1].reason.replace("$5.", "$4.")
    assert asked(log, "selection") == 20 + 8
    assert asked(log, "test") == 4
    assert state.finish is not None
    assert "of the budget of $3.00 are spent" in state.finish.message


def test_budget__gone_after_the_minibatch__the_selection_set_is_not_begun() -> None:
    """A child that beat its parent on the minibatch costs nothing more when there is nothing left."""
    state, log = shop(2.0, lambda tree, case_id: 1 if tree == "base" else 90, train=40, minibatch_size=3).run()
    assert (state.finished, asked(log, "selection"), asked(log, "minibatch")) == ("budget", 20, 2)
    assert state.candidates[1].reason.startswith("not tried on the selection set: $2.0")


def test_budget__used_up_with_several_in_flight__all_are_told_the_same() -> None:
    """Two children in flight are stopped for one reason: what was spent when the budget was used up."""
    state, _ = shop(
        2.0,
        lambda tree, case_id: 1 if tree == "base" else 90,
        train=40,
        minibatch_size=3,
        max_proposals_in_flight=2,
    ).run()
    assert (state.finished, len(state.candidates)) == ("budget", 3)
    reasons = {one.reason.partition(": ")[2] for one in state.candidates[1:]}
    assert len(reasons) == 1
    assert "of the budget of $2.00 are spent, and TEST needs" in reasons.pop()


def test_budget__gone_with_the_proposal__the_child_is_not_tried() -> None:
    """A proposer that spends what was left leaves a candidate without any result, and TEST is scored."""
    state, log = shop(1.0, proposal=lambda number: 300).run()
    assert (state.finished, asked(log, "minibatch"), asked(log, "test")) == ("budget", 0, 4)
    child = state.candidates[1]
    assert (child.status, child.train, child.minibatch_objective, child.parent_objective) == (
        "rejected",
        None,
        None,
        0.5,
    )
    assert child.reason.startswith("not tried: $3.08 of the budget of $1.00 are spent, and TEST needs about $0.08 more")


def test_budget__other_reason_came_first__it_stays() -> None:
    """A perfect candidate ends the search as perfect, also when proposals in flight use the budget up."""
    state, _ = shop(
        2.5,
        lambda tree, case_id: 1 if tree != "tree-2" else 70,
        score=lambda tree, case_id: 0.0 if tree == "base" else 1.0 if tree == "tree-1" else 0.9,
        max_proposals_in_flight=2,
    ).run()
    assert state.finished == "perfect"
    assert state.broke


def test_unknown__in_the_baseline__ends_at_once() -> None:
    """Under a budget a call without a price ends the run before anything more is paid; the model is named."""
    state, log = shop(5.0, lambda tree, case_id: None, train=40).run()
    assert (state.finished, state.winner, len([one for one in log if isinstance(one, Evaluated)])) == (
        "spend_unknown",
        None,
        1,
    )
    assert state.finish is not None
    assert "openai:new" in state.finish.message
    assert "the budget of $5.00 cannot be kept" in state.finish.message


def test_unknown__in_a_candidate__ends_proposing_and_scores_test() -> None:
    """A candidate that calls a model without a price goes no further; what was paid for before is still judged."""
    state, log = shop(5.0, lambda tree, case_id: 1 if tree == "base" else None, max_proposals=4).run()
    assert (state.finished, state.winner, asked(log, "test"), len(state.proposals)) == ("spend_unknown", 0, 4, 1)
    assert state.spending.usd is None


def test_unknown__on_test_only__is_the_reason_told() -> None:
    """TEST is scored whole; that its cost is unknown is what the run ends with."""
    state, log = shop(5.0, lambda tree, case_id: 1 if case_id.startswith("a") else None, max_proposals=1).run()
    assert (state.finished, state.winner, asked(log, "test")) == ("spend_unknown", 1, 8)


def test_unknown__without_a_budget__ends_nothing() -> None:
    """Nobody asked for a limit, so an unknown cost is only unknown."""
    state, _ = shop(None, lambda tree, case_id: None, max_proposals=1).run()
    assert (state.finished, state.spending.usd) == ("proposals", None)


def test_unrecorded__under_a_budget__ends_after_the_first_proposal() -> None:
    """An application whose calls are not traced would never use its budget up: that is said, and TEST is not spent."""
    state, log = shop(5.0, lambda tree, case_id: 0, max_proposals=9).run()
    assert (state.finished, state.winner, asked(log, "test"), len(state.proposals)) == ("spend_unknown", None, 0, 1)
    assert state.finish is not None
    assert "no call of a model was recorded" in state.finish.message


def test_unrecorded__the_proposer_counts_its_own__goes_on() -> None:
    """An application without models under a proposer with one has something to bound."""
    state, _ = shop(5.0, lambda tree, case_id: 0, lambda number: 1, max_proposals=3).run()
    assert (state.finished, state.spending.calls) == ("proposals", 3)


def test_unrecorded__proposals_that_failed__do_not_count_yet() -> None:
    """Ten crashes are an error of the proposer, not of the budget."""
    state, _ = step(start(SearchSettings(1000, spend_budget_usd=1.0), ["a"], ["t"], "base").unwrap(), Started())
    while not state.finished:
        command = state.outstanding[0]
        if isinstance(command, Evaluate):
            state, _ = step(state, Evaluated(command.seq, tuple((each, 0.0) for each in command.case_ids)))
        else:
            state, _ = step(state, Proposed(command.seq, "crashed"))
    assert state.finished == "error"


@pytest.mark.parametrize("budget", [-0.01, float("nan"), float("inf")])
def test_start__impossible_budget__is_refused(budget: float) -> None:
    """A budget is a finite amount of at least 0."""
    refused = start(SearchSettings(1000, spend_budget_usd=budget), ["a"], ["t"], "base")
    assert not is_successful(refused)
    assert refused.failure().code == "BK541"
    assert "spend_budget_usd" in refused.failure().message


def test_budget__of_zero__pays_for_what_costs_nothing() -> None:
    """A free model stays within any budget."""
    free = Spend(0.0, 1, 1, 1)
    state, _ = step(start(SearchSettings(1000, spend_budget_usd=0.0), ["a"], ["t"], "base").unwrap(), Started())
    while not state.finished:
        command = state.outstanding[0]
        if isinstance(command, Evaluate):
            scores = tuple((each, 0.5 if command.tree == "base" else 1.0) for each in command.case_ids)
            state, _ = step(state, Evaluated(command.seq, scores, free))
        else:
            state, _ = step(state, Proposed(command.seq, "child", "tree", spend=free))
    assert (state.finished, state.winner, state.spending.usd) == ("perfect", 1, 0.0)


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_step__impossible_cost__is_refused(usd: float) -> None:
    """What something cost is a finite amount of at least 0; the state stays as it was."""
    state, _ = step(start(SearchSettings(1000), ["a"], ["t"], "base").unwrap(), Started())
    with pytest.raises(ValueError, match="must be an amount of at least 0"):
        step(state, Evaluated(1, (("a", 0.5),), Spend(usd, 1, 1, 1)))
    assert (state.spending, len(state.outstanding)) == (Spending(), 1)


@st.composite
def shops(draw: st.DrawFn) -> Shop:
    train, test, number = draw(st.integers(1, 40)), draw(st.integers(1, 6)), draw(st.integers(0, 99))
    chosen = SearchSettings(
        max_rollouts=1,
        max_proposals=draw(st.integers(1, 8)),
        max_proposals_in_flight=draw(st.integers(1, 4)),
        minibatch_size=draw(st.integers(1, 5)),
        test_baseline=draw(st.booleans()),
        spend_budget_usd=draw(st.one_of(st.none(), st.integers(0, 200).map(lambda amount: amount / 100))),
    )
    chosen = attrs.evolve(chosen, max_rollouts=minimum_rollouts(train, test, chosen) + draw(st.integers(0, 200)))
    hidden = draw(st.sampled_from([0, 0, 1, 10]))

    def case(tree: str, case_id: str) -> float | None:
        if below(1000, number, "hidden", tree, case_id) < hidden:
            return None
        return below(4, number, "cost", tree, case_id)

    def score(tree: str, case_id: str) -> float:
        return below(11, number, "score", tree, case_id) / 10

    return Shop(chosen, case, lambda made: below(9, number, "proposal", made), score, train, test)


@given(shops(), st.integers(0, 99))
@settings(max_examples=150)
def test_money__any_order_of_arrival_and_any_replay__is_the_same(world: Shop, order: int) -> None:
    """Spend is taken in the order of commands, so workers, kills and resumption change nothing about where it ends."""
    state, log = world.run()
    event(f"{state.finished}, {'no ' if world.settings.spend_budget_usd is None else ''}budget")
    turn = iter(range(10_000))
    other, same = world.run(lambda waiting: waiting[below(len(waiting), order, "order", next(turn))])
    assert same == log
    assert other.spending == state.spending
    again: SearchState = replay(entries_to_json(log)).unwrap()
    assert (again.spending, again.finish, again.results) == (state.spending, state.finish, state.results)


@given(shops())
@settings(max_examples=80)
def test_money__overshoot__is_at_most_what_was_in_flight(world: Shop) -> None:
    """Past the budget go only commands that were out when it was used up, and TEST as far as it was dearer."""
    _, log = world.run()
    budget = world.settings.spend_budget_usd
    if budget is None or not isinstance(log[0], Opened):
        return
    spent = Spending()
    over = False
    for entry in log:
        if isinstance(entry, Evaluated | Proposed):
            spent.add(entry.spend)
            over = over or spent.total > exact(budget) or bool(spent.unpriced)
        elif over:
            assert isinstance(entry, Evaluate) is (getattr(entry, "purpose", "") == "test")
            assert not isinstance(entry, Propose)


def test_log__spend__stands_only_where_there_is_some() -> None:
    """A log without money reads as it always did."""
    _, log = shop(None, lambda tree, case_id: 0, max_proposals=1).run()
    entries = entries_to_json(log)
    assert not any("spend" in entry for entry in entries)
    assert "spend_budget_usd" not in entries[0]["settings"]  # type: ignore[operator]  # an object
    _, log = shop(2.5, max_proposals=1).run()
    entries = entries_to_json(log)
    assert entries[0]["settings"]["spend_budget_usd"] == 2.5  # type: ignore[index, call-overload]  # an object
    first = next(entry for entry in entries if entry["type"] == "evaluated")
    assert first["spend"] == {"usd": 0.08, "input_tokens": 80, "output_tokens": 16, "calls": 8, "unpriced": []}


@pytest.mark.parametrize(
    "amount, words",
    [
        (0.0, "$0.00"),
        (12.345, "$12.35"),
        (1.0, "$1.00"),
        (0.4, "$0.40"),
        (0.08, "$0.08"),
        (0.0049, "$0.0049"),
        (0.00012, "$0.00012"),
        (1e-12, "$0.00"),
    ],
)
def test_dollars__show_small_amounts(amount: float, words: str) -> None:
    """What is less than a dollar keeps the digits that say something."""
    assert dollars(exact(amount)) == words
