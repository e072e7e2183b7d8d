"""The state of a search: what it knows, what it waits for, and what a reader may ask it.

Two small machines run inside: the search itself moves through `PHASES`, every proposal through `STAGES`. Both tables
are looked up on each move, and `docs/optimization.md` draws them.
"""

from collections import deque
from typing import Literal, TypeAlias

import attrs

from beaker.core.exact import mean
from beaker.core.search.budget import reserve_for_test
from beaker.core.search.front import Front
from beaker.core.search.messages import Command, Evaluated, Finish, FinishReason, LogEntry, Proposed
from beaker.core.search.minibatches import Walk
from beaker.core.search.money import Spending
from beaker.core.search.points import points
from beaker.core.search.settings import SearchSettings
from beaker.core.search.split import Split, split_train
from beaker.core.values import ReadOnlyDict, value

Phase: TypeAlias = Literal["new", "baseline", "probing", "searching", "testing", "finished"]
PHASES = ReadOnlyDict[Phase, tuple[Phase, ...]](
    {
        "new": ("baseline",),
        "baseline": ("probing", "searching", "finished"),
        "probing": ("searching", "finished"),
        "searching": ("testing", "finished"),
        "testing": ("finished",),
        "finished": (),
    }
)
"""Baseline on S; if it fails on all of S, on evidence until one case runs; proposals; TEST. An error or a cancellation
finishes from anywhere."""

Stage: TypeAlias = Literal["waiting", "measuring", "proposing", "minibatch", "selection", "settled"]
STAGES = ReadOnlyDict[Stage, tuple[Stage, ...]](
    {
        "waiting": ("measuring", "proposing"),
        "measuring": ("waiting", "proposing"),
        "proposing": ("minibatch", "settled"),
        "minibatch": ("selection", "settled"),
        "selection": ("settled",),
        "settled": (),
    }
)
"""Waiting for its turn and for budget; the parent's minibatch is being evaluated (and is skipped, back to waiting, when
solved); the proposer works; the child is on the minibatch, then on S; its fate is known and waits to be decided."""


@value
class Candidate:
    """A candidate as it was decided. `n` counts decisions, the baseline is 0.

    `reason` says in words why it was accepted or rejected. `train` is its mean over S, a failed case counting 0;
    `None` when it was not scored on all of S. `minibatch_objective` and `parent_objective` are the means of the child
    and of its parent over the acceptance minibatch (`None` for the baseline). `rollouts` counts the evaluations of the
    whole search that had been issued when it was decided.
    """

    n: int
    tree: str
    parent: int | None
    proposal: int | None
    status: Literal["baseline", "accepted", "rejected"]
    reason: str
    train: float | None
    minibatch_objective: float | None = None
    parent_objective: float | None = None
    changed: tuple[str, ...] = ()
    rollouts: int = 0


@value
class Proposal:
    """A proposal as it was decided: `accepted`, `rejected`, `duplicate`, or how it failed to give a child.

    `candidate` is the child's number, or that of the candidate it duplicates.
    """

    n: int
    parent: int
    outcome: str
    candidate: int | None
    message: str


@attrs.define
class Results:
    """What is known about one tree. `total` is the sum, in points, over the `counted` cases of S that came in.

    `solved` and `unsolved` divide the evidence-set cases that came in, in the order in which they did. `spent` is what
    the TRAIN cases cost, exactly (`core.exact`), as far as it is known.
    """

    scores: dict[str, float | None] = attrs.field(factory=dict)
    test: dict[str, float | None] = attrs.field(factory=dict)
    total: int = 0
    counted: int = 0
    solved: list[str] = attrs.field(factory=list)
    unsolved: list[str] = attrs.field(factory=list)
    spent: int = 0

    def sum_over(self, case_ids: tuple[str, ...]) -> int:
        """The points over cases that came in."""
        return sum(points(self.scores[case_id]) for case_id in case_ids)

    def mean_over(self, case_ids: tuple[str, ...]) -> float:
        """The mean objective over cases that came in, as a report of them states it."""
        return mean(self.scores[case_id] or 0.0 for case_id in case_ids)

    def solves(self, case_ids: tuple[str, ...]) -> bool:
        """Whether every one of these cases came in and was solved."""
        return all(self.scores.get(case_id) == 1.0 for case_id in case_ids)


@attrs.define
class Slot:
    """One proposal in flight. `view` is the front, and `seen` the last decision, as it was when the slot opened."""

    proposal: int
    seen: int
    view: tuple[tuple[int, int], ...]
    stage: Stage = "waiting"
    parent: int | None = None
    draws: int = 0
    minibatch: tuple[str, ...] = ()
    held: int = 0
    pending: int = 0
    tree: str = ""
    changed: tuple[str, ...] = ()
    message: str = ""
    child: Results = attrs.field(factory=Results)
    next_place: int = 0
    leading: list[str] = attrs.field(factory=list)
    outcome: str = ""
    reason: str = ""

    @property
    def chosen(self) -> int:
        """The parent; every stage after `waiting` has one."""
        assert self.parent is not None
        return self.parent

    def move(self, stage: Stage) -> None:
        """Go to a stage that the table allows."""
        if stage not in STAGES[self.stage]:
            raise AssertionError(f"a proposal does not go from {self.stage} to {stage}")
        self.stage = stage


@attrs.define
class SearchState:
    """A search. Made by `start`, moved by `step` alone; everyone else reads.

    Two states are equal when they will do the same; completions that arrived before their turn do not count.
    """

    settings: SearchSettings
    train_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    split: Split = attrs.field(init=False)
    place: dict[str, int] = attrs.field(init=False)  # of each case in S
    is_evidence: dict[str, bool] = attrs.field(init=False)
    phase: Phase = "new"
    # Commands below `next_seq` were issued; those that `commands` holds, in order, are outstanding.
    next_seq: int = 1
    commands: dict[int, Command] = attrs.field(factory=dict)
    owners: dict[int, Slot] = attrs.field(factory=dict)
    arrived: dict[int, Evaluated | Proposed] = attrs.field(factory=dict, eq=False, repr=False)
    unlogged: tuple[LogEntry, ...] = attrs.field(default=(), eq=False, repr=False)
    # Budget: issued + reserved + test_reserve <= max_rollouts, always.
    issued: int = 0
    reserved: int = 0
    test_reserve: int = attrs.field(init=False)
    # Candidates by number, and what each tree is known as (`None` until it is decided).
    candidates: list[Candidate] = attrs.field(factory=list)
    results: list[Results] = attrs.field(factory=list)
    tried: list[list[int]] = attrs.field(factory=list)
    trees: dict[str, int | None] = attrs.field(factory=dict)
    scored_front: Front | None = None
    # Proposals: decided ones, those in flight in order, and the walk that deals their minibatches.
    proposals: list[Proposal] = attrs.field(factory=list)
    slots: deque[Slot] = attrs.field(factory=deque)
    walk: Walk = attrs.field(init=False)
    made: int = 0
    accepted: int = 0
    failed: int = 0
    outcomes: dict[str, int] = attrs.field(factory=dict)  # of the decided ones, how many each
    last_failed: int | None = None  # number of the last one that failed
    barren: int = 0  # how many crashed or timed out in a row
    worked: bool = False  # whether the proposer ever did its work
    # Money.
    spending: Spending = attrs.field(factory=Spending)
    broke: str = ""  # why no more may be spent before TEST, once that is so
    # The end.
    pending: int = 0  # blocks of the baseline or of TEST still out
    ending: FinishReason | None = None
    winner: int | None = None
    finish: Finish | None = None

    def __attrs_post_init__(self) -> None:
        self.split = split_train(self.train_ids, self.settings)
        self.place = {case_id: place for place, case_id in enumerate(self.split.selection)}
        self.is_evidence = dict.fromkeys(self.split.evidence, True)
        self.walk = Walk(self.split.evidence, self.settings.minibatch_size, self.settings.seed)
        self.test_reserve = reserve_for_test(len(self.test_ids), self.settings)

    @property
    def outstanding(self) -> tuple[Command, ...]:
        """The commands that were issued and not answered yet, in order; after the end, the `Finish`."""
        return tuple(self.commands.values())

    @property
    def finished(self) -> FinishReason | None:
        """Why the search ended, `None` while it runs."""
        return None if self.finish is None else self.finish.reason

    @property
    def best(self) -> int:
        """The candidate with the highest mean over S so far, the earliest of equals."""
        return 0 if self.scored_front is None else self.scored_front.best

    @property
    def front(self) -> Front:
        """The front; there is one as soon as the baseline is scored."""
        assert self.scored_front is not None
        return self.scored_front

    def train_objective(self, n: int) -> float | None:
        """The mean of candidate `n` over S; `None` when it was not scored on all of S."""
        return self.candidates[n].train if n < len(self.candidates) else None

    def test_objective(self, n: int) -> float | None:
        """The mean of candidate `n` over TEST, a failed case counting 0; `None` until TEST is complete for it."""
        scores = self.results[n].test if n < len(self.results) else {}
        if len(scores) < len(self.test_ids):
            return None
        return mean(score or 0.0 for score in scores.values())

    def move(self, phase: Phase) -> None:
        """Go to a phase that the table allows."""
        if phase not in PHASES[self.phase]:
            raise AssertionError(f"a search does not go from {self.phase} to {phase}")
        self.phase = phase

    def enter(self, results: Results, objectives: tuple[tuple[str, float | None], ...]) -> None:
        """Add outcomes of TRAIN cases to what is known about a tree."""
        for case_id, objective in objectives:
            results.scores[case_id] = objective
            if case_id in self.place:
                results.total += points(objective)
                results.counted += 1
            if case_id in self.is_evidence:
                (results.solved if objective == 1.0 else results.unsolved).append(case_id)

    def affords(self, rollouts: int) -> bool:
        """Whether so many evaluations can be reserved beside everything that already is."""
        return self.issued + self.reserved + self.test_reserve + rollouts <= self.settings.max_rollouts
