"""The setup process: rows, `prepare_run`, loaders, and the order in which everything is left again."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from beaker.core.cases import Case, case_fingerprint
from beaker.core.optimizer import Timeouts
from beaker.core.targets import DocumentTargets, RepositoryTargets
from beaker.runtime.workers import WorkerFailed

pytestmark = pytest.mark.processes

# Notes every step, so that a test sees what ran and in which order.
NOTING = """
def note(step):
    with Path("steps").open("a") as file:
        file.write(step + "\\n")

class Setup(RunSetup[dict]):
    row_model = dict
    def __init__(self):
        note("C")
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("P")
        try:
            yield {"repository": RepositoryRunSetupResult()}
        finally:
            note("p")
    async def load_cases(self, row, *, runtime):
        note("L")
        try:
            yield Case(id=row["id"], input=row["x"])
        finally:
            note("l")
"""


def steps(project):
    path = project.root / "steps"
    return path.read_text().split() if path.exists() else []


def prepared(project, hosted, **arguments):
    """Prepare and close; what was prepared."""

    async def work(supervisor):
        worker = await project.setup(supervisor)
        made = await project.prepare(worker, **arguments)
        await worker.close()
        return made

    return hosted(work)


def failure(project, hosted, **arguments):
    """The failure of preparing; the worker is closed afterwards."""

    async def work(supervisor):
        worker = await project.setup(supervisor)
        with pytest.raises(WorkerFailed) as caught:
            await project.prepare(worker, **arguments)
        await worker.close()
        return caught.value

    return hosted(work)


def test_start__good_integration__tells_what_it_declares(project, hosted):
    """Targets, whether `open_candidate` exists, and the interpreter."""
    project.hooks("TARGETS = [repository(('src',)), documents(groups=('kb',))]\n" + SEEDED)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await worker.close()
        await worker.close()
        return worker.loaded, worker.alive

    loaded, alive = hosted(work)
    assert loaded.targets == (RepositoryTargets(("src",)), DocumentTargets(("kb",)))
    assert not loaded.has_open_candidate
    assert "(/" in loaded.python
    assert not alive


SEEDED = """
class Setup(Setup):
    seeds = [dict(source_id="1", group="kb", name="a.md", content="A\\r\\né", version="7", editable=False)]
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        documents = DocumentRunSetupResult(target_documents=[TargetDocument(**seed) for seed in self.seeds])
        both = {"repository": RepositoryRunSetupResult(), "documents": documents}
        yield {key: both[key] for key in ("repository", "documents")[isinstance(TARGETS, DocumentTargets):]}
"""


def test_prepare__good_project__gives_cases_documents_and_counts(project, hosted):
    """Everything the search needs comes over, unchanged."""
    project.hooks("TARGETS = documents(groups=('kb',))\n" + SEEDED)
    made = prepared(project, hosted)
    assert made.cases["train"] == tuple(Case(f"train-{index}", index, index) for index in range(3))
    assert made.cases["test"] == tuple(Case(f"test-{index}", index, index) for index in range(2))
    assert made.row_counts == made.case_counts == {"train": 3, "test": 2}
    assert [(one.source_id, one.content, one.version, one.editable) for one in made.documents] == [
        ("1", "A\r\né", "7", False)
    ]
    assert made.fingerprint == case_fingerprint(made.cases)
    assert made.placeholders == ()


def test_prepare__runtime__carries_run_config_and_dataset(project, hosted):
    """`SetupRuntime` holds the run's id, `extra` as given, and the pinned dataset with its manifest's metadata."""
    (project.dataset / "manifest.json").write_text('{"metadata": {"origin": "é"}}', encoding="utf-8")
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                dataset = runtime.dataset
                yield Case(id=row["id"], input=[runtime.run_id, runtime.config, dataset.name, dataset.revision,
                                                dataset.split_row_counts, dataset.metadata])
    """)
    made = prepared(project, hosted, extra={"deep": [1, {"k": None}]})
    assert made.cases["train"][0].input == [
        "run-1", {"deep": [1, {"k": None}]}, "demo", "r1", {"train": 3, "test": 2}, {"origin": "é"},
    ]  # fmt: skip


def test_prepare__held_open__until_close(project, hosted):
    """Construct, enter, load train then test; the exit runs only at close. The process prints, nothing breaks."""
    project.hooks(NOTING)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await project.prepare(worker)
        before = steps(project)
        await worker.close()
        return before

    assert hosted(work) == ["C", "P", *["L", "l"] * 5]
    assert steps(project) == ["C", "P", *["L", "l"] * 5, "p"]


def test_prepare__entered_and_left__in_one_task(project, hosted):
    """Context managers that insist on one task, such as task groups, work."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                async with asyncio.TaskGroup() as group:
                    task = group.create_task(asyncio.sleep(1000))
                    yield {"repository": RepositoryRunSetupResult()}
                    task.cancel()
    """)
    assert prepared(project, hosted).case_counts == {"train": 3, "test": 2}


def test_check_rows__bad_rows_of_both_splits__are_all_told_before_setup(project, hosted):
    """Every fault of both files is told with file, line and field, and not even the setup class is constructed."""
    row = "from dataclasses import dataclass\n@dataclass\nclass Row:\n    id: str\n    x: int\n"
    project.hooks(row + NOTING.replace("row_model = dict", "row_model = Row"))
    project.rows(
        train=[{"id": "a", "x": 1}, {"id": "b", "x": "many"}, "", "{broken", {"id": 7}],
        test=["", "", {"x": 1}, "[1]", '{"id": "q", "id": "r", "x": 1}'],
    )
    found = failure(project, hosted).problems
    places = [problem.where.removeprefix(f"{project.dataset}/") for problem in found]
    train, test = [f"train.jsonl:{line}" for line in (2, 4, 5, 5)], [f"test.jsonl:{line}" for line in (3, 4, 5)]
    assert places == train + test
    assert "x" in found[0].message
    assert "id" in found[4].message
    assert all(problem.hint for problem in found)
    assert steps(project) == []


def test_check_rows__very_many_bad_rows__are_counted(project, hosted):
    """Up to 50 faults are told one by one, the rest is a number."""
    project.rows(train=["{"] * 70, test=["{"] * 30)
    found = failure(project, hosted).problems
    assert len(found) == 51
    assert "50 more faults; 100 lines are wrong" in found[-1].message


def test_check_rows__validator_that_raises_or_exits__is_that_rows_fault(project, hosted):
    """Customer code inside a row model is guarded like any other."""
    project.hooks("""
        from dataclasses import dataclass
        @dataclass
        class Row:
            id: str
            x: int
            def __post_init__(self):
                if self.x == 1:
                    raise RuntimeError("never one")
                if self.x == 2:
                    sys.exit(0)
        class Setup(Setup):
            row_model = Row
    """)
    found = failure(project, hosted).problems
    assert [problem.where.rpartition("/")[2] for problem in found] == ["train.jsonl:2", "train.jsonl:3", "test.jsonl:2"]
    assert "never one" in found[0].message
    assert "sys.exit(0)" in found[1].message


def test_check_rows__model_of_pydantic__is_read_in_json_mode(project, hosted):
    """A strict model reads dates that JSON writes as strings; its faults have line and field."""
    pytest.importorskip("pydantic")
    project.hooks("""
        import datetime
        from pydantic import BaseModel, ConfigDict
        class Row(BaseModel):
            model_config = ConfigDict(strict=True)
            id: str
            day: datetime.date
        class Setup(Setup):
            row_model = Row
    """)
    good = {"id": "a", "day": "2024-01-31"}
    project.rows(train=[good, {"id": 1, "day": "2024-01-32"}, {"id": "b"}], test=[good, '{"id": "a", "id": "b"}'])
    found = failure(project, hosted).problems
    places = [problem.where.removeprefix(f"{project.dataset}/") for problem in found]
    assert places == ["train.jsonl:2", "train.jsonl:2", "train.jsonl:3", "test.jsonl:2"]
    assert [problem.message.partition(":")[0] for problem in found[:3]] == ["id", "day", "day"]
    assert "stands twice" in found[3].message


def test_check_rows__good_rows__are_counted(project, hosted):
    """Blank lines do not count; a missing file is a fault with its name."""
    project.rows(train=[{"id": "a", "x": 1}, "", {"id": "b", "x": 2}], test=[])

    async def work(supervisor):
        worker = await project.setup(supervisor)
        counts = await worker.check_rows(project.dataset)
        (project.dataset / "test.jsonl").unlink()
        with pytest.raises(WorkerFailed) as caught:
            await project.prepare(worker)
        await worker.close()
        return counts, caught.value

    counts, failed = hosted(work)
    assert counts == {"train": 2, "test": 0}
    assert "test.jsonl" in failed.problem.where


def test_prepare__dataset_changed_after_the_check__is_refused(project, hosted):
    """Rows are read twice; a file that changes in between is noticed."""

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await worker.check_rows(project.dataset)
        project.rows(train=4)
        with pytest.raises(WorkerFailed) as caught:
            await project.prepare(worker)
        await worker.close()
        return caught.value

    failed = hosted(work)
    assert failed.problem.code == "BK242"


def failures(project, hosted, count):
    """The failures of `count` attempts in one process, which see their number as `runtime.config["n"]`."""
    project.timeouts = Timeouts()  # a machine under load may stand still for seconds, and no limit is the subject

    async def work(supervisor):
        worker = await project.setup(supervisor)
        caught = []
        for number in range(count):
            with pytest.raises(WorkerFailed) as one:
                await project.prepare(worker, extra={"n": number})
            caught.append(one.value)
        await worker.close()
        return caught

    return hosted(work)


PREPARING = {
    "raise ValueError('no database')": ("BK332", "ValueError: no database"),
    "sys.exit(0)": ("BK332", "sys.exit(0)"),
    "raise asyncio.CancelledError": ("BK332", "CancelledError"),
    "return None": ("BK333", "must yield a mapping"),
    "return [RepositoryRunSetupResult()]": ("BK333", "must yield a mapping"),
    "return {}": ("BK333", "exactly"),
    "return {'repository': None}": ("BK333", "RepositoryRunSetupResult"),
    "return {'repository': RepositoryRunSetupResult(), 'more': 1}": ("BK333", "exactly"),
}


def test_prepare_run__wrong__is_refused(project, hosted):
    """Whatever `prepare_run` does wrong is told with its own code, and the next attempt starts afresh."""
    functions = "".join(f"def prepare_{number}(): {body}\n" for number, body in enumerate(PREPARING))
    project.hooks(
        functions
        + """
class Setup(Setup):
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        yield globals()[f"prepare_{runtime.config['n']}"]()
"""
    )
    for failed, (body, (code, told)) in zip(failures(project, hosted, len(PREPARING)), PREPARING.items(), strict=True):
        assert (failed.kind, failed.problem.code) == ("raised", code), body
        assert told in failed.problem.message, body


@pytest.mark.parametrize(
    "returned, kind", [("make()", "coroutine"), ("open(__file__)", "TextIOWrapper"), ("generate()", "async_generator")]
)
def test_prepare_run__no_context_manager__is_refused(project, hosted, returned, kind):
    """A coroutine, a synchronous context manager and a bare generator are refused and their bodies never run."""
    project.hooks(f"""
        async def make():
            print("ran")
        async def generate():
            print("ran")
            yield
        class Setup(Setup):
            def prepare_run(self, *, runtime):
                return {returned}
    """)
    failed = failure(project, hosted)
    assert failed.problem.code == "BK331"
    assert kind in failed.problem.message
    assert "ran" not in failed.captured
    assert "never awaited" not in failed.captured


@pytest.mark.parametrize(
    "text, code, told",
    [
        ("def __init__(self): raise ValueError('no key')", "BK330", "constructing Setup: ValueError: no key"),
        ("def __init__(self): sys.exit(0)", "BK330", "sys.exit(0)"),
        ("def prepare_run(self, *, runtime): raise ValueError('x')", "BK332", "calling prepare_run: ValueError: x"),
    ],
)
def test_setup_class__raises__is_told(project, hosted, text, code, told):
    """Constructing the setup class and calling `prepare_run` are guarded."""
    project.hooks(f"class Setup(Setup):\n    {text}")
    failed = failure(project, hosted)
    assert failed.problem.code == code
    assert told in failed.problem.message
    assert failed.problem.traceback


def test_setup_class__os_exit__is_a_crash(project, hosted):
    """A setup that ends the process without a word is a crash, never a success."""
    project.hooks("class Setup(Setup):\n    def __init__(self): os._exit(0)")
    failed = failure(project, hosted)
    assert failed.kind == "crashed"
    assert "ended with exit status 0" in failed.problem.message


SEEDS = [
    ([{"group": "other", "name": "a.md"}], "BK333"),
    ([{"group": "kb", "name": "a.md"}, {"group": "kb", "name": "A.md", "source_id": "2"}], "BK604"),
    ([{"group": "kb", "name": "a"}, {"group": "kb", "name": "a/b", "source_id": "2"}], "BK605"),
    ([{"group": "kb", "name": "a"}, {"group": "kb", "name": "b"}], "BK606"),
    ([{"group": "kb", "name": "n" * 300}], "BK600"),
    ([{"group": "kb", "name": "a", "content": "x" * 1_000_001}], "BK602"),
]


def test_seed_documents__that_are_no_tree__are_refused(project, hosted):
    """The rules of document trees hold for seeds, inside the open context, so its teardown runs."""
    made = [[{"source_id": "1", "content": "c", **seed} for seed in seeds] for seeds, _ in SEEDS]
    project.hooks(f"TARGETS = documents(groups=('kb',))\nSEEDS = {made!r}\n{SEEDED}" + """
class Setup(Setup):
    def prepare_run(self, *, runtime):
        self.seeds = SEEDS[runtime.config["n"]]
        return super().prepare_run(runtime=runtime)
""")  # fmt: skip
    for failed, (_, code) in zip(failures(project, hosted, len(SEEDS)), SEEDS, strict=True):
        assert failed.problem.code == code
        assert failed.problem.stage == "prepare_run"


LOAD = """
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        {body}
"""


LOADING = {
    "raise ValueError('bad row')": ("BK337", "ValueError: bad row"),
    "raise RetryableCaseError": ("BK337", "RetryableCaseError"),
    "sys.exit(0)": ("BK337", "sys.exit(0)"),
    "return {'id': 1}": ("BK338", "must yield Case values, not dict"),
    "return Case(id=row['id'], input=1, files=[CaseFile('a', 'b')])": (
        "BK339",
        "the file 'a': there is nothing at its path",
    ),
    "return Case(id='same', input=1)": ("BK340", "'same' comes from train.jsonl:1 and train.jsonl:2"),
    "c = Case(id=row['id'], input=[]); c.input.append({1}); return c": ("BK341", "no JSON any more"),
    "runtime.case_files_dir('x' + row['id']); return Case(id=row['id'], input=1)": ("BK345", "xtrain-0"),
}


def test_load_cases__wrong__names_row_and_fault(project, hosted):
    """Each fault of a loader is told with its row, and `prepare_run` is left before the next attempt."""
    functions = "".join(f"def load_{number}(row, runtime): {body}\n" for number, body in enumerate(LOADING))
    load = "yield globals()[f\"load_{runtime.config['n']}\"](row, runtime)"
    project.hooks(functions + NOTING + LOAD.format(body=load))
    for failed, (body, (code, told)) in zip(failures(project, hosted, len(LOADING)), LOADING.items(), strict=True):
        assert failed.problem.code == code, body
        assert "train.jsonl:" in str(failed.problem), body
        assert failed.problem.hint, body
        assert told in failed.problem.message, body
    assert steps(project) == ["C", "P", "p"] * len(LOADING)


@pytest.mark.parametrize(
    "returned, told", [("[]", "list"), ("iter([])", "list_iterator"), ("Only()", "Only"), ("make()", "coroutine")]
)
def test_load_cases__no_asynchronous_iterator__is_refused(project, hosted, returned, told):
    """A list, a plain iterator, a coroutine and an object with only `__aiter__` are refused."""
    project.hooks(f"""
        class Only:
            def __aiter__(self): return self
        async def make(): print("ran")
        class Setup(Setup):
            def load_cases(self, row, *, runtime):
                return {returned}
    """)
    failed = failure(project, hosted)
    assert failed.problem.code == "BK336"
    assert told in failed.problem.message
    assert "never awaited" not in failed.captured


def test_load_cases__hand_written_iterator__works(project, hosted):
    """An object with `__aiter__` and `__anext__`, without `aclose`, is as good as a generator."""
    project.hooks("""
        class Once:
            def __init__(self, row): self.rows = [row]
            def __aiter__(self): return self
            async def __anext__(self):
                if not self.rows: raise StopAsyncIteration
                row = self.rows.pop()
                return Case(id=row["id"], input=1)
        class Setup(Setup):
            def load_cases(self, row, *, runtime): return Once(row)
    """)
    assert prepared(project, hosted).case_counts == {"train": 3, "test": 2}


@pytest.mark.parametrize(
    "train, test, told",
    [
        ([{"id": "a", "x": 1}, {"id": "a", "x": 2}], 1, "'a' comes from train.jsonl:1 and train.jsonl:2"),
        ([{"id": "a", "x": 1}], ["", {"id": " a ", "x": 1}], "'a' comes from train.jsonl:1 and test.jsonl:2"),
    ],
)
def test_load_cases__duplicate_ids__name_the_id_and_both_rows(project, hosted, train, test, told):
    """Ids are unique after trimming, over rows and splits, also where rows do not show them."""
    project.hooks("""
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"].strip(), input=row["x"], expected=row["x"])
""")
    project.rows(train=train, test=test)
    assert told in failure(project, hosted).problem.message


def test_load_cases__duplicate_in_one_row__names_it_twice(project, hosted):
    """One row that yields an id twice is told so."""
    project.hooks(LOAD.format(body="yield Case(id='a', input=1); yield Case(id='a', input=1)"))
    assert "'a' comes from train.jsonl:1 twice" in failure(project, hosted).problem.message


def test_load_cases__eight_at_a_time__in_row_order(project, hosted):
    """At most eight loaders run at once, begun in row order; cases come in row order, then in order of yield."""
    project.rows(train=30, test=1).hooks("""
        running, most = 0, 0
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                global running, most
                running += 1
                most = max(most, running)
                for part in range(2):
                    await asyncio.sleep(0.001 * (row["x"] * 7 % 5))
                    yield Case(id=f"{row['id']}/{part}", input=most)
                running -= 1
    """)
    cases = prepared(project, hosted).cases["train"]
    assert [case.id for case in cases] == [f"train-{row}/{part}" for row in range(30) for part in range(2)]
    assert max(case.input for case in cases) == 8


def test_load_cases__one_slow_row__does_not_let_others_run_away(project, hosted):
    """What finishes behind a slow row waits in bounded number."""
    project.rows(train=1000, test=1).hooks("""
        finished = 0
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                global finished
                if row["x"] == 0:
                    await asyncio.sleep(0.3)
                finished += 1
                yield Case(id=row["id"], input=finished)
    """)
    cases = prepared(project, hosted).cases["train"]
    assert 200 < cases[0].input <= 257
    assert len(cases) == 1000


def test_load_cases__first_failure__cancels_the_others_before_the_exit(project, hosted):
    """The first failure in time is named; siblings are cancelled and closed, and only then `prepare_run` is left."""
    project.rows(train=12).hooks(NOTING + LOAD.format(body="""
        note("L")
        try:
            if row["x"] == 5:
                await asyncio.sleep(0.1)
                raise ValueError("fifth")
            await asyncio.sleep(30)
            yield
        finally:
            note("l")
    """))  # fmt: skip
    failed = failure(project, hosted)
    assert "load_cases for train.jsonl:6: " in failed.problem.message
    assert "ValueError: fifth" in failed.problem.message
    assert len(failed.problems) == 1
    assert steps(project) == ["C", "P", *["L"] * 8, *["l"] * 8, "p"]


def test_load_cases__teardown_failures__are_told_after_the_first(project, hosted):
    """Closing a loader and leaving `prepare_run` may fail too: listed behind the cause, never instead of it."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                try:
                    yield {"repository": RepositoryRunSetupResult()}
                finally:
                    raise OSError("exit failed")
            async def load_cases(self, row, *, runtime):
                try:
                    if row["x"] == 1:
                        raise ValueError("the cause")
                    await asyncio.sleep(30)
                    yield
                finally:
                    if row["x"] == 0:
                        raise RuntimeError("close failed")
    """)
    messages = [problem.message for problem in failure(project, hosted).problems]
    assert [message.rpartition(": ")[2] for message in messages] == ["the cause", "close failed", "exit failed"]


def test_load_cases__refused_value__closes_the_generator(project, hosted):
    """A generator whose value was refused runs its `finally` before `prepare_run` is left."""
    project.hooks(NOTING + LOAD.format(body="""
        note("L")
        try:
            yield 7
        finally:
            await asyncio.sleep(0)
            note("l")
    """))  # fmt: skip
    assert failure(project, hosted).problem.code == "BK338"
    noted = steps(project)
    assert noted.count("L") == noted.count("l") > 0
    assert noted[-1] == "p"


def test_prepare_run__that_swallows_the_failure__changes_nothing(project, hosted):
    """A context manager that swallows exceptions cannot make the cause vanish."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                try:
                    yield {"repository": RepositoryRunSetupResult()}
                except ValueError as error:
                    print("swallowed", error)
            async def load_cases(self, row, *, runtime):
                raise ValueError("the cause")
                yield
    """)
    failed = failure(project, hosted)
    assert [problem.message for problem in failed.problems] == ["load_cases for train.jsonl:1: ValueError: the cause"]
    assert "swallowed the cause" in failed.captured


def test_loader_that_ignores_cancellation__is_left_behind(project, hosted):
    """The exit of `prepare_run` runs although a loader will not end; both are told."""
    project.timeouts = Timeouts(teardown=1.0)
    project.hooks(NOTING + LOAD.format(body="""
        if row["x"] == 1:
            raise ValueError("the cause")
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                pass
        yield
    """))  # fmt: skip
    failed = failure(project, hosted)
    assert "the cause" in failed.problem.message
    assert {problem.code for problem in failed.problems[1:]} == {"BK346"}
    assert steps(project)[-1] == "p"


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize("stage", ["prepare_run", "load_cases"])
def test_late_stage__times_out__and_what_is_open_is_left(project, hosted, stage, blocking):
    """A stage beyond its limit is stopped; code that can be interrupted still runs its teardown."""
    project.timeouts = Timeouts(prepare_run=0.5, load_cases=0.5, teardown=1.0)
    hang = "time.sleep(60)" if blocking else "await asyncio.sleep(60)"
    project.hooks(
        NOTING
        + f"""
class Setup(Setup):
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("P")
        try:
            if {stage == "prepare_run"}: {hang}
            yield {{"repository": RepositoryRunSetupResult()}}
        finally:
            note("p")
    async def load_cases(self, row, *, runtime):
        if {stage == "load_cases"}: {hang}
        yield Case(id=row["id"], input=1)
"""
    )
    failed = failure(project, hosted)
    assert failed.kind == "timed_out"
    assert failed.problem.message == f"{stage} took longer than its limit of 0.5 s"
    assert f"harness_optimization.timeouts.{stage} " in failed.problem.hint
    also = [problem.message for problem in failed.problems[1:]]
    opened = "had begun" if stage == "prepare_run" else "had opened"
    told = f"{stage} blocked the process for 1 s after it was told to stop: what prepare_run {opened} was not torn down"
    assert also == ([told] if blocking else [])
    assert steps(project) == (["C", "P"] if blocking else ["C", "P", "p"])


def test_close__late_exit__is_a_failure_and_bounded(project, hosted):
    """An exit that takes too long fails the close; the process is gone anyway."""
    project.timeouts = Timeouts(teardown=0.5)
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {"repository": RepositoryRunSetupResult()}
                await asyncio.sleep(60)
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await project.prepare(worker)
        with pytest.raises(WorkerFailed) as caught:
            await worker.close()
        return caught.value, worker.alive

    failed, alive = hosted(work)
    assert (failed.kind, alive) == ("timed_out", False)
    assert "teardown took longer" in failed.problem.message


def test_close__failing_exit__is_told(project, hosted):
    """What leaving `prepare_run` raises is the failure of the close."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {"repository": RepositoryRunSetupResult()}
                raise OSError("cannot disconnect")
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await project.prepare(worker)
        with pytest.raises(WorkerFailed, match="cannot disconnect") as caught:
            await worker.close()
        return caught.value

    assert hosted(work).problem.code == "BK334"


def test_cancelled_while_loading__still_leaves_the_setup(project, hosted):
    """Interrupting the host while cases load runs the teardown once, in reverse order, before the host goes on."""
    project.hooks(NOTING + LOAD.format(body="""
        note("L")
        try:
            await asyncio.sleep(60)
            yield
        finally:
            note("l")
    """))  # fmt: skip

    async def work(supervisor):
        worker = await project.setup(supervisor)
        task = asyncio.create_task(project.prepare(worker))
        while steps(project).count("L") < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not worker.alive
        await worker.close()

    hosted(work)
    assert steps(project) == ["C", "P", "L", "L", "L", "l", "l", "l", "p"]


def test_cancellation_swallowed_by_prepare_run__goes_no_further(project, hosted):
    """A `prepare_run` that goes on after being cancelled is left again before any case is loaded."""
    project.hooks(
        NOTING
        + """
class Setup(Setup):
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("P")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass
        yield {"repository": RepositoryRunSetupResult()}
        note("p")
"""
    )

    async def work(supervisor):
        worker = await project.setup(supervisor)
        task = asyncio.create_task(project.prepare(worker))
        while "P" not in steps(project):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    hosted(work)
    assert "L" not in steps(project)


def test_case_files_dir__belongs_to_one_loader(project, hosted):
    """A staging folder is the same for repeated calls, private, refused outside loaders and for other rows' ids."""
    project.hooks("""
        class Setup(Setup):
            def prepare_run(self, *, runtime):
                try:
                    runtime.case_files_dir("x")
                except RuntimeError as error:
                    print("refused:", error)
                return super().prepare_run(runtime=runtime)
            async def load_cases(self, row, *, runtime):
                if row["x"] == 0:
                    first = runtime.case_files_dir(row["id"])
                    again = await asyncio.to_thread(runtime.case_files_dir, f" {row['id']} ")
                    yield Case(id=row["id"], input=[str(first), first == again, oct(first.stat().st_mode)])
                else:
                    await asyncio.sleep(0.1)
                    try:
                        runtime.case_files_dir("train-0")
                    except ValueError as error:
                        print("taken:", error)
                    yield Case(id=row["id"], input=1)
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        made = await project.prepare(worker)
        first = made.cases["train"][0].input
        exists = Path(first[0]).exists()
        await worker.close()
        return first, exists, worker.output()

    (folder, same, mode), exists, output = hosted(work)
    assert folder.startswith(str(project.storage))
    assert (same, mode, exists) == (True, "0o40700", False)
    assert "refused: case_files_dir may only be called inside load_cases" in output
    assert "taken:" in output
    assert not project.storage.exists()


def test_storage__that_exists_already__is_refused(project, hosted):
    """Case storage is a new folder, never somebody else's."""
    project.storage.mkdir()
    assert failure(project, hosted).problem.code == "BK343"


def test_placeholders__in_hooks_cases_and_seeds__are_named(project, hosted):
    """The marker is found in hook sources, in keys and values of inputs and expected, and in seed documents."""
    project.hooks(
        "TARGETS = documents(groups=('kb',))\n"
        + SEEDED
        + """
Setup.seeds[0]["content"] = "TODO(" "beaker): write"
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        marker = "TODO" + "(beaker)"
        yield Case(id=row["id"], input=[{marker: 1}] if row["x"] == 1 else 2, expected="é")
async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})  # TODO(beaker): compare
"""
    )
    assert prepared(project, hosted).placeholders == (
        "score_case",
        "1 of 3 cases of train, the first is 'train-1'",
        "1 of 2 cases of test, the first is 'test-1'",
        "the seed document kb/a.md",
    )


def test_prepare__limits__bound_what_is_loaded_and_sent(project, hosted):
    """`row_limit` bounds rows per split, `keep_cases` the cases that come over; counts tell the whole."""
    made = prepared(project, hosted, keep_cases=1, row_limit=2)
    assert {split: len(cases) for split, cases in made.cases.items()} == {"train": 1, "test": 1}
    assert made.case_counts == {"train": 2, "test": 2}
    assert made.row_counts == {"train": 3, "test": 2}


def test_prepare__again_after_a_failure__is_a_new_attempt(project, hosted):
    """A failed attempt leaves the process usable: the next one constructs the setup class anew."""
    project.hooks(NOTING + LOAD.format(body="""
        if len(open("steps").read()) < 6:
            raise ValueError("first time")
        yield Case(id=row["id"], input=1)
    """))  # fmt: skip

    async def work(supervisor):
        worker = await project.setup(supervisor)
        with pytest.raises(WorkerFailed, match="first time"):
            await project.prepare(worker)
        made = await project.prepare(worker)
        await worker.close()
        return made

    assert hosted(work).case_counts == {"train": 3, "test": 2}
    assert steps(project) == ["C", "P", "p", "C", "P", "p"]


def test_many_large_cases__arrive_in_order(project, hosted):
    """Cases travel in batches whatever their size."""
    project.rows(train=40, test=1).hooks(LOAD.format(body="yield Case(id=row['id'], input='é' * 5_000 * row['x'])"))
    cases = prepared(project, hosted).cases["train"]
    assert [len(case.input) for case in cases] == [5_000 * index for index in range(40)]


def test_protocol_messages__hold_what_json_holds(project, hosted):
    """Large integers, floats and deep nesting come over as they are."""
    deep = json.loads("[" * 150 + "]" * 150)
    project.hooks(LOAD.format(body=f"yield Case(id=row['id'], input=[10**30, -0.0, 1e-300, True, None, {deep}])"))
    value = prepared(project, hosted).cases["train"][0].input
    assert value == [10**30, -0.0, 1e-300, True, None, deep]


def test_close__process_that_died_while_open__is_told(project, hosted):
    """A setup process that ends while it should hold the setup open did not leave it: that is a failure."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                import threading
                threading.Timer(0.3, os._exit, [3]).start()
                yield {"repository": RepositoryRunSetupResult()}
    """)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        await project.prepare(worker)
        while worker.alive:
            await asyncio.sleep(0.01)
        with pytest.raises(WorkerFailed, match="ended with exit status 3"):
            await worker.close()
        await worker.close()

    hosted(work)


def test_prepare_run__that_raises_the_cause_again__tells_it_once(project, hosted):
    """A hand-written context manager whose exit raises what it was given adds nothing."""
    project.hooks("""
        class Again:
            async def __aenter__(self): return {"repository": RepositoryRunSetupResult()}
            async def __aexit__(self, kind, error, trace):
                if error is not None: raise error
        class Setup(Setup):
            def prepare_run(self, *, runtime): return Again()
            async def load_cases(self, row, *, runtime):
                raise ValueError("the cause")
                yield
    """)
    assert len(failure(project, hosted).problems) == 1


@pytest.mark.parametrize("kind", ["file", "nothing", "dangling", "looping"])
def test_check_rows__what_is_no_dataset__is_told_once(project, hosted, kind):
    """A folder that is none has no files to miss; a link that leads nowhere is not said to be missing."""
    train = project.dataset / "train.jsonl"
    if kind in ("file", "nothing"):
        shutil.rmtree(project.dataset)
    else:
        train.unlink()
        train.symlink_to("nowhere" if kind == "dangling" else "train.jsonl")
    if kind == "file":
        project.dataset.write_text("{}")

    async def work(supervisor):
        worker = await project.setup(supervisor)
        try:
            with pytest.raises(WorkerFailed) as caught:
                await worker.check_rows(project.dataset)
        finally:
            await worker.close()
        return caught.value.problems

    (problem,) = hosted(work)
    told = {"file": "is not a folder", "nothing": "there is no such dataset folder"}
    assert problem.code == "BK210"
    assert problem.message == told.get(kind, "the split 'train' is a symbolic link that leads to no file")
    assert problem.where == str(train if kind in ("dangling", "looping") else project.dataset)


def test_check_rows__ids_that_rows_show__are_found_before_setup(project, hosted):
    """Where the code shows what makes the ids, rows with the same are faults of the dataset; nothing is set up."""
    project.hooks("""
class Setup(Setup):
    def __init__(self):
        Path("made").touch()
    async def load_cases(self, row, *, runtime):
        number = row["id"]
        yield Case(id=f"case-{number}", input=row["x"], expected=row["x"])
""")
    row = '{"id": "same", "x": 1}'
    project.rows(train=[row, '{"id": 1, "x": 1}', '{"id": true, "x": 1}'], test=['{"id": "1", "x": 1}', row, row])

    async def work(supervisor):
        worker = await project.setup(supervisor)
        with pytest.raises(WorkerFailed) as failed:
            await project.prepare(worker)
        await worker.close()
        return failed.value.problems

    problems = hosted(work)
    assert [(problem.code, problem.where) for problem in problems] == [
        ("BK222", f"{project.dataset}/test.jsonl:2"),
        ("BK222", f"{project.dataset}/test.jsonl:3"),
    ]
    assert all("row['id'] = 'same', as in train.jsonl:1" in problem.message for problem in problems)
    assert not (project.root / "made").exists()


def test_check_rows__bad_row__is_told_with_what_makes_its_id(project, hosted):
    """A fault names the row's id beside its line, where the code shows what that is made of."""
    project.hooks("""
import dataclasses
@dataclasses.dataclass
class Row:
    id: str
    x: int
class Setup(RunSetup[Row]):
    row_model = Row
    async def load_cases(self, row, *, runtime):
        yield Case(id=row.id, input=row.x, expected=row.x)
""").rows(train=[{"id": "a", "x": "no"}, {"x": []}])
    first, *others = failure(project, hosted).problems
    assert (first.code, first.where) == ("BK240", f"{project.dataset}/train.jsonl:1")
    assert first.message.endswith("(row.id = 'a')")
    assert not any("row.id" in problem.message for problem in others)


@pytest.mark.parametrize(
    "rows", [[{"id": ["a"], "x": 1}, {"id": ["a"], "x": 2}], [{"x": 1}, {"x": 1}], [{"id": 1, "x": 1}]]
)
def test_check_rows__rows_that_show_no_ids__are_not_judged(project, hosted, rows):
    """Values that are no plain ones, rows without the field and rows that differ are left to the loader."""
    project.hooks("""
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        yield Case(id=f"{row['id']}-{row['x']}", input=1, expected=1)
""").rows(train=rows, test=1)

    async def work(supervisor):
        worker = await project.setup(supervisor)
        counts = await worker.check_rows(project.dataset)
        await worker.close()
        return counts

    assert hosted(work) == {"train": len(rows), "test": 1}
