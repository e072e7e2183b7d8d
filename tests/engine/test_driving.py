"""Laws of driving a search against a journal that may stop remembering at any moment."""

import asyncio
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaker.core.cases import CaseScore
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.search import (
    Evaluate,
    Evaluated,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    start,
)
from beaker.core.strict_json import JsonObject
from beaker.engine.candidates import CandidateTree
from beaker.engine.driving import drive, resumed


class Killed(Exception):
    """The moment at which the process would have died."""


class Memory:
    """A journal in memory. After `left` more writes each one is the last: before or after it took effect."""

    def __init__(self) -> None:
        self.entries: list[JsonObject] = []
        self.stored: dict[tuple[str, str], Evaluation] = {}
        self.proposals: dict[int, JsonObject] = {}
        self.trees: dict[str, CandidateTree] = {}
        self.known: JsonObject = {}
        self.begun: list[tuple[str, str]] = []
        self.left, self.after = -1, False

    def _write(self, effect: Any) -> None:
        last = self.left == 0
        self.left -= 1
        if last and not self.after:
            raise Killed
        effect()
        if last:
            raise Killed

    def log(self) -> list[JsonObject]:
        return list(self.entries)

    def append(self, entries: Sequence[JsonObject], progress: JsonObject) -> None:
        self._write(lambda: self.entries.extend(entries))

    def evaluations(self, tree: str, case_ids: Sequence[str]) -> dict[str, Evaluation]:
        return {one: self.stored[tree, one] for one in case_ids if (tree, one) in self.stored}

    def store_evaluation(self, tree: str, evaluation: Evaluation) -> None:
        self._write(lambda: self.stored.setdefault((tree, evaluation.case_id), evaluation))

    def proposal(self, seq: int) -> JsonObject | None:
        return self.proposals.get(seq)

    def store_proposal(self, seq: int, result: JsonObject) -> None:
        self._write(lambda: self.proposals.setdefault(seq, result))

    def tree(self, digest: str) -> CandidateTree:
        return self.trees[digest]

    def store_tree(self, digest: str, tree: CandidateTree) -> None:
        self._write(lambda: self.trees.setdefault(digest, tree))

    def facts(self) -> JsonObject:
        return dict(self.known)

    def set_facts(self, **facts: Any) -> None:
        self._write(lambda: self.known.update(facts))

    def cancelled(self) -> bool:
        return False

    def finish(
        self, status: str, *, finish_reason: str | None, error_message: str | None, result: JsonObject | None
    ) -> None:
        raise AssertionError("driving does not end runs")


def new_search(in_flight: int) -> SearchState:
    """A search over 12 TRAIN and 3 TEST cases."""
    settings = SearchSettings(150, max_proposals=5, max_proposals_in_flight=in_flight, seed=3)
    train, test = ([f"{split}-{n}" for n in range(count)] for split, count in (("train", 12), ("test", 3)))
    return start(settings, train, test, "0").unwrap()


def work(memory: Memory, order: Sequence[int]) -> Any:
    """What executes commands: results by hash, stored first, finished in an order that `order` stirs."""

    async def execute(_: SearchState, command: Evaluate | Propose) -> Evaluated | Proposed:
        for _ in range(order[command.seq % len(order)]):
            await asyncio.sleep(0)
        if isinstance(command, Propose):
            record = memory.proposal(command.seq)
            if record is None:
                record = {"tree": sha256(f"{command.parent_tree} {command.proposal}".encode()).hexdigest()}
                memory.store_proposal(command.seq, record)
            return Proposed(command.seq, "child", str(record["tree"]), "", ("g/d",))
        known = memory.evaluations(command.tree, command.case_ids)
        for case_id in command.case_ids:
            if case_id not in known:
                memory.begun.append((command.tree, case_id))
                known[case_id] = evaluated(command.tree, case_id)
                memory.store_evaluation(command.tree, known[case_id])
        return Evaluated(command.seq, tuple((one, known[one].objective) for one in command.case_ids))

    return execute


def evaluated(tree: str, case_id: str) -> Evaluation:
    """Some score, or a failure, that only the two decide."""
    drawn = sha256(f"{tree} {case_id}".encode()).digest()[0]
    if drawn < 20:
        return Evaluation(case_id, error=CaseError("raised", "bad luck"))
    return Evaluation(case_id, score=CaseScore(drawn / 255, {}))


@cache
def undisturbed(in_flight: int) -> Memory:
    """The memory of a search that nobody disturbs."""
    memory = Memory()
    asyncio.run(drive(new_search(in_flight), journal=memory, execute=work(memory, [0])))
    return memory


@given(
    in_flight=st.integers(1, 4),
    kills=st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=4),
    order=st.lists(st.integers(0, 9), min_size=1, max_size=7),
)
def test_drive__killed_at_any_write__goes_on_as_if_nothing_had_happened(
    in_flight: int, kills: list[tuple[int, bool]], order: list[int]
) -> None:
    """Same log and same results; each kill costs at most the one evaluation that was begun and not stored."""
    memory = Memory()
    for left, after in [*kills, (-1, False)]:
        memory.left, memory.after = left, after
        state = resumed(memory) or new_search(in_flight)
        try:
            asyncio.run(drive(state, journal=memory, execute=work(memory, order)))
        except Killed:
            continue
        break
    whole = undisturbed(in_flight)
    assert memory.entries == whole.entries
    assert memory.stored == whole.stored
    assert len(memory.begun) - len(set(memory.begun)) <= len(kills)


def test_drive__a_command_that_fails__ends_the_others() -> None:
    """What `execute` raises comes out, and nothing goes on behind it."""
    memory = Memory()
    going: list[str] = []

    async def execute(_: SearchState, command: Evaluate | Propose) -> Evaluated | Proposed:
        if command.seq == 2:
            raise Killed
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            going.append("ended")
            raise
        raise AssertionError

    async def test() -> None:
        with pytest.raises(Killed):
            await drive(new_search(1), journal=memory, execute=execute)
        assert going == ["ended"]

    asyncio.run(test())


def test_resumed__nothing_logged__is_none() -> None:
    """A run that has not begun has no search yet."""
    assert resumed(Memory()) is None
