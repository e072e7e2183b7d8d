"""`run eval`: what it measures is what a run measures, without a run; and the page of a run that took place."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.files.git import commit_all

pytestmark = [pytest.mark.e2e, pytest.mark.embedded]

Beaker = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def lab(laboratory: Callable[..., Any]) -> Any:
    """A project whose eighth TRAIN case raises, and the fifth of TEST; committed."""
    made = laboratory(train=12, test=5, plan={"cases": {"htrain7": "raise", "btrain1": "raise", "etest4": "raise"}})
    commit_all(made.project, "as it is").unwrap()
    return made


@pytest.fixture
def evaluate(lab: Any, tmp_path: Path) -> Beaker:
    """Run `beaker run eval` in the project, with temporary folders below `tmp_path`."""
    environ = {name: text for name, text in os.environ.items() if not name.startswith("BEAKER_")}
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def call(*argv: str, options: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "beaker.cli", *options, "run", "eval", *argv],
            cwd=lab.project,
            env={**environ, "LAB": str(lab.lab), "TMPDIR": str(temporary)},
            capture_output=True,
            text=True,
            check=False,
        )

    yield call
    assert [*temporary.iterdir()] == []


def timeless(report: dict[str, Any]) -> dict[str, Any]:
    """A report without the times in it."""
    cases = [{key: item for key, item in case.items() if key != "duration_ms"} for case in report["cases"]]
    kept = ("objective", "objective_scored", "cases_total", "scored", "failed", "field_scores", "usage")
    return {**{key: report[key] for key in kept}, "cases": sorted(cases, key=lambda case: case["id"])}


def test_eval__baseline_and_winner__are_what_the_run_measured(
    lab: Any, evaluate: Beaker, conforms: Callable[[object, str], None]
) -> None:
    """The same cases give the same scores, fields and errors, from a folder or from the uploaded dataset."""
    run_id = lab.launch()
    status = subprocess.run(["git", "status", "--porcelain"], cwd=lab.project, capture_output=True, text=True).stdout
    runs = lab.open().call("list_optimization_runs", limit=9, offset=0).unwrap()["total"]
    reports = {one["id"]: one for one in lab.open().call("list_eval_reports", run_id=run_id).unwrap()["eval_reports"]}
    winner = lab.run(run_id)["result"]["winner_id"]

    done = evaluate("--dataset", str(lab.root / "dataset"), "--split", "test", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    conforms(answer, "cli-eval.json")
    assert (answer["candidate_id"], answer["dataset"]["path"]) == (None, str(lab.root / "dataset"))
    if f"{run_id}.0.test" in reports:
        assert timeless(answer["report"]) == timeless(reports[f"{run_id}.0.test"])
    assert (answer["report"]["scored"], answer["report"]["failed"]) == (4, 1)
    assert answer["interval"]["value"] == answer["report"]["objective"]

    done = evaluate("--candidate", winner, "--split", "test", "--json", options=("--local",))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    conforms(answer, "cli-eval.json")
    assert answer["commit"] == lab.run(run_id)["github_source"]["commit"]
    assert answer["dataset"] == {**{key: lab.run(run_id)["dataset"][key] for key in ("name", "revision")}, "path": None}
    assert timeless(answer["report"]) == timeless(reports[f"{winner}.test"])

    after = subprocess.run(["git", "status", "--porcelain"], cwd=lab.project, capture_output=True, text=True).stdout
    assert after == status
    assert lab.open().call("list_optimization_runs", limit=9, offset=0).unwrap()["total"] == runs


CODE_TO_IMPROVE = """
import rules
from beaker import Case, CaseResult, CaseScore, Integration, RunSetup, repository


class Setup(RunSetup[dict]):
    row_model = dict

    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=row["word"], expected=row["kind"])


async def run_case(*, case_input, runtime):
    return CaseResult(rules.KNOWN.get(case_input[0], "unknown"))


async def score_case(*, case, result, case_files_dir):
    return CaseScore(float(result.output == case.expected), {})


integration = Integration(
    targets=repository(("rules.py",)), run_setup=Setup, run_case=run_case, score_case=score_case
)
"""


def test_eval__candidate_with_edited_code__runs_that_code(lab: Any, evaluate: Beaker) -> None:
    """The patch of a candidate is put on the run's commit, whatever the checkout has become since."""
    lab.write("words.py", CODE_TO_IMPROVE)
    lab.write("rules.py", "KNOWN = {'a': 'vowel'}\n")
    config = lab.project / ".beaker" / "beaker.yaml"
    config.write_text(
        config.read_text().replace("{kind: documents, groups: [book]}", "{kind: repository, paths: [rules.py]}")
    )
    lab.write("propose.py", "open('repository/rules.py', 'w').write('KNOWN = dict.fromkeys(\"bcd\", \"early\")\\n')\n")
    run_id = lab.launch(max_proposals=1, minibatch_size=12)
    run = lab.run(run_id)
    assert run["result"]["winner_id"] == f"{run_id}.1", run["error_message"]
    lab.write("rules.py", "KNOWN = {}\n")
    answers = [
        json.loads(evaluate("--split", "test", "--json", *more, options=("--local",)).stdout)
        for more in (("--candidate", run_id), ("--candidate", f"{run_id}.0"), ("--dataset", "words"))
    ]
    assert [answer["report"]["objective"] for answer in answers] == [0.6, 0.2, 0.0]
    assert run["result"]["test"]["winner"] == 0.6


def test_eval__in_words__groups_failures_and_writes_a_page(lab: Any, evaluate: Beaker) -> None:
    """What failed alike stands together; the code is the checkout as it stands, uncommitted changes included."""
    lab.write("words.py", (lab.project / "words.py").read_text().replace("no word: ", "no such word: "))
    done = evaluate("--dataset", "../dataset", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "beaker run eval: baseline on TRAIN, 12 cases"
    assert lines[1].startswith("  objective  0.083, 95 % interval 0.0")
    assert "  scored     10, failed 2; 0.100 over the scored ones" in lines
    assert "    1 x raised: ValueError: no such word: btrain1 (train-1)" in lines
    assert "12 of 12 cases" in done.stderr
    page = (lab.project / "page.html").read_text(encoding="utf-8")
    assert "no such word: htrain7" in page
    assert "Baseline on TRAIN" in page


def test_eval__page_that_cannot_be_written__still_prints_the_result(lab: Any, evaluate: Beaker) -> None:
    """Its folder was there at first; the refusal names the page as it was given, after the result."""
    page = lab.project / "pages" / "page.html"
    spoil = f"    import pathlib\n    pathlib.Path({str(page)!r}).mkdir(parents=True, exist_ok=True)\n"
    words = (lab.project / "words.py").read_text()
    start = words.index("\n", words.index("async def run_case")) + 1
    lab.write("words.py", words[:start] + spoil + words[start:])
    done = evaluate("--dataset", "../dataset", "--html", "pages/page.html")
    assert done.returncode == 2
    assert done.stdout.startswith("beaker run eval: baseline on TRAIN, 12 cases\n")
    assert "error: BK701 pages/page.html: cannot write the page: Is a directory" in done.stderr


def test_eval__limit__says_what_it_left_out(lab: Any, evaluate: Beaker) -> None:
    """The first cases only, and never silently."""
    done = evaluate("--dataset", "../dataset", "--limit", "1", "--quiet")
    assert done.returncode == 0
    assert "left out   11 cases of the split (--limit)" in done.stdout
    assert done.stderr == ""


def test_eval__nothing_scored__is_exit_1(lab: Any, evaluate: Beaker) -> None:
    """Every case failed: the answer is no, and says why."""
    (lab.lab / "plan.json").write_text(
        json.dumps({"cases": {f"{letter}test{n}": "raise" for n, letter in enumerate("abcde")}})
    )
    done = evaluate("--dataset", "../dataset", "--split", "test", "--json")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["report"]["scored"], answer["report"]["objective"]) == (0, 0.0)
    assert sum(group["count"] for group in answer["failures"]) == 5


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda lab: lab.write("words.py", "raise RuntimeError('not today')\n"), "not today"),
        (lambda lab: (lab.root / "dataset" / "test.jsonl").write_text("{"), "test.jsonl:1"),
        (lambda lab: (lab.root / "dataset" / "test.jsonl").write_text(""), "the split test has no case"),
    ],
    ids=["import", "row", "empty"],
)
def test_eval__what_cannot_be_tried__is_exit_2(lab: Any, evaluate: Beaker, break_it: Any, said: str) -> None:
    """Customer code or rows that fail before any case: one error, no report."""
    break_it(lab)
    done = evaluate("--dataset", "../dataset", "--split", "test", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ((), "BK405"),
        (("--dataset", "./nothing"), "BK217"),
        (("--dataset", "../dataset/train.jsonl"), "BK217"),
        (("--dataset", "unknown"), "BK455"),
        (("--candidate", "run_x.1"), "BK453"),
        (("--dataset", "../dataset", "--integration-id", "other"), "BK110"),
        (("--dataset", "../dataset", "--config", '{"max_concurrency": 0}'), "BK410"),
    ],
)
def test_eval__what_was_asked_for_wrongly__is_refused(evaluate: Beaker, argv: tuple[str, ...], code: str) -> None:
    """Nothing is started then."""
    done = evaluate(*argv, options=("--local",))
    assert done.returncode == 2
    assert f"error: {code}" in done.stderr


def test_eval__missing_variable__is_named(lab: Any, evaluate: Beaker) -> None:
    """What the integration declares has to be there."""
    config = lab.project / ".beaker" / "beaker.yaml"
    config.write_text(config.read_text().replace("[LAB]", "[LAB, MISSING_KEY]"))
    done = evaluate("--dataset", "../dataset")
    assert done.returncode == 2
    assert "MISSING_KEY" in done.stderr


def test_eval__interrupted__leaves_nothing(lab: Any, tmp_path: Path) -> None:
    """SIGINT ends every process and removes every folder, with exit code 130; teardown has run."""
    (lab.lab / "shut-atrain0").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "beaker.cli", "run", "eval", "--dataset", "../dataset"],
        cwd=lab.project,
        env={**os.environ, "LAB": str(lab.lab), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (lab.lab / "waiting-atrain0").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert [*temporary.iterdir()] == []
    assert lab.notes("teardown") == [["teardown"]]


def test_report__of_a_run__shows_it(lab: Any, tmp_path: Path) -> None:
    """The page of `run report` and the one of the download tell the same result."""
    run_id = lab.launch()
    done = subprocess.run(
        [sys.executable, "-m", "beaker.cli", "--local", "run", "report", run_id, "--html", str(tmp_path / "page.html")],
        cwd=lab.project,
        env=lab.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    test = lab.run(run_id)["result"]["test"]
    for said in (run_id, f"{test['winner']:.3f}", "book/rules.txt", 'class="add">+', "test-4", "no word"):
        assert said in page, said
    assert tempfile.gettempdir() not in page
