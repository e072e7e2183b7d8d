"""Telling Beaker's own outputs from code that somebody forgot to commit."""

from pathlib import Path

import pytest

from beaker.core.report import evaluation_page
from beaker.files.own_outputs import without_own_outputs


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with pages, a pulled run, a downloaded candidate, and files that look a little like them."""
    page = evaluation_page({"integration_id": "x"})
    for path, text in {
        "eval.html": page,
        "deep/mine.html": page,
        "site.html": "<title>Shop</title>",
        "candidates.json": '{\n  "candidates": []\n}',
        "eval_reports.json": '{\n  "eval_reports": []\n}',
        "data/candidates.json": '{"names": []}',
        "run_1/run.json": "{}",
        "run_1/candidates.json": "{}",
        "run_1/tree/repository/app.py": "x",
        "cand/run_1.2/patch.diff": "x",
        "cand/run_1.2/tree/repository/app.py": "x",
        "v1.2/app.py": "x",
        "tool/run.json": "{}",
        "app.py": "x",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_without_own_outputs__keeps_what_beaker_did_not_write(root: Path) -> None:
    """A page is one by its title, a run or candidate by what lies in its folder; names alone tell nothing."""
    every = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    kept = ["app.py", "data/candidates.json", "site.html", "tool/run.json", "v1.2/app.py"]
    assert [*without_own_outputs(root, every)] == kept
    assert without_own_outputs(root, ["gone.html", "candidates.json/x"]) == ("gone.html", "candidates.json/x")
