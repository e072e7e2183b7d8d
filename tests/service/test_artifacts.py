"""Artifacts that are no datasets: announced, received, complete, reused, listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from beaker.client.flows import upload_artifact


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three files, one of them hidden."""
    made = tmp_path / "notes"
    (made / "a").mkdir(parents=True)
    for name in ("a/one.txt", "two.json", ".hidden"):
        (made / name).write_text(name, encoding="utf-8")
    return made


def test_artifact__folder__is_kept_and_reused(world: Any, folder: Path, conforms: Any) -> None:
    """What is not hidden travels; the same files again are known, under what is then said of them."""
    first = upload_artifact(world.api, folder, kind="notes", metadata={"a": 1}).unwrap()
    assert (first["status"], first["kind"], first["reused"]) == ("COMPLETE", "notes", False)
    assert [(file["path"], file["content_type"]) for file in first["files"]] == [
        ("a/one.txt", "application/octet-stream"),
        ("two.json", "application/json"),
    ]
    again = upload_artifact(world.api, folder, kind="notes", artifact_key="second").unwrap()
    assert (again["artifact_id"], again["reused"]) == (first["artifact_id"], True)
    assert (again["artifact_key"], again["metadata"]) == ("second", {"a": 1})
    other = upload_artifact(world.api, folder).unwrap()
    assert (other["kind"], other["reused"]) == ("input_artifact", False)
    completed = world.api.call("complete_artifact_upload", artifact_id=other["artifact_id"]).unwrap()
    conforms(completed["artifact"], "stored_artifact.json")
    assert completed["artifact"] == {key: item for key, item in other.items() if key != "reused"}


def test_artifacts__listed__are_the_agents_newest_first(world: Any, folder: Path, conforms: Any) -> None:
    """Datasets among them; by kind and by status; a page at a time."""
    dataset = world.dataset()
    made = upload_artifact(world.api, folder, kind="notes").unwrap()
    files = [{"path": "x", "size_bytes": 1, "sha256": "0" * 64}]
    begun = world.api.call("create_artifact_upload", kind="notes", files=files).unwrap()["artifact"]
    ids = [begun["artifact_id"], made["artifact_id"], dataset["artifact_id"]]

    def listed(**filters: Any) -> list[str]:
        answer = world.api.call("list_artifacts", **filters).unwrap()
        return [artifact["artifact_id"] for artifact in answer["artifacts"]]

    assert listed() == ids
    assert listed(kind="notes") == ids[:2]
    assert listed(status="COMPLETE") == ids[1:]
    assert listed(kind="notes", status="PENDING") == ids[:1]
    assert listed(limit=1, offset=1) == ids[1:2]
    assert listed(agent_key="other") == []
    page = world.api.call("list_artifacts", limit=1).unwrap()
    conforms(page, "stored_artifacts.json")
    assert page["total"] == 3
    assert world.raw("list_artifacts", limit=0).status == 422


FILE = {"path": "x", "size_bytes": 1, "sha256": "0" * 64}


@pytest.mark.parametrize(
    "arguments",
    [
        {"files": []},
        {"files": [FILE, FILE]},
        {"files": [{**FILE, "path": "../x"}]},
        {"files": [FILE], "kind": " "},
        {"files": [FILE], "kind": "dataset_snapshot"},
        {"files": [FILE], "expires_in_seconds": 0},
    ],
)
def test_artifact__badly_announced__is_refused(world: Any, conforms: Any, arguments: dict[str, Any]) -> None:
    """And nothing is kept of it."""
    refused = world.raw("create_artifact_upload", **arguments)
    conforms(json.loads(refused.body), "error.json")
    assert refused.status == 422
    assert world.api.call("list_artifacts").unwrap()["total"] == 0


def test_artifact__whose_files_lack__is_not_completed(world: Any) -> None:
    """Nor is one kind completed as the other, or one that is not there."""
    begun = world.api.call("create_artifact_upload", files=[FILE]).unwrap()["artifact"]["artifact_id"]
    dataset = world.dataset()["artifact_id"]
    assert world.raw("complete_artifact_upload", artifact_id=begun).status == 409
    assert world.raw("complete_artifact_upload", artifact_id=dataset).status == 404
    assert world.raw("complete_dataset_upload", artifact_id=begun).status == 404
    assert world.raw("complete_artifact_upload", artifact_id="art_none").status == 404
    assert world.raw("get_dataset_download_urls", artifact_id=begun).status == 404
