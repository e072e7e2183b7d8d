"""The commands on this machine's own place, as far as they need no worker."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.cli.demo.project import create_project

Local = Callable[..., Any]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's project, to be copied: asking Git for a new one each time takes longer than most tests."""
    folder = tmp_path_factory.mktemp("made") / "project"
    create_project(folder).unwrap()
    return folder


@pytest.fixture
def project(made_once: Path, tmp_path: Path) -> Path:
    """The demo's project."""
    return Path(shutil.copytree(made_once, tmp_path / "project"))


@pytest.fixture
def local(project: Path, beaker: Callable[..., Any]) -> Local:
    """Run a command with --local in the project."""

    def call(*argv: str, **options: Any) -> Any:
        options.setdefault("cwd", project)
        return beaker("--local", *argv, **options)

    return call


def test_upload__folder__is_listed_shown_and_reused(local: Local, conforms: Callable[[object, str], None]) -> None:
    """An uploaded dataset has a revision, counts and files; the same files again are not stored again."""
    done = local("dataset", "upload", "dataset", "--name", "invöices", "--metadata", "source=demo")
    assert done.code == 0
    assert done.out.startswith("beaker dataset upload: invöices@sha256:")
    assert "COMPLETE, promoted, 60 train, 40 test" in done.out
    assert "run trigger --dataset invöices" in done.err
    again = json.loads(local("dataset", "upload", "dataset", "--name", "invöices", "--json").out)
    conforms(again, "cli-dataset-upload.json")
    assert again["reused"] is True
    listed = json.loads(local("dataset", "list", "--json").out)
    conforms(listed, "datasets.json")
    assert [dataset["name"] for dataset in listed["datasets"]] == ["invöices"]
    table = local("dataset", "list").out.splitlines()
    assert table[0].split() == ["NAME", "REVISION", "PROD", "SAMPLES", "DATE"]
    assert table[1].split()[:3] == ["invöices", again["dataset_revision"], "yes"]
    assert local("dataset", "show", f"invöices@{table[1].split()[1]}").code == 0
    shown = local("dataset", "show", "invöices").out
    assert f"revision     {again['dataset_revision']}" in shown
    assert "train=60" in shown
    assert "- train.jsonl (" in shown
    conforms(json.loads(local("dataset", "show", "invöices", "--json").out), "cli-dataset-show.json")


def test_upload__known_rows_under_a_new_name__says_what_became_of_both(local: Local) -> None:
    """The name is new and was promoted; the rows were there. Repeated, nothing else is claimed."""
    first = local("dataset", "upload", "dataset", "--name", "one")
    sent = [line for line in first.err.splitlines() if line.startswith("  sent ")]
    assert re.fullmatch(r"  sent all \d+ bytes", sent[-1])
    assert "nothing sent" not in first.out
    for _ in range(2):
        again = local("dataset", "upload", "dataset", "--name", "two")
        assert " COMPLETE, promoted, " in again.out
        assert again.out.endswith(", nothing sent since these rows were there already\n")
    kept = local("dataset", "upload", "dataset", "--name", "two", "--no-promote")
    assert " COMPLETE, not promoted, " in kept.out


def test_trigger__allow_dirty__goes_with_the_request_of_this_machine(
    local: Local, beaker: Callable[..., Any], project: Path
) -> None:
    """Only this machine has what is not committed, and a ref would name something else."""
    argv = ["run", "trigger", "--dataset", "inv", "--allow-dirty", "--dry-run"]
    sent = json.loads(local(*argv, "--json").out)["body"]["github_source"]
    assert (sent["allow_dirty"], "ref" in sent) == (True, False)
    keys = {"BEAKER_API_KEY": "k", "BEAKER_AGENT_KEY": "a"}
    elsewhere = beaker("--base-url", "http://127.0.0.1:9", *argv, cwd=project, environ=keys)
    for refused in (local(*argv, "--ref", "@"), local(*argv, "--ref", "main"), elsewhere):
        assert (refused.code, refused.out) == (2, "")
        assert "error: BK408 --allow-dirty: " in refused.err


def test_promote__revision_or_newest__is_what_the_name_stands_for(
    local: Local, project: Path, conforms: Callable[[object, str], None]
) -> None:
    """A promotion moves the name to the revision that is named, or to the newest; others stay as they are."""
    rows = (project / "dataset" / "train.jsonl").read_bytes()
    revisions = []
    for changed in (rows, rows + rows.splitlines(keepends=True)[0].replace(b'"id": "', b'"id": "x')):
        (project / "dataset" / "train.jsonl").write_bytes(changed)
        done = local("dataset", "upload", "dataset", "--name", "inv", "--no-promote", "--json")
        revisions.append(json.loads(done.out)["dataset_revision"])

    def production() -> list[str]:
        listed = json.loads(local("dataset", "list", "--json").out)["datasets"]
        return [dataset["revision"] for dataset in listed if dataset["is_production"]]

    assert production() == []
    done = local("dataset", "promote", f"inv@{revisions[0]}")
    assert (done.code, done.out) == (0, f"beaker dataset promote: inv@{revisions[0]} is what inv stands for\n")
    assert production() == [revisions[0]]
    promoted = json.loads(local("dataset", "promote", "inv", "--json").out)
    conforms(promoted, "cli-dataset-promote.json")
    assert production() == [revisions[1]]
    assert promoted["dataset"]["revision"] == revisions[1]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["inv@production"], "BK203"),
        (["inv@a", "--revision", "b"], "BK203"),
        (["https://x/inv"], "BK206"),
        (["nope"], "BK204"),
        (["inv@sha256:0"], "BK455"),
    ],
)
def test_promote__what_there_is_not__is_refused(local: Local, argv: list[str], code: str) -> None:
    """Nothing is promoted that is not a revision of this place."""
    done = local("dataset", "promote", *argv)
    assert (done.code, done.out) == (2, "")
    assert f"error: {code} " in done.err


def test_upload__next_step__can_be_copied(local: Local, project: Path, beaker: Callable[..., Any]) -> None:
    """A next step carries the name in quotes where a shell needs them, and the options that say where to work."""
    (project / "other").mkdir()
    shutil.copy(project / ".beaker" / "beaker.yaml", project / "other" / "config.yaml")
    argv = ["--config-file", "other/config.yaml", "dataset", "upload", "dataset", "--name", "my invoices"]
    done = local(*argv, "--agent", "team two")
    assert done.code == 0
    line = done.err.splitlines()[-1].partition("beaker ")[2]
    words = shlex.split(line)
    assert words == [
        *("--local", "--config-file", "other/config.yaml", "run", "trigger"),
        *("--dataset", "my invoices", "--agent", "team two"),
    ]
    assert beaker(*words, "--dry-run", cwd=project).code == 0


@pytest.mark.parametrize("emptied", ["train", "test"])
def test_upload__split_without_rows__promises_no_run(local: Local, project: Path, emptied: str) -> None:
    """A dataset that no run could use is kept, with a warning, not promoted, and without a next step that must fail."""
    (project / "dataset" / f"{emptied}.jsonl").write_text("")
    done = local("dataset", "upload", "dataset", "--name", "d")
    assert done.code == 0
    assert "not promoted" in done.out
    assert "warning: BK" in done.err
    assert emptied in done.err
    assert "run trigger" not in done.err


def test_hints__name_commands_that_work_here(local: Local, beaker: Callable[..., Any], project: Path) -> None:
    """A command in a hint has the options that said where to work; it would look elsewhere without them."""
    for argv in (["run", "status", "run_nope"], ["dataset", "show", "nope"], ["dataset", "show", "a@b@c"]):
        done = local(*argv)
        assert done.code == 2
        assert "`beaker --local " in done.err
        assert "`beaker --local --json" not in done.err
    told = json.loads(local("run", "status", "run_nope", "--json").err)["error"]["hint"]
    assert "`beaker --local run list`" in told
    assert "--local" in beaker("dataset", "list", cwd=project).err


@pytest.mark.parametrize("how", ["option", "variable"])
def test_config_file__named_and_missing__is_said(how: str, project: Path, beaker: Callable[..., Any]) -> None:
    """A configuration that was named is never silently left out."""
    argv = ["--config-file", "nope.yaml"] if how == "option" else []
    environ = {} if how == "option" else {"BEAKER_CONFIG_FILE": "nope.yaml"}
    for command in (["run", "smoke"], ["--local", "dataset", "list"], ["run", "--dataset", "d"]):
        done = beaker(*argv, *command, cwd=project, environ=environ)
        assert done.code == 2
        assert "'nope.yaml'" in done.err
        assert "BK118" in done.err


def test_upload__dry_run__lists_what_a_dataset_is_and_sends_nothing(
    local: Local, project: Path, conforms: Callable[[object, str], None]
) -> None:
    """Only rows and the manifest travel, whatever else lies in the folder."""
    (project / "dataset" / ".env").write_text("SECRET=1")
    (project / "dataset" / "notes.txt").write_text("mine")
    done = local("dataset", "upload", "dataset", "--name", "d", "--dry-run", "--json")
    conforms(json.loads(done.out), "cli-dataset-dry-run.json")
    assert [file["path"] for file in json.loads(done.out)["files"]] == ["test.jsonl", "train.jsonl"]
    assert "notes.txt" not in local("dataset", "upload", "dataset", "--name", "d", "--dry-run").out
    assert not (project / ".beaker" / "local").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["dataset", "--name", " "], "needs a name"),
        (["dataset", "--name", "d", "--split", "train=61"], "61"),
        (["dataset", "--name", "d", "--split", "train"], "NAME=COUNT"),
        (["dataset", "--name", "d", "--split", "train=x"], "whole number"),
        (["dataset", "--name", "d", "--split", f"train={'9' * 5000}"], "whole number"),
        (["dataset", "--name", "d", "--split", "train=60", "--split", "train=60"], "twice"),
        (["dataset", "--name", "d", "--split", "val=40"], "val"),
        (["dataset", "--name", "d", "--total-count", "7"], "the files have 100 rows"),
        (["dataset", "--name", "d", "--metadata", "=x"], "KEY=VALUE"),
        (["dataset/train.jsonl", "--name", "d"], "folder"),
        (["nowhere", "--name", "d"], "nowhere"),
    ],
)
def test_upload__wrong__is_refused_and_nothing_is_stored(
    argv: list[str], said: str, local: Local, project: Path
) -> None:
    """Counts that disagree, options that say nothing, a path that is no folder: refused before anything is sent."""
    done = local("dataset", "upload", *argv)
    assert done.code == 2
    assert said in done.err
    assert "BK949" not in done.err
    assert not (project / ".beaker" / "local").exists()


def test_upload__split_given__agrees_with_the_rows(local: Local) -> None:
    """Counts may be given; they travel as counted."""
    done = local("dataset", "upload", "dataset", "--name", "d", "--split", "train=60", "--total-count", "100", "--json")
    assert done.code == 0


def test_place__no_project__says_where_to_go(local: Local, tmp_path: Path) -> None:
    """Without a project there is no local place, and no folder is made for one."""
    done = local("dataset", "list", cwd=tmp_path)
    assert done.code == 2
    assert "BK720" in done.err
    assert list(tmp_path.glob(".beaker")) == []


def test_place__moved_state__leaves_the_project_alone(local: Local, project: Path, tmp_path: Path) -> None:
    """BEAKER_LOCAL_DIR says where state lies."""
    environ = {"BEAKER_LOCAL_DIR": str(tmp_path / "state")}
    assert local("dataset", "upload", "dataset", "--name", "d", environ=environ).code == 0
    assert (tmp_path / "state" / "beaker.db").exists()
    assert not (project / ".beaker" / "local").exists()


@pytest.mark.parametrize("how", ["flag", "base url", "variable", "config"])
def test_place__four_ways_to_say_local(how: str, project: Path, beaker: Callable[..., Any]) -> None:
    """--local, --base-url local, BEAKER_API_BASE_URL=local and `api: local` are one place."""
    argv = {"flag": ["dataset", "list", "--local"], "base url": ["--base-url", "local", "dataset", "list"]}
    if how == "config":
        config = project / ".beaker" / "beaker.yaml"
        config.write_text("api: local\n" + config.read_text())
    environ = {"BEAKER_API_BASE_URL": "local"} if how == "variable" else {}
    done = beaker(*argv.get(how, ["dataset", "list"]), cwd=project, environ=environ)
    assert (done.code, done.out) == (0, "no datasets\n")


def test_trigger__unknown_dataset_and_settings__are_told_together(local: Local) -> None:
    """The gates of the service answer with every fault, as JSON problems when asked for."""
    config = '{"harness_optimization": {"zeal": 1, "command": "x"}, "spend_budget_usd": 3}'
    done = local("run", "trigger", "--dataset", "nothing", "--config", config, "--json")
    assert done.code == 2
    problems = json.loads(done.err)["error"]["problems"]
    assert len(problems) >= 3
    assert any("nothing" in problem["message"] for problem in problems)
    assert json.loads(local("run", "list", "--json").out)["total"] == 0


def test_trigger__wrong_setting_of_the_file__is_told_with_its_line(local: Local, project: Path) -> None:
    """What config_defaults says wrong has file and line; what --config says has its key."""
    path = project / ".beaker" / "beaker.yaml"
    text = path.read_text(encoding="utf-8").replace("config_defaults:\n", "config_defaults:\n  max_rolouts: 300\n")
    path.write_text(text, encoding="utf-8")
    line = text.splitlines().index("  max_rolouts: 300") + 1
    done = local("run", "trigger", "--dataset", "nothing", "--config", '{"tenant": 1}')
    assert done.code == 2
    assert f".beaker/beaker.yaml:{line}: config_defaults.max_rolouts: is not a known launch setting" in done.err
    assert "config.tenant: is not a known launch setting" in done.err


def test_trigger__dry_run__is_the_exact_request(local: Local, conforms: Callable[[object, str], None]) -> None:
    """The request names the checkout, the integration and the settings of the configuration."""
    done = local("run", "--dataset", "d", "--dry-run", "--json")
    conforms(json.loads(done.out), "cli-launch-dry-run.json")
    body = json.loads(done.out)["body"]
    assert body["github_source"] == {"repository": "local/project", "integration_id": "invoices"}
    assert body["config"]["max_concurrency"] == 2
    assert "local_dataset_path" not in body["config"]


def test_trigger__option_without_use_here__is_refused(local: Local) -> None:
    """A link base means nothing on this machine."""
    done = local("run", "--dataset", "d", "--app-base-url", "https://app")
    assert done.code == 2
    assert "BK904" in done.err


def test_status__unknown_run__is_not_found(local: Local) -> None:
    """A run that does not exist is a problem, not a traceback."""
    for action in ("status", "cancel", "pull"):
        done = local("run", action, "run_nope")
        assert done.code == 2
        assert "run_nope" in done.err


def test_changes__real_set__conforms_to_the_published_schemas(
    project: Path, beaker: Callable[..., Any], conforms: Callable[[object, str], None]
) -> None:
    """What `changes` prints with --json is what its schemas promise."""
    change = {"group": "playbooks", "name": "new.txt", "content": "vendor: N\n", "op": "create"}
    body = {"format": "beaker.document-changes/1", "run_id": "r1", "seed_hash": "0" * 64, "candidate_hash": "1" * 64}
    (project / "set.json").write_text(json.dumps({**body, "changes": [change], "groups": ["playbooks"]}))
    shown = beaker("changes", "show", "set.json", "--json", cwd=project)
    conforms(json.loads(shown.out), "cli-changes-show.json")
    applied = beaker("changes", "apply", "set.json", "--dir", ".", "--json", cwd=project)
    conforms(json.loads(applied.out), "cli-changes-apply.json")
    assert (project / "playbooks" / "new.txt").read_text() == "vendor: N\n"


def test_upload__rows_that_the_integration_cannot_read__are_named_and_not_sent(local: Local, project: Path) -> None:
    """Each by file and line, whatever JSON it is; --no-check leaves the Integration out."""
    rows = project / "dataset" / "train.jsonl"
    lines = rows.read_text(encoding="utf-8").splitlines()
    rows.write_text("\n".join([lines[0], '{"id": "no more than this"}', *lines[2:], ""]), encoding="utf-8")
    refused = local("dataset", "upload", "dataset", "--name", "inv")
    assert (refused.code, refused.out) == (2, "")
    assert "train.jsonl:2" in refused.err
    assert "--no-check" in refused.err
    assert json.loads(local("dataset", "list", "--json").out)["datasets"] == []
    assert local("dataset", "upload", "dataset", "--name", "inv", "--no-check").code == 0


def test_upload__unclear_integration__is_said_and_checks_nothing(local: Local, project: Path) -> None:
    """Of two Integrations none is guessed; one can be named, and one that is not there is refused."""
    config = project / ".beaker" / "beaker.yaml"
    text = config.read_text(encoding="utf-8").replace("default_integration: invoices\n", "")
    before, _, entry = text.partition("integrations:\n")
    other = "  other:\n    entrypoint: nowhere:integration\n"
    config.write_text(f"{before}integrations:\n{other}{entry}", encoding="utf-8")
    upload = ("dataset", "upload", "dataset", "--name", "inv")
    done = local(*upload)
    assert (done.code, "not checked" in done.err) == (0, True)
    broken = local(*upload, "--integration-id", "other")
    assert (broken.code, "nowhere" in broken.err) == (2, True)
    assert local(*upload, "--integration-id", "third").code == 2
