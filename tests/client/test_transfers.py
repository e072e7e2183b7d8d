"""Files on their way: side by side, patient where it helps, and never half a file taken for a whole one."""

import json
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.client import running
from beaker.client.api import Api
from beaker.client.dataset_downloads import download_dataset
from beaker.client.flows import download_artifacts, download_candidate, upload_artifact, upload_dataset_files
from beaker.client.network import AT_ONCE, HttpTransport
from beaker.core.datasets import DatasetFile, manifest_digest
from beaker.core.launch import DatasetChoice

Answer = tuple[int, dict[str, str], bytes] | None


@pytest.fixture
def waits() -> list[float]:
    """How long the client waited between two tries."""
    return []


@pytest.fixture
def api(server: Any, waits: list[float]) -> Iterator[Api]:
    transport = HttpTransport(server.url, "key", timeout=10)
    yield Api(transport, "inv-agent", sleep=waits.append, draw=lambda: 0.5)
    transport.close()


@attrs.define
class Store:
    """A place that takes artifacts: what it lacks and has, and how often it was asked for what.

    `put` answers each PUT by its path and its body; `None` lets it be kept.
    """

    server: Any
    files: dict[str, bytes]
    put: Callable[[str, bytes], Any] = lambda path, body: None
    kept: dict[str, bytes] = attrs.field(factory=dict)
    announced: int = 0
    completed: int = 0

    def __call__(self, seen: Any) -> Answer:
        if seen.method == "PUT":
            path = seen.target.removeprefix("/store/").partition("?")[0]
            answered = self.put(path, seen.body)
            if answered is None:
                self.kept[path] = seen.body
                return 200, {}, b""
            return None if answered == "drop" else answered
        files = [DatasetFile(path, len(data), sha256(data).hexdigest()) for path, data in self.files.items()]
        artifact = {
            "artifact_id": "art_1",
            "status": "PENDING",
            "manifest_digest": manifest_digest(files).unwrap(),
        }
        if seen.target.startswith("/v1/artifacts/art_1/complete"):
            self.completed += 1
            return 200, {}, json.dumps({"artifact": {**artifact, "status": "COMPLETE"}}).encode()
        self.announced += 1
        targets = [
            {"path": path, "upload_url": f"{self.server.url}/store/{path}?sig={self.announced}"}
            for path in self.files
            if path not in self.kept
        ]
        return 201, {}, json.dumps({"artifact": artifact, "files": targets}).encode()


@pytest.fixture
def store(server: Any, tmp_path: Path) -> Callable[..., tuple[Store, Path]]:
    """A store for so many files, and the folder that holds them."""

    def made(count: int = 3, *, size: int = 10) -> tuple[Store, Path]:
        files = {f"f{number:03}": f"{number:03}".encode() * size for number in range(count)}
        folder = tmp_path / "files"
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        server.answer = Store(server, files)
        return server.answer, folder

    return made


def test_upload__many_files__travel_side_by_side_and_bounded(store: Any, api: Api) -> None:
    """As many as may, and never more."""
    there, folder = store(3 * AT_ONCE)
    together, most, lock = threading.Barrier(AT_ONCE, timeout=20), [0, 0], threading.Lock()

    def put(path: str, body: bytes) -> None:
        with lock:
            most[0] += 1
            most[1] = max(most)
        together.wait()
        with lock:
            most[0] -= 1

    there.put = put
    artifact = upload_artifact(api, folder).unwrap()
    assert (artifact["status"], artifact["reused"], most[1]) == ("COMPLETE", False, AT_ONCE)
    assert (there.kept, there.announced, there.completed) == (there.files, 1, 1)


def test_upload__trouble_that_passes__is_waited_for(store: Any, api: Api, waits: list[float]) -> None:
    """A dropped connection and a busy store: the file is sent again, from its start."""
    there, folder = store(1)
    answers = iter(["drop", (503, {"retry-after": "7"}, b"busy"), None])
    there.put = lambda path, body: next(answers)
    assert upload_artifact(api, folder).unwrap()["status"] == "COMPLETE"
    assert there.kept == there.files
    assert waits[0] < 7 <= waits[1]


@pytest.mark.parametrize(("status", "code"), [(400, "BK805"), (500, "BK808"), (413, "BK805")])
def test_upload__refused_file__ends_it(store: Any, api: Api, waits: list[float], status: int, code: str) -> None:
    """Nothing is repeated that would be refused again, and nothing is completed."""
    there, folder = store(3)
    there.put = lambda path, body: (status, {}, b"no") if path == "f001" else None
    (problem,) = upload_artifact(api, folder).failure()
    assert (problem.code, waits, there.completed) == (code, [], 0)


def test_upload__url_that_is_too_old__is_renewed_for_what_lacks(store: Any, api: Api) -> None:
    """The rest is announced again; what has arrived is not sent twice."""
    there, folder = store(4)
    refused: list[str] = []

    def put(path: str, body: bytes) -> Answer:
        if path in ("f001", "f003") and path not in refused:
            refused.append(path)
            return 403, {}, b"<Code>AccessDenied</Code><Message>Request has expired</Message>"
        return None

    there.put = put
    assert upload_artifact(api, folder).unwrap()["status"] == "COMPLETE"
    assert (there.kept, there.announced) == (there.files, 2)
    puts = [seen.target for seen in there.server.seen if seen.method == "PUT"]
    assert len(puts) == 6
    assert {"/store/f001?sig=2", "/store/f003?sig=2"} <= {*puts}


def test_upload__store_that_always_refuses__is_asked_twice(store: Any, api: Api) -> None:
    """New URLs that are refused too are no matter of time; no signature is shown."""
    there, folder = store(2)
    there.put = lambda path, body: (403, {}, b"AccessDenied")
    (problem,) = upload_artifact(api, folder).failure()
    assert (problem.code, there.announced, there.completed) == ("BK805", 2, 0)
    assert "sig" not in str(problem)


def test_upload__again_after_a_failure__sends_what_is_missing(store: Any, api: Api) -> None:
    """What the store took stays there."""
    there, folder = store(5)
    there.put = lambda path, body: (400, {}, b"no") if path == "f004" else None
    assert upload_artifact(api, folder).failure()
    before = {*there.kept}
    there.server.seen.clear()
    there.put = lambda path, body: None
    assert upload_artifact(api, folder).unwrap()["status"] == "COMPLETE"
    sent = [seen.target.partition("?")[0].removeprefix("/store/") for seen in there.server.seen if seen.method == "PUT"]
    assert sorted(sent) == sorted({*there.files} - before)


def test_upload__file_that_changes_on_its_way__is_no_success(store: Any, api: Api) -> None:
    """It is named, and the upload is never completed."""
    there, folder = store(2)
    there.put = lambda path, body: (503, {}, b"") if path == "f001" and (folder / path).write_bytes(b"other") else None
    (problem,) = upload_artifact(api, folder).failure()
    assert (problem.code, problem.where, there.completed) == ("BK814", str(folder / "f001"), 0)


def test_upload__that_has_failed__waits_for_no_other_file(
    store: Any, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that has fallen silent for one file does not hold back what is known of another."""
    monkeypatch.setattr(running, "ENDING_SECONDS", 0.2)
    there, folder = store(2)
    silent, goes_on = threading.Event(), threading.Event()

    def put(path: str, body: bytes) -> Answer:
        if path == "f000":
            silent.set()
            goes_on.wait(20)
            return None
        silent.wait(20)
        return 400, {}, b"no"

    there.put = put
    assert upload_artifact(api, folder).failure()[0].code == "BK805"
    assert not goes_on.is_set()
    goes_on.set()


def test_upload__progress_that_raises__ends_the_upload(store: Any, api: Api) -> None:
    """What the caller's own code raises reaches the caller, and nothing more is completed."""
    there, folder = store(3)

    def progress(path: str, done: int, total: int) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        upload_artifact(api, folder, progress=progress)
    assert there.completed == 0


def test_upload__big_file__is_told_of_on_its_way(store: Any, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of all files together, never fewer than before, and all of them in the end."""
    monkeypatch.setattr(running, "TOLD_BYTES", 1 << 18)
    there, folder = store(2, size=500_000)
    told: list[int] = []
    total = sum(map(len, there.files.values()))

    def progress(path: str, done: int, all_bytes: int) -> None:
        assert all_bytes == total
        told.append(done)

    upload_artifact(api, folder, progress=progress).unwrap()
    assert told == sorted(told)
    assert (len(told) > 6, told[-1]) == (True, total)


def test_upload__given_files__are_announced_as_they_are_called(store: Any, api: Api, tmp_path: Path) -> None:
    """Paths in their one spelling, content types by path; two files of one path and paths that are none are refused."""
    there, folder = store(1)
    there.files = {"a/b": there.files["f000"]}
    upload_artifact(api, {"./a//b": folder / "f000"}, kind="notes", content_types={"a/b": "text/plain"}).unwrap()
    asked = json.loads(there.server.seen[0].body)
    assert (asked["kind"], asked["files"][0]["path"], asked["files"][0]["content_type"]) == (
        "notes",
        "a/b",
        "text/plain",
    )
    for files, code in (
        ({"a": folder / "f000", "./a": folder / "f000"}, "BK205"),
        ({"../a": folder / "f000"}, "BK218"),
        ({"a": folder / "none"}, "BK701"),
        ({}, "BK213"),
    ):
        assert upload_artifact(api, files).failure()[0].code == code
        if code != "BK701":
            assert upload_dataset_files(api, files, name="d").failure()[0].code in (code, "BK210")
    assert upload_artifact(api, tmp_path / "none").failure()[0].code == "BK216"
    (folder / "link").symlink_to(tmp_path)
    (folder / "out").symlink_to(Path(__file__))
    assert [problem.code for problem in upload_artifact(api, folder).failure()] == ["BK815"]


DATA = bytes(range(256)) * 4000


def offers(server: Any, get: Callable[[Any, int], Answer], **changes: Any) -> dict[str, int]:
    """Let the server offer `big`; `get` answers each request for it, by its number. How often it was asked for what."""
    count = {"offer": 0, "get": 0}

    def answer(seen: Any) -> Answer:
        if seen.method == "POST":
            count["offer"] += 1
            file = {"path": "big", "sha256": sha256(DATA).hexdigest(), "size_bytes": len(DATA)}
            url = f"{server.url}/big?sig={count['offer']}"
            return 200, {}, json.dumps({"files": [{**file, "download_url": url, **changes}]}).encode()
        count["get"] += 1
        return get(seen, count["get"])

    server.answer = answer
    return count


def part(seen: Any) -> Answer:
    """What a store that can give parts answers."""
    start = int(seen.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
    if not start:
        return 200, {}, DATA
    return 206, {"content-range": f"bytes {start}-{len(DATA) - 1}/{len(DATA)}"}, DATA[start:]


CUT = (200, {"content-length": str(len(DATA)), "connection": "close"}, DATA[:700_000])


def test_download__cut_off__goes_on_where_it_stopped(server: Any, api: Api, tmp_path: Path) -> None:
    """The rest is asked for, and the whole is verified; nothing is left beside it."""
    offers(server, lambda seen, number: CUT if number == 1 else part(seen))
    assert download_candidate(api, "r.1", tmp_path).unwrap() == ("big",)
    assert (tmp_path / "big").read_bytes() == DATA
    start = int(server.seen[2].headers["range"].removeprefix("bytes=").rstrip("-"))
    assert 0 < start <= 700_000
    assert [path.name for path in tmp_path.iterdir()] == ["big"]


@pytest.mark.parametrize("again", [lambda seen: (200, {}, DATA), lambda seen: (416, {}, b"")])
def test_download__store_without_parts__is_fetched_anew(
    server: Any, api: Api, tmp_path: Path, again: Callable[[Any], Answer]
) -> None:
    """A store that sends all of it again, or does not know the part: nothing is put together wrongly."""
    offers(server, lambda seen, number: CUT if number == 1 else again(seen))
    done = download_candidate(api, "r.1", tmp_path)
    if again(None)[0] == 200:  # type: ignore[index]  # it is an answer
        assert (tmp_path / "big").read_bytes() == DATA
    else:
        assert done.failure().code == "BK805"
        assert [*tmp_path.iterdir()] == []


def test_download__that_ever_gets_further__is_patient(server: Any, api: Api, tmp_path: Path) -> None:
    """Each try brings some more: that is no reason to give up, whatever their number."""

    def get(seen: Any, number: int) -> Answer:
        status, headers, body = part(seen)  # type: ignore[misc]  # it is an answer
        return status, {**headers, "content-length": str(len(body)), "connection": "close"}, body[:120_000]

    count = offers(server, get)
    assert download_candidate(api, "r.1", tmp_path).unwrap() == ("big",)
    assert count["get"] >= len(DATA) // 120_000


def test_download__into_a_folder_that_stays__goes_on_in_a_later_call(server: Any, api: Api, tmp_path: Path) -> None:
    """What has come is kept beside the file, as no file yet; other bytes at that place do no harm."""
    offers(server, lambda seen, number: CUT if number == 1 else None)
    post = server.answer
    server.answer = lambda seen: post(attrs.evolve(seen, method="POST") if "/v1/" in seen.target else seen)
    choice = DatasetChoice(reference="d@1")
    assert download_dataset(api, choice, tmp_path).failure().code == "BK803"
    (kept,) = tmp_path.iterdir()
    assert (kept.suffix, kept.name[0]) == (".part", ".")
    offers(server, lambda seen, number: part(seen))
    second = server.answer
    server.answer = lambda seen: second(attrs.evolve(seen, method="POST") if "/v1/" in seen.target else seen)
    server.seen.clear()
    assert download_dataset(api, choice, tmp_path).unwrap() == ("big",)
    assert "range" in server.seen[-1].headers
    assert [path.name for path in tmp_path.iterdir()] == ["big"]
    for there in (b"other bytes", bytes(len(DATA)), DATA + b"more"):
        kept.write_bytes(there)
        done = download_dataset(api, choice, tmp_path)
        assert done.failure().code == "BK813" if there == b"other bytes" else done.unwrap() == ("big",)
        assert [path.name for path in tmp_path.iterdir()] == ["big"]


def test_download__that_gets_no_further__is_given_up(server: Any, api: Api, tmp_path: Path) -> None:
    """After the client's patience, with what hindered it."""
    count = offers(server, lambda seen, number: None)
    assert download_candidate(api, "r.1", tmp_path).failure().code == "BK803"
    assert (count["get"], [*tmp_path.iterdir()]) == (3, [])


def test_download__address_that_is_too_old__is_renewed(server: Any, api: Api, tmp_path: Path) -> None:
    """A new one is asked for, once; it goes on where it stopped."""
    count = offers(server, lambda seen, number: (403, {}, b"expired") if number == 1 else part(seen))
    assert download_candidate(api, "r.1", tmp_path).unwrap() == ("big",)
    assert count == {"offer": 2, "get": 2}
    assert server.seen[-1].target == "/big?sig=2"
    count = offers(server, lambda seen, number: (403, {}, b"expired"))
    assert download_candidate(api, "r.1", tmp_path / "never").failure().code == "BK805"
    assert count == {"offer": 2, "get": 2}


@pytest.mark.parametrize("body", [DATA + b"more", DATA[:-1], b"", bytes(len(DATA))])
def test_download__other_bytes__are_not_kept(server: Any, api: Api, tmp_path: Path, body: bytes) -> None:
    """Longer, shorter, none, others: what was announced or nothing."""
    offers(server, lambda seen, number: (200, {}, body))
    refused = download_candidate(api, "r.1", tmp_path).failure()
    assert (refused.code, refused.where, [*tmp_path.iterdir()]) == ("BK813", "big", [])


def test_download__offer_that_changes__is_refused(server: Any, api: Api, tmp_path: Path) -> None:
    """Files of two offers are not mixed."""
    count = offers(server, lambda seen, number: (403, {}, b"expired"))
    first = server.answer

    def answer(seen: Any) -> Answer:
        answered = first(seen)
        if count["offer"] == 2 and seen.method == "POST":
            return 200, {}, answered[2].replace(sha256(DATA).hexdigest().encode(), b"0" * 64)
        return answered

    server.answer = answer
    assert download_candidate(api, "r.1", tmp_path).failure().code == "BK813"


def test_download__artifacts__land_by_proposal(server: Any, api: Api, tmp_path: Path) -> None:
    """Side by side; none where there are none; a bad one is named."""
    server.answer = lambda seen: (200, {}, seen.target[1:].encode())
    listed = [
        {"path": f"p{number}", "download_url": f"{server.url}/{number}", "size_bytes": 1,
         "sha256": sha256(str(number).encode()).hexdigest()}
        for number in range(3)
    ]  # fmt: skip
    answer = {"proposals": [{"n": 1, "artifacts": listed[:2]}, {"n": 2, "artifacts": listed[2:]}, {"n": 3}]}
    assert download_artifacts(api, answer, tmp_path / "a").unwrap() == ("1/p0", "1/p1", "2/p2")
    assert (tmp_path / "a" / "2" / "p2").read_bytes() == b"2"
    assert download_artifacts(api, {}, tmp_path / "b").unwrap() == ()
    listed[1]["sha256"] = "0" * 64
    assert download_artifacts(api, answer, tmp_path / "c").failure().code == "BK813"
