"""Laws of counting what a kill has cost, against a real store."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beaker.core.cases import CaseScore
from beaker.core.evaluations import Evaluation
from beaker.engine.in_flight import InFlight, count_lost, forget, lost_cases
from beaker.service.journal import StoredJournal
from beaker.service.place import open_place


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[StoredJournal]:
    place = open_place(tmp_path / "place")
    place.database.execute("PRAGMA foreign_keys=OFF")
    yield StoredJournal(place.database, "run_1", now=lambda: datetime.now(UTC))
    place.database.close()


def store(journal: StoredJournal, case_id: str) -> None:
    journal.store_evaluation("tree", Evaluation(case_id, score=CaseScore(1.0, {})))


def test_count_lost__begun_and_not_stored__is_added_once(journal: StoredJournal, tmp_path: Path) -> None:
    """Counting the same note again adds nothing; the next attempt's note counts anew."""
    note = tmp_path / "note"
    count_lost(note, journal)
    assert "rollouts_lost" not in journal.facts()
    for attempt, lost in ((1, 2), (2, 3)):
        flight = InFlight(note)
        for number in range(attempt, 4):
            flight.begin("tree", f"case-{number}")
        flight.close()
        store(journal, f"case-{attempt}")
        count_lost(note, journal)
        count_lost(note, journal)
        assert journal.facts()["rollouts_lost"] == lost


def test_count_lost__a_line_cut_short__is_left_out(journal: StoredJournal, tmp_path: Path) -> None:
    """The kill may have come in the middle of a line."""
    note = tmp_path / "note"
    flight = InFlight(note)
    flight.begin("tree", "case-1")
    flight.begin("tree", "case-2")
    flight.close()
    note.write_bytes(note.read_bytes()[:-5])
    count_lost(note, journal)
    assert journal.facts()["rollouts_lost"] == 1
    note.write_bytes(b"")
    count_lost(note, journal)
    assert journal.facts()["rollouts_lost"] == 1


def test_lost_cases__begun_and_not_stored__are_named_in_order(journal: StoredJournal, tmp_path: Path) -> None:
    """Each once, whatever candidates it ran for; none without a note, or with one that cannot be read."""
    note = tmp_path / "note"
    assert lost_cases(note, journal) == []
    flight = InFlight(note)
    for tree, case_id in (("tree", "c"), ("tree", "a"), ("tree", "b"), ("other", "a")):
        flight.begin(tree, case_id)
    flight.close()
    store(journal, "c")
    assert lost_cases(note, journal) == ["a", "b"]
    forget(note)
    forget(note)
    assert lost_cases(note, journal) == []
    note.mkdir()
    assert lost_cases(note, journal) == []
