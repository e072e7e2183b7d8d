"""What the search costs per rollout: deciding and writing its log, at 100 and at 100,000 rollouts, and replaying."""

import json
import time

from beaker.core.keyed import below
from beaker.core.search import (
    Evaluate,
    Evaluated,
    Propose,
    Proposed,
    SearchSettings,
    SearchState,
    Started,
    entries_to_json,
    progress,
    replay,
    start,
    step,
)
from beaker.core.strict_json import dumps


def answer(command: Evaluate | Propose) -> Evaluated | Proposed:
    """Scores that creep upwards with the number of the tree, so that the front keeps moving and the budget is spent."""
    if isinstance(command, Propose):
        return Proposed(command.seq, "child", f"{command.proposal}", "a change", ("group/document",))
    tree = command.tree
    scores = ((case_id, below(1000 + int(tree), 0, "score", tree, case_id)) for case_id in command.case_ids)
    return Evaluated(command.seq, tuple((case_id, min(score / 2000, 1.0)) for case_id, score in scores))


def search(train: int, max_rollouts: int) -> tuple[SearchState, list[str], list[tuple[int, float]]]:
    """A whole search: the end, its log, and per step (rollouts answered, seconds: step, log lines and progress)."""
    chosen = SearchSettings(max_rollouts, max_proposals=100_000, max_proposals_in_flight=4)
    state = start(chosen, [f"train-{n:04}" for n in range(train)], ["test-0"], "0").unwrap()
    state, entries = step(state, Started())
    lines = [dumps(entry) for entry in entries_to_json(entries)]
    measured = []
    while not state.finished:
        command = state.outstanding[0]
        assert isinstance(command, Evaluate | Propose)
        told = answer(command)
        began = time.perf_counter()
        state, entries = step(state, told)
        lines.extend(map(dumps, entries_to_json(entries)))
        progress(state)
        spent = time.perf_counter() - began
        measured.append((len(command.case_ids) if isinstance(command, Evaluate) else 0, spent))
    return state, lines, measured


def per_rollout(measured: list[tuple[int, float]]) -> float:
    """Microseconds."""
    return sum(spent for _, spent in measured) / sum(rollouts for rollouts, _ in measured) * 1e6


def main() -> None:
    search(20, 200)  # the converter is built once per process
    _, _, small = search(20, 100)
    print(f"search step at 100 rollouts: {per_rollout(small):.1f} us/rollout (target 1,000)")
    state, lines, large = search(400, 101_000)
    began = time.perf_counter()
    for line in lines:
        json.dumps(json.loads(line))
    floor = (time.perf_counter() - began) / state.issued * 1e6
    near_end = large[-1500:-1]
    print(
        f"search step near {state.issued:,} rollouts: {per_rollout(near_end):.1f} us/rollout (floor {floor:.1f}: JSON)"
    )
    slowest = max(spent for _, spent in large) * 1e3
    print(f"slowest step of {len(large):,}: {slowest:.2f} ms (S of 200, {len(state.proposals)} proposals)")
    began = time.perf_counter()
    assert replay([json.loads(line) for line in lines]).unwrap() == state
    spent = time.perf_counter() - began
    print(f"replay of {len(lines):,} log entries: {spent:.2f} s, {spent / state.issued * 1e6:.1f} us/rollout")


if __name__ == "__main__":
    main()
