"""Settings every test shares, and the check of answers against the published JSON Schemas."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("deep", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Brings the services that tests of several folders talk to. Tests are no package, so they are found by path.

    The environment out of which the tests were started need not have Beaker, and is not the one of their projects.
    """
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "BEAKER_PYTHON"):
        os.environ.pop(name, None)
    for name in ("hosted", "faulty"):
        spec = spec_from_file_location(f"beaker_tests_{name}", Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[spec.name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        config.pluginmanager.register(module, spec.name)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Lets tests interrupt and hang up what they start, also where a shell began them in its background."""
    wanted = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler or signal.SIG_DFL)


@pytest.fixture
def make_environment() -> Callable[..., Path]:
    """Make a virtual environment of this Python in a folder, with what is installed here unless it is `bare`; answers
    its interpreter."""

    def make(folder: Path, *, bare: bool = False) -> Path:
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        packages = folder / "lib" / version / "site-packages"
        packages.mkdir(parents=True)
        real = Path(os.path.realpath(sys.executable))
        (folder / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n")
        (folder / "bin").mkdir()
        python = folder / "bin" / "python"
        python.symlink_to(real)
        if not bare:
            import beaker

            here = [entry for entry in sys.path if entry.endswith("site-packages")]
            lines = [*here, str(Path(beaker.__file__).parents[1])]
            (packages / "here.pth").write_text("".join(f"{line}\n" for line in lines))
        return python

    return make


SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


@pytest.fixture
def conforms() -> Callable[[object, str], None]:
    """Asserts that an answer obeys one of the published schemas; knows the keywords that they use, and no others."""

    def check(instance: object, name: str) -> None:
        validate(instance, load(name), load(name), "$")

    return check


def load(name: str) -> dict[str, Any]:
    """A published schema."""
    schema: dict[str, Any] = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    return schema


class Served:
    """`beaker serve` as a process, in a project; `options` are its own, `code` is run instead of the command line's.
    It answers when this is made.

    `url`, `token` and `state` are what it says; `log()` is what it has printed so far.
    """

    def __init__(
        self, project: Path, *options: str, environ: Mapping[str, str], log: Path, code: str | None = None
    ) -> None:
        self._log = log
        program = ["-m", "beaker.cli"] if code is None else ["-c", code]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *program, "serve", "--port", "0", "--json", *options],
                cwd=project,
                env={name: text for name, text in environ.items() if not name.startswith("BEAKER_API")},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server did not start: {self.log()}"
        self.ready: dict[str, Any] = json.loads(line)
        self.url, self.state = str(self.ready["url"]), Path(self.ready["state"])
        self.token = Path(self.ready["token_file"]).read_text(encoding="ascii").strip()

    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text(encoding="utf-8")

    def stop(self, number: int = signal.SIGTERM, *, seconds: float = 60) -> int:
        """Send a signal and wait for the end; the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(seconds)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status

    def until(self, condition: Callable[[], Any], what: str, *, seconds: float = 60) -> Any:
        """Wait for a condition, and give what it gave; the log is part of the failure."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"not in {seconds} s: {what}; the log says:\n{self.log()}"
            time.sleep(0.02)
        return found


@pytest.fixture(scope="session")
def server() -> type[Served]:
    """The class, for fixtures that live longer than a test."""
    return Served


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers: `serve(project, "--max-runs", "1", environ=..., log=...)`; they are killed in the end."""
    made: list[Served] = []

    def start(project: Path, *options: str, environ: Mapping[str, str] = os.environ, log: Path | None = None) -> Served:
        made.append(Served(project, *options, environ=environ, log=log or tmp_path / "server.log"))
        return made[-1]

    yield start
    for served in made:
        served.stop(signal.SIGKILL)


class ModelServer:
    """An OpenAI-compatible chat endpoint on 127.0.0.1 that says what a test wants.

    `answer(body, number)` gets each request's body and its number, from 1; it gives the text of the answer, or a status
    and a body to refuse with. `requests` are the bodies that came, `headers` what came with each.
    """

    def __init__(self, answer: Callable[[dict[str, Any], int], "str | tuple[int, Any]"]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["content-length"]))
                outer.requests.append(json.loads(data))
                outer.headers.append({name.lower(): text for name, text in self.headers.items()})
                said = (404, {"error": "no such path"})
                if self.path == "/v1/chat/completions":
                    said = answer(outer.requests[-1], len(outer.requests))
                status, body = (200, completion(said)) if isinstance(said, str) else said
                sent = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(sent)))
                if status == 429:
                    self.send_header("retry-after", "0")
                try:
                    self.end_headers()
                    self.wfile.write(sent)
                except BrokenPipeError:
                    pass  # who asked had waited long enough

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def completion(text: str, *, finish_reason: str = "stop") -> dict[str, Any]:
    """The body of an answer; a token has four characters here."""
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": len(text) // 4},
    }


@pytest.fixture
def model_server() -> Iterator[Callable[..., ModelServer]]:
    """Starts chat endpoints: `model_server(answer)`."""
    made: list[ModelServer] = []

    def start(answer: Callable[[dict[str, Any], int], Any]) -> ModelServer:
        made.append(ModelServer(answer))
        return made[-1]

    yield start
    for server in made:
        server.close()


KEYWORDS = {
    "$schema", "$id", "$comment", "$ref", "$defs", "title", "description", "type", "enum", "const", "properties",
    "required", "additionalProperties", "items", "anyOf", "pattern", "minimum", "maximum", "propertyNames",
}  # fmt: skip
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def validate(instance: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> None:
    """JSON Schema as far as our schemas use it; an `AssertionError` names the place."""
    assert schema.keys() <= KEYWORDS, f"{path}: unknown keywords {schema.keys() - KEYWORDS}"
    if (reference := schema.get("$ref")) is not None:
        file, _, pointer = reference.partition("#")
        other = load(file) if file else root
        target: Any = other
        for part in filter(None, pointer.split("/")):
            target = target[part]
        validate(instance, target, other, path)
    if "anyOf" in schema:
        faults = []
        for option in schema["anyOf"]:
            try:
                validate(instance, option, root, path)
                break
            except AssertionError as error:
                faults.append(str(error))
        else:
            raise AssertionError(f"{path}: none of the alternatives: {faults}")
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(
            isinstance(instance, TYPES[name]) and (name == "boolean" or not isinstance(instance, bool))
            for name in names
        )
        assert fits, f"{path}: {instance!r} is not of type {names}"
    if "enum" in schema:
        assert instance in schema["enum"], f"{path}: {instance!r} is none of {schema['enum']}"
    if "const" in schema:
        assert instance == schema["const"], f"{path}: {instance!r}"
    if isinstance(instance, str) and "pattern" in schema:
        assert re.search(schema["pattern"], instance), f"{path}: {instance!r} does not match {schema['pattern']}"
    if isinstance(instance, int | float) and not isinstance(instance, bool):
        assert schema.get("minimum", instance) <= instance <= schema.get("maximum", instance), f"{path}: {instance}"
    if isinstance(instance, list) and "items" in schema:
        for number, item in enumerate(instance):
            validate(item, schema["items"], root, f"{path}[{number}]")
    if isinstance(instance, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", ())) <= instance.keys(), (
            f"{path}: lacks {set(schema['required']) - instance.keys()}"
        )
        for key, item in instance.items():
            if key in properties:
                validate(item, properties[key], root, f"{path}.{key}")
            elif schema.get("additionalProperties") is False:
                raise AssertionError(f"{path}: unexpected key {key!r}")
            elif isinstance(schema.get("additionalProperties"), dict):
                validate(item, schema["additionalProperties"], root, f"{path}.{key}")
