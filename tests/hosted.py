"""`hosted`: a loopback HTTP service that answers as a small hosted organisation, until a test says otherwise.

It has one user, one agent `inv-agent` of the repository `acme/invoices`, one dataset and one run; what each route
answers is data, `vectors/hosted/organization.json`. What is uploaded is kept and offered, and a launch with a key that
came before gives the same run. Requests that break the contract are refused.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import pytest

ORGANIZATION = json.loads((Path(__file__).parent / "vectors" / "hosted" / "organization.json").read_text("utf-8"))


@attrs.frozen
class Asked:
    """One request as it arrived: `path` is as it travelled, `query` decoded, `headers` have lower-case names, `body` is
    the decoded JSON, `None` without one, and bytes where it is no JSON. Requests over one connection have the same
    `connection`."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    connection: int = 0


@attrs.frozen
class Said:
    """One answer; status 0 closes the connection without a word. `body` is JSON, bytes, or a function of the request
    that gives one of them or a pair of status and body. What can be called with the handler, `act`, answers itself."""

    status: int
    body: Any = None
    delay: float = 0
    headers: Mapping[str, str] = attrs.field(factory=dict)
    act: Callable[[BaseHTTPRequestHandler], None] | None = None


class Hosted:
    """The service. `api_key` and `session` are the credentials that it takes, `requests` what has been asked of it,
    `store` what lies behind presigned addresses (path to bytes), `delay` the seconds that each answer takes."""

    api_key: str = ORGANIZATION["api_key"]
    session: str = ORGANIZATION["session"]
    agent_key = "inv-agent"

    def __init__(self) -> None:
        self.reset()
        self._lock = threading.Lock()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def reply(self) -> None:
                parts = urlsplit(self.path)
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                asked = Asked(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query, keep_blank_values=True)),
                    {name.lower(): text for name, text in self.headers.items()},
                    _decoded(sent),
                    self.client_address[1],
                )
                said = service._said(asked, self.path, sent)
                if said.delay or service.delay:
                    time.sleep(said.delay or service.delay)
                if said.act is not None or not said.status:
                    self.close_connection = True
                    if said.act is not None:
                        with suppress(OSError):  # who asked had waited long enough
                            said.act(self)
                    return
                self.send_response(said.status)
                body = said.body
                data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
                for name, text in {"content-length": str(len(data)), **said.headers}.items():
                    self.send_header(name, text)
                self._headers_buffer.append(b"\r\n")
                try:
                    self.wfile.write(b"".join(self._headers_buffer) + data)
                except ConnectionError:
                    self.close_connection = True  # who asked had waited long enough
                self._headers_buffer.clear()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def reset(self) -> None:
        """Forget everything that was asked and told."""
        self.requests: list[Asked] = []
        self.delay = 0.0
        self.store = {path: text.encode() for path, text in ORGANIZATION["store"].items()}
        self.datasets: list[dict[str, Any]] = [ORGANIZATION["answers"]["GET /v1/datasets/resolve"][1]["dataset"]]
        self.launches: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._uploads: dict[str, dict[str, Any]] = {}
        self._always: dict[str, Said] = {}
        self._next: dict[str, list[Said]] = {}

    def answer(
        self,
        method: str,
        path: str,
        status: int,
        body: Any = None,
        *,
        delay: float = 0,
        headers: Mapping[str, str] | None = None,
        times: int | None = None,
    ) -> None:
        """Answer this from now on, or the next `times` requests only, in the order of these calls.

        `path` is a path or a template of the endpoint table (`/v1/optimization-runs/{run_id}`). Status 0 drops the
        connection, `delay` is in seconds. A `body` that can be called gets the `Asked` request; it gives the body, or
        a pair of status and body.
        """
        self.say(method, path, Said(status, body, delay, headers or {}), times=times)

    def say(self, method: str, path: str, said: Said, *, times: int | None = None) -> None:
        """As `answer`, with the answer as a value."""
        with self._lock:
            if times is None:
                self._always[f"{method} {path}"] = said
            else:
                self._next.setdefault(f"{method} {path}", []).extend([said] * times)

    def asked(self, method: str, path: str) -> list[Asked]:
        """The requests that came for a route, by path or by template."""
        return [one for one in self.requests if f"{method} {path}" in _names(one)]

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _said(self, asked: Asked, target: str, sent: bytes) -> Said:
        with self._lock:
            self.requests.append(asked)
            names = _names(asked)
            said = next((self._next[name].pop(0) for name in names if self._next.get(name)), None)
            if said is None:
                said = next((self._always[name] for name in names if name in self._always), None)
        if said is None:
            said = self._store(asked, sent) if asked.path.startswith("/store/") else self._ordinary(asked, target, sent)
        if callable(said.body):
            made = said.body(asked)
            status, body = made if isinstance(made, tuple) else (said.status, made)
            return attrs.evolve(said, status=status, body=body)
        return said

    def _store(self, asked: Asked, sent: bytes) -> Said:
        if "authorization" in asked.headers:
            return Said(400, {"detail": "a credential travelled to the store"})
        if asked.method == "PUT":
            self.store[asked.path] = sent
            return Said(200)
        return Said(200, self.store[asked.path]) if asked.path in self.store else Said(404)

    def _ordinary(self, asked: Asked, target: str, sent: bytes) -> Said:
        """What the organisation answers to a request that keeps the contract, and its refusal of any other."""
        from beaker.core.api import Request, match_request, read_arguments

        parts = urlsplit(target)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        matched = match_request(asked.method, parts.path).value_or(None)
        if matched is None:
            return Said(404, {"detail": "Not Found"})
        endpoint, bearer = matched.endpoint, asked.headers.get("authorization")
        if endpoint.auth == "none":
            if bearer is not None:
                return Said(400, {"detail": "a credential travelled to a login call"})
        elif bearer not in (f"Bearer {self.api_key}", f"Bearer {self.session}"):
            return Said(401, {"detail": "Invalid or expired credential"})
        elif endpoint.auth == "session" and bearer != f"Bearer {self.session}":
            return Said(403, {"detail": "This needs a login session"})
        request = Request(method=asked.method, path=parts.path, query=query, headers=asked.headers, body=sent or None)
        read = read_arguments(matched, request)
        faults = read.swap().value_or(())
        if faults:
            return Said(422, {"detail": [{"msg": str(fault), "loc": ["body"]} for fault in faults]})
        if read.unwrap().get("agent_key", self.agent_key) != self.agent_key:
            return Said(404, {"detail": "Agent not found"})
        if (live := getattr(self, f"_{endpoint.name}", None)) is not None:
            with self._lock:
                said: Said = live(read.unwrap(), asked)
                return said
        status, body = ORGANIZATION["answers"][f"{endpoint.method} {endpoint.path}"]
        return Said(status, json.loads(json.dumps(body).replace('"*/', f'"{self.url}/')) if body is not None else None)

    def _create_dataset_upload(self, given: dict[str, Any], asked: Asked) -> Said:
        from beaker.core.datasets import DatasetFile, manifest_digest

        files = [DatasetFile(one["path"], one["size_bytes"], one["sha256"]) for one in given["files"]]
        digest = manifest_digest(files).unwrap()
        for known in self.datasets:
            if known["revision"] == f"sha256:{digest}":
                return Said(200, {"artifact": known | {"manifest_digest": digest}, "reused": True, "files": []})
        artifact_id = f"art_{len(self._uploads) + 2}"
        artifact = {"artifact_id": artifact_id, "status": "PENDING", "manifest_digest": digest}
        self._uploads[artifact_id] = {"artifact": artifact, "given": given}
        headers = {"Content-Type": "application/octet-stream"}
        targets = [
            {
                "path": file.path,
                "upload_url": f"{self.url}/store/{artifact_id}/{file.path}?X-Sig=s3cret",
                "headers": headers,
            }
            for file in files
        ]
        return Said(201, {"artifact": artifact, "reused": False, "files": targets})

    def _complete_dataset_upload(self, given: dict[str, Any], asked: Asked) -> Said:
        upload = self._uploads.get(given["artifact_id"])
        if upload is None:
            known = [one for one in self.datasets if one["artifact_id"] == given["artifact_id"]]
            return Said(200, {"artifact": known[0]}) if known else Said(404, {"detail": "Artifact not found"})
        artifact, announced = upload["artifact"], upload["given"]
        for file in announced["files"]:
            data = self.store.get(f"/store/{artifact['artifact_id']}/{file['path']}", b"")
            if hashlib.sha256(data).hexdigest() != file["sha256"]:
                return Said(409, {"detail": f"{file['path']} has not arrived as it was announced"})
        artifact |= {"status": "COMPLETE", "artifact_key": announced.get("name") or announced.get("artifact_key")}
        if "name" in announced:
            revision = artifact["dataset_revision"] = f"sha256:{artifact['manifest_digest']}"
            counts = announced["splits"] or {}
            record = {"artifact_id": artifact["artifact_id"], "name": announced["name"], "revision": revision}
            record |= {"status": "COMPLETE", "kind": "dataset", "is_production": announced["promote"]}
            record |= {"metadata": announced["metadata"], "created_at": "2026-01-03T03:04:05Z"}
            record |= {"sample_counts": counts | {"total": sum(counts.values())}, "files": announced["files"]}
            self.datasets.insert(0, record)
        return Said(200, {"artifact": artifact})

    _create_artifact_upload = _create_dataset_upload
    _complete_artifact_upload = _complete_dataset_upload

    def _list_datasets(self, given: dict[str, Any], asked: Asked) -> Said:
        page = self.datasets[given["offset"] :][: given["limit"]]
        listed = [{key: item for key, item in one.items() if key != "files"} for one in page]
        return Said(200, {"datasets": listed, "total": len(self.datasets)})

    def _resolve_dataset(self, given: dict[str, Any], asked: Asked) -> Said:
        record = self._dataset(given["reference"], None)
        return Said(404, {"detail": "Dataset not found"}) if record is None else Said(200, {"dataset": record})

    def _get_dataset_download_urls(self, given: dict[str, Any], asked: Asked) -> Said:
        record = self._dataset(given["reference"], given["artifact_id"])
        if record is None:
            return Said(404, {"detail": "Dataset not found"})
        address = f"{self.url}/store/{record['artifact_id']}"
        files = [
            {"path": file["path"], "download_url": f"{address}/{file['path']}?X-Sig=s3cret"} for file in record["files"]
        ]
        return Said(200, {"files": files})

    def _dataset(self, reference: str | None, artifact_id: str | None) -> dict[str, Any] | None:
        name, _, revision = (reference or "").rpartition("@") if "@" in (reference or "") else (reference, "", "")
        for one in self.datasets:
            wanted = one["revision"] == revision if revision not in (None, "", "production") else one["is_production"]
            if one["artifact_id"] == artifact_id or (one["name"] == name and wanted):
                return one
        return None

    def _create_optimization_run(self, given: dict[str, Any], asked: Asked) -> Said:
        key = asked.headers.get("idempotency-key", f"without a key {len(self.launches)}")
        before = self.launches.get(key)
        if before is not None and before[0] != asked.body:
            return Said(422, {"detail": "This Idempotency-Key came with another body"})
        if before is None:
            ref = (given["github_source"] or {}).get("ref", "main")
            run = {"id": f"run_{len(self.launches) + 42}", "status": "PREPARING_BUILD", "config": {"github_ref": ref}}
            self.launches[key] = (asked.body, run)
        return Said(201, self.launches[key][1])


def _names(asked: Asked) -> tuple[str, ...]:
    """What a request can be called: by its path, and by the template of its endpoint."""
    from beaker.core.api import match_request

    exact = f"{asked.method} {asked.path}"
    matched = match_request(asked.method, asked.path).value_or(None)
    return (exact,) if matched is None else (exact, f"{asked.method} {matched.endpoint.path}")


def _decoded(sent: bytes) -> Any:
    if not sent:
        return None
    try:
        return json.loads(sent)
    except ValueError:
        return sent


@pytest.fixture(scope="session")
def one_hosted() -> Iterator[Hosted]:
    """The service that tests use in turn."""
    made = Hosted()
    yield made
    made.close()


@pytest.fixture
def hosted(one_hosted: Hosted) -> Hosted:
    """The service of `Hosted`, as it is at first."""
    one_hosted.reset()
    return one_hosted


@pytest.fixture(scope="session")
def hosted_service() -> Callable[[], Hosted]:
    """The class, for fixtures that live longer than a test."""
    return Hosted
