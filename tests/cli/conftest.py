"""What the command line's tests share: running it in-process, Git, and a scripted API on a loopback address."""

import hashlib
import io
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.__main__ import run
from beaker.cli.access import ACCESS, takes_key
from beaker.cli.endpoints import COMMAND_ENDPOINTS
from beaker.cli.exit_codes import exits_of
from beaker.cli.parser import COMMANDS
from beaker.cli.run import ACTIONS
from beaker.cli.schema import COMMAND_SCHEMAS
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
def beaker(tmp_path: Path, conforms: Callable[[object, str], None]) -> Beaker:
    """Run `beaker` with these arguments in this process, on streams of its own. What it prints with --json obeys the
    published schemas, unless it hands on what a `foreign` service answers."""

    def call(
        *argv: str,
        cwd: Path = tmp_path,
        environ: Mapping[str, str] | None = None,
        terminal: bool = False,
        stdout: io.StringIO | None = None,
        stdin: str = "",
        foreign: bool = False,
        **more: object,
    ) -> Outcome:
        made = Terminal if terminal else io.StringIO
        out, err = stdout or made(), made()
        shell = Io(
            stdout=out,
            stderr=err,
            stdin=io.StringIO(stdin),
            environ={"HOME": str(tmp_path / "home")} | dict(environ or {}),
            cwd=cwd,
            **{"clock": lambda: 0.0} | more,  # no wait is long, however slow this machine is
        )
        code = run(argv, shell)
        command = command_in(argv)
        assert command is None or code in exits_of(command), f"{command} ends with {code}"
        if "--json" in argv:
            described(argv, "" if foreign else out.getvalue(), err.getvalue(), conforms)
        return Outcome(code, out.getvalue(), err.getvalue())

    return call


def command_in(argv: Sequence[str]) -> str | None:
    """The command that a command line names, the implied one too; `None` where it names none."""
    at = next((at for at, word in enumerate(argv) if word in COMMANDS), len(argv))
    words = list(takewhile(lambda word: not word.startswith("-"), argv[at:]))
    named = (found for count in (3, 2, 1) if (found := " ".join(words[:count])) in ACCESS)
    return next(named, "run trigger" if words == ["run"] else None)


def described(argv: tuple[str, ...], out: str, err: str, conforms: Callable[[object, str], None]) -> None:
    """Asserts that every line which a command printed with --json is one of those that its schemas describe.

    What a scripted service answers is passed on unchanged, so commands that print answers are held elsewhere.
    """
    words = " ".join(word for word in argv if not word.startswith("-")) + " "
    found = sorted((words.index(f"{one} "), -len(one), one) for one in COMMAND_SCHEMAS if f"{one} " in words)
    command = found[0][2] if found else "run trigger"
    names = COMMAND_SCHEMAS[command]
    answers = command == "dataset show" or not all(name.startswith("cli-") for name in names)
    for line in () if answers else out.splitlines():
        faults = []
        for name in names:
            try:
                conforms(json.loads(line), name)
                break
            except AssertionError as error:
                faults.append(f"{name}: {error}")
        else:
            raise AssertionError(f"beaker {words}--json: {faults}")
    for line in err.splitlines():
        if line.startswith(('{"error"', '{"verbose"')):
            conforms(json.loads(line), "cli-error.json" if line.startswith('{"error"') else "cli-verbose.json")


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
        dataset = {
            "name": "inv",
            "artifact_id": "art_1",
            "status": "COMPLETE",
            "sample_counts": {"train": 4, "test": 2},
        }
        self.answers: dict[str, list[Any]] = {"GET /v1/datasets/resolve": [(200, {"dataset": dataset})]}
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
        assert takes_key(command) or not called, f"{command} takes a key"
        return done

    return call


def called_endpoint(call: str) -> str:
    method, _, path = call.partition(" ")
    return match_request(method, path).unwrap().endpoint.name


SECRETS = ("bkr_cli_hosted_1", "bkr_cli_elsewhere", "bkr_live_hosted_1", "pt_7", "planted-s3cret")
"""Credentials and signatures that are planted where commands find them; none may be shown."""


class Desk:
    """Runs commands of somebody at the hosted service, in a project; time is made by sleeping.

    `asleep` is called in every sleep, `sleeps` are their seconds.
    """

    def __init__(self, beaker: Callable[..., Any], hosted: Any, folder: Path) -> None:
        self._beaker, self.hosted, self.home, self.project = beaker, hosted, folder / "home", folder / "project"
        (self.project / ".beaker").mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.now = 1_800_000_000.0
        self.sleeps: list[float] = []
        self.asleep: Callable[[], None] = lambda: None

    def at(self, service: Any) -> None:
        """Go on with another service."""
        self.hosted = service

    def begin(self, stored: Any) -> None:
        """Begin anew, with this in the file of logins."""
        (self.project / ".beaker/beaker.yaml").write_text("integrations:\n  invoices:\n    entrypoint: m:i # one\n")
        file = self.home / ".beaker/credentials.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if stored is not None:
            file.write_text(json.dumps({"base_url": self.hosted.url} | stored))

    def run(
        self,
        *argv: str,
        place: tuple[str, ...] | None = None,
        environ: Mapping[str, str] | None = None,
        stdin: str = "",
        foreign: bool = False,
    ) -> dict[str, Any]:
        """What the command did, addresses replaced; no secret is in it, and it calls what it is listed to call."""
        before = len(self.hosted.requests)
        place = ("--base-url", self.hosted.url) if place is None else place
        environ = {"HOME": str(self.home), "USERPROFILE": str(self.home), **(environ or {})}
        told: dict[str, Any] = {"environ": environ, "sleep": self._sleep, "now": lambda: self.now, "stdin": stdin}
        told["foreign"] = foreign
        done = self._beaker(*place, *argv, cwd=self.project, **told)
        text = done.out + done.err
        assert not any(secret in text for secret in SECRETS), text
        asked = [one for one in self.hosted.requests[before:] if not one.path.startswith("/store/")]
        called = {match_request(one.method, one.path).unwrap().endpoint.name for one in asked}
        spans = ((start, start + count) for start in range(len(argv)) for count in (3, 2, 1))
        words = (" ".join(argv[start:end]) for start, end in spans)
        name = next((found for found in words if found in COMMAND_ENDPOINTS), "run trigger")
        assert called <= set(COMMAND_ENDPOINTS[name]), f"{name} called {called}"
        return {"code": done.code, "out": self._plain(done.out), "err": self._plain(done.err)}

    def located(self, body: Any) -> Any:
        """A usual answer with the address of the service in it."""
        return json.loads(json.dumps(body).replace('"*/', f'"{self.hosted.url}/')) if body is not None else None

    def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
        self.asleep()

    def _plain(self, text: str) -> str:
        text = (
            text.replace(self.hosted.url, "{api}")
            .replace(str(self.home), "{home}")
            .replace(str(self.project), "{project}")
        )
        return re.sub(r"\[Errno \d+\]", "[Errno N]", text)


@pytest.fixture
def desk(beaker: Callable[..., Any], hosted: Any, tmp_path: Path) -> Iterator[Desk]:
    """Somebody's desk; in the end no file of the project holds a credential."""
    made = Desk(beaker, hosted, tmp_path)
    yield made
    for path in made.project.rglob("*"):
        if path.is_file():
            assert not any(secret.encode() in path.read_bytes() for secret in SECRETS), path
