"""Whole runs whose cases have files: the same for every candidate and for the scorer, whatever becomes of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

LOADING = """\
        folder = runtime.case_files_dir(row["id"])
        note(f"staging {folder.parents[1]} {folder.name}")
        (folder / "sheet.txt").write_text(row["word"])
        (folder / "pages").mkdir()
        for number in range(200):
            (folder / "pages" / f"{number}.txt").write_text(row["word"])
        files = [CaseFile("in/sheet.txt", folder / "sheet.txt"), CaseFile("pages.zip", folder / "pages")]
        yield Case(id=row["id"], input=row["word"], expected=row["kind"], files=files)
"""

RUNNING = """\
    import zipfile
    sheet = runtime.case_files_dir / "in" / "sheet.txt"
    assert sheet.read_text() == case_input, sheet.read_text()
    with zipfile.ZipFile(runtime.case_files_dir / "pages.zip") as pages:
        assert pages.read("150.txt").decode() == case_input and len(pages.namelist()) == 200
    for path in (sheet, runtime.case_files_dir / "in"):
        path.chmod(0o755)
    sheet.write_text("spoiled")
    (sheet.parent / "more").write_text("spoiled")
"""

SCORING = """\
    assert (case_files_dir / "in" / "sheet.txt").read_text() == case.input
    assert [file.name for file in case.files] == ["in/sheet.txt", "pages.zip"]
    assert [path.name for path in case.files[0].path.parent.iterdir()] == ["sheet.txt"]
"""


def with_files(lab: Any, *, scoring: str = SCORING) -> Any:
    """The lab's Integration, with files in its cases that rollouts write into and scoring reads."""
    text = (lab.project / "words.py").read_text()
    plain = '        yield Case(id=row["id"], input=row["word"], expected=row["kind"])\n'
    for before, after in (
        (plain, LOADING),
        ("async def run_case(*, case_input, runtime):\n", f"async def run_case(*, case_input, runtime):\n{RUNNING}"),
        ("case_files_dir):\n", f"case_files_dir):\n{scoring}"),
        ("    Case, CaseResult,", "    Case, CaseFile, CaseResult,"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    lab.write("words.py", text)
    return lab


def gone(lab: Any) -> bool:
    """Whether nothing of the storages that were ever made is left."""
    return not any(Path(storage).exists() for _, storage, _ in lab.notes("staging"))


def test_run__cases_with_files__completes_as_one_without_them(laboratory: Callable[..., Any]) -> None:
    """Candidates find the files as they were captured though each rollout spoils its copy; nothing stays behind."""
    results = []
    for lab in (with_files(laboratory("with", train=6, test=3)), laboratory("without", train=6, test=3)):
        run = lab.run(lab.launch(cases_per_process=2))
        assert (run["status"], run["error_message"]) == ("COMPLETED", None)
        results.append(run["result"]["test"])
        assert gone(lab)
    assert results[0] == results[1]
    assert results[0]["failed_baseline"] == results[0]["failed_winner"] == 0
    assert results[0]["winner"] > results[0]["baseline"]


@pytest.mark.kill
def test_run__killed_and_resumed__finds_the_same_files_again(laboratory: Callable[..., Any]) -> None:
    """A resumed attempt captures the same files, and the results are those of a run that was not killed."""
    whole = with_files(laboratory("whole", train=4, test=2))
    whole_id = whole.launch(max_proposals=1)
    lab = with_files(laboratory(train=4, test=2))
    lab.shut("ctrain2")
    run_id = lab.launch(wait=False, max_proposals=1)
    lab.reach("ctrain2")
    lab.kill()
    lab.free("ctrain2")
    lab.resume()
    assert lab.run(run_id)["status"] == "COMPLETED"
    assert lab.findings(run_id) == whole.findings(whole_id)
    assert gone(lab)


def test_run__sealed_files_changed__fails_and_names_the_case(laboratory: Callable[..., Any]) -> None:
    """Scores that were made with other files than the captured ones are never believed."""
    spoil = """\
    if case.id == "train-2":
        notes = (LAB / "notes.txt").read_text().split()
        for sheet in Path(notes[notes.index("staging") + 1], "views").glob("*/in/sheet.txt"):
            sheet.chmod(0o644)
            sheet.write_text("made up")
"""
    lab = with_files(laboratory(train=4, test=2), scoring=spoil)
    run = lab.run(lab.launch(max_concurrency=1))
    assert (run["status"], run["finish_reason"]) == ("FAILED", "error")
    assert "the captured files changed while the run used them: in/sheet.txt was changed" in run["error_message"]
    assert "case 'train-" in run["error_message"]
    assert run["result"] is None


def test_run__file_that_breaks_a_rule__fails_before_any_rollout(laboratory: Callable[..., Any]) -> None:
    """The run says which row, which case and which rule; the setup was left."""
    lab = with_files(laboratory(train=4, test=2))
    text = (lab.project / "words.py").read_text()
    lab.write("words.py", text.replace('"pages.zip", folder / "pages")', '"pages.zip", folder / "leaves")'))
    run = lab.run(lab.launch())
    assert run["status"] == "FAILED"
    for word in ("train.jsonl:1", "train-0", "pages.zip", "there is nothing at its path"):
        assert word in run["error_message"]
    assert lab.notes("run") == []
    assert lab.notes("teardown") == [["teardown"]]
