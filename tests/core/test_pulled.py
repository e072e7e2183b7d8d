"""Which files of a run are brought."""

from typing import Any

import pytest

from beaker.core.pulled import PULLED, PULLED_BESIDE, PULLED_OF_A_CANDIDATE, Chosen, choose_candidate, wanted_files


@pytest.mark.parametrize(
    ("only", "path", "wanted"),
    [
        ((), "tree/a.py", True),
        (("tree",), "tree/a.py", True),
        (("tree",), "tree", True),
        (("tree",), "trees/a.py", False),
        (("a.py",), "tree/a.py", False),
        (("patch.diff", "changes"), "changes/prompts.json", True),
    ],
)
def test_wanted_files__only__asks_by_what_stands_in_the_folder(only: tuple[str, ...], path: str, wanted: bool) -> None:
    """A name stands for itself and for all below it; no name for everything."""
    assert wanted_files(only, path) is wanted


@pytest.mark.parametrize(
    ("run", "winner", "chosen"),
    [
        ({}, "c1", Chosen("c1", best=False)),
        ({"progress": {"best": {"candidate_id": "c2"}}}, "c1", Chosen("c1", best=False)),
        ({"progress": {"best": {"candidate_id": "c2"}}}, None, Chosen("c2", best=True)),
        ({"progress": {"best": {"candidate_id": 2}}}, None, Chosen(None, best=True)),
        ({"progress": {"best": None}}, None, Chosen(None, best=True)),
        ({"progress": []}, 7, Chosen(None, best=True)),
        ({}, None, Chosen(None, best=True)),
    ],
)
def test_choose_candidate__winner__goes_before_the_best_so_far(run: Any, winner: Any, chosen: Chosen) -> None:
    """Odd answers name nobody."""
    assert choose_candidate(run, {"winner_id": winner}) == chosen


def test_pulled__parts__are_what_they_are_called() -> None:
    """The names that `--only` takes."""
    assert PULLED_BESIDE == ("candidates.json", "eval_reports.json")
    assert PULLED_OF_A_CANDIDATE == ("patch.diff", "changes", "tree", "report.html")
    assert set(PULLED) == {"run.json", *PULLED_BESIDE, "proposals", *PULLED_OF_A_CANDIDATE}
