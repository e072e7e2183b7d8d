"""Code that ends what Beaker runs in: whatever it did is named, and what was open is left."""

import asyncio
import signal
import subprocess
import sys

import pytest

from beaker.core.evaluations import CaseError
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problem
from beaker.runtime.connection import late
from beaker.runtime.failures import WorkerFailed, case_problem

pytestmark = pytest.mark.processes

CANCEL = "for task in asyncio.all_tasks(): task.cancel()"
STOP = "asyncio.get_running_loop().stop()"
EXIT = "if row['id'] == 'train-0': asyncio.get_running_loop().call_soon(sys.exit, 7)"

SETUP = """
class Setup(Setup):
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        try:
            yield {{"repository": RepositoryRunSetupResult()}}
        finally:
            Path("left").touch()
            {teardown}
    async def load_cases(self, row, *, runtime):
        {ending}
        await asyncio.sleep({pause})
        yield Case(id=row["id"], input=row["x"])
"""


def setup(ending, *, teardown="pass", pause=1):
    return SETUP.format(ending=ending, teardown=teardown, pause=pause)


@pytest.mark.parametrize(
    ("ending", "told"), [(CANCEL, "CancelledError"), (STOP, "Event loop stopped"), (EXIT, "sys.exit(7)")]
)
def test_load_cases__ending_its_process_from_within__is_told(project, hosted, ending, told):
    """A setup that did not come about is no success, nor a failure without a reason; it is left all the same."""
    project.hooks(setup(ending, teardown="raise OSError('teardown too')"))

    async def work(supervisor):
        worker = await project.setup(supervisor)
        try:
            with pytest.raises(WorkerFailed) as caught:
                await project.prepare(worker)
        finally:
            await worker.close()
        return caught.value.problems

    problems = hosted(work)
    assert problems[0].message.startswith("the process was ended during load_cases: ")
    assert told in problems[0].message
    assert any("teardown too" in problem.message for problem in problems[1:])
    assert (project.root / "left").exists()


def test_open_setup__ended_from_within__is_told_when_it_is_closed(project, hosted):
    """Tasks of the customer's that go on behind the setup may end it, too."""
    later = "asyncio.get_running_loop().call_later(0.2, lambda: [task.cancel() for task in asyncio.all_tasks()])"
    project.hooks(setup(later, pause=0))

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await project.prepare(worker)
        while worker.alive:
            await asyncio.sleep(0.01)
        with pytest.raises(WorkerFailed) as caught:
            await worker.close()
        return caught.value.problems

    problems = hosted(work)
    assert "CancelledError" in problems[0].message
    assert (project.root / "left").exists()


@pytest.mark.parametrize("pause", ["await asyncio.sleep(60)", "time.sleep(60)"])
def test_interrupted_setup__tells_what_was_not_left(project, hosted, pause):
    """Who interrupts hears of a teardown that raised, and of one that never began because the code blocks."""
    project.timeouts = Timeouts(teardown=1.0)
    project.hooks(setup(f"Path('loading').touch(); {pause}", teardown="raise OSError('teardown too')"))

    async def work(supervisor):
        worker = await project.setup(supervisor)
        task = asyncio.create_task(project.prepare(worker))
        while not (project.root / "loading").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return worker.interrupted

    (problem,) = hosted(work)
    if "time" in pause:
        assert problem.message.startswith("load_cases blocked the process for 1 s after it was told to stop")
    else:
        assert "teardown too" in problem.message


@pytest.mark.parametrize("pause", ["await asyncio.sleep(60)", "time.sleep(60)"])
def test_interrupted_smoke__lists_what_was_not_left(project, tmp_path, wait_for, pause):
    """On standard error, beside the exit code of the signal; nothing stays."""
    project.hooks(setup(f"Path('loading').touch(); {pause}", teardown="raise OSError('teardown too')"))
    (project.root / ".beaker").mkdir()
    (project.root / ".beaker" / "beaker.yaml").write_text(
        "integrations:\n  app:\n    entrypoint: app:integration\nconfig_defaults:\n  local_dataset_path: ../dataset\n"
        "  harness_optimization: {command: ['true'], timeouts: {teardown: 1}}\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = subprocess.Popen(
        [sys.executable, "-m", "beaker.cli", "run", "smoke"],
        cwd=project.root, env={**project.env, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_for((project.root / "loading").exists, 60.0)
        command.send_signal(signal.SIGHUP)
        _, err = command.communicate(timeout=60)
    finally:
        command.kill()
        command.wait()
    assert command.returncode == 129
    assert ("load_cases blocked the process" if "time" in pause else "teardown too") in err
    assert list(temporary.iterdir()) == []


def test_worker_failed__without_a_problem__cannot_be_made():
    """Who catches it names the cause."""
    with pytest.raises(ValueError, match="needs a reason"):
        WorkerFailed("raised", [])
    assert WorkerFailed("raised", Problem("BK551", "x")).problem.message == "x"


@pytest.mark.parametrize("stage", ["open_candidate", "run_case", "score_case"])
def test_case_problem__late_stage__names_its_limit(tmp_path, stage):
    """The setting that would give it longer, as it is written, whatever kind of error it became."""
    kinds = {"open_candidate": "open_candidate", "run_case": "timed_out", "score_case": "scorer"}
    error = CaseError(kinds[stage], late(stage, 2.0).message)
    problem = case_problem("score_case" if stage == "score_case" else "run_case", error, tmp_path)
    assert problem.hint == f"raise harness_optimization.timeouts.{stage} (seconds), or see what it waits for"


def test_late__checking_rows__has_the_limit_of_loading_cases():
    """There is no setting of its own for it."""
    assert "harness_optimization.timeouts.load_cases " in late("check_rows", 2.0).hint
    assert "harness_optimization.timeouts.import " in late("import_", 2.0).hint
