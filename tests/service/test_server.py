"""`beaker serve` as a real process: the embedded place's answers for its callers, and nothing for strangers."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

import beaker
from beaker.client.api import Api
from beaker.client.flows import download_candidate, upload_dataset
from beaker.client.network import HttpTransport
from beaker.core.api import build_request
from beaker.core.endpoints import ENDPOINTS
from beaker.service.embedded import EmbeddedTransport, open_embedded

pytestmark = pytest.mark.processes

PROPOSER = {"harness_optimization": {"command": ["python", "{project}/propose.py"]}}


@pytest.fixture(scope="module")
def served(template: Path, tmp_path_factory: pytest.TempPathFactory, server: type[Any]) -> Iterator[Any]:
    """One server for the tests that leave it as it is."""
    import shutil

    root = tmp_path_factory.mktemp("served")
    shutil.copytree(template, root / "project", symlinks=True)
    made = server(root / "project", environ=os.environ, log=root / "log")
    yield made
    made.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def embedded(served: Any) -> Iterator[EmbeddedTransport]:
    """The same place, called in-process."""
    with open_embedded(Path(served.ready["project"]), served.state, os.environ) as transport:
        yield transport


@pytest.fixture(scope="module")
def across(served: Any) -> Iterator[HttpTransport]:
    """The same place, across HTTP."""
    transport = HttpTransport(served.url, served.token)
    yield transport
    transport.close()


@pytest.fixture
def http(served: Any) -> Iterator[httpx.Client]:
    """A client with the token."""
    headers = {"authorization": f"Bearer {served.token}"}
    with httpx.Client(base_url=served.url, headers=headers, trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture
def api(across: HttpTransport) -> Api:
    """The client's own way there."""
    return Api(across, "local")


def detail(answer: httpx.Response) -> Any:
    """What a refusal states."""
    return answer.json()["detail"]


def raw(served: Any, sent: bytes, *, seconds: float = 10) -> bytes:
    """What the server says to these very bytes, until it closes the connection or falls silent."""
    host, port = served.url.removeprefix("http://").split(":")
    got = b""
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.sendall(sent)
        try:
            while piece := connection.recv(65536):
                got += piece
        except TimeoutError:
            pass
    return got


def head(method: str, path: str, token: str, *more: str, host: str = "localhost") -> bytes:
    """The head of a request as it travels."""
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", "Connection: close", *more)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def data(folder: Path, train: int = 2) -> Path:
    """A dataset."""
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text("".join(f'{{"id": "t{number}"}}\n' for number in range(train)))
    (folder / "test.jsonl").write_text('{"id": "h"}\n')
    return folder


def test_ready__says_where_and_keeps_the_token_in_a_private_file(served: Any, conforms: Any) -> None:
    """One JSON line without the token; the token and the signing key are their owner's alone."""
    conforms(served.ready, "cli-serve.json")
    assert served.token not in json.dumps(served.ready)
    assert len(served.token) > 40
    for name in ("token", "key"):
        assert stat.S_IMODE((served.state / "server" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((served.state / "server").stat().st_mode) == 0o700


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_answers__of_every_endpoint__are_the_embedded_ones(
    across: HttpTransport, embedded: EmbeddedTransport, endpoint: Any
) -> None:
    """Status and body are those of the place called in-process, for good and for senseless arguments."""
    samples = {"string": "x", "integer": 1, "boolean": True, "object": {}, "list": []}
    places = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    needed = [one for one in (*endpoint.query, *(endpoint.body or ())) if one.required]
    given = {**dict.fromkeys(places, "é/x"), **{one.name: samples[one.kind] for one in needed}}
    if endpoint.exactly_one:
        given[endpoint.exactly_one[0]] = "x"
    request = build_request(endpoint.name, given, agent_key="ä b").unwrap()
    answer, direct = across.send(request), embedded.send(request)
    assert (answer.status, json.loads(answer.body)) == (direct.status, json.loads(direct.body))
    assert answer.headers["content-type"] == "application/json"


def test_answers__of_a_played_run__are_the_embedded_ones(
    world: Any, play: Callable[..., None], serve: Callable[..., Any], tmp_path: Path
) -> None:
    """Run, lists, candidates, reports, datasets: byte for byte; a candidate's files too, over addresses of HTTP."""
    world.dataset()
    run_id = world.launch()["id"]
    play(world, run_id)
    served = serve(world.root)
    transport = HttpTransport(served.url, served.token)
    across, direct = Api(transport, "local"), world.api
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_optimization_run", {"run_id": run_id}),
        ("list_optimization_runs", {"limit": 5}),
        ("list_candidates", {"run_id": run_id}),
        ("list_eval_reports", {"run_id": run_id}),
        ("get_optimization_candidate", {"candidate_id": f"{run_id}.1"}),
        ("list_eval_reports_for_candidate", {"candidate_id": f"{run_id}.1"}),
        ("list_datasets", {}),
        ("resolve_dataset", {"reference": "inv"}),
        ("list_agents", {}),
        ("cancel_optimization_run", {"run_id": run_id}),
    ]
    for name, given in calls:
        request = build_request(name, given, agent_key="local").unwrap()
        assert transport.send(request).body == world.transport.send(request).body, name
    winner = direct.call("list_candidates", run_id=run_id).unwrap()["winner_id"]
    for place, folder in ((across, "across"), (direct, "direct")):
        download_candidate(place, winner, tmp_path / folder).unwrap()
    transport.close()
    assert files_of(tmp_path / "across") == files_of(tmp_path / "direct") != {}


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/v1/agents", 401), ("/v1/elsewhere", 401)])
def test_answers__of_any_kind__say_which_version_gives_them(
    served: Any, embedded: EmbeddedTransport, path: str, status: int
) -> None:
    """A refusal says it too, and so does the place called in-process."""
    answer = httpx.get(served.url + path, trust_env=False, timeout=30)
    assert (answer.status_code, answer.headers["x-beaker-service-version"]) == (status, beaker.__version__)
    direct = embedded.send(build_request("list_agents", {}).unwrap())
    assert direct.headers["x-beaker-service-version"] == beaker.__version__


@pytest.mark.parametrize("path", ["/health", "/v1/optimization-runs?agent_key=local", "/v1/none", "/blobs/x/y", "/no"])
def test_answers__of_any_kind__name_their_request(http: httpx.Client, path: str) -> None:
    """By the caller's name for it, where that is one, else by a name of its own; refusals too."""
    own = [http.get(path).headers["x-request-id"] for _ in range(2)]
    assert own[0] != own[1]
    assert http.get(path, headers={"x-request-id": "ci_7.a-B"}).headers["x-request-id"] == "ci_7.a-B"
    for odd in ("a b", "x" * 129, "\u00e9".encode(), "'", ""):
        given = http.get(path, headers={"x-request-id": odd}).headers.get_list("x-request-id")
        assert len(given) == 1
        assert len(given[0]) == 16


def test_client__of_another_version__is_noted_once(served: Any, http: httpx.Client) -> None:
    """The log names a version that does not fit; only that of somebody who shows the token, and only once."""
    for version, shown in (("77.1", False), ("88.1", True), ("88.1", True), (beaker.__version__, True)):
        headers = {"x-beaker-client-version": version, **({} if shown else {"authorization": "Bearer no"})}
        http.get("/v1/agents", headers=headers)
    noted = f"warning: a client of version 88.1 asks this service of version {beaker.__version__}"
    served.until(lambda: noted in served.log(), "the version is noted")
    assert served.log().count("warning: a client of version") == 1


def test_transfer__dataset__travels_both_ways_over_addresses_alone(
    api: Api, served: Any, http: httpx.Client, tmp_path: Path
) -> None:
    """Uploaded across HTTP and fetched again; the addresses carry no token, and need none."""
    folder = data(tmp_path / "data")
    artifact = upload_dataset(api, folder, name="both ways").unwrap()
    assert artifact["status"] == "COMPLETE"
    assert upload_dataset(api, folder, name="both ways").unwrap()["reused"] is True
    listed = api.call("get_dataset_download_urls", reference="both ways").unwrap()["files"]
    for file in listed:
        assert served.token not in file["download_url"]
        answer = httpx.get(file["download_url"], trust_env=False)
        assert answer.content == (folder / file["path"]).read_bytes()
        assert answer.headers["content-type"] == "application/octet-stream"
        assert "attachment" in answer.headers["content-disposition"]


def test_upload__odd_names__arrive_under_them(api: Api, served: Any) -> None:
    """Blanks, percent signs, quotes, other scripts: the address leads to the file that was announced."""
    names = ["a b.txt", "100%25.txt", "ä/ö?x#y.txt", "'q\"&=+.txt", "ナ/ン.json"]
    files = [{"path": name, "size_bytes": len(name), "sha256": sha256(name.encode()).hexdigest()} for name in names]
    files = [{**file, "size_bytes": len(name.encode())} for file, name in zip(files, names, strict=True)]
    answer = api.call("create_dataset_upload", name="odd", files=files).unwrap()
    for file in answer["files"]:
        sent = httpx.put(file["upload_url"], content=file["path"].encode(), trust_env=False)
        assert sent.status_code == 200, sent.text
    again = api.call("create_dataset_upload", name="odd", files=files).unwrap()
    assert again["files"] == []


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x", "Bearer {half}",
     "bearer {token} {token}"],
)  # fmt: skip
def test_token__missing_or_wrong__opens_nothing(served: Any, conforms: Any, authorization: str | None) -> None:
    """401 with the published shape, for routes that exist and for those that do not; nothing of the token is said."""
    shown = None if authorization is None else authorization.format(token=served.token, half=served.token[:20])
    headers = {} if shown is None else {"authorization": shown}
    for path in ("/v1/agents", "/v1/nothing", "/", "/uploads/x/y", "/v1/web/auth/cli/start"):
        answer = httpx.get(served.url + path, headers=headers, trust_env=False)
        conforms(answer.json(), "error.json")
        assert (answer.status_code, detail(answer)["code"]) == (401, "BK490")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert served.token not in answer.text


def test_token__spelled_with_another_scheme_case__is_the_token(served: Any) -> None:
    """The name of the scheme has no case."""
    answer = httpx.get(f"{served.url}/v1/agents", headers={"authorization": f"bEARER {served.token}"}, trust_env=False)
    assert answer.status_code == 200


def test_openapi__is_for_everybody_and_as_published(served: Any) -> None:
    """The document that the docs have; nothing of this place is in it."""
    answer = httpx.get(f"{served.url}/openapi.json", trust_env=False)
    published = Path(__file__).parents[2] / "docs" / "schemas" / "openapi.json"
    assert answer.json() == json.loads(published.read_text(encoding="utf-8"))
    assert httpx.post(f"{served.url}/openapi.json", trust_env=False).status_code == 401


def test_health__is_for_everybody_and_says_nothing(served: Any) -> None:
    """A monitor needs no token."""
    answer = httpx.get(f"{served.url}/health", trust_env=False)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    head_only = httpx.head(f"{served.url}/health", trust_env=False)
    assert (head_only.status_code, head_only.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    ["/v1/../v1/agents", "/v1/agents/", "//v1/agents", "/v1/agents%2F", "/v1%2Fagents", "/V1/agents", "/v1/agents/.",
     "/blobs/../beaker.db", "/uploads/..%2F..%2Fetc/passwd", "/blobs/%2e%2e/token", "/v1/agents\\..", "/%00", "/v1/%0a",
     "http://other/v1/agents", "/v1/optimization-runs/..%2f..%2fserver"],
)  # fmt: skip
def test_path__tricks__lead_nowhere(served: Any, path: str) -> None:
    """Whatever is no route is 404 (a run of that name does not exist either), never a redirect and never a file."""
    answer = raw(served, head("GET", path, served.token))
    assert int(answer.split()[1]) in (400, 403, 404, 422), answer
    assert b"location:" not in answer.lower()


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:99", 200), ("[::1]:8", 200), ("evil.example", 421), ("a@b", 421), ("x y", 421),
     ("127.0.0.1.evil.example", 421), ("", 421), ("[::::]", 421)],
)  # fmt: skip
def test_host__of_somebody_else__is_refused(served: Any, host: str, status: int) -> None:
    """A page that makes its own name lead to this machine gets no answer, whatever token it shows."""
    assert int(raw(served, head("GET", "/v1/agents", served.token, host=host)).split()[1]) == status


def test_addresses__start_with_what_the_caller_reached(api: Api, served: Any, http: httpx.Client) -> None:
    """Through a tunnel the server has another port; what it answers works there."""
    body = {"agent_key": "local", "name": "tunnel", "files": [{"path": "a", "size_bytes": 1, "sha256": "b" * 64}]}
    answer = http.post("/v1/datasets/uploads", json=body, headers={"host": "localhost:4711"})
    assert answer.json()["files"][0]["upload_url"].startswith("http://localhost:4711/uploads/art_")


@pytest.mark.parametrize("change", ["signature", "path", "artifact", "none"])
def test_upload_address__changed__is_none(api: Api, change: str) -> None:
    """An address is good for one file of one upload; guessing or changing it leads nowhere."""
    files = [{"path": name, "size_bytes": 1, "sha256": sha256(name.encode()).hexdigest()} for name in "ab"]
    first, second = api.call("create_dataset_upload", name="addresses", files=files).unwrap()["files"]
    url = httpx.URL(first["upload_url"])
    signature = url.params["signature"]
    assert len(signature) == 43
    changed = {
        "signature": url.copy_set_param("signature", signature[:-2] + "AA"),
        "path": httpx.URL(second["upload_url"]).copy_set_param("signature", signature),
        "artifact": url.copy_with(path=url.path.replace("art_", "art_0")).copy_set_param("signature", signature),
        "none": url.copy_with(query=None),
    }[change]
    answer = httpx.put(changed, content=b"a", trust_env=False)
    assert (answer.status_code, detail(answer)["code"]) == (404, "BK453")


def test_download_address__changed_or_expired__is_none(api: Api, tmp_path: Path) -> None:
    """Neither another blob nor another time can be put into an address."""
    upload_dataset(api, data(tmp_path / "data"), name="expiring").unwrap()
    train, test = api.call("get_dataset_download_urls", reference="expiring").unwrap()["files"]
    url, other = httpx.URL(train["download_url"]), httpx.URL(test["download_url"])
    for changed in (
        url.copy_set_param("expires", "2099-01-01T00:00:00.000000Z"),
        url.copy_with(path=other.path).copy_merge_params(dict(url.params)),
        url.copy_with(query=None),
    ):
        assert httpx.get(changed, trust_env=False).status_code == 403
    assert httpx.get(url, trust_env=False).status_code == 200


@pytest.mark.parametrize("body", [b"ab", b"", b"b", b"x" * 3_000_000])
def test_upload__other_bytes__are_refused_and_not_kept(api: Api, served: Any, body: bytes) -> None:
    """Size and SHA-256 are checked while the bytes come; what is too long is not read to its end."""
    files = [{"path": "a", "size_bytes": 1, "sha256": sha256(b"a").hexdigest()}]
    (target,) = api.call("create_dataset_upload", name=f"wrong {len(body)}", files=files).unwrap()["files"]
    before = files_of(served.state / "blobs")
    answer = httpx.put(target["upload_url"], content=body, trust_env=False)
    assert (answer.status_code, detail(answer)["code"]) == (422, "BK467")
    assert files_of(served.state / "blobs") == before


def test_body__too_large__is_refused_before_it_is_read(http: httpx.Client) -> None:
    """Announced or not: 413, and the server goes on."""
    for content in (b"x" * (17 << 20), iter([b"x" * (1 << 20)] * 17)):
        answer = http.post("/v1/datasets/uploads", content=content)
        assert (answer.status_code, detail(answer)["code"]) == (413, "BK491")
    assert http.get("/v1/agents").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00",
        b"\r\n\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000,
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        head("GET", "/v1/agents", "x", "Content-Length: -1"),
        head("POST", "/v1/agents", "x", "Content-Length: 1", "Transfer-Encoding: chunked") + b"zz",
    ],
    ids=["tls", "empty lines", "http 2", "endless head", "two hosts", "negative length", "two lengths"],
)
def test_bytes__that_are_no_request__end_their_connection_only(served: Any, http: httpx.Client, sent: bytes) -> None:
    """TLS, endless heads, contradictions: refused or dropped, and the next one is served."""
    answer = raw(served, sent, seconds=1)
    assert answer == b"" or int(answer.split()[1]) in (400, 401, 421, 431)
    assert http.get("/v1/agents").status_code == 200
    assert "Traceback" not in served.log()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("agent_key=a&agent_key=b", 422),
        ("agent_key=%FF", 400),
        ("x=1&" * 200, 400),
        ("agent_key=a&x=1", 422),
    ],
)
def test_query__that_cannot_be_meant__is_refused(http: httpx.Client, query: str, status: int) -> None:
    """Twice the same name, no UTF-8, hundreds of fields, unknown ones."""
    assert http.get(f"/v1/datasets?{query}").status_code == status


def drip(served: Any) -> None:
    """Send a head that never ends, byte by byte."""
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        for _ in range(200):
            connection.sendall(b"X")
            time.sleep(0.05)


def raw_trickled(served: Any, sent: bytes) -> bytes:
    """What the server says to a head followed by a byte now and then."""
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(sent)
        connection.settimeout(0.1)
        for _ in range(99):
            connection.sendall(b" ")
            try:
                return connection.recv(65536)
            except TimeoutError:
                pass
    return b""


def test_upload__many_that_do_not_go_on__hold_nobody_up(api: Api, served: Any, tmp_path: Path) -> None:
    """More uploads than there are threads wait for their senders; another one, and downloads, pass by."""
    files = [{"path": "a", "size_bytes": 1000, "sha256": sha256(b"a" * 1000).hexdigest()}]
    (target,) = api.call("create_dataset_upload", name="waiting", files=files).unwrap()["files"]
    path = target["upload_url"].removeprefix(served.url)
    host, port = served.url.removeprefix("http://").split(":")
    with ExitStack() as stack:
        waiting = [stack.enter_context(socket.create_connection((host, int(port)), timeout=30)) for _ in range(60)]
        for connection in waiting:
            connection.sendall(head("PUT", path, "x", "Content-Length: 1000") + b"a" * 10)
        served.until(lambda: len([*(served.state / "blobs/tmp").iterdir()]) == 60, "all have begun")
        artifact = upload_dataset(api, data(tmp_path / "quick"), name="quick").unwrap()
        (url, *_) = [
            file["download_url"] for file in api.call("get_dataset_download_urls", reference="quick").unwrap()["files"]
        ]
        assert artifact["status"] == "COMPLETE"
        assert httpx.get(url, trust_env=False, timeout=30).status_code == 200
        for connection in waiting[:2]:
            connection.sendall(b"a" * 990)
            assert connection.recv(65536).split()[1] == b"200"
    served.until(lambda: not [*(served.state / "blobs/tmp").iterdir()], "what was given up is gone")
    digest = files[0]["sha256"]
    assert (served.state / f"blobs/sha256/{digest[:2]}/{digest}").read_bytes() == b"a" * 1000


SLOW = """
import sys
import beaker.service.http_bodies as bodies, beaker.service.http as http, beaker.service.server as server
bodies.STALL_SECONDS = http.STALL_SECONDS = bodies.DRAIN_SECONDS = 0.5
bodies.SLOWEST_BYTES = 1000
server.HEAD_SECONDS = 0.5
from beaker.cli.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_client__that_is_too_slow__is_let_go(server: type[Any], project: Path, tmp_path: Path) -> None:
    """A silent connection, half a head, a head that drips, half a body: each ends, none blocks the others."""
    served = server(project, environ=os.environ, log=tmp_path / "log", code=SLOW)
    try:
        for sent in (b"", b"GET /v1/agents HTTP/1.1\r\nHost: 127"):
            assert raw(served, sent) == b""
        with pytest.raises(OSError):
            drip(served)
        answer = raw(served, head("POST", "/v1/agents", served.token, "Content-Length: 9") + b"ab")
        assert int(answer.split()[1]) == 408
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]["code"] == "BK491"
        answer = raw(served, head("POST", "/v1/agents", "a stranger's", "Content-Length: 9") + b"ab")
        assert int(answer.split()[1]) == 401
        trickled = raw_trickled(served, head("POST", "/v1/agents", served.token, "Content-Length: 100"))
        assert int(trickled.split()[1]) == 408
        assert httpx.get(f"{served.url}/health", trust_env=False).status_code == 200
        assert served.stop() == 143
        assert "Traceback" not in served.log()
    finally:
        served.stop(signal.SIGKILL)


def test_requests__at_once__are_all_answered(served: Any, embedded: EmbeddedTransport) -> None:
    """Two dozen callers that write at the same time, with four desks and one store."""
    from concurrent.futures import ThreadPoolExecutor

    def ask(number: int) -> tuple[int, int]:
        headers = {"authorization": f"Bearer {served.token}"}
        with httpx.Client(base_url=served.url, headers=headers, trust_env=False, timeout=60) as client:
            agent = client.get("/v1/agents/current", params={"agent_key": f"at once {number % 10}"})
            return agent.status_code, client.get("/v1/agents").status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(24))) == {(200, 200)}
    agents = Api(embedded, "local").call("list_agents").unwrap()["agents"]
    assert len([agent for agent in agents if agent["key"].startswith("at once")]) == 10


def test_log__tells_no_secret(served: Any, api: Api) -> None:
    """Neither token nor signature is printed, and no request makes a line by default."""
    api.call("list_agents").unwrap()
    assert served.token not in served.log()
    assert "signature" not in served.log()


def test_serve__second_server__is_refused(served: Any) -> None:
    """Two servers would both look after the same runs."""
    done = subprocess.run(
        [sys.executable, "-m", "beaker.cli", "serve", "--port", "0"],
        cwd=served.ready["project"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "BK744" in done.stderr
    assert "--state" in done.stderr


def test_serve__state_deleted__ends_it_with_the_reason(serve: Callable[..., Any], project: Path) -> None:
    """There is nothing left to serve, and nothing is made anew behind somebody's back."""
    import shutil

    served = serve(project)
    shutil.rmtree(served.state)
    assert served.process.wait(30) == 2
    assert "BK743" in served.log()
    assert not served.state.exists()


def test_serve__given_token_and_state__are_used(serve: Callable[..., Any], project: Path, tmp_path: Path) -> None:
    """A token of one's own, another state; restarted, both and the addresses are the same."""
    (tmp_path / "token").write_text("my-own-token-of-enough-length\n")
    options = ("--token-file", str(tmp_path / "token"), "--state", str(tmp_path / "state"))
    served = serve(project, *options)
    assert (served.token, served.state) == ("my-own-token-of-enough-length", tmp_path / "state")
    transport = HttpTransport(served.url, served.token)
    files = [{"path": "a", "size_bytes": 1, "sha256": sha256(b"a").hexdigest()}]
    (target,) = Api(transport, "local").call("create_dataset_upload", name="x", files=files).unwrap()["files"]
    transport.close()
    assert served.stop() == 143
    again = serve(project, *options)
    moved = target["upload_url"].replace(served.url, again.url)
    assert httpx.put(moved, content=b"a", trust_env=False).status_code == 200
    assert not (project / ".beaker" / "local").exists()


def test_serve__public_url__is_what_callers_are_told(serve: Callable[..., Any], project: Path) -> None:
    """Behind a proxy: its name is taken for the server's, and addresses lead to it."""
    served = serve(project, "--public-url", "https://beaker.example/api/")
    assert served.url == "https://beaker.example/api"
    body = {"agent_key": "local", "name": "x", "files": [{"path": "a", "size_bytes": 1, "sha256": "b" * 64}]}
    answer = httpx.post(
        f"{served.ready['listening']}/v1/datasets/uploads",
        json=body,
        headers={"authorization": f"Bearer {served.token}", "host": "beaker.example"},
        trust_env=False,
    )
    assert answer.json()["files"][0]["upload_url"].startswith("https://beaker.example/api/uploads/art_")


def test_embedded__beside_a_server__leaves_the_runs_to_it(serve: Callable[..., Any], world: Any) -> None:
    """A command with --local looks, launches and cancels, but starts no lost worker: the server's queue decides."""
    world.dataset()
    run_id = world.launch()["id"]
    served = serve(world.root)
    assert world.transport.resume_unlocked_runs() == ()
    assert world.place.served()
    served.until(lambda: f"{run_id}: " in served.log(), "the server takes the run")
    assert served.stop() == 143
    assert not world.place.served()
