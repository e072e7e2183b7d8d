"""Smoke: no false green, nothing executed unless asked for, everything left again in reverse order."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile

import pytest

from beaker.core.config_entry import IntegrationEntry
from beaker.core.optimizer import Timeouts
from beaker.core.problems import Problem
from beaker.files.git import commit_all, init_repository
from beaker.runtime import processes
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.failures import StageProblem
from beaker.runtime.launchable import timeouts_of
from beaker.runtime.smoke import smoke
from beaker.runtime.smoke_values import SmokeRequest

pytestmark = pytest.mark.processes

DOCUMENTS = """
TARGETS = documents(groups=("kb", "empty"))
class Setup(Setup):
    @asynccontextmanager
    async def prepare_run(self, *, runtime):
        note("P")
        seed = TargetDocument(source_id="1", group="kb", name="deep/a.md", content="A")
        yield {"documents": DocumentRunSetupResult(target_documents=[seed])}
        note("p")
    async def load_cases(self, row, *, runtime):
        note("L")
        yield Case(id=row["id"], input=row["x"], expected=row["x"])
@asynccontextmanager
async def open_candidate(*, targets_dir, scratch_dir):
    kinds = sorted(path.relative_to(targets_dir).as_posix() for path in targets_dir.rglob("*"))
    note("O:" + ",".join(kinds))
    (scratch_dir / "file").write_text("x")
    (scratch_dir / "locked").mkdir()
    (scratch_dir / "locked" / "file").write_text("x")
    (scratch_dir / "locked").chmod(0o500)
    yield 1
    note("o")
def note(step):
    with Path("steps").open("a") as file:
        file.write(step + "\\n")
note("I")
"""

PROPOSER = {"harness_optimization": {"command": ["true"]}}
ENTRY = {"id": "app", "entrypoint": "app:integration"}


@pytest.fixture
def try_out(project, tmp_path, monkeypatch):
    """Runs smoke on the project; (outcome, reports). No folder stays in the temporary directory."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def run(entry=None, **options):
        reports = []
        request = SmokeRequest(
            **{
                "code": project.code,
                "entry": IntegrationEntry(**{**ENTRY, **(entry or {})}),
                "config": PROPOSER,
                "dataset_dir": project.dataset,
                "env": project.env,
                "timeouts": project.timeouts,
                **options,
            }
        )
        outcome = asyncio.run(smoke(request, reports.append))
        assert list(temporary.iterdir()) == []
        assert tuple(reports) == outcome.stages
        return outcome, reports

    return run


def steps(project):
    return (project.root / "steps").read_text().split()


STAGES = ["config", "environment", "integration", "dataset", "setup", "sample", "runner and scorer"]


def test_good_project__passes_every_stage(project, try_out):
    """A project that is in order is INTEGRATED; hooks ran in their order and neither runner nor scorer did."""
    project.hooks(DOCUMENTS)
    outcome, reports = try_out()
    assert outcome.passed
    assert [report.stage for report in reports] == STAGES
    assert all(report.passed for report in reports)
    assert (outcome.readiness, outcome.reasons, outcome.warnings) == ("INTEGRATED", (), ())
    assert steps(project) == [
        "I", "P", *["L"] * 5, "I", "O:empty,kb,kb/deep,kb/deep/a.md", "o", "p",
    ]  # fmt: skip
    details = {report.stage: report.detail for report in reports}
    assert details["integration"] == "app:integration, documents empty, kb"
    assert details["dataset"] == "3 train rows, 2 test rows"
    assert details["setup"] == "3 train cases, 2 test cases, 1 seed document"
    assert details["sample"] == "'train-0' of train"
    assert details["runner and scorer"] == "validated, not executed"
    assert sys.version.split()[0] in details["environment"]


def test_run_one__executes_and_scores_one_case(project, try_out):
    """With `run_one` the sample of the chosen split is run with the seeds and scored, in processes of their own."""
    project.hooks(DOCUMENTS + """
async def run_case(*, case_input, runtime):
    print("running", case_input)
    return CaseResult((runtime.targets_dir / "kb" / "deep" / "a.md").read_text() + str(case_input))
async def score_case(*, case, result, case_files_dir):
    return CaseScore(0.75 if result.output == f"A{case.expected}" else 0.0, {"f": 0.5})
""")  # fmt: skip
    outcome, reports = try_out(run_one=True, split="test")
    assert outcome.passed
    assert outcome.tried[0].case.id == "test-0"
    assert outcome.tried[0].result.output == "A0"
    assert outcome.tried[0].score.objective == 0.75
    assert reports[-1].detail == "one case executed and scored: objective 0.75"


@pytest.mark.e2e
@pytest.mark.parametrize("where", ["before the yield", "after the yield"])
def test_open_candidate__that_changes_the_documents__fails_where_cases_would_see_it(project, try_out, where):
    """What it was given is what the candidate is: read-only, and looked at again once it was entered."""
    edit = "(targets_dir / 'kb' / 'deep' / 'a.md').chmod(0o644)\n    (targets_dir / 'kb/deep/a.md').write_text('B')"
    hook = DOCUMENTS.partition("@asynccontextmanager\nasync def open")[0] + "import os\n"
    body = ("    yield 1\n    " + edit) if where == "after the yield" else ("    " + edit + "\n    yield 1")
    project.hooks(
        f"{hook}@asynccontextmanager\nasync def open_candidate(*, targets_dir, scratch_dir):\n{body}\n"
        "def note(step): pass\n"
    )
    outcome, reports = try_out()
    assert outcome.passed is (where == "after the yield")
    if not outcome.passed:
        assert reports[-1].stage == "setup"
        assert reports[-1].problems[0].message == (
            "open_candidate changed the documents of the candidate: kb/deep/a.md was changed"
        )


@pytest.mark.e2e
@pytest.mark.parametrize(
    "text, stage, told",
    [
        ("sys.exit(0)", "integration", "sys.exit(0)"),
        ("os._exit(0)", "integration", "ended with exit status 0"),
        ("class Setup(Setup):\n    def __init__(self): os._exit(0)", "setup", "ended with exit status 0"),
        ("class Setup(Setup):\n    def __init__(self): raise OSError('x')", "setup", "OSError: x"),
        ("class Setup(Setup):\n    async def load_cases(self, row, *, runtime):\n        sys.exit(0)\n        yield",
         "setup", "sys.exit(0)"),
        ("class Setup(Setup):\n    async def load_cases(self, row, *, runtime):\n        if False: yield",
         "setup", "the split train has rows but gives no case"),
        ("class Setup(Setup):\n    async def load_cases(self, row, *, runtime):\n"
         "        if 'train' in row['id']: yield Case(id=row['id'], input=1)",
         "setup", "the split test has rows but gives no case"),
        ("@asynccontextmanager\nasync def open_candidate(*, targets_dir, scratch_dir):\n    os._exit(0)\n    yield",
         "setup", "ended with exit status 0"),
        ("@asynccontextmanager\nasync def open_candidate(*, targets_dir, scratch_dir):\n"
         "    yield\n    raise OSError('x')", "setup", "leaving open_candidate: OSError: x"),
        ("def open_candidate(*, targets_dir, scratch_dir):\n    return 7", "setup", "context manager, not int"),
        ("import not_there", "integration", "No module named 'not_there'"),
    ],
)  # fmt: skip
def test_customer_code_that_fails__fails_its_stage(project, try_out, text, stage, told):
    """Whatever customer code does, the stage it happened in fails, and nothing green follows."""
    project.hooks(text)
    outcome, reports = try_out()
    assert not outcome.passed
    assert [report.passed for report in reports] == [True] * (len(reports) - 1) + [False]
    assert reports[-1].stage == stage
    assert any(told in problem.message for problem in reports[-1].problems)


@pytest.mark.e2e
@pytest.mark.parametrize(
    "text, told",
    [
        ("async def run_case(*, case_input, runtime):\n    raise ValueError('x')", "ValueError: x"),
        ("async def run_case(*, case_input, runtime):\n    os._exit(0)", "ended with exit status 0"),
        ("async def score_case(*, case, result, case_files_dir):\n    raise ValueError('y')", "ValueError: y"),
        ("async def score_case(*, case, result, case_files_dir):\n    return 1", "must return a CaseScore"),
    ],
)
def test_run_one__failing__fails_runner_and_scorer(project, try_out, text, told):
    """A case that cannot be run or scored fails the last stage, although the setup was fine."""
    project.hooks(text)
    outcome, reports = try_out(run_one=True)
    assert not outcome.passed
    assert reports[-1].stage == "runner and scorer"
    assert told in reports[-1].problems[0].message


def test_bad_rows__are_all_told(project, try_out):
    """Faults of both splits arrive together, with line and field, before any setup."""
    project.rows(train=["{", {"id": "a", "x": 1}], test=["[]"])
    outcome, reports = try_out()
    assert reports[-1].stage == "dataset"
    assert [problem.where.rpartition("/")[2] for problem in reports[-1].problems] == ["train.jsonl:1", "test.jsonl:1"]
    assert outcome.readiness is None


@pytest.mark.parametrize("split", ["train", "test"])
def test_empty_split__fails(project, try_out, split):
    """A split without rows is what a launch would refuse, whichever it is."""
    project.rows(**{split: []})
    _, reports = try_out()
    assert reports[-1].stage == "dataset"
    assert f"the split {split} has no rows" in reports[-1].problems[0].message


def test_missing_dataset__fails(project, try_out, tmp_path):
    """A folder that is not there names both files."""
    _, reports = try_out(dataset_dir=tmp_path / "nowhere")
    assert reports[-1].stage == "dataset"
    assert len(reports[-1].problems) >= 1


def test_declaration_unlike_the_integration__fails_before_the_dataset(project, try_out):
    """Targets in the configuration that the Integration does not have are refused, showing both."""
    declared = {"kind": "documents", "groups": ["other"]}
    _, reports = try_out(entry={"targets": declared})
    assert reports[-1].stage == "integration"
    assert "other" in reports[-1].problems[0].message
    outcome, _ = try_out(entry={"targets": {"kind": "repository"}})
    assert outcome.passed


def test_problems_of_the_entry__fail_the_config_stage(project, try_out):
    """What is wrong in the configuration is told before any customer code runs; unknown launch keys too."""
    project.hooks("Path('ran').touch()")
    problem = Problem("BK120", "bad name", "beaker.yaml:4")
    outcome, reports = try_out(entry={"problems": (problem,)}, config={"modle": 1, "extra": [1]})
    assert [report.stage for report in reports] == ["config"]
    assert [found.where for found in reports[0].problems] == ["beaker.yaml:4", "config.modle", "config.extra"]
    assert not (project.root / "ran").exists()
    assert not outcome.passed


def test_unset_environment__warns_and_under_local_fails(project, try_out):
    """Names of `required_env` that are unset here may be set elsewhere, but not for a run on this machine."""
    outcome, _ = try_out(missing_env=("API_TOKEN",), strict=True)
    assert outcome.passed
    assert [warning.where for warning in outcome.warnings] == ["API_TOKEN"]
    outcome, reports = try_out(missing_env=("API_TOKEN",), local=True)
    assert [report.stage for report in reports] == ["config"]
    assert [problem.where for problem in reports[0].problems] == ["API_TOKEN"]


def test_timeouts__come_from_the_configuration():
    """The limits of a run hold for smoke; wrong ones give the defaults, since smoke says elsewhere what is wrong."""
    assert timeouts_of({"harness_optimization": {"timeouts": {"run_case": 5}}}).run_case == 5
    assert timeouts_of({"harnessOptimization": {"timeouts": {"run_case": 5}}}).run_case == 5
    assert timeouts_of({"harness_optimization": {"timeouts": {"run_case": -5}}}) == Timeouts()
    assert timeouts_of({}) == Timeouts()


def test_placeholders__make_a_scaffold(project, try_out):
    """A marker leaves smoke green as SCAFFOLD, and red under `strict`, with every stage passed."""
    project.hooks("async def run_case(*, case_input, runtime):\n    return CaseResult(1)  # TODO(beaker): call it")
    outcome, reports = try_out()
    assert (outcome.passed, outcome.readiness, outcome.reasons) == (True, "SCAFFOLD", ("run_case",))
    outcome, reports = try_out(strict=True)
    assert not outcome.passed
    assert all(report.passed for report in reports)


@pytest.mark.parametrize("body", ["...", "'''Later.'''; raise NotImplementedError('later')"])
def test_bodies_that_only_stand_for_one__make_a_scaffold(project, try_out, body):
    """A hook that is `...` or only raises NotImplementedError is a placeholder, without a marker too."""
    project.hooks(f"async def run_case(*, case_input, runtime):\n    {body}")
    outcome, _ = try_out(strict=True)
    assert (outcome.passed, outcome.reasons) == (False, ("run_case",))


def test_placeholders__in_ids_metadata_and_files__make_a_scaffold(project, try_out):
    """A marker in what a case is called, in its metadata or in a file of it is found, wherever a file holds it."""
    text = """
class Setup(Setup):
    async def load_cases(self, row, *, runtime):
        case_id, metadata, files = row["id"], {}, []
        if WHERE == "id" and row["id"] == "test-1":
            case_id += " TODO(" "beaker)"
        elif WHERE == "metadata" and row["id"] == "test-1":
            metadata = {"a": {"TODO(" "beaker)": 1}}
        elif WHERE == "file" and row["id"] == "test-1":
            path = runtime.case_files_dir(case_id) / "f.bin"
            path.write_bytes(b"x" * ((1 << 20) - 3) + b"TODO(" b"beaker): fill in")
            files = [CaseFile(path=path, name="f.bin")]
        yield Case(id=case_id, input=1, expected=1, metadata=metadata, files=files)
"""
    for where, named in ("id", "test-1 TODO(beaker)"), ("metadata", "test-1"), ("file", "test-1"):
        project.hooks(f"WHERE = {where!r}\n{text}")
        outcome, _ = try_out(strict=True)
        assert outcome.reasons == (f"1 of 2 cases of test, the first is {named!r}",)
        assert not outcome.passed


def test_case_ids__are_the_samples_in_their_order(project, try_out):
    """Cases that are asked for stand in the place of the first one, and all of them are run and scored."""
    outcome, reports = try_out(case_ids=("test-1", "train-2", "test-1"), run_one=True)
    assert outcome.passed
    assert [(one.split, one.case.id, one.score.objective) for one in outcome.tried] == [
        ("test", "test-1", 1.0),
        ("train", "train-2", 1.0),
    ]
    assert outcome.case_counts == {"train": 3, "test": 2}
    assert reports[-2].detail == "'test-1' of test, 'train-2' of train"
    assert reports[-1].detail == "2 cases executed and scored: objective 1, 1"


def test_case_ids__that_there_are_not__fail_with_near_ones(project, try_out):
    """An id that no case has is refused once all are loaded, and the setup is left."""
    outcome, reports = try_out(case_ids=("test-1", "trian-2"))
    (problem,) = reports[-1].problems
    assert (problem.code, problem.where) == ("BK352", "--case")
    assert "did you mean 'train-2'" in problem.hint
    assert (reports[-1].stage, outcome.tried) == ("setup", ())


def test_framework__that_is_not_recorded__is_warned_of(project, try_out):
    """Code that uses a known framework and records nothing passes with a warning, also under strict."""
    (project.root / "model.py").write_text("import litellm\ndef ask():\n    return litellm.completion()\n")
    outcome, _ = try_out(strict=True)
    assert outcome.passed
    assert [(warning.code, warning.where) for warning in outcome.warnings] == [("BK353", "model.py:3")]
    (project.root / "model.py").write_text("import litellm\ndef ask(trace):\n    trace.model_call()\n")
    assert try_out()[0].warnings == ()


def test_limit__bounds_loading_not_validation(project, try_out):
    """Fewer rows become cases, yet a bad row beyond the limit is found."""
    outcome, _ = try_out(limit=1)
    assert outcome.case_counts == {"train": 1, "test": 1}
    project.rows(train=[{"id": "a", "x": 1}, "{"])
    outcome, _ = try_out(limit=1)
    assert not outcome.passed


def test_output_and_secrets__reach_the_report_redacted(project, try_out):
    """What hooks print comes with the stage they ran in, without the values of secrets."""
    project.hooks("""
        print("importing hunter2!")
        class Setup(Setup):
            def __init__(self): raise ValueError("hunter2!")
    """)
    _, reports = try_out(redact=lambda text: text.replace("hunter2!", "[redacted]"))
    assert reports[2].captured == "importing [redacted]\n"
    problem = reports[-1].problems[0]
    assert isinstance(problem, StageProblem)
    assert "[redacted]" in problem.message
    assert "hunter2!" not in problem.message + problem.traceback


def test_teardown_failures__follow_the_first(project, try_out):
    """The failure that came first is named; those of `open_candidate` and `prepare_run` while leaving follow it."""
    project.hooks("""
        class Setup(Setup):
            @asynccontextmanager
            async def prepare_run(self, *, runtime):
                yield {"repository": RepositoryRunSetupResult()}
                raise OSError("third")
        @asynccontextmanager
        async def open_candidate(*, targets_dir, scratch_dir):
            yield
            raise OSError("second")
        async def run_case(*, case_input, runtime):
            raise ValueError("first")
    """)
    _, reports = try_out(run_one=True)
    messages = [problem.message.rpartition(": ")[2] for problem in reports[-1].problems]
    assert messages == ["first", "second", "third"]
    _, reports = try_out()
    messages = [problem.message.rpartition(": ")[2] for problem in reports[-1].problems]
    assert messages == ["second", "third"]


def test_judge__reaches_only_the_scorer(project, try_out):
    """The configured judge is in the scorer's environment and in no other."""
    project.hooks("""
        async def run_case(*, case_input, runtime):
            return CaseResult(os.environ.get("BEAKER_SCORER_MODEL"))
        async def score_case(*, case, result, case_files_dir):
            seen = [result.output, os.environ.get("BEAKER_SCORER_MODEL")]
            return CaseScore(float(seen == [None, "openai:judge"]), {})
    """)
    outcome, _ = try_out(run_one=True, entry={"scorer_model": "openai:judge"})
    assert outcome.tried[0].score.objective == 1.0


INTERRUPTED = """
import asyncio, signal, sys
from pathlib import Path
from beaker.core.config_entry import IntegrationEntry
from beaker.runtime.code_root import CodeRoot
from beaker.runtime.smoke import smoke
from beaker.runtime.smoke_values import SmokeRequest

async def main():
    task = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    root = Path(sys.argv[1])
    await smoke(SmokeRequest(code=CodeRoot(root / "project", "app:integration"), config={},
                             entry=IntegrationEntry(id="app", entrypoint="app:integration"),
                             dataset_dir=root / "dataset", env={"PATH": "/usr/bin:/bin"}), print)

try:
    asyncio.run(main())
except asyncio.CancelledError:
    sys.exit(143)
"""


def test_interrupted__teardown_runs_and_nothing_stays(project, tmp_path, wait_for):
    """SIGTERM while cases load: loaders, then `prepare_run`, are left once; no process and no folder stays."""
    project.hooks("""
        def note(step):
            with Path("steps").open("a") as file:
                file.write(f"{step} {os.getpid()}\\n")
        class Setup(Setup):
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
                    await asyncio.sleep(60)
                    yield
                finally:
                    note("l")
    """)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    host = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
    )
    try:
        path = project.root / "steps"
        wait_for(lambda: path.exists() and path.read_text().count("L") == 3, 40.0)
        host.send_signal(signal.SIGTERM)
        assert host.wait(30) == 143
    finally:
        host.kill()
        host.wait()
    noted = [line.split() for line in path.read_text().splitlines()]
    assert [step for step, _ in noted] == ["P", "L", "L", "L", "l", "l", "l", "p"]
    assert list(temporary.iterdir()) == []
    assert processes.look(int(noted[0][1])) is None


def test_code_root__of_the_request__decides_what_is_imported(project, try_out):
    """Smoke takes the code from the given root."""
    _, reports = try_out(code=CodeRoot(project.root, "missing:integration"))
    assert reports[-1].stage == "integration"


FAILING = {
    "import": ("raise KeyError('x')", "BK302"),
    "syntax": ("def broken(:", "BK302"),
    "import of a helper": ("import no_such_helper", "BK302"),
    "declaration": ("async def run_case(*, wrong): return 1", "BK320"),
    "constructor": ("class Setup(Setup):\n    def __init__(self): raise KeyError('x')", "BK330"),
    "no context manager": ("class Setup(Setup):\n    def prepare_run(self, *, runtime): return 7", "BK331"),
    "prepare_run": (
        "class Setup(Setup):\n    @asynccontextmanager\n    async def prepare_run(self, *, runtime):\n"
        "        raise KeyError('x')\n        yield",
        "BK332",
    ),
    "results": (
        "class Setup(Setup):\n    @asynccontextmanager\n    async def prepare_run(self, *, runtime):\n        yield 7",
        "BK333",
    ),
    "teardown": (
        "class Setup(Setup):\n    @asynccontextmanager\n    async def prepare_run(self, *, runtime):\n"
        '        yield {"repository": RepositoryRunSetupResult()}\n        raise KeyError("x")',
        "BK334",
    ),
    "no iterator": ("class Setup(Setup):\n    def load_cases(self, row, *, runtime): return 7", "BK336"),
    "load_cases": (
        "class Setup(Setup):\n    async def load_cases(self, row, *, runtime):\n"
        "        raise KeyError('x')\n        yield",
        "BK337",
    ),
    "run_case": ("async def run_case(*, case_input, runtime):\n    return json_of(case_input)\n"
                 "def json_of(it):\n    raise KeyError('x')", "BK349"),
    "score_case": ("async def score_case(*, case, result, case_files_dir):\n    raise KeyError('x')", "BK349"),
    "open_candidate": (
        "@asynccontextmanager\nasync def open_candidate(*, targets_dir, scratch_dir):\n"
        "    raise KeyError('x')\n    yield",
        "BK349",
    ),
}  # fmt: skip


@pytest.mark.e2e
@pytest.mark.parametrize("name", FAILING)
def test_customer_code_that_fails__is_placed_and_advised(project, try_out, name):
    """Every fault of customer code names its line in the project and what to do; its traceback starts there."""
    text, code = FAILING[name]
    project.hooks(text)
    _, reports = try_out(run_one=True)
    problem = reports[-1].problems[0]
    lines = (project.root / "app.py").read_text().splitlines()
    file, _, line = problem.where.partition(":")
    assert (problem.code, file) == (code, "app.py")
    blamed = {
        "import of a helper": "import no_such_helper",
        "syntax": "def broken(:",
        "declaration": "integration = Integration(",
        "no context manager": "def prepare_run",
        "results": "async def prepare_run",
        "no iterator": "def load_cases",
    }
    assert blamed.get(name, "raise KeyError") in lines[int(line) - 1]
    assert problem.hint
    frames = [one for one in problem.traceback.splitlines() if one.lstrip().startswith("File ")]
    assert not frames or "app.py" in frames[0]


def test_import_root__module_elsewhere__names_the_setting_that_finds_it(project, try_out):
    """A module that is not below the import root is looked for, and the setting that would find it is named."""
    sub = project.root / "sub"
    (sub / ".beaker").mkdir(parents=True)
    (project.root / "app.py").rename(sub / "app.py")
    _, reports = try_out()
    problem = reports[-1].problems[0]
    assert (problem.code, problem.where) == ("BK302", "entrypoint")
    assert "app lies in sub/" in problem.hint
    assert "set source_dir: sub" in problem.hint
    assert problem.traceback.count("File ") == 0
    (sub / ".beaker").rmdir()
    _, reports = try_out()
    assert "set package_import_root: sub" in reports[-1].problems[0].hint
    _, reports = try_out(code=CodeRoot(project.root, "nowhere:integration", "sub"))
    assert "the import root is sub/ (source_dir: sub)" in reports[-1].problems[0].hint


@pytest.mark.parametrize(
    ("package", "settings", "said"),
    [
        ("src", {}, "put the Integration into src/ and set package_import_root: src"),
        (".", {"package_import_root": "lib"}, "put the Integration into the repository's root and set "
         "package_import_root: ."),
        ("src", {"source_dir": "lib"}, "put the Integration into src/ and set source_dir: src"),
    ],
)  # fmt: skip
def test_import_root__package_elsewhere__hint_says_what_works(project, try_out, package, settings, said):
    """What the module imports lies in a folder that is not searched: both ways to have it found are told."""
    (project.root / package / "durations").mkdir(parents=True)
    (project.root / package / "durations" / "__init__.py").write_text("")
    project.hooks("import durations")
    (project.root / "lib").mkdir()
    if settings:
        (project.root / "app.py").rename(project.root / "lib" / "app.py")
    _, reports = try_out(code=CodeRoot(project.root, "app:integration", **settings))
    problem = reports[-1].problems[0]
    assert problem.code == "BK302"
    assert problem.hint.endswith(f"; {said}, or install its package for editing (`pip install -e .`)")


def test_entrypoint__names_no_integration__names_the_one_there_is(project, try_out):
    """A wrong attribute is told with the module's file and its Integration."""
    _, reports = try_out(code=CodeRoot(project.root, "app:integrations"))
    problem = reports[-1].problems[0]
    assert problem.where == "app.py"
    assert "`app:integration`" in problem.hint


def test_launch_settings__are_judged_also_for_other_places(project, try_out):
    """A wrong launch setting is no green light without `local` either; a missing proposer warns."""
    outcome, _ = try_out(config={"max_concurrency": "two", **PROPOSER})
    assert not outcome.passed
    outcome, _ = try_out(config={})
    assert outcome.passed
    assert [warning.where for warning in outcome.warnings] == ["config.harness_optimization"]
    outcome, _ = try_out(config={}, local=True)
    assert not outcome.passed


def test_local__checkout_that_a_launch_refuses__fails_or_warns(project, try_out):
    """A committed copy of TEST fails; what is not committed warns; unset names fail."""
    project.hooks(DOCUMENTS)
    (project.root / ".gitignore").write_text("steps\n")
    init_repository(project.root).unwrap()
    commit_all(project.root, "First").unwrap()
    outcome, _ = try_out(local=True)
    assert (outcome.passed, outcome.warnings) == (True, ())
    (project.root / "helper.py").write_text("")
    outcome, _ = try_out(local=True)
    assert outcome.passed
    assert ["helper.py" in warning.message for warning in outcome.warnings] == [True]
    assert try_out()[0].warnings == ()
    (project.root / "copy.jsonl").write_bytes((project.dataset / "test.jsonl").read_bytes())
    commit_all(project.root, "Copy").unwrap()
    _, reports = try_out(local=True)
    assert (reports[-1].stage, [problem.where for problem in reports[-1].problems]) == ("dataset", ["copy.jsonl"])
    assert try_out()[0].passed
    _, reports = try_out(local=True, missing_proposer_env=("API_KEY",))
    assert [problem.where for problem in reports[-1].problems] == ["API_KEY"]


def test_missing_split__names_the_folder_and_what_is_there(project, try_out):
    """A split that is not there is told with its path, the files that are and what to do, beside other faults."""
    (project.dataset / "test.jsonl").rename(project.dataset / "val.jsonl")
    project.rows(train=["{"])
    _, reports = try_out()
    missing, broken = reports[-1].problems
    assert (missing.code, missing.where) == ("BK210", str(project.dataset / "test.jsonl"))
    assert missing.hint == "the held-out split is called test: rename val.jsonl to test.jsonl"
    (project.dataset / "val.jsonl").rename(project.dataset / "more.jsonl")
    _, reports = try_out()
    assert "here is more.jsonl, train.jsonl" in reports[-1].problems[0].hint
    assert broken.where.endswith("train.jsonl:1")
    _, reports = try_out(dataset_dir=project.root / "nowhere")
    assert [problem.code for problem in reports[-1].problems] == ["BK210"]


def test_run_one__case_with_files__runs_and_scores_with_them(project, try_out):
    """The sample's files reach `run_case` as a copy and `score_case` as they were captured; nothing stays."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                folder = runtime.case_files_dir(row["id"])
                (folder / "a").write_text(f"text of {row['id']}")
                yield Case(row["id"], row["x"], files=[CaseFile("in/a", folder / "a"), CaseFile("all.zip", folder)])
        async def run_case(*, case_input, runtime):
            return CaseResult([(runtime.case_files_dir / "in" / "a").read_text(), str(runtime.case_files_dir)])
        async def score_case(*, case, result, case_files_dir):
            text, folder = result.output
            assert folder != str(case_files_dir)
            assert [file.name for file in case.files] == ["in/a", "all.zip"]
            return CaseScore(float((case_files_dir / "in" / "a").read_text() == text == f"text of {case.id}"), {})
    """)
    outcome, reports = try_out(run_one=True)
    assert outcome.passed, reports[-1].problems
    assert outcome.tried[0].score.objective == 1.0


def test_case_files__that_break_a_rule__fail_the_setup_stage(project, try_out):
    """Also without `run_one`: the row, the case and the rule are told."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                yield Case(row["id"], row["x"], files=[CaseFile("a", "nowhere")])
    """)
    outcome, reports = try_out()
    assert not outcome.passed
    assert reports[-1].stage == "setup"
    problem = reports[-1].problems[0]
    assert (problem.code, problem.message) == (
        "BK339",
        "the case 'train-0': the file 'a': there is nothing at its path",
    )
    assert problem.where.endswith("train.jsonl:1")


@pytest.mark.parametrize("traced", [True, False])
def test_run_one__case_that_records_no_model_call__is_warned_of(project, try_out, traced):
    """Without recorded calls a run cannot count money, which may be right: a warning, also under `strict`."""
    call = 'operation="chat", provider="openai", model="m", input_messages="x"'
    body = f"with runtime.trace.model_call({call}): pass" if traced else "pass"
    project.hooks(f"async def run_case(*, case_input, runtime):\n    {body}\n    return CaseResult(case_input)")
    outcome, _ = try_out(run_one=True, strict=True)
    assert outcome.passed
    assert [warning.code for warning in outcome.warnings if warning.code == "BK350"] == ([] if traced else ["BK350"])


@pytest.mark.parametrize("when", ["import", "run_case"])
def test_installed_copy_of_the_target__is_never_green(project, tmp_path, try_out, when):
    """What comes from the environment instead of the checkout fails at import, at the latest with the case."""
    for path in (tmp_path / "site", project.root / "src"):
        (path / "durations").mkdir(parents=True)
        (path / "durations" / "__init__.py").write_text("def parse(text): return text\n")
    project.env["PYTHONPATH"] = str(tmp_path / "site")
    early, late = ("import durations", "pass") if when == "import" else ("", "import durations")
    project.hooks(f"""
        {early}
        async def run_case(*, case_input, runtime):
            {late}
            return CaseResult(case_input)
    """)
    outcome, reports = try_out(run_one=when == "run_case", strict=True)
    problem = reports[-1].problems[0]
    assert not outcome.passed
    assert (reports[-1].stage, problem.code) == {
        "import": ("integration", "BK305"),
        "run_case": ("runner and scorer", "BK349"),
    }[when]
    assert "held at src/durations/__init__.py" in str(problem)
    assert "pip install -e ." in str(problem) + problem.hint


@pytest.mark.parametrize(
    "change",
    [
        "file.chmod(0o644); file.write_text('evil')",
        "file.parent.chmod(0o755); (file.parent / 'new').touch()",
        "file.parent.chmod(0o755); file.unlink(); file.symlink_to('/dev/null')",
    ],
)
def test_run_one__case_files_that_run_case_changed__are_not_scored(project, try_out, change):
    """As in a run: what the scorer is to read is what load_cases gave."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                file = runtime.case_files_dir(row["id"]) / "page.txt"
                file.write_text("q")
                yield Case(row["id"], 1, files=[CaseFile("page.txt", file)])
        async def run_case(*, case_input, runtime):
            storage = runtime.case_files_dir.parent / "storage" / "views"
            for file in storage.glob("*/page.txt"):
                CHANGE
            return CaseResult(1)
        async def score_case(*, case, result, case_files_dir):
            return CaseScore(1.0, {})
    """.replace("CHANGE", change))  # fmt: skip
    outcome, reports = try_out(run_one=True)
    assert not outcome.passed
    assert outcome.tried[0].score is None
    assert [problem.code for problem in reports[-1].problems] == ["BK555"]
    assert reports[-1].problems[0].where == "case 'train-0'"


def test_run_one__case_files_left_alone__are_scored(project, try_out):
    """The copy that run_case got is its own to change."""
    project.hooks("""
        class Setup(Setup):
            async def load_cases(self, row, *, runtime):
                file = runtime.case_files_dir(row["id"]) / "page.txt"
                file.write_text("q")
                yield Case(row["id"], 1, files=[CaseFile("page.txt", file)])
        async def run_case(*, case_input, runtime):
            file = runtime.case_files_dir / "page.txt"
            file.chmod(0o644)
            file.write_text("own")
            return CaseResult(1)
        async def score_case(*, case, result, case_files_dir):
            return CaseScore(float((case_files_dir / "page.txt").read_text() == "q"), {})
    """)
    outcome, _ = try_out(run_one=True)
    assert outcome.tried[0].score.objective == 1.0


def test_proposer_that_cannot_start__is_warned_of(project, try_out):
    """What a launch would warn of is known before it."""
    assert init_repository(project.root)
    commit_all(project.root, "All")
    outcome, _ = try_out(config={"harness_optimization": {"command": ["no-such-program"]}}, local=True)
    assert outcome.passed
    assert [(one.code, one.where) for one in outcome.warnings] == [("BK480", "config.harness_optimization.command[0]")]
