"""The journal: what it was told it tells again, also to the next process."""

from typing import Any

import attrs
import pytest

from beaker.core.cases import CaseScore, FieldDiff
from beaker.core.evaluations import CaseError, Evaluation
from beaker.core.repository_tree import RepositoryFile
from beaker.engine.candidates import CandidateTree, tree_digest
from beaker.engine.journal import Journal
from beaker.service.database import open_database
from beaker.service.journal import StoredJournal
from beaker.service.result_table import stored_evaluations
from beaker.service.trees import changed_between


@pytest.fixture
def journal(world: Any) -> StoredJournal:
    world.dataset()
    made: StoredJournal = world.journal(world.launch()["id"])
    return made


def reopened(world: Any, journal: StoredJournal) -> Journal:
    """The journal of the same run on a connection of its own, as a resuming worker has it."""
    database = open_database(world.place.state_dir / "beaker.db")
    world.place.database.close()
    object.__setattr__(world.place, "database", database)
    again: Journal = StoredJournal(database, journal._run_id, now=world.clock)
    return again


def test_log__appended__comes_back_in_order(world: Any, journal: StoredJournal) -> None:
    """Entries keep their order over several appends and processes; progress is that of the last."""
    journal.append([{"n": 1}, {"n": 2}], {"rollouts": {"issued": 1}})
    journal.append([], {"rollouts": {"issued": 2}})
    journal.append([{"n": 3}], {"rollouts": {"issued": 3}})
    again = reopened(world, journal)
    again.append([{"n": 4}], {"rollouts": {"issued": 4}})
    assert again.log() == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]


def test_evaluations__first_one_stays(world: Any, journal: StoredJournal) -> None:
    """One evaluation per tree and case, kept whole, found for the ids that were asked for, whatever they hold."""
    score = CaseScore(0.25, {"a": 0.5, "ü": 0.0}, field_diffs=(FieldDiff("a", {"x": [1]}, None),))
    scored = Evaluation("case 'é' \n %", output={"k": [1, 2.5, None]}, score=score, duration_ms=1.25, attempts=3)
    failed = Evaluation("other", error=CaseError("crashed", "gone"), trace={"spans": []})
    journal.store_evaluation("t1", scored)
    journal.store_evaluation("t1", failed)
    journal.store_evaluation("t1", Evaluation("other", error=CaseError("raised", "again")))
    journal.store_evaluation("t2", Evaluation("other", error=CaseError("raised", "elsewhere")))
    again = reopened(world, journal)
    asked = ["other", "unknown", scored.case_id, *(f"x{number}" for number in range(2000))]
    assert list(again.evaluations("t1", asked).items()) == [("other", failed), (scored.case_id, scored)]
    assert again.evaluations("t3", asked) == {}


def test_evaluations__without_traces__keep_everything_else(world: Any, journal: StoredJournal) -> None:
    """Whoever only adds up reads no more of a trace than its usage; every other figure is what it was."""
    usage = [{"model": "a:b", "calls": 1, "input_tokens": 3, "output_tokens": 2, "reported_usd": 0.1}]
    trace = {"format": "beaker.trace/1", "usage": usage, "model_calls": [{"n": 1}], "evidence": [], "truncated": False}
    traced = Evaluation("c1", output=[0.1, 1e300, "ü", 2**63], error=CaseError("raised", "no"), trace=trace)
    plain = Evaluation("c2", output={"trace": {"model_calls": 1}}, score=CaseScore(1 / 3, {"a": 2 / 3}))
    for one in (traced, plain):
        journal.store_evaluation("t1", one)
    found = stored_evaluations(world.place.database, journal._run_id, "t1", ["c1", "c2"], traces=False)
    lean = {"format": "beaker.trace/1", "usage": usage, "truncated": False}
    assert found == {"c1": attrs.evolve(traced, trace=lean), "c2": plain}  # type: ignore[misc]  # an attrs class


def test_proposals_and_trees__come_back(world: Any, journal: StoredJournal) -> None:
    """A proposal's first result stays; trees share documents; what was never stored is not there."""
    one = CandidateTree({"a": {"x.md": "text", "y.md": "same"}, "empty": {}})
    two = CandidateTree({"a": {"x.md": "téxt", "y.md": "same"}, "empty": {}})
    for tree in (one, two, one):
        journal.store_tree(tree_digest(tree), tree)
    journal.store_proposal(7, {"outcome": "child", "tree": tree_digest(two)})
    journal.store_proposal(7, {"outcome": "crashed"})
    again = reopened(world, journal)
    assert (again.tree(tree_digest(one)), again.tree(tree_digest(two))) == (one, two)
    assert again.proposal(7) == {"outcome": "child", "tree": tree_digest(two)}
    assert again.proposal(8) is None
    assert len(world.place.database.rows("SELECT * FROM documents")) == 3
    with pytest.raises(KeyError):
        again.tree("0" * 64)


def test_trees__that_edit_the_repository__come_back_with_any_bytes(world: Any, journal: StoredJournal) -> None:
    """What two trees share is kept once."""
    binary, text = RepositoryFile("100755", bytes(range(256))), RepositoryFile("100644", b"x")
    one = CandidateTree({"a": {"x.md": "x"}}, {"bin": binary, "src/x": text, "gone": None})
    two = CandidateTree({}, {"other": RepositoryFile("100644", binary.content)})
    for tree in (one, two):
        journal.store_tree(tree_digest(tree), tree)
    again = reopened(world, journal)
    assert (again.tree(tree_digest(one)), again.tree(tree_digest(two))) == (one, two)
    assert len(world.place.database.rows("SELECT * FROM repository_files")) == 2


def test_changed_between__edits_of_the_repository__are_told_by_what_the_commit_has(
    world: Any, journal: StoredJournal
) -> None:
    """Created, updated and deleted are meant against the parent, which may have edits of its own."""
    database = world.place.database
    journal = StoredJournal(database, journal._run_id, now=world.clock, is_tracked=lambda path: path.startswith("old"))
    a, b = RepositoryFile("100644", b"a"), RepositoryFile("100644", b"b")
    trees = [
        CandidateTree({"g": {"m": "1", "d": "x"}}),
        CandidateTree({"g": {"m": "2", "n": "x"}}, {"old1": a, "old2": None, "new1": a, "new2": a}),
        CandidateTree({"g": {"m": "2", "n": "x"}}, {"old1": a, "old3": b, "new1": b, "new3": b}),
    ]
    for tree in trees:
        journal.store_tree(tree_digest(tree), tree)
    first, second, third = map(tree_digest, trees)
    assert changed_between(database, journal._run_id, first, second) == {
        "created": ["g/n", "new1", "new2"],
        "updated": ["g/m", "old1"],
        "deleted": ["g/d", "old2"],
    }
    assert changed_between(database, journal._run_id, second, third) == {
        "created": ["new3", "old2"],
        "updated": ["new1", "old3"],
        "deleted": ["new2"],
    }


def test_facts__named_ones_change__others_stay(world: Any, journal: StoredJournal) -> None:
    """Facts are set by name."""
    journal.set_facts(fingerprint="f", rollouts_lost=1)
    journal.set_facts(rollouts_lost=2, seed_hashes=["a", "b"])
    assert reopened(world, journal).facts() == {"fingerprint": "f", "rollouts_lost": 2, "seed_hashes": ["a", "b"]}


def test_cancelled__forgotten_run__counts_as_cancelled(world: Any, journal: StoredJournal) -> None:
    """Nobody waits for a run whose place was deleted."""
    assert not journal.cancelled()
    assert StoredJournal(world.place.database, "run_99", now=world.clock).cancelled()
