"""Uploading and downloading over a real connection: verified at both ends, nothing half-done."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from beaker.client.api import Api
from beaker.client.flows import download_candidate, upload_dataset
from beaker.client.network import HttpTransport

ROWS = {"train.jsonl": b'{"id":"t1","input":{"q":"2+2"},"expected":{"a":4}}\n',
        "test.jsonl": b'{"id":"h1","input":{"q":"3+3"},"expected":{"a":6}}\n'}  # fmt: skip
DIGEST = "444b17fa3b9a7d7d8471f9345889dc7ae2d1c341547c459b953a7ed26a0c6d03"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    for name, data in ROWS.items():
        (made / name).write_bytes(data)
    return made


@pytest.fixture
def api(server: Any) -> Iterator[Api]:
    transport = HttpTransport(server.url, "key")
    yield Api(transport, "inv-agent")
    transport.close()


def answers(server: Any, **changes: Any) -> None:
    """Let the server answer like the recorded one, with some keys of its answers changed."""
    artifact = {"artifact_id": "art_01", "status": "PENDING", "manifest_digest": DIGEST} | changes.get("artifact", {})
    done = artifact | {"status": "COMPLETE", "artifact_key": "invoices"} | changes.get("done", {})
    targets = [{"path": name, "upload_url": f"{server.url}/{name}?X-Sig=abc", "headers": {"X-A": 1}} for name in ROWS]

    def answer(seen: Any) -> tuple[int, dict[str, str], bytes]:
        if seen.method == "PUT":
            return changes.get("put", 200), {}, b""
        if seen.target.startswith("/v1/datasets/uploads"):
            body = {
                "artifact": artifact,
                "files": changes.get("files", targets),
                "reused": changes.get("reused", False),
            }
            return 201, {}, json.dumps(body).encode()
        return 200, {}, json.dumps({"artifact": done}).encode()

    server.answer = answer


def test_upload__dataset__makes_the_recorded_exchange(server: Any, api: Api, folder: Path) -> None:
    """Announce, one PUT per target, complete; both counts travel."""
    answers(server)
    told: list[tuple[str, int, int]] = []
    artifact = upload_dataset(
        api, folder, name="invoices", progress=lambda path, done, total: told.append((path, done, total))
    ).unwrap()
    assert artifact["status"] == "COMPLETE"
    assert artifact["reused"] is False
    first, train, test, complete = server.seen
    train, test = sorted((train, test), key=lambda seen: seen.target, reverse=True)
    assert json.loads(first.body) == {
        "agent_key": "inv-agent",
        "name": "invoices",
        "files": [
            {
                "path": name,
                "content_type": "application/octet-stream",
                "size_bytes": 51,
                "sha256": sha256(ROWS[name]).hexdigest(),
            }
            for name in sorted(ROWS)
        ],
        "metadata": {},
        "promote": True,
        "expires_in_seconds": 900,
        "splits": {"train": 1, "test": 1},
    }
    assert (train.target, train.body, train.headers["x-a"]) == ("/train.jsonl?X-Sig=abc", ROWS["train.jsonl"], "1")
    assert (test.target, test.body) == ("/test.jsonl?X-Sig=abc", ROWS["test.jsonl"])
    assert "authorization" not in train.headers
    assert (complete.target, complete.body) == ("/v1/datasets/art_01/complete?agent_key=inv-agent", b"")
    assert [told[0][1:], told[1][1:]] == [(51, 102), (102, 102)]
    assert {path for path, *_ in told} == set(ROWS)


def test_upload__reused__sends_nothing_more(server: Any, api: Api, folder: Path) -> None:
    """A place that has the files asks for none, and nothing is completed."""
    answers(server, artifact={"status": "COMPLETE"}, files=[], reused=True)
    assert upload_dataset(api, folder, name="invoices", promote=False).unwrap()["reused"] is True
    assert len(server.seen) == 1
    assert json.loads(server.seen[0].body)["promote"] is False


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"artifact": {"manifest_digest": "0" * 64}}, "BK810"),
        ({"done": {"manifest_digest": None}}, "BK810"),
        ({"done": {"status": "PENDING"}}, "BK811"),
        ({"artifact": {"artifact_id": None}}, "BK811"),
        ({"files": [{"path": "other.jsonl", "upload_url": "x"}]}, "BK811"),
        ({"files": [{"path": "train.jsonl"}]}, "BK811"),
        ({"files": [{"path": "train.jsonl", "upload_url": "x", "headers": []}]}, "BK811"),
        ({"files": ["train.jsonl"]}, "BK804"),
        ({"files": [{"path": "train.jsonl", "upload_url": "file:///x"}]}, "BK809"),
        ({"put": 403}, "BK805"),
    ],
)
def test_upload__faulty_place__is_no_success(
    server: Any, api: Api, folder: Path, changes: dict[str, Any], code: str
) -> None:
    """A digest that differs, an unknown target, a refused PUT, an upload that stays pending: a problem each."""
    answers(server, **changes)
    (problem,) = upload_dataset(api, folder, name="invoices").failure()
    assert problem.code == code


def test_upload__unknown_target__is_seen_before_a_byte_travels(server: Any, api: Api, folder: Path) -> None:
    """The whole answer is judged first."""
    good = {"path": "train.jsonl", "upload_url": f"{server.url}/t", "headers": None}
    answers(server, files=[good, {"path": "other", "upload_url": "x"}])
    assert upload_dataset(api, folder, name="invoices").failure()
    assert [seen.method for seen in server.seen] == ["POST"]


def test_upload__faulty_folder__sends_nothing(server: Any, api: Api, folder: Path) -> None:
    """Local faults come first, all of them."""
    (folder / "train.jsonl").write_text("x\ny\n", encoding="utf-8")
    assert len(upload_dataset(api, folder, name="invoices", splits={"train": 9}).failure()) == 3
    assert server.seen == []


FILES = {"changes/a.json": b"{}", "tree/documents/a/x.md": "Köln".encode()}


def offers(server: Any, *files: dict[str, Any], **bodies: bytes) -> None:
    """Let the server offer files for download, and serve `FILES`."""
    listed = files or tuple(offered(server, path) for path in FILES)

    def answer(seen: Any) -> tuple[int, dict[str, str], bytes]:
        if seen.method == "POST":
            return 200, {}, json.dumps({"files": listed}).encode()
        return 200, {}, bodies.get("body", FILES.get(seen.target[1:], b""))

    server.answer = answer


def offered(server: Any, path: str, /, **changes: Any) -> dict[str, Any]:
    """One file of a download."""
    data = FILES.get(path, b"")
    return {
        "path": path,
        "download_url": f"{server.url}/{path}",
        "sha256": sha256(data).hexdigest(),
        "size_bytes": len(data),
    } | changes


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_download__candidate__lands_verified(server: Any, api: Api, tmp_path: Path) -> None:
    """Every file, at its path, and nothing besides."""
    offers(server)
    told: list[str] = []
    paths = download_candidate(api, "run_1.2", tmp_path / "out", progress=lambda path, *_: told.append(path)).unwrap()
    assert files_below(tmp_path / "out") == FILES
    assert paths == tuple(FILES)
    assert sorted(told) == sorted(FILES)
    assert server.seen[0].target == "/v1/optimization-candidates/run_1.2/downloads?agent_key=inv-agent"


def test_download__again__replaces_what_it_brought(server: Any, api: Api, tmp_path: Path) -> None:
    """A second download overwrites its files and leaves others alone."""
    (tmp_path / "mine").write_bytes(b"mine")
    offers(server)
    for _ in range(2):
        download_candidate(api, "run_1.2", tmp_path).unwrap()
    assert files_below(tmp_path) == FILES | {"mine": b"mine"}


def test_download__other_bytes__land_nowhere(server: Any, api: Api, tmp_path: Path) -> None:
    """A size or digest that differs: nothing lands, not even the files before it."""
    offers(server, offered(server, "changes/a.json"), offered(server, "tree/documents/a/x.md", size_bytes=4))
    assert download_candidate(api, "r.0", tmp_path).failure().code == "BK813"
    offers(server, body=b"[]")
    assert download_candidate(api, "r.0", tmp_path).failure().code == "BK813"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", "C:/x", "a//b"])
def test_download__path_that_leaves_the_folder__is_refused(server: Any, api: Api, tmp_path: Path, path: str) -> None:
    """A place cannot write where it likes."""
    offers(server, offered(server, "changes/a.json", path=path))
    assert download_candidate(api, "r.0", tmp_path).failure().code == "BK812"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("item", [None, "x", {}, {"path": "a", "download_url": "u", "size_bytes": 1}])
def test_download__malformed_answer__is_refused(server: Any, api: Api, tmp_path: Path, item: Any) -> None:
    """Without size and digest nothing can be verified, so nothing is fetched."""
    offers(server, item)
    assert download_candidate(api, "r.0", tmp_path).failure().code == "BK812"


def test_download__refused_or_gone__is_a_problem(server: Any, api: Api, tmp_path: Path) -> None:
    """404 of the candidate, 404 of a file, a disk that refuses."""
    server.answer = lambda seen: (404, {}, b'{"detail": "no such candidate"}')
    assert download_candidate(api, "r.9", tmp_path).failure().message == "no such candidate"
    offers(server)
    served = server.answer
    server.answer = lambda seen: served(seen) if seen.method == "POST" else (404, {}, b"")
    assert download_candidate(api, "r.0", tmp_path).failure().code == "BK807"
    (tmp_path / "file").write_bytes(b"")
    assert download_candidate(api, "r.0", tmp_path / "file").failure().code == "BK701"
