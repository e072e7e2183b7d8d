"""The embedded place: its folder, its workers, and what happens when the disk or the folder goes away."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.core.problems import Refused
from beaker.service.embedded import EmbeddedTransport, open_embedded
from beaker.service.locks import acquire

pytestmark = pytest.mark.processes

CONFIG = {"harness_optimization": {"command": ["python", "propose.py"]}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"id": "t1"}\n', encoding="utf-8")
    (folder / "test.jsonl").write_text('{"id": "h1"}\n', encoding="utf-8")
    return folder


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until `condition` gives something true, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return found


def git_status(project: Path) -> str:
    """What Git says about the project."""
    command = ["git", "-C", str(project), "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_open__state__lies_in_the_project_and_ignores_itself(project: Path, data: Path) -> None:
    """`.beaker/local`, nothing else, unseen by Git."""
    with open_embedded(project, None, os.environ) as transport:
        upload_dataset(Api(transport, "local"), data, name="inv").unwrap()
    assert sorted(path.name for path in (project / ".beaker" / "local").iterdir()) == [
        ".gitignore", "beaker.db", "blobs", "runs",
    ]  # fmt: skip
    assert (project / ".beaker" / "local" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert git_status(project) == ""


def test_open__local_dir_variable__moves_the_state(project: Path, tmp_path: Path) -> None:
    """`BEAKER_LOCAL_DIR` moves it, an argument more so."""
    environ = {**os.environ, "BEAKER_LOCAL_DIR": str(tmp_path / "elsewhere")}
    open_embedded(project, None, environ).close()
    open_embedded(project, tmp_path / "third", environ).close()
    assert (tmp_path / "elsewhere" / "beaker.db").is_file()
    assert (tmp_path / "third" / "beaker.db").is_file()
    assert not (project / ".beaker" / "local").exists()


def test_open__state_deleted__is_forgotten_and_nothing_breaks(project: Path, data: Path) -> None:
    """Deleting the folder forgets everything; the next command starts afresh."""
    for _ in range(2):
        with open_embedded(project, None, os.environ) as transport:
            api = Api(transport, "local")
            assert api.call("list_datasets").unwrap()["total"] == 0
            assert api.call("list_optimization_runs").unwrap()["runs"] == []
            upload_dataset(api, data, name="inv").unwrap()
        shutil.rmtree(project / ".beaker" / "local")


READ_ONLY = """
import os, sys
from pathlib import Path
from beaker.core.problems import Refused
from beaker.service.embedded import open_embedded

project = Path(sys.argv[1])
os.system(f"mount --bind {project} {project} && mount -o remount,bind,ro {project}")
try:
    open_embedded(project, None, os.environ)
except Refused as refused:
    print(refused.problems[0].code, "|", refused.problems[0].message, "|", refused.problems[0].hint)
open_embedded(project, None, {**os.environ, "BEAKER_LOCAL_DIR": sys.argv[2]}).close()
print("moved")
"""


def namespaced(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    """Run a script where it may mount things; the test is skipped where nobody may."""
    if subprocess.run(["unshare", "-Urm", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("user namespaces are not allowed here")
    command = ["unshare", "-Urm", sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_open__read_only_project__names_the_way_out(project: Path, tmp_path: Path) -> None:
    """A read-only mount is refused with the variable that moves the state, and works with it."""
    done = namespaced(READ_ONLY, project, tmp_path / "state")
    said, moved = done.stdout.splitlines()
    assert said.startswith("BK740 | "), done.stderr
    assert "Read-only file system" in said
    assert "BEAKER_LOCAL_DIR" in said
    assert moved == "moved"
    assert not (project / ".beaker" / "local").exists()


def test_open__file_in_the_way__is_refused(project: Path) -> None:
    """What stands where the state should go is named, with the variable that moves it."""
    (project / ".beaker" / "local").write_text("", encoding="utf-8")
    with pytest.raises(Refused) as refused:
        open_embedded(project, None, os.environ)
    (problem,) = refused.value.problems
    assert (problem.code, "BEAKER_LOCAL_DIR" in problem.hint) == ("BK740", True)


def test_open__broken_store__is_refused(project: Path) -> None:
    """A store that is none is named, and left as it is."""
    (project / ".beaker" / "local").mkdir()
    (project / ".beaker" / "local" / "beaker.db").write_bytes(b"x" * 5000)
    with pytest.raises(Refused) as refused:
        open_embedded(project, None, os.environ)
    assert refused.value.problems[0].code == "BK474"


LOOK = """
import os, sys
from pathlib import Path
from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.service.embedded import open_embedded

def refused(result):
    failure = result.failure()
    for problem in failure if isinstance(failure, tuple) else [failure]:
        print(problem.code, "|", problem.message, "|", problem.hint)

project, data, state = map(Path, sys.argv[1:4])
if sys.argv[4] == "read-only":
    os.system(f"mount --bind {state} {state} && mount -o remount,bind,ro {state}")
else:
    os.system(f"cp -a {state} {state}.kept && mount -t tmpfs -o size=400k tmpfs {state}")
    os.system(f"cp -a {state}.kept/. {state}")
    os.system(f"dd if=/dev/zero of={state}/filler bs=4k status=none 2>/dev/null; : > {state}/filler2 2>/dev/null")
with open_embedded(project, state, os.environ) as transport:
    api = Api(transport, "local")
    print([run["status"] for run in api.call("list_optimization_runs").unwrap()["runs"]])
    (run,) = api.call("list_optimization_runs").unwrap()["runs"]
    print(api.call("get_optimization_run", run_id=run["id"]).unwrap()["id"] == run["id"])
    print([one["name"] for one in api.call("list_datasets").unwrap()["datasets"]])
    if transport.place.database.read_only is not None:
        assert all("waits" in one.problem.message for one in transport.resume_unlocked_runs())
    refused(api.call("cancel_optimization_run", run_id=run["id"]))
    refused(upload_dataset(api, data, name="other"))
"""


def queue(project: Path, data: Path, state: Path) -> EmbeddedTransport:
    """A place with a dataset and a run that waits for its worker."""
    transport = open_embedded(project, state, os.environ)
    transport.ports = attrs.evolve(transport.ports, workers=Waiting())
    api = Api(transport, "local")
    upload_dataset(api, data, name="inv").unwrap()
    api.call("create_optimization_run", config=CONFIG, dataset_ref="inv").unwrap()
    return transport


class Waiting:
    """Starts no worker."""

    def start(self, run_id: str, granted: Mapping[str, str]) -> None:
        pass

    def stop(self, run_id: str) -> None:
        pass


@pytest.mark.parametrize("log_stays", [False, True])
@pytest.mark.parametrize("disk", ["read-only", "full"])
def test_open__state_that_cannot_be_written__can_be_looked_at(
    project: Path, data: Path, tmp_path: Path, disk: str, log_stays: bool
) -> None:
    """Runs and datasets are listed and shown from a read-only or full disk, also when a killed process left a log
    behind; what would write says what is wrong, and nobody is told to move the state away."""
    state = tmp_path / "state"
    transport = queue(project, data, state)
    if log_stays:
        shutil.copytree(state, tmp_path / "left")
        assert (tmp_path / "left" / "beaker.db-wal").stat().st_size > 0
    transport.close()
    (data / "train.jsonl").write_text('{"id": "t2"}\n', encoding="utf-8")
    done = namespaced(LOOK, project, data, tmp_path / "left" if log_stays else state, Path(disk))
    lines = done.stdout.splitlines()
    assert lines[:3] == ["['QUEUED']", "True", "['inv']"], done.stdout + done.stderr
    assert len(lines) == 5, done.stdout + done.stderr
    for line in lines[3:]:
        assert ("Read-only file system" if disk == "read-only" else "full") in line
        assert "moving" not in line
        assert "BEAKER_LOCAL_DIR" in line or "free some space" in line


FULL = """
import os, sys
from pathlib import Path
from beaker.client.api import Api
from beaker.client.flows import upload_dataset
from beaker.service.embedded import open_embedded

project, data, state = map(Path, sys.argv[1:])
os.system(f"mount -t tmpfs -o size=400k tmpfs {state}")
with open_embedded(project, state / "local", os.environ) as transport:
    failed = upload_dataset(Api(transport, "local"), data, name="inv").failure()
    print(failed[0].code, "|", failed[0].message, "|", failed[0].hint)
    print(sorted(p.name for p in (state / "local" / "blobs").rglob("*") if p.is_file()))
"""


def test_upload__full_disk__says_so_and_leaves_nothing_half_written(project: Path, tmp_path: Path) -> None:
    """On a tiny file system the upload fails with the reason, and no part of a blob stays."""
    data, state = tmp_path / "data", tmp_path / "state"
    data.mkdir()
    state.mkdir()
    (data / "test.jsonl").write_text('{"id": "h1"}\n', encoding="utf-8")
    (data / "train.jsonl").write_text('{"id": "t1", "text": "' + "x" * 500_000 + '"}\n', encoding="utf-8")
    done = namespaced(FULL, project, data, state)
    said, files = done.stdout.splitlines()
    assert "No space left" in said, done.stderr
    assert "free some space" in said
    assert [len(name) for name in ast.literal_eval(files)] in ([], [64])  # test.jsonl may have arrived, whole


def test_start__worker__runs_detached_and_leaves_a_log(project: Path, data: Path) -> None:
    """The worker is a process of its own session; what it finds out ends up in the run."""
    with open_embedded(project, None, {**os.environ, "LAB": "1"}) as transport:
        api = Api(transport, "local")
        upload_dataset(api, data, name="inv").unwrap()
        run_id = api.call("create_optimization_run", config=CONFIG, dataset_ref="inv").unwrap()["id"]
        process = transport.workers.process(run_id)
        assert process is not None
        assert os.getsid(process.pid) == process.pid

        def ended() -> Any:
            over = process.poll() is not None
            run = api.call("get_optimization_run", run_id=run_id).unwrap()
            assert run["completed_at"] or not over, transport.place.log_path(run_id).read_text(encoding="utf-8")
            return run if run["completed_at"] else None

        run = wait_for(ended)  # the project has no such module
        assert (run["status"], run["finish_reason"], run["attempts"]) == ("FAILED", "error", 1)
        assert "beaker_integration" in run["error_message"]
        wait_for(lambda: not transport.workers.lives(run_id))
        assert transport.place.log_path(run_id).is_file()
        assert transport.resume_unlocked_runs() == ()


def test_start__foreground__stays_a_child(project: Path, data: Path) -> None:
    """In the foreground the worker shares this process's session, and its end can be waited for."""
    with open_embedded(project, None, os.environ, foreground=True) as transport:
        api = Api(transport, "local")
        upload_dataset(api, data, name="inv").unwrap()
        run_id = api.call("create_optimization_run", config=CONFIG, dataset_ref="inv").unwrap()["id"]
        process = transport.workers.process(run_id)
        assert process is not None
        assert os.getsid(process.pid) == os.getsid(0)
        assert process.wait(60) == 0
        assert api.call("get_optimization_run", run_id=run_id).unwrap()["status"] == "FAILED"


def test_worker__files_of_the_project__stand_in_for_nothing(project: Path, data: Path) -> None:
    """A `json.py` or `beaker/` in the project is not what the worker imports."""
    (project / "json.py").write_text("raise SystemExit('shadowed')\n", encoding="utf-8")
    (project / "beaker").mkdir()
    (project / "beaker" / "__init__.py").write_text("raise SystemExit('shadowed')\n", encoding="utf-8")
    with open_embedded(project, None, os.environ, foreground=True) as transport:
        api = Api(transport, "local")
        upload_dataset(api, data, name="inv").unwrap()
        previous = Path.cwd()
        os.chdir(project)
        try:
            run_id = api.call("create_optimization_run", config=CONFIG, dataset_ref="inv").unwrap()["id"]
        finally:
            os.chdir(previous)
        process = transport.workers.process(run_id)
        assert process is not None
        process.wait(60)
        assert "shadowed" not in transport.place.log_path(run_id).read_text(encoding="utf-8")


def queued(world: Any) -> str:
    """A run that waits and has no worker."""
    world.dataset()
    made: str = world.launch()["id"]
    return made


def test_resume__run_without_a_worker__gets_one(world: Any) -> None:
    """A QUEUED run whose worker is gone is started again; one that is held is left alone."""
    run_id = queued(world)
    world.place.run_dir(run_id).mkdir(parents=True)
    lock = acquire(world.place.lock_path(run_id))
    assert lock is not None
    assert world.transport.resume_unlocked_runs() == ()
    lock.release()
    (resumed,) = world.transport.resume_unlocked_runs()
    assert (resumed.run_id, resumed.problem) == (run_id, None)
    process = world.transport.workers.process(run_id)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_resume__granted_name_is_missing__is_said(world: Any) -> None:
    """A run that needs a name which this shell lacks is not started, and the name is said."""
    world.write(
        ".beaker/beaker.yaml",
        "integrations: {demo: {entrypoint: 'a:b', required_env: [DEMO_TOKEN, OTHER]}}\n",
    )
    world.commit()
    world.environ.update(DEMO_TOKEN="x", OTHER="y", KEY="z")
    world.dataset()
    config = {"harness_optimization": {"command": ["python"], "proposer_env": ["KEY"]}}
    run_id = world.launch(config=config)["id"]
    del world.environ["DEMO_TOKEN"], world.environ["KEY"]
    (left,) = world.transport.resume_unlocked_runs()
    assert left.problem is not None
    assert (left.problem.code, "DEMO_TOKEN, KEY," in left.problem.message) == ("BK741", True)
    assert world.transport.workers.process(run_id) is None


def test_granted__dotenv__supplies_declared_names_only(project: Path, data: Path) -> None:
    """`.beaker/.env` gives what `required_env` lists; the caller's environment comes first."""
    (project / ".beaker" / ".gitignore").write_text(".env\n", encoding="utf-8")
    (project / ".beaker" / ".env").write_text("TOKEN=file\nMINE=file\nUNDECLARED=file\n", encoding="utf-8")
    with open_embedded(project, None, {**os.environ, "MINE": "shell"}) as transport:
        granted = transport.ports.granted(["TOKEN", "MINE", "GONE"], "local")
        assert (granted.values, granted.missing) == ({"TOKEN": "file", "MINE": "shell"}, ("GONE",))
        assert transport.ports.unset(["MINE", "TOKEN"]) == ("TOKEN",)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from beaker.runtime.supervisor import Supervisor

async def main():
    supervisor = Supervisor(record=Path(sys.argv[1]))
    nothing = os.open(os.devnull, os.O_WRONLY)
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    supervisor.spawn(sleeper, cwd=Path("/"), env={}, stdout=nothing, stderr=nothing)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_cancel__killed_worker__what_it_left_is_ended(world: Any) -> None:
    """Cancelling a run whose worker was killed ends the groups it had recorded."""
    run_id = queued(world)
    world.place.run_dir(run_id).mkdir(parents=True)
    record = world.place.record_path(run_id)
    subprocess.run([sys.executable, "-c", KILLED, str(record)], check=False, timeout=60, capture_output=True)
    assert record.exists()
    world.transport.workers.stop(run_id)
    assert not record.exists()


LIGHT = """
import os, sys
from pathlib import Path
from beaker.client.api import Api
from beaker.service.embedded import open_embedded
with open_embedded(Path(sys.argv[1]), None, os.environ) as transport:
    api = Api(transport, "local")
    print(api.call("get_optimization_run", run_id="run_1").failure().status)
    print(api.call("list_optimization_runs").unwrap()["total"])
print([name for name in ("httpx", "asyncio", "starlette", "cattrs", "beaker.core.search") if name in sys.modules])
"""


def test_looking__at_a_run__imports_little(project: Path) -> None:
    """No network client, no event loop, no search for a look at a run."""
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(project)], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["404", "0", "[]"]


def test_open_embedded__link_out_of_the_repository__is_refused(tmp_path: Path) -> None:
    """A repository cannot have the state of its runs written elsewhere on this machine; who works here can."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".beaker").mkdir()
    (tmp_path / "repo" / ".beaker" / "local").symlink_to(outside)
    with pytest.raises(Refused, match="leads out of"):
        open_embedded(tmp_path / "repo", None, {}).__enter__()
    assert list(outside.iterdir()) == []
    with open_embedded(tmp_path / "repo", None, {"BEAKER_LOCAL_DIR": str(outside)}):
        assert (outside / "beaker.db").is_file()
