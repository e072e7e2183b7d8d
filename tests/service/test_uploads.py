"""Uploads: verified by the service itself, complete only when whole, never half-written."""

import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker.client.flows import upload_dataset
from beaker.core.api import Response

TRAIN = b'{"id": "t1"}\n\n{"id": "t2"}\n'
TEST = b'{"id": "h1"}\n'


def announced(**files: bytes) -> list[dict[str, Any]]:
    """The `files` of an upload request."""
    return [
        {"path": f"{name}.jsonl", "size_bytes": len(data), "sha256": sha256(data).hexdigest()}
        for name, data in files.items()
    ]


def detail(response: Response) -> dict[str, Any]:
    """The `detail` of a refusal."""
    found: dict[str, Any] = json.loads(response.body)["detail"]
    return found


def begin(world: Any, **arguments: Any) -> dict[str, Any]:
    """Announce an upload and return the answer."""
    given = {"name": "inv", "files": announced(train=TRAIN, test=TEST)} | arguments
    answer: dict[str, Any] = world.api.call("create_dataset_upload", **given).unwrap()
    return answer


def send(world: Any, answer: dict[str, Any], tmp_path: Path, **files: bytes) -> list[int]:
    """Send the files that an upload asks for; the statuses."""
    statuses = []
    for target in answer["files"]:
        data = files[target["path"].removesuffix(".jsonl")]
        pieces = [data[:1], data[1:]]
        statuses.append(world.transport.upload(target["upload_url"], target["headers"], pieces, len(data)).status)
    return statuses


def test_upload__every_file_sent__is_complete_and_counted(world: Any, tmp_path: Path, conforms: Any) -> None:
    """Announced, sent, completed: the rows are counted, blank lines not, and the revision is the manifest digest."""
    answer = begin(world, splits={"train": 2, "test": 1}, total_count=3, metadata={"who": "me"})
    conforms(answer, "dataset_upload.json")
    assert (answer["artifact"]["status"], answer["reused"]) == ("PENDING", False)
    assert send(world, answer, tmp_path, train=TRAIN, test=TEST) == [200, 200]
    done = world.api.call("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"]).unwrap()["artifact"]
    conforms(done, "artifact.json")
    assert (done["status"], done["sample_counts"]) == ("COMPLETE", {"train": 2, "test": 1})
    assert done["dataset_revision"] == f"sha256:{answer['artifact']['manifest_digest']}"
    again = world.api.call("complete_dataset_upload", artifact_id=done["artifact_id"]).unwrap()["artifact"]
    assert again == done


@pytest.mark.parametrize("wrong", [b'{"id": "h2"}\n', TEST + b"\n", b"", TEST[:-1]])
def test_upload__other_bytes__are_refused_and_not_kept(world: Any, tmp_path: Path, wrong: bytes) -> None:
    """Size and SHA-256 are checked on receipt; what is refused leaves no file behind, and blocks completion."""
    answer = begin(world)
    assert send(world, answer, tmp_path, train=TRAIN, test=wrong) == [200, 422]
    blobs = [path for path in (world.place.state_dir / "blobs").rglob("*") if path.is_file()]
    assert [path.name for path in blobs] == [sha256(TRAIN).hexdigest()]
    refused = world.raw("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"])
    assert (refused.status, detail(refused)["code"]) == (409, "BK468")
    assert "test.jsonl" in detail(refused)["message"]


@pytest.mark.parametrize(
    "counts",
    [{"splits": {"train": 3, "test": 1}}, {"splits": {"val": 1}}, {"total_count": 4}],
)
def test_complete__counts_that_disagree__are_refused(world: Any, tmp_path: Path, counts: dict[str, Any]) -> None:
    """The service counts rows itself; a dataset that is not what it was declared to be never becomes complete."""
    answer = begin(world, **counts)
    send(world, answer, tmp_path, train=TRAIN, test=TEST)
    refused = world.raw("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"])
    assert (refused.status, detail(refused)["code"]) == (422, "BK209")
    assert world.api.call("list_datasets").unwrap()["datasets"] == []
    corrected = begin(world, splits={"train": 2, "test": 1})
    assert (corrected["files"], corrected["artifact"]["artifact_id"]) == ([], answer["artifact"]["artifact_id"])
    assert world.raw("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"]).status == 200


def test_upload__cut_off__goes_on_with_what_is_missing(world: Any, tmp_path: Path) -> None:
    """A second attempt is the same upload and asks only for the file that had not arrived."""
    first = begin(world)
    one = {**first, "files": first["files"][:1]}
    send(world, one, tmp_path, train=TRAIN, test=TEST)
    second = begin(world)
    assert second["artifact"]["artifact_id"] == first["artifact"]["artifact_id"]
    assert [target["path"] for target in second["files"]] == ["test.jsonl"]


def test_upload__known_content__is_reused(world: Any) -> None:
    """The same files under the same name are the same artifact; under another name a new one, without sending."""
    first = world.dataset()
    assert world.dataset() == first | {"reused": True}
    other = world.dataset(name="other")
    assert other["artifact_id"] != first["artifact_id"]
    folder = world.root.parent / "data-inv-20-10"
    renamed = upload_dataset(world.api, folder, name="third").unwrap()
    assert (renamed["reused"], renamed["manifest_digest"]) == (True, first["manifest_digest"])
    refused = world.raw(
        "create_dataset_upload",
        name="fourth",
        files=[{key: file[key] for key in ("path", "size_bytes", "sha256")} for file in first["files"]],
        splits={"train": 4},
    )
    assert (refused.status, detail(refused)["code"]) == (422, "BK209")


def test_upload__known_content__takes_over_what_is_said_anew(world: Any) -> None:
    """Metadata, display name and key of a repeated upload replace the old ones; what is not given stays."""
    world.dataset(metadata={"source": "old", "who": "me"})
    assert world.dataset()["metadata"] == {"source": "old", "who": "me"}
    again = world.dataset(metadata={"source": "new"})
    assert (again["reused"], again["metadata"]) == (True, {"source": "new"})
    assert world.api.call("resolve_dataset", reference="inv").unwrap()["dataset"]["metadata"] == {"source": "new"}
    files = [{key: file[key] for key in ("path", "size_bytes", "sha256")} for file in again["files"]]
    begin_again = {"name": "inv", "files": files, "display_name": "Invoices", "artifact_key": "inv-key"}
    answer = world.api.call("create_dataset_upload", **begin_again).unwrap()["artifact"]
    assert (answer["artifact_key"], answer["metadata"]) == ("inv-key", {"source": "new"})
    (listed,) = world.api.call("list_datasets").unwrap()["datasets"]
    assert listed["display_name"] == "Invoices"


def test_upload__split_without_rows__is_kept_but_not_promoted(world: Any, conforms: Any) -> None:
    """No run could use it, so it does not take the place of one that works; a warning says which split and why."""
    good = world.dataset()
    assert good["warnings"] == []
    for _ in range(2):  # the second time its content is known
        empty = world.dataset(3, 0)
        conforms({key: item for key, item in empty.items() if key != "reused"}, "artifact.json")
        assert (empty["status"], empty["is_production"]) == ("COMPLETE", False)
        assert [(one["code"], "'test' has no rows" in one["message"]) for one in empty["warnings"]] == [("BK457", True)]
    found = world.api.call("resolve_dataset", reference="inv").unwrap()["dataset"]
    assert found["revision"] == good["dataset_revision"]


def test_upload__content_of_another_agent__has_to_be_sent(world: Any, tmp_path: Path) -> None:
    """Nobody gets at others' bytes by naming their digest."""
    answer = begin(world)
    send(world, answer, tmp_path, train=TRAIN, test=TEST)
    world.api.call("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"]).unwrap()
    stranger = begin(world, agent_key="stranger")
    assert (stranger["reused"], len(stranger["files"])) == (False, 2)
    assert (
        world.raw("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"], agent_key="stranger").status
        == 404
    )


def test_upload__expired__is_refused(world: Any, tmp_path: Path) -> None:
    """Bytes are taken for as long as was asked for; announcing again opens the upload again."""
    answer = begin(world, expires_in_seconds=60)
    world.clock.now += timedelta(seconds=61)
    assert set(send(world, answer, tmp_path, train=TRAIN, test=TEST)) == {403}
    assert set(send(world, begin(world), tmp_path, train=TRAIN, test=TEST)) == {200}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"files": []}, "BK450"),
        ({"files": ["train.jsonl"]}, "BK450"),
        ({"files": [{"path": "../x", "size_bytes": 1, "sha256": "a" * 64}]}, "BK450"),
        ({"files": [{"path": "x", "size_bytes": -1, "sha256": "a" * 64}]}, "BK450"),
        ({"files": [{"path": "x", "size_bytes": True, "sha256": "a" * 64}]}, "BK450"),
        ({"files": [{"path": "x", "size_bytes": 1, "sha256": "a"}]}, "BK450"),
        ({"files": [{"path": p, "size_bytes": 1, "sha256": "a" * 64} for p in ("a", "./a")]}, "BK205"),
        ({"files": [{"path": "x", "size_bytes": 1, "sha256": "a" * 64, "content_type": "a\r\nb"}]}, "BK450"),
        ({"name": " "}, "BK212"),
        ({"name": "a@b"}, "BK212"),
        ({"splits": {"train": "3"}}, "BK208"),
        ({"total_count": -1}, "BK208"),
        ({"expires_in_seconds": 0}, "BK450"),
    ],
)
def test_create_upload__malformed__is_refused(world: Any, arguments: dict[str, Any], code: str) -> None:
    """422 with the reason, and nothing is stored."""
    given = {"name": "inv", "files": announced(train=TRAIN)} | arguments
    refused = world.raw("create_dataset_upload", **given)
    assert (refused.status, detail(refused)["code"]) == (422, code)
    assert world.place.database.rows("SELECT * FROM artifacts") == []


def test_upload_url__of_nothing__is_refused(world: Any, tmp_path: Path) -> None:
    """URLs of other uploads, other files, other schemes, and of a complete dataset take no bytes."""
    done = world.dataset()
    for url, status in (
        ("beaker-local:uploads/art_99/train.jsonl", 404),
        (f"beaker-local:uploads/{done['artifact_id']}/other.jsonl", 404),
        (f"beaker-local:uploads/{done['artifact_id']}/train.jsonl", 409),
        ("beaker-local:uploads/", 404),
        ("https://example.com/x", 404),
    ):
        assert world.transport.upload(url, {}, [b"x"], 1).status == status


def test_upload__rows_in_another_encoding__are_named(world: Any, tmp_path: Path) -> None:
    """What cannot be counted is refused under the name of the file, not of where it is kept."""
    utf16 = '{"id": 1}'.encode("utf-16")
    answer = begin(world, files=announced(train=utf16))
    send(world, answer, tmp_path, train=utf16)
    refused = world.raw("complete_dataset_upload", artifact_id=answer["artifact"]["artifact_id"])
    assert (refused.status, detail(refused)["where"], detail(refused)["code"]) == (422, "train.jsonl", "BK201")


def test_upload__more_bytes_or_rows_than_can_be_kept__is_refused(world: Any) -> None:
    """No failure of the database comes of a number."""
    for number in (2**63, 10**4000):
        files = [{**announced(train=TRAIN)[0], "size_bytes": number}]
        refused = world.api.call("create_dataset_upload", name="n", files=files).failure()
        assert (refused.status, refused.where) == (422, "files[0]")
        for count in ({"splits": {"train": number}}, {"splits": {"train": -number}}, {"total_count": number}):
            refused = world.api.call("create_dataset_upload", name="n", files=announced(train=TRAIN), **count).failure()
            assert refused.status == 422
            assert len(refused.message) < 200


@pytest.mark.parametrize("path", [".git/config", "sub/.GIT/hooks/x", ".beaker/.env", "a/git~1/x"])
def test_upload__path_through_a_folder_of_git_or_beaker__is_refused(world: Any, path: str) -> None:
    """Whoever fetches the dataset into a folder gets no repository or configuration with it."""
    files = [*announced(train=TRAIN), {**announced(test=TEST)[0], "path": path}]
    refused = world.api.call("create_dataset_upload", name="n", files=files).failure()
    assert (refused.status, refused.where) == (422, "files[1]")
