"""Downloading a dataset: verified, and refused where the answer or the bytes are not what they should be."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker.client.api import Api
from beaker.client.dataset_downloads import download_dataset
from beaker.client.network import HttpTransport
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


@pytest.mark.parametrize("changes", [{"path": "../x"}, {"path": None}, {"download_url": 7}, {"sha256": None}])
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
