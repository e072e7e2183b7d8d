"""The log: what it looks like, and what a replay refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.core.search import (
    SEARCH_VERSION,
    Evaluate,
    LogEntry,
    Propose,
    Proposed,
    SearchState,
    entries_to_json,
    entry_from_json,
    lineage,
    progress,
    replay,
)
from beaker.core.strict_json import dumps, parse

Run = Callable[..., tuple[SearchState, list[LogEntry]]]


CASES = ["a0", "a6", "a7", "a4", "a1", "a11", "a5", "a8"]


def learn(command: Propose) -> Proposed:
    return Proposed(command.seq, "child", f"tree-{command.proposal}", "wrote a rule", ("rules/one",))


def better(tree: str, case_id: str) -> float:
    return 0.5 if tree == "base" else 0.75


@pytest.fixture
def entries(run: Run) -> list[Any]:
    return entries_to_json(run(12, 2, better, learn, max_proposals=2)[1])


def test_log__is_plain_json(entries: list[Any]) -> None:
    """Every entry survives its JSON text, and reads back as what it was."""
    assert [parse(dumps(entry)).unwrap() for entry in entries] == entries
    assert entries_to_json(entry_from_json(entry).unwrap() for entry in entries) == entries


def test_log__golden_entries(entries: list[Any]) -> None:
    """The shapes that stored logs have; changing one is another search version."""
    first = {entry["type"]: entry for entry in reversed(entries)}
    assert list(first["opened"]) == ["type", "search_version", "settings", "train_ids", "test_ids", "baseline_tree"]
    assert first["opened"]["search_version"] == SEARCH_VERSION == 1
    assert first["evaluate"] == {
        "type": "evaluate",
        "seq": 1,
        "tree": "base",
        "case_ids": CASES,
        "purpose": "selection",
    }
    assert first["evaluated"] == {"type": "evaluated", "seq": 1, "objectives": [[one, 0.5] for one in CASES]}
    assert first["propose"] == {
        "type": "propose",
        "seq": 3,
        "proposal": 1,
        "parent": 0,
        "parent_tree": "base",
        "minibatch": ["a10", "a2", "a8"],
        "evidence": ["a9", "a3", "a5", "a11", "a1", "a4", "a7", "a6", "a0"],
        "seen": 0,
        "rollouts_left": 99984,
        "seed": 1287151352,
    }
    assert first["proposed"] == {
        "type": "proposed",
        "seq": 3,
        "outcome": "child",
        "tree": "tree-1",
        "message": "wrote a rule",
        "changed": ["rules/one"],
    }
    assert entries[-1] == {"type": "finish", "seq": 11, "reason": "proposals", "message": ""}


def test_replay__another_version__is_refused_by_name(entries: list[Any]) -> None:
    """A log of other rules is not replayed by these, whatever else its head holds."""
    entries[0] = {"type": "opened", "search_version": 2, "anything": "else"}
    refused = replay(entries)
    assert not is_successful(refused)
    assert refused.failure().code == "BK545"
    assert "version 2" in refused.failure().message


@pytest.mark.parametrize(
    "damage, where, words",
    [
        (lambda log: [], "", "the log is empty"),
        (lambda log: log[1:], "entry 1", "does not stand here"),
        (lambda log: [*log, log[0]], "", "does not stand here"),
        (lambda log: [log[0], log[2], log[1], *log[3:]], "entry 2", "does not follow"),
        (lambda log: [*log[:4], *log[5:]], "entry 5", "does not"),
        (lambda log: [*log[:3], {**log[3], "objectives": []}], "entry 4", "not those of its cases"),
        (lambda log: [*log[:3], {**log[3], "seq": 99}], "entry 4", "nothing outstanding"),
        (lambda log: [{**log[0], "baseline_tree": 7}], "entry 1, opened.baseline_tree", "expected a string"),
        (lambda log: [{**log[0], "test_ids": []}], "entry 1", "TEST split has no case"),
        (lambda log: [*log[:1], {**log[1], "purpose": "fun"}], "entry 2, evaluate.purpose", ""),
        (lambda log: [*log[:1], {**log[1], "more": 1}], "entry 2, evaluate.more", "not a known key"),
        (lambda log: [{"type": "other"}], "entry 1", "not an entry of a search log"),
        (lambda log: [{}], "entry 1", "not an entry"),
        (lambda log: [None], "entry 1", "not an entry"),
        (lambda log: [{"type": []}], "entry 1", "not an entry"),
    ],
)
def test_replay__log_that_does_not_fit__is_refused(
    entries: list[Any], damage: Callable[[list[Any]], list[Any]], where: str, words: str
) -> None:
    """A log that the search cannot have written is named with its entry, never replayed into something else."""
    refused = replay(damage(entries))
    assert not is_successful(refused)
    problem = refused.failure()
    assert problem.code in ("BK542", "BK546")
    assert where in problem.where
    assert words in problem.message


def test_progress__counts_what_was_made_and_decided(run: Run) -> None:
    """Accepted, rejected and failed add up to what was decided."""
    outcomes = ["child", "crashed", "no_change", "child", "invalid_tree"]

    def answer(command: Propose) -> Proposed:
        outcome = outcomes[command.proposal - 1]
        tree = f"tree-{command.proposal}" if outcome == "child" else None
        return Proposed(command.seq, outcome, tree, "" if tree else "x" * 600)

    state, _ = run(12, 2, better, answer, max_proposals=5)
    assert progress(state) == {
        "rollouts": {"issued": state.issued, "limit": 100_000},
        "proposals": {
            "made": 5,
            "accepted": 1,
            "rejected": 2,
            "failed": 2,
            "limit": 5,
            "outcomes": {"accepted": 1, "crashed": 1, "no_change": 1, "rejected": 1, "invalid_tree": 1},
            "last_failed": {"n": 5, "outcome": "invalid_tree", "message": "x" * 500},
        },
        "spend": {"usd": None, "tokens": None, "calls": 0, "unpriced": []},
        "best": {"candidate": 1, "train": 0.75},
    }


def test_lineage__tells_what_was_tried_along_the_way(run: Run) -> None:
    """The trials of a candidate and its ancestors, with what each changed and scored."""
    scores = {"base": 0.5, "tree-1": 0.75, "tree-2": 0.625}
    state, log = run(12, 2, lambda tree, case_id: scores[tree], learn, max_proposals=2)
    assert [one.parent for one in log if isinstance(one, Propose)] == [0, 1]
    first, second = lineage(state, 1)
    assert (first.proposal, first.parent, first.outcome, first.candidate, first.train) == (1, 0, "accepted", 1, 0.75)
    assert (first.message, first.changed, first.reason) == ("wrote a rule", ("rules/one",), "0.75 on the selection set")
    assert (first.minibatch_objective, first.parent_objective) == (0.75, 0.5)
    assert (second.outcome, second.candidate, second.train, second.parent_objective) == ("rejected", 2, None, 0.75)
    assert lineage(state, 0) == (first,)
    assert lineage(state, 1, seen=1) == (first,)
    assert lineage(state, 1, seen=0) == ()


def test_candidates__tell_how_many_rollouts_had_been_issued(run: Run) -> None:
    """The baseline with the selection set, each child with all that was asked for until it was decided."""
    scores = {"base": 0.5, "tree-1": 0.75, "tree-2": 0.625}
    state, log = run(12, 2, lambda tree, case_id: scores[tree], learn, max_proposals=2)
    issued = [sum(len(one.case_ids) for one in log[:n] if isinstance(one, Evaluate)) for n in range(len(log))]
    asked = [issued[n] for n, one in enumerate(log) if isinstance(one, Propose)]
    assert [one.rollouts for one in state.candidates[:2]] == [12, asked[1]]
    assert state.candidates[2].rollouts == state.issued - 4  # 2 cases of TEST for each of two
