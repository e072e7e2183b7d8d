"""Downloading a dataset: verified, and refused where the answer or the bytes are not what they should be."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker.client.api import Api
from beaker.client.dataset_downloads import download_dataset
from beaker.client.network import HttpTransport
from beaker.core.datasets import DatasetFile, manifest_digest
from beaker.core.launch import DatasetChoice

BY_NAME = DatasetChoice(reference="words@1")
FILES = {"train.jsonl": b'{"id": 1}\n', "audio/a b.wav": bytes(range(200))}


@pytest.fixture
def api(server: Any) -> Any:
    """The API of the server."""
    transport = HttpTransport(server.url, "secret")
    yield Api(transport, "inv-agent")
    transport.close()


def offers(server: Any, *listed: dict[str, Any]) -> None:
    """Let the server offer these files, and serve `FILES` by their number."""

    def answer(seen: Any) -> tuple[int, dict[str, str], bytes]:
        if seen.target.startswith("/v1/"):
            return 200, {}, json.dumps({"files": listed}).encode()
        return 200, {}, [*FILES.values()][int(seen.target[1:])]

    server.answer = answer


def offered(server: Any, number: int, **changes: Any) -> dict[str, Any]:
    """One file of a download."""
    path, data = [*FILES.items()][number]
    told = {"path": path, "download_url": f"{server.url}/{number}", "size_bytes": len(data)}
    return {**told, "sha256": sha256(data).hexdigest().upper(), **changes}


def test_download__dataset__lands_with_its_folders(server: Any, api: Api, tmp_path: Path) -> None:
    """Every file at its path; asked for by reference or by id."""
    offers(server, offered(server, 0), offered(server, 1))
    assert download_dataset(api, BY_NAME, tmp_path).unwrap() == tuple(FILES)
    for path, data in FILES.items():
        assert (tmp_path / path).read_bytes() == data
    assert "reference=words%401" in server.seen[0].target
    download_dataset(api, DatasetChoice(artifact_id="art-1"), tmp_path).unwrap()
    assert "artifact_id=art-1" in server.seen[3].target


@pytest.mark.parametrize("changes", [{"path": "../x"}, {"path": None}, {"download_url": 7}, {"sha256": 7}])
def test_download__badly_described_file__is_refused(server: Any, api: Api, tmp_path: Path, changes: Any) -> None:
    """Nothing is fetched then."""
    offers(server, offered(server, 0), offered(server, 1, **changes))
    assert download_dataset(api, BY_NAME, tmp_path).failure().code == "BK812"
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("changes", [{"size_bytes": 3}, {"sha256": "0" * 64}])
def test_download__other_bytes__are_refused(server: Any, api: Api, tmp_path: Path, changes: Any) -> None:
    """A file that is not the announced one is named."""
    offers(server, offered(server, 1, **changes))
    refused = download_dataset(api, BY_NAME, tmp_path).failure()
    assert (refused.code, refused.where) == ("BK813", "audio/a b.wav")


def test_download__unknown_dataset__is_the_places_refusal(server: Any, api: Api, tmp_path: Path) -> None:
    """What the place says is what is said."""
    server.answer = lambda seen: (404, {}, b'{"detail": "no such dataset"}')
    assert "no such dataset" in str(download_dataset(api, BY_NAME, tmp_path).failure())


def described(server: Any, record: dict[str, Any]) -> None:
    """Let the server offer paths and addresses only, and answer with this record of the dataset."""
    listed = [{"path": path, "download_url": f"{server.url}/{number}"} for number, path in enumerate(FILES)]

    def answer(seen: Any) -> tuple[int, dict[str, str], bytes]:
        bodies = {
            "/v1/datasets/download-urls": {"files": listed},
            "/v1/datasets/resolve": {"dataset": record},
            "/v1/datasets": {"datasets": [{"artifact_id": "art-0"}, record], "total": 2},
        }
        body = bodies.get(seen.target.partition("?")[0])
        return 200, {}, json.dumps(body).encode() if body else [*FILES.values()][int(seen.target[1:])]

    server.answer = answer


def revision() -> str:
    """The revision that names `FILES`."""
    files = [DatasetFile(path, len(data), sha256(data).hexdigest()) for path, data in FILES.items()]
    return f"sha256:{manifest_digest(files).unwrap()}"


@pytest.mark.parametrize("choice", [BY_NAME, DatasetChoice(artifact_id="art-1")])
def test_download__without_digests__is_verified_by_its_revision(
    server: Any, api: Api, tmp_path: Path, choice: DatasetChoice
) -> None:
    """The record is asked for, by reference or in the listing; sizes and the revision judge what came."""
    sizes = [{"path": path, "size_bytes": len(data)} for path, data in FILES.items()]
    described(server, {"artifact_id": "art-1", "revision": revision(), "files": sizes})
    assert download_dataset(api, choice, tmp_path).unwrap() == tuple(FILES)
    assert {path: (tmp_path / path).read_bytes() for path in FILES} == FILES
    described(server, {"artifact_id": "art-1", "revision": f"sha256:{'0' * 64}"})
    assert download_dataset(api, choice, tmp_path).failure().code == "BK813"


def test_download__without_anything_to_verify_by__is_refused(server: Any, api: Api, tmp_path: Path) -> None:
    """A revision that is a mere label, and no digest: nothing is fetched. An unknown id is said to be one."""
    described(server, {"artifact_id": "art-1", "revision": "7", "files": [{"path": "train.jsonl", "size_bytes": 3}]})
    assert download_dataset(api, BY_NAME, tmp_path).failure().code == "BK812"
    refused = download_dataset(api, DatasetChoice(artifact_id="art-9"), tmp_path).failure()
    assert "art-9" in refused.message
    assert [*tmp_path.iterdir()] == []
