"""A served place with real runs: several at once, stopped, killed and started again, and used from another folder."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

PLACES = ["served"]


@pytest.fixture
def lab(laboratory: Callable[..., Any]) -> Any:
    """A laboratory whose server has places for two runs."""
    return laboratory(train=6, test=2, options=("--max-runs", "2"))


def status(lab: Any, run_id: str) -> str:
    """The status of a run."""
    return str(lab.run(run_id)["status"])


def completed(lab: Any, *run_ids: str) -> None:
    """Wait until all these runs have completed."""
    for run_id in run_ids:
        lab.until(lambda run_id=run_id: status(lab, run_id) == "COMPLETED", f"{run_id} completes", seconds=120)


def test_runs__more_than_places__wait_their_turn(lab: Any) -> None:
    """Two go, the third waits without a worker; one that is cancelled while it waits never starts, and all others
    complete in the order of their launch."""
    lab.shut("setup")
    first, second, third, fourth = (lab.trigger(max_proposals=1) for _ in range(4))
    lab.until(lambda: len(lab.notes("prepare")) == 2, "two runs prepare")
    cancelled = lab.open().call("cancel_optimization_run", run_id=third).unwrap()
    assert cancelled["status"] == "CANCELLED"
    assert [status(lab, run_id) for run_id in (first, second, fourth)] == ["RUNNING", "RUNNING", "QUEUED"]
    assert not (lab.project / ".beaker/local/runs" / fourth / "lock").exists()
    lab.free("setup")
    completed(lab, first, second, fourth)
    assert len(lab.notes("prepare")) == 3
    assert lab.run(third)["attempts"] == 0
    lab.until(lambda: lab.server.log().count(": COMPLETED") == 3, "the log says so")


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.soak)])
def test_server__stopped_or_killed__leaves_nothing_and_goes_on_with_every_run(lab: Any, number: signal.Signals) -> None:
    """Asked or not, its workers end with it, teardowns included; started again it finishes what ran and what waited,
    and the findings of those two are the findings of this one, which nobody disturbed."""
    lab.shut("etrain4")
    runs = [lab.trigger(max_concurrency=places) for places in (4, 1, 2)]
    lab.reach("etrain4")
    lab.until(lambda: len(lab.notes("prepare")) == 2, "two runs go")
    assert lab.server.stop(number) == (143 if number == signal.SIGTERM else -number)
    lab.until(lambda: not lab.held() and not lab.alive(), "the workers end with the server")
    assert len(lab.notes("teardown")) == 2
    assert [status(lab, run_id) for run_id in runs] == ["RUNNING", "RUNNING", "QUEUED"]
    lab.free("etrain4")
    lab.start_server()
    completed(lab, *runs)
    first, second, waited = map(lab.findings, runs)
    assert first == second == waited
    assert [lab.run(run_id)["attempts"] for run_id in runs] == [2, 2, 1]
    assert lab.server.stop() == 143
    assert lab.alive() == []


@pytest.mark.kill
def test_worker__killed__is_replaced_while_the_server_answers(lab: Any) -> None:
    """A lost worker costs a moment, and whoever watches sees the run go on."""
    lab.shut("etrain4")
    run_id = lab.launch(wait=False, max_concurrency=1)
    lab.reach("etrain4")
    lab.workers[-1].kill()
    assert lab.wait() == -signal.SIGKILL
    lab.until(lambda: len(lab.notes("prepare")) == 2, "another worker prepares")
    lab.free("etrain4")
    completed(lab, run_id)
    assert lab.run(run_id)["attempts"] == 2
    assert lab.rerun() <= 1


@pytest.mark.soak
def test_run__whose_variable_is_missing__waits_until_it_is_there(lab: Any) -> None:
    """Restarted without it, the server says once which one a run lacks, lets others by, and goes on once it is set."""
    config = lab.project / ".beaker" / "beaker.yaml"
    plain = config.read_text()
    lab.write(".beaker/beaker.yaml", plain.replace("[LAB]", "[LAB, TOKEN]"))
    lab.environ["TOKEN"] = "sesame-open-8841"
    lab.shut("setup")
    lacking = lab.launch(wait=False, max_proposals=1)
    lab.reach("setup")
    lab.server.stop(signal.SIGKILL)
    lab.until(lambda: not lab.held(), "its worker ends")
    del lab.environ["TOKEN"]
    lab.free("setup")
    lab.start_server()
    lab.write(".beaker/beaker.yaml", plain)
    other = lab.trigger(max_proposals=1)
    completed(lab, other)
    assert lab.server.log().count(f"the run {lacking} waits: it needs TOKEN") == 1
    (lab.project / ".beaker" / ".env").write_text("TOKEN=sesame-open-8841\n")
    completed(lab, lacking)
    assert "sesame" not in lab.server.log()


@pytest.fixture
def elsewhere(lab: Any, tmp_path: Path) -> Callable[..., str]:
    """Run `beaker` in a folder without a project, against the lab's server."""
    lab.open()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    environ = {name: text for name, text in os.environ.items() if not name.startswith("BEAKER_")}
    reach = ("--base-url", lab.server.url, "--api-key", lab.server.token)

    def call(*argv: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "beaker.cli", *reach, *argv],
            cwd=folder,
            env={**environ, "BEAKER_AGENT_KEY": "local"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return call


def test_commands__in_another_folder__do_all_that_they_do_at_home(
    lab: Any, elsewhere: Callable[..., str], tmp_path: Path, conforms: Callable[[object, str], None]
) -> None:
    """Upload, list, trigger, watch, status, pull: with an address and a token, without the project."""
    from beaker.files.git import commit_all

    commit_all(lab.project, "as it is").unwrap()
    uploaded = json.loads(elsewhere("dataset", "upload", str(lab.root / "dataset"), "--name", "w", "--json"))
    conforms(uploaded, "cli-dataset-upload.json")
    assert json.loads(elsewhere("dataset", "list", "--json"))["total"] == 1
    config = {
        "harness_optimization": {
            "command": ["python", "{project}/propose.py"],
            "proposer_env": ["LAB"],
            "max_proposals": 1,
        }
    }
    told = elsewhere("run", "trigger", "--dataset", "w", "--config", json.dumps(config), "--watch", "--json")
    runs = [json.loads(line) for line in told.splitlines()]
    for run in runs:
        conforms(run, "run.json")
    assert runs[-1]["status"] == "COMPLETED"
    run_id = runs[-1]["id"]
    assert elsewhere("run", "status", run_id).startswith(f"{run_id}: COMPLETED")
    pulled = json.loads(elsewhere("run", "pull", run_id, "--output-dir", "out", "--json"))
    conforms(pulled, "cli-pull.json")
    assert all((tmp_path / "elsewhere" / "out" / file).is_file() for file in pulled["files"])
    assert f"{run_id}/changes/book.json" in pulled["files"]
    elsewhere("run", "cancel", run_id, code=2)
