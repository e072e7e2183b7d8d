"""`beaker run report` against another place: the page is made from answers, whoever gives them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Remote = Callable[..., Any]

RUN = {"id": "run_1", "status": "COMPLETED", "result": None, "progress": {"best": {"candidate_id": "run_1.1"}}}
PATCH = b"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-1\n+2\n"


@pytest.fixture
def hosted(service: Any) -> Any:
    """A service with a run of two candidates."""
    listing = {
        "candidates": [
            {"id": "run_1.1", "parent_id": "run_1.0", "status": "accepted"},
            {"id": "run_1.0", "parent_id": None, "status": "baseline"},
        ],
        "winner_id": None,
    }
    service.on("GET /v1/optimization-runs/run_1", (200, RUN))
    service.on("GET /v1/optimization-runs/run_1/candidates", (200, listing))
    service.on("GET /v1/optimization-runs/run_1/eval-reports", (200, {"eval_reports": []}))
    service.offer("run_1.0", {"tree/documents/book/deep/a.md": b"old\n"})
    service.offer("run_1.1", {"patch.diff": PATCH, "tree/documents/book/deep/a.md": b"new\n", "report.html": b"no"})
    return service


def test_report__best_candidate__is_shown_with_its_changes(hosted: Any, remote: Remote, tmp_path: Path) -> None:
    """Documents and patch come with the page; only what is shown is fetched."""
    done = remote("run", "report", "run_1")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"beaker run report: {tmp_path / 'run_1.html'}\n"
    page = (tmp_path / "run_1.html").read_text(encoding="utf-8")
    for said in ("book/deep/a.md", "-old", "+new", "f.py", "+2", "The best candidate so far is #1"):
        assert said in page, said
    fetched = [one["call"] for one in hosted.requests if one["call"].startswith("GET /files/run_1.1")]
    assert sorted(fetched) == ["GET /files/run_1.1/0", "GET /files/run_1.1/1"]


def test_report__named_candidate_and_file__are_taken(
    hosted: Any, remote: Remote, tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """The file may be anywhere; the answer under --json says where, and which candidate it is about."""
    (tmp_path / "out").mkdir()
    done = remote("run", "report", "run_1", "--candidate", "0", "--html", "out/page.html", "--json")
    assert done.code == 0
    answer = json.loads(done.out)
    conforms(answer, "cli-report.json")
    assert answer == {"run_id": "run_1", "candidate_id": "run_1.0", "file": str(tmp_path / "out" / "page.html")}
    assert "Nothing differs from the baseline." in (tmp_path / "out" / "page.html").read_text(encoding="utf-8")


def test_report__place_without_downloads__is_a_page_without_changes(
    hosted: Any, remote: Remote, tmp_path: Path
) -> None:
    """What a place does not hand out is said, and the rest is shown all the same."""
    hosted.on("POST /v1/optimization-candidates/run_1.0/downloads", (501, {"detail": "not here"}))
    done = remote("run", "report", "run_1")
    assert done.code == 0
    assert "not here" in done.err
    page = (tmp_path / "run_1.html").read_text(encoding="utf-8")
    assert 'id="candidates"' in page
    assert 'id="changes"' not in page


def test_report__candidate_instead_of_a_run__is_held_against_the_baseline(hosted: Any, remote: Remote) -> None:
    """A candidate is named here as everywhere."""
    answer = json.loads(remote("run", "report", "run_1.0", "--json").out)
    assert (answer["run_id"], answer["candidate_id"]) == ("run_1", "run_1.0")
    assert answer["file"].endswith("/run_1.0.html")


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["run_1", "--candidate", "run_1.7"], "BK905"),
        (["../run_1"], "BK902"),
        (["run_1", "--html", ".beaker/beaker.yaml/page.html"], "BK701"),
        (["run_2"], "BK807"),
    ],
)
def test_report__what_cannot_be__is_one_error(
    hosted: Any, remote: Remote, tmp_path: Path, argv: list[str], code: str
) -> None:
    """Exit 2 with the reason, and no file."""
    done = remote("run", "report", *argv)
    assert done.code == 2
    assert code in done.err
    assert [*tmp_path.rglob("*.html")] == []
