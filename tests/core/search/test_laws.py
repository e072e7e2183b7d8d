"""The laws of the search, over random worlds: order of arrival, replay, budget, secrecy of TEST, evidence, ending."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from hashlib import sha256
from typing import Any

import attrs
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from beaker.core.exact import mean
from beaker.core.keyed import below
from beaker.core.search import (
    BLOCK_SIZE,
    Cancelled,
    Command,
    Evaluate,
    Evaluated,
    Finish,
    LogEntry,
    Opened,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    Started,
    entries_to_json,
    lineage,
    minimum_rollouts,
    progress,
    replay,
    start,
    step,
)
from beaker.core.search.points import FULL, points
from beaker.core.strict_json import digest, dumps, parse

RULES = 6


@attrs.frozen
class World:
    """A system that is fully known: a case is solved by the trees that hold its rule, a proposer may add a rule.

    A tree is written as its rules and a suffix. Rates are per cent: of cases that fail, of scores that are not simply 0
    or 1, of proposals that learn from the minibatch instead of changing something at random, of proposals that fail.
    """

    settings: SearchSettings
    train: int
    test: int
    number: int
    failing: int
    graded: int
    honest: int
    broken: int
    baseline: str = "0:"

    @property
    def train_ids(self) -> tuple[str, ...]:
        return tuple(f"train-{number}" for number in range(self.train))

    @property
    def test_ids(self) -> tuple[str, ...]:
        return tuple(f"test-{number}" for number in range(self.test))

    def chance(self, purpose: str, *counters: int | str) -> int:
        return below(100, self.number, purpose, *counters)

    def rule_of(self, case_id: str) -> int:
        return below(RULES, self.number, "rule", case_id)

    def objective(self, tree: str, case_id: str) -> float | None:
        if self.chance("fails", tree, case_id) < self.failing:
            return None
        if str(self.rule_of(case_id)) in tree.partition(":")[0]:
            return 1.0
        return self.chance("score", tree, case_id) / 100 if self.chance("graded", case_id) < self.graded else 0.0

    def answer(self, command: Command) -> Evaluated | Proposed:
        if isinstance(command, Evaluate):
            return Evaluated(
                command.seq, tuple((case_id, self.objective(command.tree, case_id)) for case_id in command.case_ids)
            )
        assert isinstance(command, Propose)
        key = (command.parent_tree, command.seed)
        if self.chance("broken", *key) < self.broken:
            outcomes = ["crashed", "timed_out", "no_change", "outside_targets", "special_file", "invalid_tree"]
            return Proposed(command.seq, outcomes[below(6, self.number, "outcome", *key)], message="broken")
        rules, _, suffix = command.parent_tree.partition(":")
        held = set(rules)
        if self.chance("honest", *key) < self.honest:
            wanted = [str(self.rule_of(case_id)) for case_id in command.minibatch]
            held.add(next((one for one in wanted if one not in held), wanted[0]))
        else:
            held ^= {str(below(RULES, self.number, "flip", *key))}
            suffix = str(below(3, self.number, "suffix", *key))
        return Proposed(command.seq, "child", f"{''.join(sorted(held))}:{suffix}", "learned", ("a/b",))

    def begin(self) -> tuple[SearchState, list[LogEntry]]:
        state = start(self.settings, self.train_ids, self.test_ids, self.baseline).unwrap()
        state, entries = step(state, Started())
        return state, list(entries)

    def run(self, pick: Callable[[list[Command]], Command] = lambda waiting: waiting[0]) -> Any:
        """The whole search, answering the waiting command that `pick` names; (state, log)."""
        state, log = self.begin()
        while not state.finished:
            state, entries = step(state, self.answer(pick(waiting(state))))
            log.extend(entries)
        return state, log


def waiting(state: SearchState) -> list[Command]:
    """The commands that nobody has answered yet."""
    return [command for command in state.outstanding if command.seq not in state.arrived]


@st.composite
def worlds(draw: st.DrawFn, in_flight: int | None = None) -> World:
    train, test = draw(st.integers(1, 45)), draw(st.integers(1, 12))
    chosen = SearchSettings(
        max_rollouts=1,
        max_proposals=draw(st.integers(1, 25)),
        max_proposals_in_flight=in_flight or draw(st.integers(1, 4)),
        minibatch_size=draw(st.integers(1, 11)),
        selection_fraction=draw(st.sampled_from([0.05, 0.3, 0.5, 0.9])),
        seed=draw(st.integers(0, 9)),
        test_baseline=draw(st.booleans()),
    )
    spare = draw(st.one_of(st.integers(0, 60), st.integers(0, 1000)))
    chosen = attrs.evolve(chosen, max_rollouts=minimum_rollouts(train, test, chosen) + spare)
    rates = st.sampled_from([0, 10, 40, 90, 100])
    return World(chosen, train, test, draw(st.integers(0, 99)), draw(rates), draw(rates), draw(rates), draw(rates))


# What a log must obey, said again the slow and obvious way: from the log alone, without the search's bookkeeping.


@attrs.define
class Trial:
    """What the log has told of one proposal."""

    made: Propose
    tree: str = ""
    outcome: str = ""


@attrs.define
class Reader:
    """Follows a log entry by entry and derives every decision from the scores it has seen."""

    opened: Opened
    selection: tuple[str, ...]
    evidence: tuple[str, ...]
    scores: dict[tuple[str, str], float | None] = attrs.field(factory=dict)
    asked: set[tuple[str, str]] = attrs.field(factory=set)
    out: dict[int, Evaluate] = attrs.field(factory=dict)
    trials: list[Trial] = attrs.field(factory=list)
    decided: int = 0
    wants_more: set[str] = attrs.field(factory=set)

    def total(self, tree: str, case_ids: Sequence[str]) -> int:
        return sum(points(self.scores[tree, case_id]) for case_id in case_ids)

    def known(self, tree: str, case_ids: Sequence[str]) -> list[str]:
        return [case_id for case_id in case_ids if (tree, case_id) in self.scores]

    def accepted(self, seen: int) -> list[str]:
        """The baseline and what was accepted among the first `seen` proposals."""
        return [self.opened.baseline_tree, *(one.tree for one in self.trials[:seen] if one.outcome == "accepted")]

    def best(self) -> str:
        """The best mean so far; `max` gives the earliest of equals."""
        return max(self.accepted(self.decided), key=lambda tree: self.total(tree, self.selection))

    def leads(self, tree: str, others: list[str], score: int, total: int, case_id: str) -> bool:
        return all((score, total) > (self.total(one, [case_id]), self.total(one, self.selection)) for one in others)

    def front(self, seen: int) -> set[str]:
        """The leader of every case and the leader of the mean."""
        trees = self.accepted(seen)
        totals = {tree: self.total(tree, self.selection) for tree in trees}
        leaders = {
            max(trees, key=lambda tree: (self.total(tree, [case_id]), totals[tree])) for case_id in self.selection
        }
        return leaders | {max(trees, key=lambda tree: totals[tree])}

    def read(self, entry: LogEntry) -> None:
        match entry:
            case Evaluate():
                self.evaluate(entry)
            case Propose():
                self.propose(entry)
            case Evaluated():
                tree = self.out.pop(entry.seq).tree
                self.scores |= {(tree, case_id): objective for case_id, objective in entry.objectives}
                self.judge(tree)
            case Proposed():
                trial = next(one for one in self.trials if one.made.seq == entry.seq)
                earlier = {self.opened.baseline_tree, *(one.tree for one in self.trials if one is not trial)}
                trial.tree = entry.tree or ""
                if entry.outcome != "child":
                    trial.outcome = entry.outcome
                elif trial.tree in earlier:
                    trial.outcome = "duplicate"
                else:
                    self.wants_more.add(trial.tree)
        while self.decided < len(self.trials) and self.trials[self.decided].outcome:
            self.decided += 1

    def evaluate(self, entry: Evaluate) -> None:
        """Blocks are small, cost what was not paid for before, and keep TRAIN and TEST apart."""
        self.out[entry.seq] = entry
        wanted = {(entry.tree, case_id) for case_id in entry.case_ids}
        assert 1 <= len(wanted) == len(entry.case_ids) <= BLOCK_SIZE
        assert not self.asked & wanted, "an evaluation was paid for twice"
        self.asked |= wanted
        assert len(self.asked) <= self.opened.settings.max_rollouts
        assert set(entry.case_ids) <= set(self.opened.test_ids if entry.purpose == "test" else self.opened.train_ids)
        if entry.purpose in ("minibatch", "selection") and entry.tree != self.opened.baseline_tree:
            assert entry.tree in self.wants_more, "a child whose fate is known was evaluated"

    def propose(self, entry: Propose) -> None:
        """The evidence is the parent's known results on evidence cases; the parent led when `seen` was decided."""
        chosen = self.opened.settings
        assert entry.proposal == len(self.trials) + 1 <= chosen.max_proposals
        assert len(self.trials) - self.decided < chosen.max_proposals_in_flight
        self.trials.append(Trial(entry))
        shown = entry.minibatch + entry.evidence
        assert len(set(shown)) == len(shown)
        assert set(shown) <= set(self.evidence)
        assert not set(shown) & set(self.opened.test_ids)
        assert 1 <= len(entry.minibatch) <= chosen.minibatch_size
        assert len(self.known(entry.parent_tree, shown)) == len(shown)
        assert any(self.scores[entry.parent_tree, case_id] != 1.0 for case_id in entry.minibatch)
        others = len(self.known(entry.parent_tree, self.evidence)) - len(entry.minibatch)
        assert len(entry.evidence) == min(others, 100)
        assert entry.seen == max(0, entry.proposal - chosen.max_proposals_in_flight)
        assert entry.parent_tree in self.front(entry.seen)
        assert not self.is_perfect(), "nothing can replace the best any more"
        assert 0 <= entry.rollouts_left <= chosen.max_rollouts - len(self.asked)
        assert 0 <= entry.seed < 2**31

    def judge(self, tree: str) -> None:
        """Whether a child goes on, is accepted or rejected, once everything asked of it so far is in."""
        if tree not in self.wants_more or tree in {one.tree for one in self.out.values()}:
            return
        trial = next(one for one in self.trials if one.tree == tree and not one.outcome)
        gained = self.total(tree, trial.made.minibatch) - self.total(trial.made.parent_tree, trial.made.minibatch)
        scored = self.known(tree, self.selection)
        if gained <= 0 or self.is_beaten(tree, scored):
            trial.outcome = "rejected"
        elif len(scored) == len(self.selection):
            trial.outcome = "accepted"
        if trial.outcome:
            self.wants_more.remove(tree)

    def is_beaten(self, tree: str, scored: list[str]) -> bool:
        """Racing: solving all that is missing would leave it behind the best, and it leads on nothing it was scored on.

        A child that was scored on all of S has finished the race.
        """
        missing = len(self.selection) - len(scored)
        possible = self.total(tree, scored) + missing * FULL
        others = self.accepted(self.decided)
        return (
            missing > 0
            and possible < self.total(self.best(), self.selection)
            and not any(self.leads(tree, others, self.total(tree, [one]), possible, one) for one in scored)
        )

    def is_perfect(self) -> bool:
        return self.total(self.best(), self.selection) == len(self.selection) * FULL


def check_log(log: list[LogEntry], state: SearchState) -> None:
    """Every law that can be read off a log, finished or not; `state` is the one after it."""
    opened = log[0]
    assert isinstance(opened, Opened)
    reader = Reader(opened, state.split.selection, state.split.evidence)
    for entry in log[1:]:
        reader.read(entry)
    assert len(reader.asked) == state.issued
    decided = [(one.made.proposal, one.made.parent, one.outcome) for one in reader.trials[: reader.decided]]
    assert [(one.n, one.parent, one.outcome) for one in state.proposals] == decided
    for number, one in enumerate(state.candidates):
        assert one.n == number
        assert (one.status == "baseline") == (one.parent is None) == (one.proposal is None) == (number == 0)
        if one.status != "rejected" and reader.known(one.tree, reader.selection) == list(reader.selection):
            assert one.train == mean(reader.scores[one.tree, case_id] or 0.0 for case_id in reader.selection)
    if state.finished not in ("cancelled", "error", None):
        check_end(reader, state, opened)


def check_end(reader: Reader, state: SearchState, opened: Opened) -> None:
    """The reason holds, every proposal was decided, and TEST was scored for the winner, and the baseline once."""
    assert not reader.wants_more
    assert len(reader.trials) == reader.decided == len(state.proposals)
    assert state.winner == state.best
    assert state.candidates[state.best].tree == reader.best()
    match state.finished:
        case "proposals":
            assert len(reader.trials) == opened.settings.max_proposals
        case "perfect":
            assert reader.is_perfect()
        case "budget":
            train = sum(case_id not in opened.test_ids for _, case_id in reader.asked)
            smallest = minimum_rollouts(len(opened.train_ids), len(opened.test_ids), opened.settings)
            # The dearest proposal could not be paid any more: the minimum holds one, with S for the baseline.
            assert train + smallest - len(reader.selection) > opened.settings.max_rollouts
        case "exhausted":
            seen = max(0, len(reader.trials) + 1 - opened.settings.max_proposals_in_flight)
            for tree in reader.front(seen):
                assert all(reader.scores.get((tree, case_id)) == 1.0 for case_id in reader.evidence)
    tested = {tree for tree, case_id in reader.asked if case_id in opened.test_ids}
    with_baseline = opened.settings.test_baseline or not state.winner
    assert tested == {state.candidates[n].tree for n in ([state.winner, 0] if with_baseline else [state.winner])}
    for n in (0, state.winner):
        tree = state.candidates[n].tree
        known = mean(reader.scores[tree, i] or 0.0 for i in opened.test_ids) if tree in tested else None
        assert state.test_objective(n) == known


def lines(log: list[LogEntry]) -> bytes:
    return "".join(f"{dumps(entry)}\n" for entry in entries_to_json(log)).encode()


def read_lines(data: bytes) -> SearchState:
    return replay([parse(line).unwrap() for line in data.splitlines()]).unwrap()


@given(worlds())
@settings(max_examples=200)
def test_search__always_ends_and_obeys_its_laws(world: World) -> None:
    """Whatever the cases and the proposer do, the search ends, and its log obeys every law."""
    state, log = world.run()
    event(f"{state.finished}, {world.settings.max_proposals_in_flight} in flight")
    assert isinstance(log[-1], Finish)
    assert state.outstanding == (log[-1],)
    check_log(log, state)


@given(worlds(), st.integers(0, 99))
def test_search__any_order_of_arrival__same_log(world: World, order: int) -> None:
    """The log does not depend on which outstanding command is answered first."""

    def any_of(commands: list[Command]) -> Command:
        return commands[below(len(commands), order, "order", commands[0].seq, len(commands))]

    assert world.run()[1] == world.run(any_of)[1] == world.run(lambda commands: commands[-1])[1]


@given(worlds(), st.randoms(use_true_random=False))
def test_search__order_of_train_ids__does_not_matter(world: World, chance: Any) -> None:
    """The cases are a set: listing TRAIN in another order changes nothing but the head of the log."""

    class Shuffled(World):
        @property
        def train_ids(self) -> tuple[str, ...]:
            return tuple(chance.sample(super().train_ids, self.train))

    assert world.run()[1][1:] == Shuffled(**attrs.asdict(world, recurse=False)).run()[1][1:]


@given(worlds())
@settings(max_examples=30)
def test_replay__every_prefix__is_the_state_there(world: World) -> None:
    """Replaying what was appended up to any step gives the state of that step, commands included."""
    state, log = world.begin()
    while True:
        again = read_lines(lines(log))
        assert again == state
        assert again.outstanding == state.outstanding
        assert (again.unlogged, again.arrived) == ((), {})
        assert progress(again) == progress(state)
        if state.finished:
            break
        state, entries = step(state, world.answer(waiting(state)[0]))
        log.extend(entries)


@given(worlds(), st.data())
def test_replay__cut_anywhere__knows_what_is_missing(world: World, data: st.DataObject) -> None:
    """Of a log cut between an event and its commands, the replayed state holds exactly the entries that were lost."""
    _, log = world.run()
    cut = data.draw(st.integers(1, len(log)))
    state = read_lines(lines(log[:cut]))
    assert list(state.unlogged) == log[cut : cut + len(state.unlogged)]
    follows = log[cut + len(state.unlogged) :]
    assert not follows or isinstance(follows[0], Evaluated | Proposed)
    assert state == read_lines(lines(log[: cut + len(state.unlogged)]))


@pytest.mark.parametrize(
    "in_flight, expected",
    [
        (1, "2db2dd346f33046bffe6802ea6628657f8e139ea31bb1ab61aeca5627d16e07c"),
        (4, "e807ca89a2a97affcb5d09213eca23de62cc45d4a135a87a57c768fb13c60a29"),
    ],
)
def test_search__on_every_python__gives_this_very_log(in_flight: int, expected: str) -> None:
    """The log of a known world is pinned: another interpreter, or another rule without a new version, shows here."""
    chosen = SearchSettings(max_rollouts=700, max_proposals_in_flight=in_flight, seed=5)
    _, log = World(chosen, train=40, test=12, number=8, failing=10, graded=90, honest=70, broken=20).run()
    assert digest(entries_to_json(log)) == expected


REPLAY_EACH_PREFIX = """
import hashlib, sys
from beaker.core.search import replay
from beaker.core.strict_json import parse
entries = [parse(line).unwrap() for line in sys.stdin.buffer.read().splitlines()]
for cut in range(1, len(entries) + 1):
    print(hashlib.sha256(repr(replay(entries[:cut]).unwrap()).encode()).hexdigest())
"""


@pytest.mark.parametrize("in_flight", [1, 4])
def test_replay__from_bytes_in_a_new_process__is_the_same_for_every_prefix(in_flight: int) -> None:
    """Another process, with another hash seed, rebuilds the same states from the log's bytes alone."""
    chosen = SearchSettings(max_rollouts=260, max_proposals=9, max_proposals_in_flight=in_flight)
    world = World(chosen, train=24, test=5, number=3, failing=10, graded=40, honest=90, broken=10)
    state, log = world.begin()
    expected = []
    while not state.finished:
        state, entries = step(state, world.answer(waiting(state)[0]))
        log.extend(entries)
    entries_json = entries_to_json(log)
    expected = [
        sha256(repr(replay(entries_json[:cut]).unwrap()).encode()).hexdigest() for cut in range(1, len(log) + 1)
    ]
    assert expected[-1] == sha256(repr(state).encode()).hexdigest()
    done = subprocess.run(
        [sys.executable, "-c", REPLAY_EACH_PREFIX], input=lines(log), capture_output=True, timeout=120, check=True
    )
    assert done.stdout.decode().split() == expected


@given(worlds(), st.data())
def test_cancel__at_any_moment__finishes_at_once(world: World, data: st.DataObject) -> None:
    """A cancelled search asks for nothing more, spends nothing on TEST, and ignores what still arrives."""
    full = world.run()[1]
    answered = sum(isinstance(entry, Evaluated | Proposed) for entry in full)
    state, log = world.begin()
    for _ in range(data.draw(st.integers(0, answered - 1))):
        state, entries = step(state, world.answer(waiting(state)[0]))
        log.extend(entries)
    left = state.outstanding
    asked = state.issued
    state, entries = step(state, Cancelled())
    log.extend(entries)
    assert [type(entry) for entry in entries] == [Cancelled, Finish]
    assert (state.finished, state.issued, state.reserved) == ("cancelled", asked, 0)
    before = deepcopy(state)
    for late in (*map(world.answer, left), Cancelled(), Started()):
        state, entries = step(state, late)
        assert entries == ()
    assert state == before == read_lines(lines(log))
    check_log(log, state)


@given(worlds())
def test_lineage__for_a_proposal__does_not_change_with_later_decisions(world: World) -> None:
    """What a proposal is told of its lineage is the same when it is asked for and at the end of the search."""
    state, _ = world.begin()
    told: list[tuple[Propose, object]] = []
    while not state.finished:
        state, entries = step(state, world.answer(waiting(state)[0]))
        told.extend((one, lineage(state, one.parent, seen=one.seen)) for one in entries if isinstance(one, Propose))
    for one, trials in told:
        again = lineage(state, one.parent, seen=one.seen)
        assert again == trials
        assert all(trial.proposal <= one.seen for trial in again)
        assert [trial.proposal for trial in again] == sorted(trial.proposal for trial in again)


class Killed(RuleBasedStateMachine):
    """A search whose worker is killed, whose results come in any order, and which is fed nonsense in between."""

    @initialize(world=worlds())
    def begin(self, world: World) -> None:
        self.world = world
        self.expected = world.run()[1]
        self.state, self.log = world.begin()
        self.best: float = -1.0

    @property
    def waiting(self) -> list[Command]:
        return [one for one in self.state.outstanding if one.seq not in self.state.arrived]

    @precondition(lambda self: not self.state.finished)
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        command = data.draw(st.sampled_from(self.waiting))
        self.state, entries = step(self.state, self.world.answer(command))
        self.log.extend(entries)

    @rule(steps=st.integers(1, 60))
    def answer_many(self, steps: int) -> None:
        for _ in range(steps):
            if not self.state.finished:
                self.state, entries = step(self.state, self.world.answer(self.waiting[-1]))
                self.log.extend(entries)

    @rule()
    def kill(self) -> None:
        self.state = read_lines(lines(self.log))

    @precondition(lambda self: not self.state.finished)
    @rule(data=st.data())
    def nonsense(self, data: st.DataObject) -> None:
        before, arrived = deepcopy(self.state), dict(self.state.arrived)
        command = data.draw(st.sampled_from(self.waiting))
        wrong: list[Any] = [
            Started(),
            Evaluated(self.state.next_seq, ()),
            Proposed(0, "crashed"),
            *(one for one in arrived.values()),
        ]
        if isinstance(command, Evaluate):
            scores = tuple((case_id, 1.0) for case_id in command.case_ids)
            wrong += [
                Evaluated(command.seq, scores[1:]),
                Evaluated(command.seq, ((command.case_ids[0], 1.5), *scores[1:])),
                Evaluated(command.seq, ((command.case_ids[0], float("nan")), *scores[1:])),
                Proposed(command.seq, "crashed"),
            ]
        else:
            wrong += [
                Proposed(command.seq, "child"),
                Proposed(command.seq, "no_change", "tree"),
                Proposed(command.seq, "accepted", "tree"),
                Evaluated(command.seq, ()),
            ]
        with pytest.raises(ValueError):
            step(self.state, data.draw(st.sampled_from(wrong)))
        assert (self.state, self.state.arrived) == (before, arrived)

    @invariant()
    def budget_holds(self) -> None:
        state = self.state
        assert state.issued + state.reserved + state.test_reserve <= state.settings.max_rollouts
        assert state.reserved == sum(slot.held for slot in state.slots)
        assert all(slot.held >= 0 for slot in state.slots)

    @invariant()
    def best_never_gets_worse(self) -> None:
        mean_now = self.state.train_objective(self.state.best)
        if mean_now is not None:
            assert mean_now >= self.best - 1e-14
            self.best = mean_now

    @invariant()
    def log_is_the_undisturbed_one(self) -> None:
        assert self.log == self.expected[: len(self.log)]

    def teardown(self) -> None:
        if hasattr(self, "world"):
            while not self.state.finished:
                self.state, entries = step(self.state, self.world.answer(self.waiting[0]))
                self.log.extend(entries)
            assert self.log == self.expected
            check_log(self.log, self.state)


TestKilled = Killed.TestCase
TestKilled.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
