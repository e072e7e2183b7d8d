"""Ended at each stage by each signal: no process and no temporary folder stays, and the exit code says what it was.

After a SIGKILL the folder stays until the next command clears up. `soak` has the whole matrix; a share is here.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from beaker.files.git import commit_all, init_repository
from beaker.runtime import processes

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.kill,
    pytest.mark.skipif(not processes.LINUX, reason="looks for processes in /proc"),
]

APP = """
import asyncio, os, subprocess, time
from contextlib import asynccontextmanager
from pathlib import Path
from beaker import *

LAB = Path(os.environ["LAB"])

def here(stage):
    with open(LAB / "notes", "ab", buffering=0) as file:
        file.write(f"{stage}\\n".encode())
    return (LAB / "stop").exists() and (LAB / "stop").read_text() == stage

def arrived():
    subprocess.Popen(["sleep", "987"], start_new_session=True)  # which nobody may find afterwards
    (LAB / "arrived").touch()

def block(stage):
    if here(stage):
        arrived()
        while (LAB / "stop").exists():
            time.sleep(0.01)

async def wait(stage):
    if here(stage):
        arrived()
        while (LAB / "stop").exists():
            await asyncio.sleep(0.01)

block("import")

class Setup(RunSetup[dict]):
    row_model = dict
    def __init__(self):
        block("construct")
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        await wait("prepare")
        seed = TargetDocument(source_id="1", group="kb", name="a.md", content="A")
        try:
            yield {"documents": DocumentRunSetupResult(target_documents=[seed])}
        finally:
            await wait("teardown")
    async def load_cases(self, row, *, runtime):
        path = runtime.case_files_dir(row["id"]) / "a"
        path.write_text("a")
        await wait("load")
        yield Case(id=row["id"], input=row["id"], files=[CaseFile("a", path)])

@asynccontextmanager
async def open_candidate(*, targets_dir, scratch_dir):
    (scratch_dir / "file").write_text("x")
    try:
        await wait("open_candidate")
        yield 1
    finally:
        here("left candidate")

async def run_case(*, case_input, runtime):
    block("run_case that blocks")
    await wait("run_case")
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    await wait("score")
    return CaseScore(1.0, {})

integration = Integration(
    targets=documents(groups=("kb",)), run_setup=Setup, run_case=run_case, score_case=score_case,
    open_candidate=open_candidate,
)
"""

CONFIG = """
integrations:
  app:
    entrypoint: app:integration
    required_env: [LAB]
    targets: {kind: documents, groups: [kb]}
config_defaults:
  local_dataset_path: DATASET
  max_concurrency: 1
  harness_optimization:
    command: ["true"]
    max_proposals: 1
    timeouts: {teardown: 5}
"""

STAGES = (
    "import", "construct", "prepare", "load", "open_candidate", "run_case", "run_case that blocks", "score", "teardown",
)  # fmt: skip

COMMANDS = {
    "smoke": ("run", "smoke", "--run-one"),
    "eval": ("run", "eval", "--dataset", "DATASET"),
    "run": ("--local", "run", "trigger", "--dataset", "rows", "--watch"),
}

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}

SHARE = {
    ("smoke", "import", signal.SIGINT),
    ("smoke", "prepare", signal.SIGTERM),
    ("smoke", "open_candidate", signal.SIGKILL),
    ("smoke", "score", signal.SIGINT),
    ("smoke", "teardown", signal.SIGTERM),
    ("eval", "load", signal.SIGKILL),
    ("eval", "run_case that blocks", signal.SIGTERM),
    ("run", "open_candidate", signal.SIGINT),
}

SETUP_IS_OPEN = frozenset(STAGES[STAGES.index("load") :])
"""Stages before whose end `prepare_run` has come to its `yield`."""


class Matrix:
    """A project that stops where it is told, and commands in it."""

    def __init__(self, root: Path) -> None:
        self.project, self.lab, self.temporary, dataset = (
            root / name for name in ("project", "lab", "temporary", "dataset")
        )
        for folder in (self.project / ".beaker", self.lab, self.temporary, dataset):
            folder.mkdir(parents=True)
        for split in ("train", "test"):
            (dataset / f"{split}.jsonl").write_text("".join(f'{{"id": "{split}-{row}"}}\n' for row in range(2)))
        self._dataset = str(dataset)
        (self.project / ".beaker" / "beaker.yaml").write_text(CONFIG.replace("DATASET", self._dataset))
        (self.project / "app.py").write_text(APP)
        init_repository(self.project).unwrap()
        commit_all(self.project, "First").unwrap()
        self._environ = {**os.environ, "LAB": str(self.lab), "TMPDIR": str(self.temporary)}

    def start(self, *argv: str) -> "subprocess.Popen[str]":
        """Start a command."""
        return subprocess.Popen(
            [sys.executable, "-m", "beaker.cli", *(word.replace("DATASET", self._dataset) for word in argv)],
            cwd=self.project,
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *argv: str) -> str:
        """Run a command that succeeds; what it says."""
        process = self.start(*argv)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (argv, out, err)
        return out

    def stop_at(self, stage: str) -> None:
        """Make customer code wait there."""
        (self.lab / "stop").write_text(stage)

    def go_on(self) -> None:
        """Let it go on from now on."""
        (self.lab / "stop").unlink()

    def notes(self, stage: str) -> int:
        """How often customer code came to a stage."""
        path = self.lab / "notes"
        return path.read_text().splitlines().count(stage) if path.exists() else 0

    def arrived(self) -> bool:
        """Whether it is where it is to stop."""
        return (self.lab / "arrived").exists()

    def alive(self) -> list[str]:
        """Living processes that the commands, or customer code, started."""
        wanted, found = f"LAB={self.lab}".encode(), []
        for pid in processes.everyone():
            try:
                inside = wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if inside and command:
                found.append(f"{pid} {command}")
        return found


@pytest.fixture
def matrix(tmp_path: Path) -> Iterator[Matrix]:
    """A project that stops where it is told; nothing that it started stays."""
    made = Matrix(tmp_path)
    yield made
    for line in made.alive():
        processes.kill(int(line.split()[0]))


def until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def descendants(pid: int) -> dict[int, str | None]:
    """Everything that descends from a process, with what tells it from a later one of the same id."""
    found: dict[int, str | None] = {}
    waiting = [pid]
    while waiting:
        for child in processes.children_of(waiting.pop()):
            found[child] = processes.identity(child)
            waiting.append(child)
    return found


def kinds() -> Iterator[object]:
    """Every command at every stage with every signal; what is no share of the ordinary run is for `soak`."""
    for command in COMMANDS:
        for stage in STAGES:
            for number in CODES:
                shared = (command, stage, number) in SHARE
                marks = [] if shared else [pytest.mark.soak]
                yield pytest.param(command, stage, number, marks=marks, id=f"{command}-{stage}-{number.name}")


@pytest.mark.parametrize(("command", "stage", "number"), [*kinds()])
def test_ended__at_a_stage__leaves_nothing_and_says_how(
    matrix: Matrix, command: str, stage: str, number: signal.Signals
) -> None:
    """Teardown runs once where a setup is open; a kill is cleared up by the next command, which does all of it."""
    argv = COMMANDS[command]
    if command == "run":
        matrix.run("--local", "dataset", "upload", "../dataset", "--name", "rows", "--no-check")
    matrix.stop_at(stage)
    process = matrix.start(*argv)
    until(lambda: matrix.arrived() or process.poll() is not None, f"{command} comes to {stage}")
    assert process.poll() is None, process.communicate()
    started = descendants(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == CODES[number], err
    assert "Traceback" not in err
    until(lambda: matrix.alive() == [], f"what was started ends: {matrix.alive()}", 30)
    until(lambda: not any(processes.identity(pid) == known for pid, known in started.items() if known), "all ended", 30)
    if number != signal.SIGKILL:
        assert [*matrix.temporary.iterdir()] == []
        if stage in SETUP_IS_OPEN:
            assert matrix.notes("teardown") == 1
        if stage in ("open_candidate", "run_case", "score"):
            assert matrix.notes("left candidate") == 1
    matrix.go_on()
    if number == signal.SIGKILL:
        if command == "run":
            matrix.run("--local", "run", "list")  # which takes the run up again
            run_id = matrix.run("--local", "run", "list", "--json").partition('"id":"')[2].partition('"')[0]
            matrix.run("--local", "run", "status", run_id, "--watch")
            until(lambda: matrix.alive() == [], "the worker ends", 30)
        else:
            matrix.run(*argv)
        assert [*matrix.temporary.iterdir()] == []


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.soak) for one in (signal.SIGINT, signal.SIGKILL))]
)
def test_upload__ended_while_the_place_says_nothing__leaves_nothing(matrix: Matrix, number: signal.Signals) -> None:
    """A transfer that waits for its place ends with the signal, and is begun again by the next command."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        place.settimeout(60)
        address = f"http://127.0.0.1:{place.getsockname()[1]}"
        upload = ("dataset", "upload", "../dataset", "--name", "rows", "--no-check")
        process = matrix.start("--base-url", address, "--api-key", "k", *upload, "--agent", "a")
        connection, _ = place.accept()
        with connection:
            assert connection.recv(1)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
    assert process.returncode == CODES[number], err
    assert "Traceback" not in err
    until(lambda: matrix.alive() == [], "what was started ends", 30)
    assert [*matrix.temporary.iterdir()] == []
