"""Setups in the test's own process: what they give, what is refused, and that they are always left."""

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker import Case, Integration
from beaker.testing import IntegrationFault, open_setup, run_setup_once, setup_runtime

Hooks = Callable[..., Integration]
ROWS = {"train": [{"id": "a", "x": 1}, {"id": "b", "x": 2}], "test": [{"id": "c", "x": 3}]}

OPENED = """
    told = []
    TARGETS = (repository(), documents(groups=["g"]))
    class Setup(Setup):
        @asynccontextmanager
        async def prepare_run(self, *, runtime):
            told.append([runtime.run_id, dict(runtime.config), dict(runtime.dataset.split_row_counts)])
            try:
                yield {
                    "repository": RepositoryRunSetupResult(),
                    "documents": DocumentRunSetupResult(
                        target_documents=[TargetDocument(source_id="1", group="g", name="n.md", content="seed")]
                    ),
                }
            finally:
                told.append("left")
    """


def told() -> list[Any]:
    found: list[Any] = sys.modules["app"].told
    return found


def test_setup_once__gives_cases_and_documents_and_is_left(hooks: Hooks) -> None:
    """Cases stand in the order of rows, TRAIN first; `config` and the counts reach the hooks."""
    prepared = run_setup_once(hooks(OPENED), ROWS, config={"k": 1})
    assert [case.id for case in prepared.cases] == ["a", "b", "c"]
    assert [case.id for case in prepared.test] == ["c"]
    assert prepared.row_counts == {"train": 2, "test": 1}
    assert [(one.group, one.content) for one in prepared.documents] == [("g", "seed")]
    assert told() == [["test", {"k": 1}, {"train": 2, "test": 1}], "left"]


def test_setup_once__folder_or_rows__are_the_same(hooks: Hooks, tmp_path: Path) -> None:
    """A dataset is a folder, rows by split, or TRAIN rows alone; `limit` bounds what is loaded."""
    (tmp_path / "train.jsonl").write_text('{"id": "a", "x": 1}\n{"id": "b", "x": 2}\n')
    (tmp_path / "test.jsonl").write_text('{"id": "c", "x": 3}\n')
    integration = hooks()
    assert run_setup_once(integration, tmp_path) == run_setup_once(integration, ROWS)
    assert run_setup_once(integration, ROWS["train"]).cases == run_setup_once(integration, str(tmp_path)).train
    assert [case.id for case in run_setup_once(integration, ROWS, limit=1).cases] == ["a", "c"]
    with pytest.raises(ValueError, match="train and test, not 'val'"):
        run_setup_once(integration, {"val": []})
    with pytest.raises(TypeError, match=r"train\[0\]\.x"):
        run_setup_once(integration, [{"x": {1}}])


def test_setup_once__rows_that_do_not_fit__are_all_told(hooks: Hooks) -> None:
    """Each fault of each row, with its line."""
    integration = hooks("""
        from dataclasses import dataclass
        @dataclass
        class Row:
            id: str
            x: int
        class Setup(Setup):
            row_model = Row
        """)
    with pytest.raises(IntegrationFault) as raised:
        run_setup_once(integration, [{"id": "a", "x": "no"}, {"x": 1}])
    assert [problem.code for problem in raised.value.problems] == ["BK240", "BK240"]
    assert "train.jsonl:1" in str(raised.value)
    assert "train.jsonl:2" in str(raised.value)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("yield 5", "BK338"),
        ("yield Case('same', 1)", "BK340"),
        ("runtime.case_files_dir('x'); yield Case(row['id'], 1)", "BK345"),
        ("case = Case(row['id'], [1]); case.input.append({1}); yield case", "BK341"),
    ],
)
def test_setup_once__rules_of_a_run__hold(hooks: Hooks, body: str, code: str) -> None:
    """What breaks a rule without raising is a fault with the code that smoke gives it."""
    integration = hooks(f"class Setup(Setup):\n    async def load_cases(self, row, *, runtime):\n        {body}\n")
    with pytest.raises(IntegrationFault) as raised:
        run_setup_once(integration, ROWS)
    assert raised.value.problems[0].code == code
    assert code in str(raised.value)


def test_setup_once__hook_that_raises__raises_the_same_and_is_left(hooks: Hooks) -> None:
    """The exception is the customer's own, with the row in its note; what fails while leaving is told as well."""
    integration = hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                try:
                    yield {"repository": RepositoryRunSetupResult()}
                finally:
                    raise OSError("left badly")
            async def load_cases(self, row, *, runtime):
                if row["id"] == "b":
                    raise KeyError("no such thing")
                yield Case(row["id"], 1)
        """)
    with pytest.raises(KeyError, match="no such thing") as raised:
        run_setup_once(integration, ROWS)
    notes = "\n".join(raised.value.__notes__)
    assert "BK337 load_cases for train.jsonl:2: KeyError" in notes
    assert "BK334 leaving prepare_run: OSError: left badly" in notes
    assert notes.count('raise OSError("left badly")') == 1
    with pytest.raises(IntegrationFault, match="left badly"):
        run_setup_once(integration, ROWS["test"])


def test_setup_once__case_files__stay_sealed(hooks: Hooks) -> None:
    """The files of cases are the captured ones, and are there when the setup is left."""
    integration = hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                folder = runtime.case_files_dir(row["id"])
                (folder / "raw").write_text(row["id"])
                yield Case(row["id"], 1, files=[CaseFile("a/b.txt", folder / "raw")])
        """)
    case = run_setup_once(integration, ROWS).train[1]
    (file,) = case.files
    assert (file.name, file.expected_size_bytes, file.path.read_text()) == ("a/b.txt", 1, "b")
    assert file.path.stat().st_mode & 0o222 == 0


def test_open_setup__stays_open_for_the_block(hooks: Hooks) -> None:
    """Its loop goes on meanwhile, also beside a loop of the test's own."""
    integration = hooks("""
        told = []
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                async def serve(reader, writer):
                    writer.write(b"hello"); writer.close()
                server = await asyncio.start_server(serve, "127.0.0.1", 0)
                told.append(server.sockets[0].getsockname()[1])
                async with server:
                    yield {"repository": RepositoryRunSetupResult()}
                told.append("left")
        """)

    async def ask() -> bytes:
        with open_setup(integration, ROWS) as prepared:
            assert len(prepared.cases) == 3
            reader, writer = await asyncio.open_connection("127.0.0.1", told()[0])
            answer = await reader.read()
            writer.close()
            return answer

    assert asyncio.run(ask()) == b"hello"
    assert told()[1:] == ["left"]
    assert "beaker-setup" not in {thread.name for thread in threading.enumerate()}


def test_open_setup__failing_block__is_left(hooks: Hooks) -> None:
    """What fails inside goes on, and the setup ends."""
    with pytest.raises(ZeroDivisionError), open_setup(hooks(OPENED), ROWS):
        1 / 0  # noqa: B018  # raises
    assert told()[-1] == "left"


@pytest.mark.parametrize(
    ("before", "after", "says"), [("1 / 0", "", "division"), ("", "raise OSError('left badly')", "left badly")]
)
def test_open_setup__that_fails__says_why(hooks: Hooks, before: str, after: str, says: str) -> None:
    """What fails before, or behind, the block is raised at the `with`."""
    integration = hooks(f"""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                {before}
                yield {{"repository": RepositoryRunSetupResult()}}
                {after}
        """)
    with pytest.raises((ZeroDivisionError, IntegrationFault), match=says), open_setup(integration, ROWS):
        pass


def test_open_setup__interrupted_while_it_opens__is_stopped(hooks: Hooks) -> None:
    """A setup that never comes to its yield is cancelled when the test is given up."""
    integration = hooks("""
        import signal, threading
        told = []
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                try:
                    await asyncio.sleep(600)
                finally:
                    told.append("left")
                yield
        """)
    with pytest.raises(KeyboardInterrupt), open_setup(integration, ROWS):
        pass
    assert told() == ["left"]


def test_setup_once__interrupted__is_left(hooks: Hooks) -> None:
    """An interrupt leaves what is open, and goes on as what it is."""
    integration = hooks("""
        import os, signal
        told = []
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                try:
                    yield {"repository": RepositoryRunSetupResult()}
                finally:
                    told.append("left")
            async def load_cases(self, row, *, runtime):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(600)
                yield
        """)
    with pytest.raises(KeyboardInterrupt):
        run_setup_once(integration, ROWS)
    assert told() == ["left"]


def test_setup_once__interrupt_that_is_swallowed__begins_nothing_further(hooks: Hooks) -> None:
    """A setup that takes the cancellation for its own is left all the same, and no case is loaded."""
    integration = hooks("""
        import os, signal
        told = []
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                os.kill(os.getpid(), signal.SIGINT)
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(600)
                yield {"repository": RepositoryRunSetupResult()}
                told.append("left")
            async def load_cases(self, row, *, runtime):
                told.append("loaded")
                yield Case(row["id"], 1)
        """)
    with pytest.raises(KeyboardInterrupt):
        run_setup_once(integration, ROWS)
    assert "loaded" not in told()


def test_setup_runtime__serves_direct_calls(hooks: Hooks) -> None:
    """Hooks can be called by hand: any id gets a folder of its own."""
    runtime = setup_runtime(config={"k": 1}, row_counts={"train": 4}, metadata={"m": 2})
    assert runtime.case_files_dir("a") == runtime.case_files_dir(" a ") != runtime.case_files_dir("b")
    assert (runtime.config["k"], runtime.dataset.split_row_counts) == (1, {"train": 4, "test": 0})

    async def load() -> list[Case]:
        setup = hooks().run_setup()
        return [case async for case in setup.load_cases({"id": "a", "x": 1}, runtime=runtime)]

    assert asyncio.run(load()) == [Case("a", 1, expected=1)]
