"""What the command line's tests share: running it in-process, Git, and a scripted API on a loopback address."""

import hashlib
import io
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.__main__ import run
from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.run import ACTIONS
from beaker.cli.shell import Io
from beaker.core.api import match_request


@dataclass(frozen=True)
class Outcome:
    """What one command line did."""

    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Beaker = Callable[..., Outcome]


@pytest.fixture
def beaker(tmp_path: Path) -> Beaker:
    """Run `beaker` with these arguments in this process, on streams of its own."""

    def call(
        *argv: str,
        cwd: Path = tmp_path,
        environ: Mapping[str, str] | None = None,
        terminal: bool = False,
        stdout: io.StringIO | None = None,
        **more: object,
    ) -> Outcome:
        made = Terminal if terminal else io.StringIO
        out, err = stdout or made(), made()
        shell = Io(
            stdout=out,
            stderr=err,
            stdin=io.StringIO(),
            environ={"HOME": str(tmp_path / "home")} | dict(environ or {}),
            cwd=cwd,
            **more,
        )
        code = run(argv, shell)
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Run Git with an identity of its own."""

    def call(*arguments: str, cwd: Path = tmp_path) -> str:
        settings = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false")
        done = subprocess.run(["git", *settings, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
        return done.stdout

    return call


CONFIG = """\
integrations:
  invoices:
    entrypoint: m:i
    agent_key: inv-agent
config_defaults:
  max_concurrency: 4
"""


class Service:
    """A loopback HTTP server with scripted answers; `requests` records what arrived."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Any]] = {}
        self.requests: list[dict[str, Any]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, _, query = self.path.partition("?")
                length = int(self.headers.get("content-length") or 0)
                service.requests.append(
                    {
                        "call": f"{self.command} {path}",
                        "query": query,
                        "headers": {key.lower(): text for key, text in self.headers.items()},
                        "body": json.loads(self.rfile.read(length)) if length else None,
                    }
                )
                scripted = service.answers.get(f"{self.command} {path}", [(404, {"detail": "no such thing"})])
                answer = scripted.pop(0) if len(scripted) > 1 else scripted[0]
                if answer == "drop":
                    self.connection.close()
                    return
                status, body = answer
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def on(self, call: str, *answers: Any) -> None:
        """Answer `call` with these in turn; the last one repeats. `"drop"` closes the connection instead."""
        self.answers[call] = list(answers)

    def offer(self, candidate_id: str, files: Mapping[str, bytes]) -> None:
        """Answer the download of a candidate with these files, each at an address of this server."""
        listed = []
        for number, (path, data) in enumerate(files.items()):
            address = f"/files/{candidate_id}/{number}"
            self.on(f"GET {address}", (200, data))
            digest = hashlib.sha256(data).hexdigest()
            listed.append({"path": path, "download_url": self.url + address, "sha256": digest, "size_bytes": len(data)})
        self.on(f"POST /v1/optimization-candidates/{candidate_id}/downloads", (200, {"files": listed}))


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def remote(service: Service, beaker: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run a command in a project against the service; sleeping takes no time."""
    (tmp_path / ".beaker").mkdir()
    (tmp_path / ".beaker" / "beaker.yaml").write_text(CONFIG)
    (tmp_path / ".git").mkdir()

    def call(*argv: str, **options: Any) -> Any:
        options.setdefault("sleep", lambda _: None)
        before = len(service.requests)
        done = beaker("--base-url", service.url, "--api-key", "secret-key", *argv, **options)
        command = " ".join(argv[:2]) if argv[1] in ACTIONS or argv[0] != "run" else "run trigger"
        calls = [request["call"] for request in service.requests[before:]]
        called = [called_endpoint(call) for call in calls if not call.startswith("GET /files/")]
        assert set(called) <= set(COMMAND_ENDPOINTS[command]), f"{command} called {called}"
        return done

    return call


def called_endpoint(call: str) -> str:
    method, _, path = call.partition(" ")
    return match_request(method, path).unwrap().endpoint.name
