"""Failures that may be another case's doing: how they are told, and what becomes of the process."""

import asyncio
import concurrent.futures
import os

import pytest

from beaker.runtime.damage import shows_damage

pytestmark = pytest.mark.processes


def raised(do):
    try:
        do()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def closed_descriptor():
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    os.read(reading, 1)


def closed_file():
    with open(os.devnull) as file:
        pass
    file.read()


def detached_stream():
    with open(os.devnull) as file:
        file.detach().close()
        file.read()


def closed_loop():
    loop = asyncio.new_event_loop()
    loop.close()
    loop.call_soon(print)


def closed_executor():
    with concurrent.futures.ThreadPoolExecutor() as executor:
        pass
    executor.submit(print)


def closed_default_executor():
    async def work():
        await asyncio.get_running_loop().shutdown_default_executor()
        await asyncio.to_thread(print)

    asyncio.run(work())


def other_loop():
    async def wait(event):
        asyncio.get_running_loop().call_later(0.01, event.set)
        await event.wait()

    event = asyncio.Event()
    asyncio.run(wait(event))
    event.clear()
    asyncio.run(wait(event))


def wrapped():
    try:
        closed_descriptor()
    except OSError as error:
        raise ValueError("the service is gone") from error


def grouped():
    raise ExceptionGroup("several", [KeyError("x"), raised(closed_file)])


def circular():
    error = ValueError("x")
    error.__cause__ = KeyError("y")
    error.__cause__.__context__ = error
    raise error


SIGNS = [
    closed_descriptor, closed_file, detached_stream, closed_loop, closed_executor, closed_default_executor, other_loop,
    wrapped, grouped,
]  # fmt: skip


@pytest.mark.parametrize("do", SIGNS)
def test_shows_damage__broken_descriptors_streams_and_loops__do(do):
    """What the standard library raises about them is known by what it says."""
    assert shows_damage(raised(do))


class Rude(OSError):
    @property
    def errno(self):
        raise SystemExit(1)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no word"),
        KeyError("closed file"),
        FileNotFoundError(2, "x"),
        SystemExit(3),
        Rude(),
        raised(circular),
    ],
)
def test_shows_damage__any_other_failure__does_not(error):
    """A case that fails by itself is not tried again for it, whatever its exceptions are like."""
    assert not shows_damage(error)


@pytest.mark.parametrize(
    ("ruin", "meet"),
    [
        ("sys.stdout.close()", "print('hello')"),
        ("await asyncio.get_running_loop().shutdown_default_executor()", "await asyncio.to_thread(len, ())"),
        ("os.close(kept)", "os.fstat(kept)"),
    ],
)
def test_run__in_a_damaged_process__retires_it(project, hosted, ruin, meet):
    """The successor fails, and shows that the process is of no further use; one that fails by itself does not."""
    project.hooks(f"""
        kept = os.open(os.devnull, os.O_RDONLY)
        async def run_case(*, case_input, runtime):
            if case_input == "ruin":
                {ruin}
            elif case_input == "meet":
                {meet}
            elif case_input == "fail":
                raise ValueError("by itself")
            return CaseResult(1)
    """)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        told = []
        for case_input in ("meet", "fail", "ruin", "meet"):
            result = await worker.run("c", case_input, attempt=1)
            told.append((result.error and result.error.kind, worker.alive))
        await worker.close()
        return told

    assert hosted(work) == [(None, True), ("raised", True), (None, True), ("raised", False)]


def test_score__in_a_damaged_process__retires_it(project, hosted):
    """The scorer is no exception."""
    project.hooks("""
        async def score_case(*, case, result, case_files_dir):
            print("scoring")
            if case.input == "ruin":
                sys.stdout.close()
            return CaseScore(1.0, {})
    """)

    async def work(supervisor):
        from beaker.core.cases import Case
        from beaker.runtime.workers import RolloutResult

        scorer = await project.scorer(supervisor)
        told = []
        for number, case_input in enumerate(("fine", "ruin", "fine")):
            found = await scorer.score(Case(f"c{number}", case_input), RolloutResult(output=1))
            told.append((type(found).__name__, scorer.alive))
        await scorer.close()
        return told

    assert hosted(work) == [("CaseScore", True), ("CaseScore", True), ("CaseError", False)]


def test_run__with_a_module_of_another_checkout__fails_every_case_from_then_on(project, hosted, tmp_path):
    """Whose doing it is cannot be told inside the process, so nothing there counts any more."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "foreign.py").write_text("x = 1\n")
    project.hooks("""
        async def run_case(*, case_input, runtime):
            if case_input == "load":
                sys.path.insert(0, OTHER)
                import foreign
                await asyncio.sleep(0.2)
            return CaseResult(1)
    """)
    text = (project.root / "app.py").read_text()
    (project.root / "app.py").write_text(f"OTHER = {str(other)!r}\n{text}")
    project.code = type(project.code)(project.root, "app:integration", original=other)

    async def work(supervisor):
        worker = await project.rollout(supervisor)
        loading = asyncio.create_task(worker.run("c1", "load", attempt=1))
        await asyncio.sleep(0.1)
        bystander = await worker.run("c2", "else", attempt=1)
        culprit = await loading
        return bystander.error.kind, culprit.error.kind, worker.alive

    assert hosted(work) == ("import", "import", False)
