"""Datasets: found by name, revision or id, the newest first, one revision in production."""

import json
from typing import Any

import pytest

from beaker.core.problems import Refused


def test_resolve__references__find_the_revision_they_name(world: Any, conforms: Any) -> None:
    """`name@revision` is exact; `name@production` is the promoted one, and so is the bare name."""
    first = world.dataset(3, 2)
    second = world.dataset(4, 2, promote=False)

    def revision(reference: str) -> str:
        found = world.api.call("resolve_dataset", reference=reference).unwrap()["dataset"]
        conforms(found, "dataset.json")
        return str(found["revision"])

    assert revision("inv") == revision("inv@production") == first["dataset_revision"]
    assert revision(f"inv@{second['dataset_revision']}") == second["dataset_revision"]
    assert revision(f"inv@{second['manifest_digest'].upper()}") == second["dataset_revision"]
    promoted = world.api.call("promote_dataset", name="inv", revision=second["dataset_revision"]).unwrap()["dataset"]
    assert (promoted["is_production"], revision("inv")) == (True, second["dataset_revision"])


def test_resolve__nothing_promoted__bare_name_is_the_newest(world: Any) -> None:
    """Without a production revision the newest counts, and `@production` names nothing."""
    world.dataset(3, 2, promote=False)
    newest = world.dataset(4, 2, promote=False)
    found = world.api.call("resolve_dataset", reference="inv").unwrap()["dataset"]
    assert found["revision"] == newest["dataset_revision"]
    assert world.raw("resolve_dataset", reference="inv@production").status == 404


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("inw", "did you mean 'inv'?"),
        ("inv@sha256:00", "has no revision"),
        ("zzz", "upload"),
        ("s3://x", "URL"),
        ("a@", "@"),
    ],
)
def test_resolve__unknown__says_what_is_near(world: Any, reference: str, said: str) -> None:
    """404 with a next step."""
    world.dataset()
    refused = world.raw("resolve_dataset", reference=reference)
    detail = json.loads(refused.body)["detail"]
    assert refused.status == 404
    assert said in detail["message"] + detail["hint"]


def test_list__pages__cover_everything_once_newest_first(world: Any, conforms: Any) -> None:
    """Order is stable, `total` counts everything, a page of nothing is empty."""
    made = [world.dataset(1 + number, 1, promote=False)["artifact_id"] for number in range(5)]
    seen = []
    for offset in (0, 2, 4, 6):
        page = world.api.call("list_datasets", limit=2, offset=offset).unwrap()
        conforms(page, "datasets.json")
        assert page["total"] == 5
        seen += [dataset["artifact_id"] for dataset in page["datasets"]]
    assert seen == made[::-1]
    assert world.raw("list_datasets", limit=0).status == world.raw("list_datasets", offset=-1).status == 422


def test_list__unfinished_upload__is_not_shown(world: Any) -> None:
    """A dataset exists once it is complete."""
    files = [{"path": "train.jsonl", "size_bytes": 1, "sha256": "0" * 64}]
    pending = world.api.call("create_dataset_upload", name="inv", files=files).unwrap()
    assert world.api.call("list_datasets").unwrap()["total"] == 0
    assert world.raw("resolve_dataset", reference="inv").status == 404
    artifact_id = pending["artifact"]["artifact_id"]
    assert world.raw("get_dataset_download_urls", artifact_id=artifact_id).status == 404


def test_download_urls__lead_to_the_bytes(world: Any, conforms: Any) -> None:
    """By reference and by id; every file arrives as it was sent, whole or from some byte on."""
    made = world.dataset()
    by_name = world.api.call("get_dataset_download_urls", reference="inv").unwrap()
    by_id = world.api.call("get_dataset_download_urls", artifact_id=made["artifact_id"]).unwrap()
    assert by_name == by_id
    conforms({"files": by_id["files"]}, "download.json")
    for file in by_id["files"]:
        data = (world.root.parent / "data-inv-20-10" / file["path"]).read_bytes()
        for offset in (0, 5):
            with world.transport.download(file["download_url"], offset=offset) as arriving:
                assert (arriving.offset, b"".join(arriving.pieces)) == (offset, data[offset:])
    for url in ("beaker-local:blobs/../../beaker.db", f"beaker-local:blobs/{'0' * 64}/x", "file:///etc/passwd"):
        with pytest.raises(Refused), world.transport.download(url):
            pass


def test_datasets__of_another_agent__are_not_seen(world: Any) -> None:
    """An agent's datasets are its own."""
    made = world.dataset()
    for name, arguments in (
        ("resolve_dataset", {"reference": "inv"}),
        ("get_dataset_download_urls", {"artifact_id": made["artifact_id"]}),
        ("promote_dataset", {"name": "inv", "revision": made["dataset_revision"]}),
    ):
        assert world.raw(name, agent_key="stranger", **arguments).status == 404
    assert world.api.call("list_datasets", agent_key="stranger").unwrap()["datasets"] == []
