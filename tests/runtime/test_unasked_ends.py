"""Code that ends what Beaker runs in: whatever it did is named, and what was open is left."""

import asyncio

import pytest

from beaker.core.problems import Problem
from beaker.runtime.failures import WorkerFailed

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
    assert "teardown too" in problems[1].message
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


def test_worker_failed__without_a_problem__cannot_be_made():
    """Who catches it names the cause."""
    with pytest.raises(ValueError, match="needs a reason"):
        WorkerFailed("raised", [])
    assert WorkerFailed("raised", Problem("BK551", "x")).problem.message == "x"
