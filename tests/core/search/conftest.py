"""Running a whole search from two functions: what a case gives, and what a proposal gives."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from beaker.core.search import (
    Evaluate,
    Evaluated,
    LogEntry,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    Started,
    start,
    step,
)

Objective = Callable[[str, str], float | None]
Proposer = Callable[[Propose], Proposed]
Run = Callable[..., tuple[SearchState, list[LogEntry]]]


@pytest.fixture
def run() -> Run:
    """`run(train, test, objective, propose, **settings)`: the finished state and the log; tree `base` is the baseline.

    Cases are `a0`, `a1`, ... of TRAIN and `t0`, ... of TEST; the budget is ample unless `max_rollouts` is given.
    """

    def run_search(
        train: int, test: int, objective: Objective, propose: Proposer, **changes: Any
    ) -> tuple[SearchState, list[LogEntry]]:
        chosen = attrs.evolve(SearchSettings(max_rollouts=100_000), **changes)
        train_ids, test_ids = [f"a{n}" for n in range(train)], [f"t{n}" for n in range(test)]
        state, entries = step(start(chosen, train_ids, test_ids, "base").unwrap(), Started())
        log = list(entries)
        while not state.finished:
            command = next(one for one in state.outstanding if one.seq not in state.arrived)
            if isinstance(command, Evaluate):
                scores = tuple((case_id, objective(command.tree, case_id)) for case_id in command.case_ids)
                state, entries = step(state, Evaluated(command.seq, scores))
            else:
                assert isinstance(command, Propose)
                state, entries = step(state, propose(command))
            log.extend(entries)
        return state, log

    return run_search
