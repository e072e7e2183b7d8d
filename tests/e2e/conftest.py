"""A laboratory for whole runs: a small project, its dataset, its place, and real workers that can be held and killed.

The task: say the kind of a word, known by its first letter. Rules (`letter=kind`) stand in a document; the seeds know
few of them, and the proposer adds those that the evidence of its minibatch shows. Customer code writes a line for each
thing it does, and waits while a file says so.
"""

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.client.network import HttpTransport
from beaker.files.git import commit_all, init_repository
from beaker.service.embedded import EmbeddedTransport, open_embedded
from beaker.service.locks import is_held
from beaker.service.work_folder import WorkFolder

LETTERS = "abcdefghijklmnop"

CONFIG = """\
integrations:
  words:
    entrypoint: words:integration
    required_env: [LAB]
    targets: {kind: documents, groups: [book]}
"""

INTEGRATION = '''\
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import asynccontextmanager
from pathlib import Path

from beaker import (
    Case, CaseResult, CaseScore, DocumentRunSetupResult, FieldDiff, Integration, RetryableCaseError, RunSetup,
    TargetDocument, documents,
)

LAB = Path(os.environ["LAB"])
PLAN = json.loads((LAB / "plan.json").read_text()) if (LAB / "plan.json").exists() else {}


def note(text):
    with open(LAB / "notes.txt", "ab", buffering=0) as file:
        file.write(f"{text}\\n".encode())


async def gate(name):
    """Wait while the gate is shut, and show that somebody waits."""
    while (LAB / f"shut-{name}").exists():
        (LAB / f"waiting-{name}").touch()
        await asyncio.sleep(0.01)


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("prepare")
        await gate("setup")
        seeds = PLAN.get("seeds", {"rules.txt": "a=vowel\\n", "locked.txt": "do not touch\\n"})
        try:
            yield {
                "documents": DocumentRunSetupResult(
                    target_documents=[
                        TargetDocument(
                            source_id=name, group="book", name=name, content=text, editable=name != "locked.txt"
                        )
                        for name, text in seeds.items()
                    ]
                )
            }
        finally:
            note("teardown")
            time.sleep(PLAN.get("teardown_seconds", 0))

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["word"], expected=row["kind"])


async def run_case(*, case_input, runtime):
    rules = (runtime.targets_dir / "book" / "rules.txt").read_text()
    note(f"run {case_input} {hashlib.sha256(rules.encode()).hexdigest()[:8]} {os.getpid()} {time.monotonic_ns()}")
    await gate(case_input)
    behaviour = PLAN.get("cases", {}).get(case_input)
    if behaviour == "crash":
        os._exit(7)
    elif behaviour == "hang":
        time.sleep(600)
    elif behaviour == "raise":
        raise ValueError(f"no word: {case_input}")
    elif behaviour == "retry":
        raise RetryableCaseError("try again")
    elif behaviour == "stray":
        subprocess.Popen(["setsid", "sleep", "987"], start_new_session=True)
    elif behaviour == "hide":
        hidden = subprocess.Popen(["setsid", "sleep", "987"], env={}, start_new_session=True)
        note(f"hidden {hidden.pid}")
        await gate("hidden")
    elif behaviour == "haunt":
        threading.Timer(0.03, lambda: os._exit(0)).start()
        return CaseResult("unknown")
    await asyncio.sleep(PLAN.get("seconds", {}).get(case_input, PLAN.get("second", 0)))
    known = dict(line.split("=") for line in rules.splitlines() if "=" in line)
    note(f"ran {case_input} {os.getpid()} {time.monotonic_ns()}")
    return CaseResult(known.get(case_input[0], "unknown"))


async def score_case(*, case, result, case_files_dir):
    if PLAN.get("scores", {}).get(case.input) == "haunt":
        threading.Timer(0.03, lambda: os._exit(0)).start()
    else:
        await asyncio.sleep(PLAN.get("score_second", 0))
    right = float(result.output == case.expected)
    diffs = [] if right else [FieldDiff("kind", result.output, case.expected)]
    return CaseScore(right, {"kind": right}, diffs)


TARGETS = documents(groups=("book",))
integration = Integration(targets=TARGETS, run_setup=Setup, run_case=run_case, score_case=score_case)
'''

PROPOSER = '''\
"""Adds the rules that the minibatch shows."""
import json
import os
import time
from pathlib import Path

workspace, evidence = Path(os.environ["BEAKER_WORKSPACE"]), Path(os.environ["BEAKER_EVIDENCE"])
lab = Path(os.environ["LAB"])
with open(lab / "notes.txt", "ab", buffering=0) as file:
    file.write(f"propose {os.environ['BEAKER_PROPOSAL_SEED']}\\n".encode())
while (lab / "shut-proposer").exists():
    (lab / "waiting-proposer").touch()
    time.sleep(0.01)
rules = workspace / "documents" / "book" / "rules.txt"
known = dict(line.split("=") for line in rules.read_text().splitlines())
for path in sorted((evidence / "cases").iterdir()):
    case = json.loads(path.read_text())
    if case["minibatch"]:
        known[case["input"][0]] = case["expected"]
rules.write_text("".join(f"{letter}={kind}\\n" for letter, kind in sorted(known.items())))
print("knows", len(known))
'''


class ServedWorker:
    """The worker of a run as its server sees it: where `subprocess` would say how a process ended, the server's log
    does."""

    def __init__(self, server: Any, lock: Path, run_id: str, before: int) -> None:
        self._server, self._lock, self._run_id, self._before = server, lock, run_id, before

    def poll(self) -> int | None:
        """How it ended, `None` while it has not, or nobody has said so."""
        for line in self._server.log()[self._before :].splitlines():
            _, _, said = line.partition(f"  {self._run_id}: ")
            if words := said.split("the worker ended with "):
                if len(words) > 1:
                    return int(words[1].split()[0])
                if said.isupper():
                    return 0
        return None

    def wait(self, seconds: float = 60) -> int:
        """Wait until the server says how it ended."""
        self._server.until(lambda: self.poll() is not None, f"the worker of {self._run_id} ends", seconds=seconds)
        status = self.poll()
        assert status is not None
        return status

    def send_signal(self, number: int) -> None:
        """Signal the process that holds the run's lock."""
        os.kill(self._server.until(self._process, "there is a worker"), number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def _process(self) -> int | None:
        written = self._lock.read_text().strip() if self._lock.exists() else ""
        return int(written) if written else None


class Lab:
    """One project with its place. `root` holds `project`, `dataset` and `lab`, the folder that customer code sees.

    With `serve` (given `options`) the place is a served one: whoever looks asks across HTTP, a killed worker goes down
    with its server, and resuming is starting the server again.
    """

    def __init__(
        self,
        root: Path,
        *,
        train: int = 20,
        test: int = 8,
        plan: dict[str, Any] | None = None,
        serve: Callable[..., Any] | None = None,
        options: tuple[str, ...] = (),
    ) -> None:
        self._serve, self._options = serve, options
        self.server: Any = None
        self.root, self.project, self.lab = root, root / "project", root / "lab"
        self.lab.mkdir(parents=True)
        if plan is not None:
            (self.lab / "plan.json").write_text(json.dumps(plan))
        (self.project / ".beaker").mkdir(parents=True)
        self.write(".beaker/beaker.yaml", CONFIG)
        self.write("words.py", INTEGRATION)
        self.write("propose.py", PROPOSER)
        init_repository(self.project).unwrap()
        self.environ = {**os.environ, "LAB": str(self.lab)}
        self._transports: list[EmbeddedTransport] = []
        self._connections: dict[str, HttpTransport] = {}
        self.workers: list[Any] = []
        self._dataset(train, test)

    def write(self, path: str, text: str) -> None:
        """Write a file of the project; `launch` commits."""
        (self.project / path).write_text(text, encoding="utf-8")

    def _dataset(self, train: int, test: int) -> None:
        folder = self.root / "dataset"
        folder.mkdir()
        for split, count in (("train", train), ("test", test)):
            rows = []
            for number in range(count):
                letter = LETTERS[number % len(LETTERS)]
                kind = "vowel" if letter in "aeiou" else "early" if letter < "h" else "late"
                rows.append({"id": f"{split}-{number}", "word": f"{letter}{split}{number}", "kind": kind})
            (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def open(self) -> Api:
        """A new look at the place, as another command would have it."""
        if self._serve is not None and self.server is None:
            self.start_server()
        if self.server is not None and self.server.process.poll() is None:
            if self.server.url not in self._connections:
                self._connections[self.server.url] = HttpTransport(self.server.url, self.server.token)
            return Api(self._connections[self.server.url], "local")
        return Api(self._open_embedded(), "local")

    def start_server(self) -> None:
        """Start the server of a served place, the first time or again."""
        assert self._serve is not None
        self.server = self._serve(self.project, *self._options, environ=self.environ, log=self.root / "server.log")

    def _open_embedded(self) -> EmbeddedTransport:
        self._transports.append(open_embedded(self.project, None, self.environ, foreground=True))
        return self._transports[-1]

    @property
    def transport(self) -> EmbeddedTransport:
        """The last look at the place from this machine."""
        return self._transports[-1] if self._serve is None else self._open_embedded()

    def launch(self, *, wait: bool = True, **changes: Any) -> str:
        """Commit, upload, and start a run with a worker; its id. `changes` go over the settings of the proposer."""
        run_id = self.trigger(**changes)
        self._take_worker(run_id, 0)
        if wait:
            self.wait()
        return run_id

    def trigger(self, **changes: Any) -> str:
        """As `launch`, without looking for the worker."""
        launch_keys = ("max_concurrency", "case_retry_limit", "spend_budget_usd", "test_baseline", "extra")
        config = {key: changes.pop(key) for key in launch_keys if key in changes}
        optimizer = {
            "command": ["python", "{project}/propose.py"],
            "proposer_env": ["LAB"],
            "max_proposals": 2,
            "seed": 5,
            **changes,
        }
        api = self.open()
        commit_all(self.project, "as it is").unwrap()
        upload_dataset(api, self.root / "dataset", name="words").unwrap()
        run = api.call(
            "create_optimization_run", dataset_ref="words", config={**config, "harness_optimization": optimizer}
        )
        return str(run.unwrap()["id"])

    def _take_worker(self, run_id: str, before: int) -> None:
        if self.server is not None:
            lock = self.project / ".beaker" / "local" / "runs" / run_id / "lock"
            begun = f"  {run_id}: started", f"  {run_id}: goes on with"
            self.server.until(lambda: any(words in self.server.log()[before:] for words in begun), "a worker starts")
            self.workers.append(ServedWorker(self.server, lock, run_id, before))
            return
        process = self.transport.workers.process(run_id)
        assert process is not None
        self.workers.append(process)

    def wait(self, *, seconds: float = 60) -> int:
        """Wait for the last worker's end; its exit status."""
        return self.workers[-1].wait(seconds)

    def kill(self) -> None:
        """Kill the last worker without a word, and wait until nothing of it is left."""
        if self.server is not None:
            self.server.stop(signal.SIGKILL)  # first, or it would start another one
        self.workers[-1].send_signal(signal.SIGKILL)
        if self.server is None:
            self.workers[-1].wait()
        else:
            self.until(lambda: not self.held(), "the killed worker's lock is free")
        self.until(lambda: not self.alive() and not self.hiding(), "the killed worker's children end")

    def resume(self, *, wait: bool = True) -> None:
        """What any later command does: find the run without a worker and start one again."""
        if self._serve is not None:
            before = len(self.server.log())
            ((run_id,),) = self.sql("SELECT id FROM runs WHERE status IN ('QUEUED', 'RUNNING')")
            self.start_server()
            self._take_worker(run_id, before)
        else:
            self.open()
            (resumption,) = self.transport.resume_unlocked_runs()
            assert resumption.problem is None
            self._take_worker(resumption.run_id, 0)
        if wait:
            self.wait()

    def held(self) -> bool:
        """Whether some run has a worker."""
        return any(is_held(lock) for lock in self.project.glob(".beaker/local/runs/*/lock"))

    def shut(self, gate: str) -> None:
        """Make customer code wait at a gate."""
        (self.lab / f"shut-{gate}").touch()

    def reach(self, gate: str) -> None:
        """Wait until customer code waits at a gate."""
        self.until((self.lab / f"waiting-{gate}").exists, f"somebody waits at {gate}")

    def free(self, gate: str) -> None:
        """Open a gate for good."""
        (self.lab / f"shut-{gate}").unlink()

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float = 90) -> None:
        """Wait for a condition; the worker's log is part of the failure."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text() for path in self.project.glob(".beaker/local/runs/*/worker.log"))
                raise AssertionError(f"not in {seconds} s: {what}; the log says:\n{logs}")
            time.sleep(0.01)

    def alive(self) -> list[str]:
        """Command lines of living processes that customer code or proposers of this lab run in."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                try:
                    if f"LAB={self.lab}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                        if command and not any(ours in command for ours in ("beaker.service.worker", "cli serve ")):
                            found.append(f"{folder.name} {command}")
                except OSError:
                    continue
        return found

    def hiding(self) -> list[str]:
        """Ids of living processes that customer code started without a trace of this lab in their environment."""
        return [pid for _, pid in self.notes("hidden") if Path("/proc", pid).exists()]

    def busy(self) -> bool:
        """Whether a case has begun and not ended yet; crashed ones count for ever."""
        return len(self.notes("run")) > len(self.notes("ran"))

    def run(self, run_id: str) -> dict[str, Any]:
        """The run as it is answered."""
        return self.open().call("get_optimization_run", run_id=run_id).unwrap()

    def candidates(self, run_id: str) -> dict[str, Any]:
        """Candidates and proposals as they are answered."""
        return self.open().call("list_candidates", run_id=run_id).unwrap()

    def log(self, run_id: str) -> list[Any]:
        """The search's log."""
        return [
            json.loads(row[0]) for row in self.sql("SELECT entry FROM log WHERE run_id = ? ORDER BY position", run_id)
        ]

    def sql(self, statement: str, *parameters: Any) -> list[Any]:
        """Ask the store directly."""
        connection = sqlite3.connect(self.project / ".beaker" / "local" / "beaker.db", timeout=30)
        try:
            with connection:
                return connection.execute(statement, parameters).fetchall()
        finally:
            connection.close()

    def findings(self, run_id: str) -> Any:
        """All that must not depend on kills and parallelism: log, result, candidates and reports, without times."""
        reports = self.open().call("list_eval_reports", run_id=run_id).unwrap()
        run = self.run(run_id)
        told = {
            "log": self.log(run_id),
            "status": [run["status"], run["finish_reason"], run["error_message"]],
            "result": run["result"],
            "candidates": self.candidates(run_id),
            "reports": reports,
        }
        return _timeless(json.loads(json.dumps(told).replace(run_id, "RUN")))

    def notes(self, kind: str) -> list[list[str]]:
        """What customer code noted of one kind, as words."""
        path = self.lab / "notes.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.split() for line in lines if line.split()[0] == kind]

    def rerun(self) -> int:
        """How many evaluations (candidate, case) were begun more than once, counted with multiplicity."""
        counted = Counter((word, rules) for _, word, rules, *_ in self.notes("run"))
        return sum(count - 1 for count in counted.values())

    def close(self) -> None:
        """End workers and close the place."""
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop(signal.SIGKILL)
        if self.server is not None:  # its workers notice that it is gone
            self.until(lambda: not self.held(), "the server's workers end", seconds=60)
        for worker in self.workers if self.server is None else ():
            if worker.poll() is None:
                worker.kill()
                worker.wait()
        for note in self.project.glob(".beaker/local/runs/*/work_folder"):
            WorkFolder(note, note.parent.name).remove()
        for connection in self._connections.values():
            connection.close()
        for transport in self._transports:
            transport.workers.release()
            transport.place.database.close()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        ignored = ("created_at", "duration_ms", "latency_ms")
        return {key: _timeless(item) for key, item in value.items() if key not in ignored}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which places a test with a laboratory is run against: those of its module's `PLACES`, else as the environment and
    its marks say."""
    if "place" not in metafunc.fixturenames:
        return
    wanted = os.environ.get("BEAKER_E2E_PLACE")
    places = {"embedded": ["embedded"], "served": ["served"], "both": ["embedded", "served"]}.get(wanted or "")
    marked = {mark.name for mark in metafunc.definition.iter_markers()}
    if places is None:
        places = ["embedded", "served"] if "served" in marked else ["embedded"]
    places = getattr(metafunc.module, "PLACES", places)
    if "embedded" in marked:
        places = [one for one in places if one == "embedded"]
    metafunc.parametrize("place", places)


@pytest.fixture
def laboratory(tmp_path: Path, place: str, serve: Callable[..., Any]) -> Iterator[Callable[..., Lab]]:
    """Makes laboratories: `laboratory("name", train=, test=, plan=)`."""
    made: list[Lab] = []

    def make(name: str = "lab", **options: Any) -> Lab:
        lab = Lab(tmp_path / name, serve=serve if place == "served" else None, **options)
        made.append(lab)
        return lab

    yield make
    for lab in made:
        lab.close()


@pytest.fixture(scope="session")
def lab_class() -> type[Lab]:
    """What a laboratory is made of, for fixtures that outlive a test."""
    return Lab


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The findings of a run that nobody disturbs, with one place at a time."""
    lab = Lab(tmp_path_factory.mktemp("undisturbed") / "lab")
    try:
        findings = lab.findings(lab.launch(max_concurrency=1))
    finally:
        lab.close()
    assert findings["status"] == ["COMPLETED", "proposals", None]
    return findings
