"""The commands about runs against real workers: started, watched, interrupted, killed, cancelled, pulled."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beaker.files.git import commit_all, init_repository

pytestmark = pytest.mark.e2e

CONFIG = """\
integrations:
  words:
    entrypoint: words_integration:integration
    targets: {kind: documents, groups: [notes]}
config_defaults:
  local_dataset_path: ../dataset
  max_concurrency: 2
  harness_optimization:
    command: [%s, "{project}/propose.py"]
    max_proposals: 2
    max_rollouts: 150
"""

INTEGRATION = """\
import asyncio
from contextlib import asynccontextmanager

from beaker import Case, CaseResult, CaseScore, DocumentRunSetupResult, Integration, RunSetup, TargetDocument, documents


class Setup(RunSetup[dict]):
    row_model = dict

    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        yield {"documents": DocumentRunSetupResult(
            target_documents=[TargetDocument(source_id="1", group="notes", name="known.txt", content="w0\\n")]
        )}

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["word"], expected=True)


async def run_case(*, case_input, runtime):
    await asyncio.sleep(0.03)
    return CaseResult(case_input in (runtime.targets_dir / "notes" / "known.txt").read_text().split())


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=documents(groups=("notes",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
"""

PROPOSER = """\
import json, os
from pathlib import Path

cases = (Path(os.environ["BEAKER_EVIDENCE"]) / "cases").glob("*.json")
known = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "notes" / "known.txt"
words = {json.loads(path.read_text())["input"] for path in cases} | set(known.read_text().split())
known.write_text("\\n".join(sorted(words)) + "\\n")
"""

ENVIRON = {key: text for key, text in os.environ.items() if not key.startswith("BEAKER_")}


class Cli:
    """`beaker` in a project, as processes; `reach` are the options that say which place it works with."""

    def __init__(self, project: Path, reach: tuple[str, ...] = ("--local",)) -> None:
        self.project = project
        self.reach = reach
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *argv: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "beaker.cli", *self.reach, *argv],
            cwd=self.project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**ENVIRON, "BEAKER_AGENT_KEY": "local"},
        )
        self.started.append(process)
        return process

    def run(self, *argv: str, code: int = 0) -> tuple[str, str]:
        process = self.start(*argv)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, f"{argv} ended with {process.returncode}: {err}\n{out}"
        return out, err

    def json(self, *argv: str, code: int = 0) -> Any:
        return json.loads(self.run(*argv, "--json", code=code)[0])

    def worker(self, run_id: str) -> int:
        """The process id of the run's worker, once it has one."""
        lock = self.project / ".beaker" / "local" / "runs" / run_id / "lock"
        return wait_for(
            lambda: int(lock.read_text().split()[0]) if lock.exists() and lock.read_text().strip() else None
        )

    def rollouts(self, run_id: str) -> int:
        only_look = ("--no-resume",) if self.reach == ("--local",) else ()
        done: int = self.json(*only_look, "run", "status", run_id, code=3)["progress"]["rollouts"]["done"]
        return done


def wait_for(look: Callable[[], Any]) -> Any:
    """What `look` finds once it finds something."""
    for _ in range(600):
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def cli(tmp_path: Path, place: str, serve: Callable[..., Any]) -> Iterator[Cli]:
    """A small project with its dataset uploaded; a run takes a few seconds."""
    dataset, project = tmp_path / "dataset", tmp_path / "project"
    dataset.mkdir()
    (project / ".beaker").mkdir(parents=True)
    for split, count in (("train", 20), ("test", 4)):
        rows = [json.dumps({"id": f"{split}-{n}", "word": f"w{n}"}) for n in range(count)]
        (dataset / f"{split}.jsonl").write_text("\n".join(rows))
    (project / ".beaker" / "beaker.yaml").write_text(CONFIG % json.dumps(sys.executable))
    (project / "words_integration.py").write_text(INTEGRATION)
    (project / "propose.py").write_text(PROPOSER)
    init_repository(project).unwrap()
    commit_all(project, "start").unwrap()
    made = Cli(project)
    if place == "served":
        server = serve(project, environ=ENVIRON)
        made.reach = ("--base-url", server.url, "--api-key", server.token)
    made.run("dataset", "upload", "../dataset", "--name", "words")
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_run__detached__goes_on_alone_and_is_pulled(
    cli: Cli, tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """A launched run needs nobody; watching it prints JSON lines; pulling gives every file, atomically replaced."""
    launched = cli.json("run", "trigger", "--dataset", "words")
    run_id = launched["id"]
    lines = [json.loads(line) for line in cli.run("run", "status", run_id, "--watch", "--json")[0].splitlines()]
    for line in (launched, *lines):
        conforms(line, "run.json")
    assert lines[-1]["status"] == "COMPLETED"
    listed = cli.json("run", "list")
    conforms(listed, "runs.json")
    assert [run["id"] for run in listed["runs"]] == [run_id]
    for _ in range(2):
        pulled = cli.json("run", "pull", run_id, "--output-dir", "out")
        conforms(pulled, "cli-pull.json")
        assert f"{run_id}/changes/notes.json" in pulled["files"]
        assert all((cli.project / "out" / file).is_file() for file in pulled["files"])
        assert len(list((cli.project / "out").iterdir())) == 3
    human = cli.run("run", "status", run_id)[0]
    assert human.startswith(f"{run_id}: COMPLETED\n")
    assert "95 % interval" in human


@pytest.mark.embedded
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_trigger__watched_and_interrupted__leaves_no_process_and_can_go_on(
    cli: Cli, number: signal.Signals, code: int
) -> None:
    """A foreground run ends with its command, without a traceback; the next command takes it up again."""
    process = cli.start("run", "trigger", "--dataset", "words", "--watch", "--json")
    assert process.stdout is not None
    run_id = json.loads(process.stdout.readline())["id"]
    worker = cli.worker(run_id)
    wait_for(lambda: cli.rollouts(run_id) > 0)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert not alive(worker)
    assert err == ""
    out, err = cli.run("--quiet", "run", "status", run_id, "--watch")
    assert "had lost its worker" in err
    assert [line for line in out.splitlines() if "COMPLETED" in line]


@pytest.mark.embedded
def test_trigger__watched_and_interrupted__says_what_became_of_the_run(cli: Cli) -> None:
    """A person who interrupts a foreground run is told that it can go on, how, and how to end it for good."""
    process = cli.start("run", "trigger", "--dataset", "words", "--watch")
    assert process.stdout is not None
    run_id = process.stdout.readline().split()[1].rstrip(":")
    wait_for(lambda: cli.rollouts(run_id) > 0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"{run_id} is stopped, not ended" in err
    assert f"beaker.cli --local run cancel {run_id}" in err
    cli.run("run", "cancel", run_id)


@pytest.mark.embedded
def test_trigger__watched_and_killed__takes_its_worker_along(cli: Cli) -> None:
    """The worker of a foreground run ends with its command even when that cannot say so; the run can go on."""
    process = cli.start("run", "trigger", "--dataset", "words", "--watch", "--json")
    assert process.stdout is not None
    run_id = json.loads(process.stdout.readline())["id"]
    worker = cli.worker(run_id)
    wait_for(lambda: cli.rollouts(run_id) > 0)
    process.kill()
    wait_for(lambda: not alive(worker))
    assert cli.json("--no-resume", "run", "status", run_id, code=3)["status"] == "RUNNING"
    cli.run("run", "cancel", run_id)


@pytest.mark.embedded
def test_status__watch_interrupted__says_that_the_run_goes_on(cli: Cli) -> None:
    """Ending a watch ends nothing else, and says so."""
    run_id = cli.json("run", "trigger", "--dataset", "words")["id"]
    cli.worker(run_id)
    watch = cli.start("run", "status", run_id, "--watch")
    assert watch.stdout is not None
    watch.stdout.readline()
    watch.send_signal(signal.SIGINT)
    _, err = watch.communicate(timeout=60)
    assert watch.returncode == 130
    assert f"{run_id} goes on; watch it again: " in err
    assert f"--local run status {run_id} --watch" in err
    cli.run("run", "cancel", run_id)


@pytest.mark.embedded
def test_status__watch__starts_a_killed_worker_again(cli: Cli) -> None:
    """Somebody who watches sees the run through, whatever happens to its worker."""
    run_id = cli.json("run", "trigger", "--dataset", "words")["id"]
    worker = cli.worker(run_id)
    watch = cli.start("run", "status", run_id, "--watch", "--json")
    wait_for(lambda: cli.rollouts(run_id) > 0)
    os.kill(worker, signal.SIGKILL)
    out, err = watch.communicate(timeout=120)
    assert watch.returncode == 0, err
    last = json.loads(out.splitlines()[-1])
    assert last["status"] == "COMPLETED"
    assert last["attempts"] == 2


@pytest.mark.soak
@pytest.mark.embedded
def test_status__no_resume__only_looks(cli: Cli) -> None:
    """With --no-resume a lost worker stays lost, until a command without it comes."""
    run_id = cli.json("run", "trigger", "--dataset", "words")["id"]
    worker = cli.worker(run_id)
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: not alive(worker))
    assert cli.json("--no-resume", "run", "status", run_id, code=3)["status"] in ("QUEUED", "RUNNING")
    _, err = cli.run("--no-resume", "run", "status", run_id, code=3)
    assert f"{run_id} has no worker at the moment and stands still" in err
    _, err = cli.run("--no-resume", "run", "status", run_id, "--watch", "--poll-timeout", "1", code=3)
    assert "nobody works on it" in err
    assert "goes on without" not in err
    assert cli.worker(run_id) == worker
    cli.run("run", "list")
    assert cli.run("run", "status", run_id, "--watch")[0]


@pytest.mark.served
def test_cancel__running__ends_the_worker_and_the_watch(cli: Cli) -> None:
    """Cancelling ends the run for everybody; cancelling again is no error; partial results can be pulled."""
    run_id = cli.json("run", "trigger", "--dataset", "words")["id"]
    worker = cli.worker(run_id)
    watch = cli.start("run", "status", run_id, "--watch")
    wait_for(lambda: cli.rollouts(run_id) > 0)
    assert cli.run("run", "cancel", run_id)[0] == f"{run_id}: CANCELLED\n"
    out, _ = watch.communicate(timeout=60)
    assert watch.returncode == 1
    assert "CANCELLED" in out
    wait_for(lambda: not alive(worker))
    assert cli.json("run", "cancel", run_id)["status"] == "CANCELLED"
    pulled = cli.json("run", "pull", run_id, "--output-dir", "out")
    assert pulled["winner_id"] is None
    assert f"{run_id}/best/tree/documents/notes/known.txt" in pulled["files"]
    (cli.project / "out" / "candidates.json").write_text("{}")
    out, _ = cli.run("run", "pull", run_id, "--output-dir", "out/../out")
    assert f"{len(pulled['files']) - 2} files in {cli.project}/out/{run_id}\n" in out
    assert f"beside it  {cli.project}/out/candidates.json (replaced another one)\n" in out
    assert f"beside it  {cli.project}/out/eval_reports.json\n" in out
    assert "no winner  since the run ended CANCELLED" in out
    assert f"not proven on TEST: {cli.project}/out/{run_id}/best" in out


def test_status__targets_that_differ__shows_both(cli: Cli) -> None:
    """A run whose declaration is not the Integration's ends FAILED; its status shows what was declared and imported."""
    config = cli.project / ".beaker" / "beaker.yaml"
    config.write_text(config.read_text().replace("groups: [notes]", "groups: [notes, more]"))
    commit_all(cli.project, "another declaration").unwrap()
    cli.run("run", "trigger", "--dataset", "words", "--watch", code=1)
    (run,) = cli.json("run", "list")["runs"]
    assert run["status"] == "FAILED"
    out, _ = cli.run("run", "status", run["id"], code=1)
    assert '"groups":["more","notes"]' in out
    assert '"groups":["notes"]' in out


def test_trigger__proposer_that_cannot_work__says_why(cli: Cli) -> None:
    """A proposer that never works is told with its reason by the watch, the status and the pull; no script reads it."""
    (cli.project / "propose.py").write_text("raise SystemExit('no rules today')\n")
    commit_all(cli.project, "another proposer").unwrap()
    out, _ = cli.run("run", "trigger", "--dataset", "words", "--watch")
    run_id = out.split()[1].rstrip(":")
    shown = (out, cli.run("run", "status", run_id)[0], cli.run("run", "pull", run_id, "--output-dir", "out")[0])
    for text in shown:
        assert "2 of 2 proposals (2 crashed)" in text
        assert "proposal 2 crashed: " in text
        assert "no rules today" in text


def test_trigger__gates__refuse_before_a_run_exists(cli: Cli) -> None:
    """What the service refuses is shown with every reason, and nothing was started."""
    _, err = cli.run(
        "run", "trigger", "--dataset", "nothing", "--config", '{"harness_optimization":{"zeal":1}}', code=2
    )
    assert "nothing" in err
    assert "zeal" in err
    assert cli.json("run", "list")["total"] == 0


def test_status__watch_into_a_closed_pipe__ends_quietly(cli: Cli) -> None:
    """`... | head -1` ends the watch without a word."""
    run_id = cli.json("run", "trigger", "--dataset", "words")["id"]
    watch = cli.start("run", "status", run_id, "--watch")
    assert watch.stdout is not None
    assert watch.stderr is not None
    watch.stdout.readline()
    watch.stdout.close()
    assert watch.wait(timeout=60) == 2
    assert watch.stderr.read() == ""
    cli.run("run", "cancel", run_id)
