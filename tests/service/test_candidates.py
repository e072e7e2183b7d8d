"""Candidates, reports and downloads: worked out from the log and what is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from beaker.client.flows import download_candidate
from beaker.core.changesets import change_set_from_json


@pytest.fixture
def run_id(world: Any, play: Any) -> str:
    world.dataset()
    made: str = world.launch()["id"]
    play(world, made)
    return made


def test_candidates__ended_run__are_told_in_order(world: Any, run_id: str, conforms: Any) -> None:
    """Numbered by decision, with parents, scores on both splits, and what each changed."""
    answer = world.api.call("list_candidates", run_id=run_id).unwrap()
    conforms(answer, "candidates.json")
    baseline, first, second = answer["candidates"]
    assert [one["id"] for one in answer["candidates"]] == [f"{run_id}.{number}" for number in range(3)]
    assert (baseline["status"], baseline["parent_id"], baseline["origin"]) == ("baseline", None, "baseline")
    assert (first["status"], first["parent_id"], first["origin"]) == ("accepted", f"{run_id}.0", "command")
    assert first["summary"] == {
        "created": ["playbooks/c.md"],
        "updated": ["playbooks/a.md"],
        "deleted": [],
    }
    assert baseline["summary"] == {"created": [], "updated": [], "deleted": []}
    # Three TRAIN cases, one of which always fails: 2/3 of what the others score.
    assert second["scores"]["train"] == {
        "objective": pytest.approx(0.4 * 2 / 3),
        "objective_scored": 0.4,
        "cases": 3,
        "scored": 2,
        "failed": 1,
    }
    assert answer["winner_id"] == f"{run_id}.2"
    assert (first["scores"]["test"], second["scores"]["test"]["objective"]) == (None, 0.4)
    assert [(one["n"], one["outcome"], one["candidate_id"]) for one in answer["proposals"]] == [
        (1, "accepted", f"{run_id}.1"),
        (2, "accepted", f"{run_id}.2"),
    ]
    for one in answer["candidates"]:
        assert world.api.call("get_optimization_candidate", candidate_id=one["id"]).unwrap() == one


def test_reports__ended_run__show_failures_beside_the_mean(world: Any, run_id: str, conforms: Any) -> None:
    """Every candidate on the splits it has results on; a failed case is an error, counted, never left out."""
    answer = world.api.call("list_eval_reports", run_id=run_id).unwrap()
    conforms(answer, "eval_reports.json")
    assert [report["id"] for report in answer["eval_reports"]] == [
        f"{run_id}.0.train", f"{run_id}.0.test", f"{run_id}.1.train", f"{run_id}.2.train", f"{run_id}.2.test",
    ]  # fmt: skip
    report = answer["eval_reports"][3]
    assert (report["cases_total"], report["scored"], report["failed"]) == (3, 2, 1)
    assert (report["objective_scored"], report["set"]) == (0.4, "selection")
    assert report["field_scores"] == {"total": {"mean": 0.4, "n": 2}}
    failed = next(case for case in report["cases"] if case["id"] == "train-0")
    assert (failed["objective"], failed["error"]["kind"]) == (None, "raised")
    of_one = world.api.call("list_eval_reports_for_candidate", candidate_id=f"{run_id}.2").unwrap()
    assert of_one["eval_reports"] == answer["eval_reports"][3:]


def test_run__ended__tells_its_progress(world: Any, run_id: str, conforms: Any) -> None:
    """Issued, done and failed evaluations, proposals and the best candidate."""
    run = world.api.call("get_optimization_run", run_id=run_id).unwrap()
    conforms(run, "run.json")
    progress = run["progress"]
    assert (progress["rollouts"]["done"], progress["rollouts"]["issued"]) == (13, 13)
    assert (progress["rollouts"]["failed"], progress["rollouts"]["limit"]) == (3, 100)
    assert progress["best"]["candidate_id"] == f"{run_id}.2"
    assert (progress["proposals"]["accepted"], run["finish_reason"]) == (2, "proposals")


def test_reports__rejected_on_its_minibatch__say_so(world: Any, play: Any, conforms: Any) -> None:
    """With disjoint sets a candidate that got no further has no score on the selection set, but its report."""
    world.dataset(30, 2, name="big")
    run_id = world.launch(dataset_ref="big")["id"]
    play(world, run_id, train=30, proposals=6)
    candidates = world.api.call("list_candidates", run_id=run_id).unwrap()["candidates"]
    reports = world.api.call("list_eval_reports", run_id=run_id).unwrap()
    conforms(reports, "eval_reports.json")
    sizes = {
        report["candidate_id"]: report["cases_total"]
        for report in reports["eval_reports"]
        if report["split"] == "train"
    }
    assert set(sizes) == {candidate["id"] for candidate in candidates}
    for candidate in candidates:
        train = candidate["scores"]["train"]
        assert (train is None) == (candidate["status"] == "rejected" and sizes[candidate["id"]] <= 3)
        assert train is None or train["cases"] == 15


def test_candidates__run_without_a_log__are_none(world: Any, conforms: Any) -> None:
    """Before the search begins there is nothing to tell, and nothing fails."""
    world.dataset()
    run_id = world.launch()["id"]
    answer = world.api.call("list_candidates", run_id=run_id).unwrap()
    conforms(answer, "candidates.json")
    assert answer == {"candidates": [], "winner_id": None, "proposals": []}
    assert world.api.call("list_eval_reports", run_id=run_id).unwrap() == {"eval_reports": []}


@pytest.mark.parametrize(
    "name", ["get_optimization_candidate", "list_eval_reports_for_candidate", "create_candidate_download"]
)
def test_candidate__unknown__is_404(world: Any, run_id: str, name: str) -> None:
    """Of no run, beyond the last, of no number, of another agent."""
    for named in ("run_99.0", f"{run_id}.3", f"{run_id}.x", run_id, "0", f"{run_id}.²", f"{run_id}.{'9' * 5000}"):
        assert world.raw(name, candidate_id=named).status == 404
    assert world.raw(name, candidate_id=f"{run_id}.0", agent_key="stranger").status == 404
    for listing in ("list_candidates", "list_eval_reports"):
        assert world.raw(listing, run_id=run_id, agent_key="stranger").status == 404


def test_candidates__log_of_another_version__is_said(world: Any, run_id: str) -> None:
    """A log that this Beaker cannot replay is no reason to guess."""
    world.place.database.execute(
        "UPDATE log SET entry = replace(entry, '\"search_version\":1', '\"search_version\":2') WHERE position = 0"
    )
    refused = world.raw("list_candidates", run_id=run_id)
    assert (refused.status, json.loads(refused.body)["detail"]["code"]) == (500, "BK545")


def test_download__candidate__brings_change_sets_and_documents(
    world: Any, run_id: str, tmp_path: Path, conforms: Any
) -> None:
    """One change set per document target and the whole tree, verified on arrival."""
    offered = world.api.call("create_candidate_download", candidate_id=f"{run_id}.2").unwrap()
    conforms(offered, "download.json")
    paths = download_candidate(world.api, f"{run_id}.2", tmp_path / "pulled").unwrap()
    assert paths == (
        "changes/playbooks.json",
        "tree/documents/playbooks/a.md",
        "tree/documents/playbooks/b.md",
        "tree/documents/playbooks/c.md",
        "report.html",
    )
    assert sorted(
        path.relative_to(tmp_path / "pulled").as_posix() for path in (tmp_path / "pulled").rglob("*.*")
    ) == sorted(paths)
    page = (tmp_path / "pulled" / "report.html").read_text(encoding="utf-8")
    assert "Beaker report of" in page
    assert "playbooks/c.md" in page
    assert (tmp_path / "pulled" / paths[1]).read_text(encoding="utf-8") == "new 2"
    change_set = change_set_from_json(json.loads((tmp_path / "pulled" / paths[0]).read_bytes())).unwrap()
    assert [(change.op, change.name) for change in change_set.changes] == [("update", "a.md"), ("create", "c.md")]
    assert (change_set.run_id, change_set.groups) == (run_id, ("playbooks",))


def test_download__baseline__brings_an_empty_change_set(world: Any, run_id: str, tmp_path: Path) -> None:
    """Nothing changed is also an answer."""
    download_candidate(world.api, f"{run_id}.0", tmp_path).unwrap()
    assert json.loads((tmp_path / "changes" / "playbooks.json").read_bytes())["changes"] == []
