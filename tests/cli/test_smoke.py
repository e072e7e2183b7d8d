"""`beaker run smoke`: what it shows, what it refuses, and that customer code never decides the exit code."""

import io
import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from beaker.cli.demo.project import create_project

pytestmark = pytest.mark.processes

Smoke = Callable[..., Any]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's project, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "project"
    create_project(folder).unwrap()
    return folder


@pytest.fixture
def project(made_once: Path, tmp_path: Path) -> Path:
    """The demo's project."""
    return Path(shutil.copytree(made_once, tmp_path / "project"))


@pytest.fixture
def smoke(project: Path, beaker: Callable[..., Any]) -> Smoke:
    """Run `beaker run smoke` in the project, with a PATH and nothing else in the environment."""

    def call(*argv: str, environ: dict[str, str] | None = None, cwd: Path = project) -> Any:
        return beaker("run", "smoke", *argv, cwd=cwd, environ={"PATH": "/usr/bin:/bin", **(environ or {})})

    return call


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_smoke__good_project__passes_every_stage_in_order(smoke: Smoke, project: Path) -> None:
    """Each stage is told as it passes, then that the project is ready and that nothing was run."""
    done = smoke()
    assert (done.code, done.out.splitlines()[0]) == (0, "beaker run smoke: invoices")
    stages = [line.split("PASS ")[1].split(":")[0] for line in done.out.splitlines() if "PASS" in line]
    assert stages == ["config", "environment", "integration", "dataset", "setup", "sample", "runner and scorer"]
    assert "60 train rows, 40 test rows" in done.out
    assert "Readiness: INTEGRATED" in done.out
    assert "No case was run or scored" in done.out
    assert done.err.splitlines()[-2:] == [
        "  1. upload the dataset: beaker --local dataset upload dataset --name NAME",
        "  2. start a run: beaker --local run trigger --dataset NAME",
    ]
    assert not (project / ".beaker" / "local").exists()


def test_smoke__json_run_one__is_one_line_with_the_score(smoke: Smoke, conforms: Callable[[object, str], None]) -> None:
    """--run-one runs and scores the sample for real; --json says what it scored."""
    done = smoke("--run-one", "--split", "test", "--json")
    assert done.code == 0
    report = json.loads(done.out)
    conforms(report, "cli-smoke.json")
    assert report["sample"] == "inv-0061"
    assert 0 <= report["score"]["objective"] <= 1
    assert report["case_output_characters"] == len(json.dumps(report["case_output"], separators=(",", ":")))
    assert report["row_counts"] == {"train": 60, "test": 40}
    assert done.err == ""


@pytest.mark.parametrize(("letters", "is_whole"), [(500_000, True), (3_000_000, False)])
def test_smoke__long_output__is_bounded_and_counted(
    smoke: Smoke, project: Path, conforms: Callable[[object, str], None], letters: int, is_whole: bool
) -> None:
    """A terminal gets the beginning, a program the whole unless it is huge; both are told how long it is."""
    with (project / "invoice_integration.py").open("a") as file:
        file.write("async def _long(*, case_input, runtime):\n")
        file.write(f"    return CaseResult({{'text': 'x' * {letters}}})\n")
        file.write("integration = dataclasses.replace(integration, run_case=_long)\n")
    rewrite(project / "invoice_integration.py", "WEIGHTS =", "import dataclasses\nWEIGHTS =")
    out = smoke("--run-one").out
    assert len(out) < 5_000
    assert f" ... {letters + 11 - 2_000} more characters\n" in out
    report = json.loads(smoke("--run-one", "--json").out)
    conforms(report, "cli-smoke.json")
    assert report["case_output_characters"] == letters + 11
    assert report["case_output"] == ({"text": "x" * letters} if is_whole else None)


def test_smoke__cases__are_run_and_shown(smoke: Smoke) -> None:
    """--case names what is run in place of the first case; an id that there is not is a failure with a near one."""
    report = json.loads(smoke("--run-one", "--case", "inv-0061", "--case", "inv-0003", "--json").out)
    assert [(case["id"], case["split"]) for case in report["cases"]] == [("inv-0061", "test"), ("inv-0003", "train")]
    assert all(case["output"] and 0 <= case["score"]["objective"] <= 1 for case in report["cases"])
    assert (report["sample"], report["case_output"]) == ("inv-0061", report["cases"][0]["output"])
    done = smoke("--case", "inv-061")
    assert done.code == 2
    assert "error: BK352 --case: no case has the id 'inv-061'" in done.err
    assert "did you mean 'inv-0061'" in done.err


def test_smoke__limit__validates_all_rows_and_loads_some(smoke: Smoke, project: Path) -> None:
    """--limit bounds the cases, never the rows that are validated."""
    report = json.loads(smoke("--limit", "3", "--json").out)
    assert report["case_counts"] == {"train": 3, "test": 3}
    assert "setup: 1 train case, 1 test case, 4 seed documents" in smoke("--limit", "1").out
    with (project / "dataset" / "test.jsonl").open("a") as file:
        file.write("{broken\n")
    done = smoke("--limit", "3")
    assert done.code == 2
    assert "test.jsonl:41" in done.err


@pytest.mark.parametrize("statement", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_smoke__customer_code_exits__is_a_failed_stage(smoke: Smoke, project: Path, statement: str) -> None:
    """`sys.exit(0)`, `os._exit(0)` and a crash at import are failures, never a green light."""
    rewrite(project / "invoice_integration.py", "WEIGHTS =", f"import os, sys\n{statement}\nWEIGHTS =")
    done = smoke()
    assert done.code == 2
    assert "FAIL integration" in done.out
    assert done.err.startswith("error: BK")


def test_smoke__customer_code_raises__shows_the_traceback_and_what_it_printed(smoke: Smoke, project: Path) -> None:
    """A failing hook is shown with its own lines; what it printed cannot touch the terminal."""
    rewrite(
        project / "invoice_integration.py",
        "WEIGHTS =",
        'print("look \\x1b[31m")\nraise ValueError("no keys")\nWEIGHTS =',
    )
    done = smoke()
    assert done.code == 2
    assert "| look \\x1b[31m" in done.out
    assert "invoice_integration.py" in done.out
    assert "ValueError: no keys" in done.err
    report = json.loads(smoke("--json").out)
    assert report["passed"] is False
    assert "no keys" in report["stages"][-1]["traceback"]


def test_smoke__import_hangs__ends_at_its_limit(smoke: Smoke, project: Path) -> None:
    """A hang is a failed stage."""
    rewrite(project / "invoice_integration.py", "WEIGHTS =", "import time\ntime.sleep(60)\nWEIGHTS =")
    rewrite(project / ".beaker" / "beaker.yaml", "    seed: 1", "    seed: 1\n    timeouts: {import: 1}")
    done = smoke()
    assert done.code == 2
    assert "FAIL integration" in done.out


def test_smoke__placeholder__is_a_scaffold_and_fails_under_strict(
    smoke: Smoke, project: Path, conforms: Callable[[object, str], None]
) -> None:
    """A marker left in a hook is said; only --strict makes it a failure."""
    rewrite(project / "invoice_integration.py", "    assert runtime", "    # TODO(beaker): models\n    assert runtime")
    done = smoke()
    assert done.code == 0
    assert "Readiness: SCAFFOLD" in done.out
    assert "run_case" in done.out
    strict = smoke("--strict", "--json")
    assert strict.code == 2
    conforms(json.loads(strict.out), "cli-smoke.json")
    conforms(json.loads(strict.err), "cli-error.json")


def test_smoke__junit__has_a_test_per_stage_and_one_for_placeholders(smoke: Smoke, project: Path) -> None:
    """What failed is a failure with its output; a placeholder is skipped, and with --strict it fails too."""
    code = project / "invoice_integration.py"
    rewrite(code, "    assert runtime", "    # TODO(beaker): models\n    assert runtime")
    for argv, tag in ([], "skipped"), (["--strict"], "failure"):
        smoke("--junit", "report.xml", *argv)
        suite = ElementTree.parse(project / "report.xml").find("testsuite")
        assert suite is not None
        assert [case.get("name") for case in suite.iter("testcase")][-2:] == ["runner and scorer", "readiness"]
        assert suite.find(f"testcase[@name='readiness']/{tag}") is not None
        assert suite.get("tests") == "8"
    rewrite(code, "WEIGHTS =", 'print("look \\x1b[31m <&>")\nraise ValueError("no keys")\nWEIGHTS =')
    smoke("--junit", "report.xml")
    suite = ElementTree.parse(project / "report.xml").find("testsuite")
    assert suite is not None
    failed = suite.find("testcase[@name='integration']")
    assert failed is not None
    assert "ValueError: no keys" in str(failed.findtext("failure"))
    assert "look \\u001b[31m <&>" in str(failed.findtext("system-out"))
    assert suite.get("failures") == "1"


def test_smoke__other_targets__fails_as_a_run_would(smoke: Smoke, project: Path) -> None:
    """A declaration that is not the Integration's is refused here already, both shown."""
    rewrite(project / ".beaker" / "beaker.yaml", "[playbooks]", "[playbooks, rules]")
    done = smoke()
    assert done.code == 2
    assert "FAIL integration" in done.out
    assert "rules" in done.err


def test_smoke__required_env__warns_here_and_fails_locally(smoke: Smoke, project: Path) -> None:
    """A name that is set nowhere here may be set elsewhere; on this machine it may not."""
    rewrite(project / ".beaker" / "beaker.yaml", "    source_dir: .", "    source_dir: .\n    required_env: [SOME_KEY]")
    done = smoke()
    assert done.code == 0
    assert "SOME_KEY" in done.err
    assert smoke("--local").code == 2
    assert smoke("--local", environ={"SOME_KEY": "s3cret-value"}).code == 0


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--local", "--dataset", "none"], "none"),
        (["--local", "--dataset-id", "none"], "none"),
        (["--dataset", "a", "--dataset-id", "b"], "BK404"),
        (["--integration-id", "other"], "BK110"),
        (["--config", "nope"], "BK906"),
        (["--config", '{"zeal": 1}'], "zeal"),
        (["--config", '{"local_dataset_path": "nowhere"}'], "nowhere"),
        (["--config", '{"local_dataset_path": null}'], "BK405"),
    ],
)
def test_smoke__bad_input__is_refused(argv: list[str], said: str, smoke: Smoke) -> None:
    """Whatever a launch would refuse is refused here, and a dataset that there is not."""
    done = smoke(*argv)
    assert done.code == 2
    assert said in done.err
    assert "BK949" not in done.err
    if argv[-1] in ("none", '{"local_dataset_path": "nowhere"}', '{"local_dataset_path": null}'):
        assert "FAIL dataset" in done.out


def test_smoke__folder_beside_a_selected_dataset__is_checked_with_a_warning(smoke: Smoke, project: Path) -> None:
    """The folder is read without a login; that a launch will use another dataset is said."""
    rewrite(project / ".beaker" / "beaker.yaml", "config_defaults:\n", "config_defaults:\n  dataset_ref: inv@r1\n")
    report = json.loads(smoke("--json").out)
    assert report["passed"]
    assert [warning["code"] for warning in report["warnings"]] == ["BK220"]


def test_smoke__dataset_path__counts_from_where_it_was_said(smoke: Smoke, project: Path) -> None:
    """A folder in the configuration counts from the project, one in --config from here."""
    below = project / "playbooks"
    assert smoke(cwd=below).code == 0
    assert smoke("--config", '{"local_dataset_path": "../dataset"}', cwd=below).code == 0
    assert smoke("--config", '{"local_dataset_path": "dataset"}', cwd=below).code == 2


@pytest.mark.parametrize("place", ["local", "hosted"])
def test_smoke__kept_dataset__is_downloaded_told_to_setup_and_removed(
    beaker: Callable[..., Any],
    project: Path,
    hosted: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    """--dataset and --dataset-id read what a place keeps, whatever folder is configured; setup learns its revision."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    environ = {"PATH": "/usr/bin:/bin"}
    if place == "hosted":
        environ |= {
            "BEAKER_API_BASE_URL": hosted.url,
            "BEAKER_API_KEY": hosted.api_key,
            "BEAKER_AGENT_KEY": "inv-agent",
        }
    here = ["--local"] if place == "local" else []
    sent = beaker(*here, "dataset", "upload", "dataset", "--name", "inv", "--no-check", cwd=project, environ=environ)
    assert sent.code == 0, sent.err
    shown = json.loads(beaker(*here, "dataset", "show", "inv", "--json", cwd=project, environ=environ).out)
    record = shown.get("dataset", shown)
    hook = "load_cases(self, row: Row, *, runtime: SetupRuntime) -> AsyncIterator[Case]:\n"
    said = "        print(runtime.dataset.name, runtime.dataset.revision)\n"
    rewrite(project / "invoice_integration.py", hook, hook + said)
    shutil.rmtree(project / "dataset")
    for option, named in ("--dataset", "inv"), ("--dataset-id", record["artifact_id"]):
        done = beaker(*here, "run", "smoke", option, named, "--limit", "1", cwd=project, environ=environ)
        assert done.code == 0, done.err
        assert "60 train rows, 40 test rows" in done.out
        assert f"| inv {record['revision']}" in done.out
        assert done.err.splitlines()[-1].endswith(f"run trigger {option} {named}")
    assert list(temporary.iterdir()) == []


def test_smoke__no_project__says_what_to_add(beaker: Callable[..., Any], tmp_path: Path) -> None:
    """Without a configuration there is nothing to check."""
    done = beaker("run", "smoke", cwd=tmp_path)
    assert done.code == 2
    assert "BK119" in done.err


def test_smoke__unknown_config_key__warns_with_a_suggestion(smoke: Smoke, project: Path) -> None:
    """A misspelt key is said and changes nothing."""
    rewrite(project / ".beaker" / "beaker.yaml", "    source_dir: .", "    source_dir: .\n    entrypint: x:y")
    done = smoke()
    assert done.code == 0
    assert "entrypoint" in done.err


def test_smoke__next_steps__are_filled_in(smoke: Smoke, beaker: Callable[..., Any], project: Path) -> None:
    """The next steps name the folder and the dataset as far as they are known, and the place."""
    rewrite(
        project / ".beaker" / "beaker.yaml",
        "config_defaults:\n",
        "config_defaults:\n  dataset_ref: my data@production\n",
    )
    done = beaker("--local", "run", "smoke", cwd=project / "playbooks", environ={"PATH": "/usr/bin:/bin"})
    assert done.code == 0, done.err
    first, second = done.err.splitlines()[-2:]
    assert first == f"  1. upload the dataset: beaker --local dataset upload {project / 'dataset'} --name 'my data'"
    assert second == "  2. start a run: beaker --local run trigger --dataset 'my data'"


@pytest.mark.parametrize(
    ("known", "place"),
    [
        ({}, "--local "),
        ({"BEAKER_AGENT_KEY": "k"}, "--local "),
        ({"BEAKER_API_KEY": "s"}, "--local "),
        ({"BEAKER_AGENT_KEY": "k", "BEAKER_API_KEY": "s"}, ""),
        ({"BEAKER_API_BASE_URL": "local"}, ""),
    ],
    ids=["nothing", "an agent", "a login", "both", "this machine"],
)
def test_smoke__next_steps__work_as_they_are_written(smoke: Smoke, known: dict[str, str], place: str) -> None:
    """Commands for a place elsewhere are named once an agent and a login are known; else those for this machine."""
    done = smoke("--integration-id", "invoices", environ=known)
    assert done.err.splitlines()[-2:] == [
        f"  1. upload the dataset: beaker {place}dataset upload dataset --name NAME",
        f"  2. start a run: beaker {place}run trigger --dataset NAME --integration-id invoices",
    ]


def test_smoke__config_without_an_integration__names_the_file(smoke: Smoke, project: Path) -> None:
    """A file that configures nothing is named, with what else was said about it."""
    rewrite(project / ".beaker" / "beaker.yaml", "integrations:", "integration:")
    done = smoke()
    assert done.code == 2
    assert "BK119 .beaker/beaker.yaml: the configuration names no integration" in done.err
    assert "docs/" not in done.err


def test_smoke__image_that_no_build_has__fails_where_something_is_built(
    beaker: Callable[..., Any], project: Path
) -> None:
    """What a hosted build would refuse ends the check in its first stage, before any code of the project runs."""
    rewrite(
        project / ".beaker" / "beaker.yaml", "source_dir: .", "environment_base: debian_slim:3.11\n    source_dir: ."
    )
    done = beaker("--base-url", "https://h.example", "run", "smoke", cwd=project, environ={"PATH": "/usr/bin:/bin"})
    assert done.code == 2
    assert "FAIL config" in done.out
    assert "error: BK140 integrations.invoices.environment_base" in done.err


class Lines(io.StringIO):
    """A stream whose lines another thread counts."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self, text: str) -> int:
        written = super().write(text)
        self.count += text.count("\n")
        return written


@pytest.mark.e2e
def test_smoke__watch__checks_again_after_changes_and_ends_with_an_interrupt(
    beaker: Callable[..., Any], project: Path
) -> None:
    """Each change gives one more line of JSON, also of a project that is broken meanwhile; Ctrl-C ends it with 130."""
    lines, over = Lines(), threading.Event()
    code, config = project / "invoice_integration.py", project / ".beaker" / "beaker.yaml"
    good = config.read_text()

    def edit() -> None:
        changes: list[Callable[[], object]] = [
            lambda: code.write_text(code.read_text() + "\n# TODO(beaker): more\n"),
            lambda: config.write_text("integrations: ["),
            lambda: config.write_text(good),
            lambda: os.utime(project / "dataset" / "train.jsonl", ns=(1, 1)),
            lambda: None,
        ]
        for at, change in enumerate(changes, start=1):
            while lines.count < at:
                if over.wait(0.02):
                    return
            change()
        os.kill(os.getpid(), signal.SIGINT)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        done = beaker("run", "smoke", "--watch", "--json", "--limit", "1", "--junit", "r.xml",
                      cwd=project, environ={"PATH": "/usr/bin:/bin"}, stdout=lines)  # fmt: skip
    finally:
        over.set()
        editor.join()
    assert done.code == 130
    found = [(one["readiness"], one["stages"][-1]["stage"]) for one in map(json.loads, done.out.splitlines())]
    last = "runner and scorer"
    assert found == [("INTEGRATED", last), ("SCAFFOLD", last), (None, "config"), ("SCAFFOLD", last), ("SCAFFOLD", last)]
    assert "Traceback" not in done.err


@pytest.mark.e2e
def test_smoke__watch__of_a_folder_that_is_deleted__ends(beaker: Callable[..., Any], project: Path) -> None:
    """Nothing can change any more where nothing is."""
    lines, over = Lines(), threading.Event()

    def delete() -> None:
        while lines.count < 1:
            if over.wait(0.02):
                return
        while project.exists():  # the check may still write
            shutil.rmtree(project, ignore_errors=True)

    deleter = threading.Thread(target=delete)
    deleter.start()
    try:
        done = beaker("run", "smoke", "--watch", "--json", "--limit", "1",
                      cwd=project, environ={"PATH": "/usr/bin:/bin"}, stdout=lines)  # fmt: skip
    finally:
        over.set()
        deleter.join()
    assert done.code == 2
    assert "BK119" in done.err
