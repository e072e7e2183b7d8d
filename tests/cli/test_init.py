"""`beaker init`: what it writes, that it is verified, and that nothing is left behind when that fails."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beaker.files.project import find_project, load_project_config

pytestmark = pytest.mark.processes

Init = Callable[..., Any]

OWN = """\
from beaker import Integration, RunSetup, repository


class Setup(RunSetup[dict]):
    row_model = dict

    async def load_cases(self, row, *, runtime):
        yield None


async def run_case(*, case_input, runtime): ...
async def score_case(*, case, result, case_files_dir): ...


mine = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A fresh Python project in a Git repository."""
    root = tmp_path / "project"
    root.mkdir()
    (root / ".git").mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "Ticket Desk"\nrequires-python = ">=3.12"\n')
    return root


@pytest.fixture
def init(beaker: Init, project: Path) -> Init:
    """Run `beaker init` in the project."""

    def call(*argv: str, before: tuple[str, ...] = (), **options: Any) -> Any:
        options.setdefault("cwd", project)
        return beaker(*before, "init", *argv, **options)

    return call


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def entry(root: Path, integration_id: str | None = None) -> Any:
    project = find_project(root).unwrap()
    assert project is not None
    integrations = load_project_config(project).unwrap().integrations
    return integrations[integration_id or next(iter(integrations))]


def test_init__fresh_project__writes_and_verifies(init: Init, project: Path, conforms: Callable[..., None]) -> None:
    """Three files, an entry made from the project's metadata, and an Integration that can be imported."""
    done = init("--agent-key", "k1")
    assert done.code == 0
    assert done.out.splitlines() == [
        f"  create  {project}/.beaker/beaker_integration.py",
        f"  create  {project}/.beaker/beaker.yaml",
        f"  create  {project}/.beaker/.gitignore",
        "beaker init: ticket_desk can be imported (beaker_integration:integration)",
    ]
    assert "fill in what .beaker/beaker_integration.py marks" in done.err
    assert "skills install .agents/skills" in done.err
    assert [line.strip() for line in (project / ".beaker/beaker.yaml").read_text().splitlines()[3:11]] == [
        "integrations:",
        "ticket_desk:",
        "entrypoint: beaker_integration:integration",
        "package_import_root: .beaker",
        "source_dir: .",
        "required_env: []",
        "environment_base: debian_slim:3.12",
        "agent_key: k1",
    ]
    written = files(project)
    assert written.keys() == {
        "pyproject.toml", ".beaker/beaker_integration.py", ".beaker/beaker.yaml", ".beaker/.gitignore",
    }  # fmt: skip
    again = init("--json")
    answer = json.loads(again.out)
    conforms(answer, "cli-init.json")
    assert [file["action"] for file in answer["files"]] == ["skip", "skip"]
    assert (answer["verified"], files(project)) == (True, written)


def test_init__stub__is_a_scaffold_for_smoke(init: Init, project: Path, beaker: Init) -> None:
    """A filled-in dataset is enough for smoke to say what is left to do."""
    init("--no-verify")
    (project / "dataset").mkdir()
    for split in ("train", "test"):
        (project / "dataset" / f"{split}.jsonl").write_text(json.dumps({"id": split, "input": 1}) + "\n")
    smoke = ["run", "smoke", "--json", "--config", '{"local_dataset_path": "dataset"}']
    report = json.loads(beaker(*smoke, cwd=project).out)
    assert (report["passed"], report["readiness"]) == (True, "SCAFFOLD")
    stub = (project / ".beaker/beaker_integration.py").read_text()
    (targets,) = (number for number, line in enumerate(stub.splitlines(), 1) if line.startswith("# TODO(beaker)"))
    assert report["reasons"] == [
        "run_case", "score_case", "the row class Row", f"line {targets} of beaker_integration.py",
    ]  # fmt: skip
    assert beaker(*smoke, "--strict", cwd=project).code == 2


def test_init__print__writes_nothing(init: Init, project: Path, conforms: Callable[..., None]) -> None:
    """A preview shows whole contents and leaves no trace."""
    before = files(project)
    done = init("--print")
    assert (done.code, files(project)) == (0, before)
    assert f"would create {project}/.beaker/beaker.yaml\n" in done.out
    assert "integrations:\n  ticket_desk:\n" in done.out
    answer = json.loads(init("--print", "--json").out)
    conforms(answer, "cli-init.json")
    assert (answer["dry_run"], answer["verified"], "TODO(beaker)" in answer["files"][0]["content"]) == (
        True,
        False,
        True,
    )


def test_init__existing_module__is_used_under_its_own_name(init: Init, project: Path) -> None:
    """A module that makes one Integration needs no stub, wherever it lies in the project."""
    (project / "src/desk").mkdir(parents=True)
    (project / "src/desk/beaker.py").write_text(OWN)
    assert init("--target", "src/desk/beaker.py").code == 0
    made = entry(project)
    assert (made.entrypoint, made.package_import_root, made.source_dir) == ("desk.beaker:mine", "src", ".")
    assert "TODO" not in "".join(path.read_text() for path in (project / "src").rglob("*.py"))
    for same in ("desk.beaker:mine", "src/desk/beaker.py"):
        assert init("--no-verify", "--target", same).code == 0
    refused = init("--target", "desk.beaker:other")
    assert refused.code == 2
    assert "error: BK127 --target" in refused.err


def test_init__src_layout__puts_the_module_where_the_package_can_be_imported(
    init: Init, project: Path, beaker: Init
) -> None:
    """The stub may import the project's package without anything being installed; a second `init` finds it again."""
    (project / "src/durations").mkdir(parents=True)
    (project / "src/durations/__init__.py").write_text("def parse(text): return text\n")
    done = init()
    assert done.code == 0
    assert f"  create  {project}/src/beaker_integration.py" in done.out
    made = entry(project)
    assert (made.entrypoint, made.package_import_root) == ("beaker_integration:integration", "src")
    stub = project / "src/beaker_integration.py"
    stub.write_text(f"from durations import parse\n{stub.read_text()}")
    assert init().code == 0
    assert not (project / ".beaker/beaker_integration.py").exists()


@pytest.mark.parametrize("there", ["src/__init__.py", ".beaker/beaker_integration.py", "src/notes.txt"])
def test_init__no_src_layout_or_a_module_already__stays_in_the_beaker_folder(
    init: Init, project: Path, there: str
) -> None:
    """`src` that is a package itself, or holds none, is nothing to import from; a module that exists is used."""
    for path in ("src/durations/__init__.py", there) if there.endswith(".py") else (there,):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(OWN if "integration" in path else "")
    assert init("--no-verify").code == 0
    assert entry(project).package_import_root == ".beaker"


@pytest.mark.parametrize(
    ("argv", "environ", "command"),
    [
        ((), {}, "beaker --local run smoke"),
        (("--agent-key", "k"), {}, "beaker --local run smoke"),
        (("--agent-key", "k"), {"BEAKER_API_KEY": "s"}, "beaker run smoke"),
        (("--print",), {"BEAKER_API_KEY": "s", "BEAKER_AGENT_KEY": "k"}, "beaker run smoke"),
        (("--print",), {"BEAKER_CONFIG_FILE": "cfg/b.yaml"}, "beaker --local run smoke"),
    ],
)
def test_init__next_steps__work_as_they_are_written(
    init: Init, project: Path, argv: tuple[str, ...], environ: dict[str, str], command: str
) -> None:
    """The last line leads to smoke where the user can go on, from wherever `init` was called."""
    *_, last, pointer = init("--no-verify", *argv, environ=environ).err.splitlines()
    assert last.endswith(f"how to go on: {command}")
    status = command.replace("run smoke", "onboarding status")
    assert pointer == f"How far the project is: {status}"
    away = init("--no-verify", "--dir", str(project), *argv, environ=environ, cwd=project.parent)
    assert away.err.splitlines()[-2].endswith(f"how to go on: cd {project} && {command}")
    assert away.err.splitlines()[-1] == f"How far the project is: cd {project} && {status}"


def test_init__monorepo__counts_from_the_git_root(init: Init, project: Path) -> None:
    """A project below the repository's root keeps its files to itself; a nested one is installed as well."""
    service = project / "services/api"
    (service / "plugin").mkdir(parents=True)
    (service / "pyproject.toml").write_text('[project]\nname = "api"\n')
    (service / "plugin/pyproject.toml").write_text('[project]\nname = "plugin"\nrequires-python = ">=3.13"\n')
    assert init("--no-verify", "--target", "plugin/it.py", cwd=service).code == 0
    made = entry(service)
    assert (made.id, made.entrypoint, made.source_dir) == ("api", "it:integration", "services/api")
    assert (made.package_import_root, made.pip_install_from) == ("plugin", "services/api/plugin/pyproject.toml")
    assert made.environment_base == "debian_slim:3.13"
    assert not (project / ".beaker").exists()
    assert (service / "plugin/it.py").is_file()


def test_init__second_integration__is_added_to_the_file(init: Init, project: Path) -> None:
    """What stood there stays; the ignore file gets what keeps secrets and run state out."""
    (project / ".beaker").mkdir()
    old = "integrations:\n  old:\n    entrypoint: a:b  # mine\n\nconfig_defaults: {}\n"
    (project / ".beaker/beaker.yaml").write_text(old)
    (project / ".beaker/.gitignore").write_text("traces/")
    assert init("--no-verify", "--integration-id", "new", before=()).code == 0
    text = (project / ".beaker/beaker.yaml").read_text()
    assert text.startswith(old[: old.index("\nconfig")])
    assert text.endswith("\n\nconfig_defaults: {}\n")
    assert entry(project, "new").entrypoint == "beaker_integration:integration"
    assert (project / ".beaker/.gitignore").read_text() == "traces/\n.env\nlocal/\n"


def test_init__config_file__is_where_the_configuration_goes(init: Init, project: Path) -> None:
    """The module and the ignore file stay in `.beaker`."""
    assert init("--no-verify", before=("--config-file", "cfg/b.yaml")).code == 0
    assert (project / "cfg/b.yaml").is_file()
    assert (project / ".beaker/beaker_integration.py").is_file()
    assert not (project / ".beaker/beaker.yaml").exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import sys\nsys.exit(0)\n", "BK302"),
        ("import os\nos._exit(0)\n", "BK302"),
        ("x = 1\n", "BK128"),
        (f"{OWN}other = Integration(targets=repository(), run_setup=Setup, run_case=run_case, "
         "score_case=score_case)\n", "BK128"),
        (OWN.replace("run_case=run_case", "run_case=1"), "BK302"),
    ],
    ids=["exits", "ends", "none", "two", "invalid"],
)  # fmt: skip
def test_init__module_that_is_no_good__leaves_nothing(init: Init, project: Path, text: str, code: str) -> None:
    """Customer code never ends the command, and a refusal leaves the project as it was."""
    (project / ".beaker").mkdir()
    (project / ".beaker/beaker_integration.py").write_text(text)
    before = files(project)
    done = init()
    assert (done.code, done.out, files(project)) == (2, "", before)
    assert f"error: {code} " in done.err


def test_init__verification_fails__is_undone(init: Init, project: Path) -> None:
    """An entrypoint that is not there is found when it is imported; the edited configuration is as it was."""
    (project / ".beaker").mkdir()
    (project / ".beaker/beaker.yaml").write_bytes(b"# mine\r\napi: local\r\n")
    (project / "desk.py").write_text(OWN)
    before = files(project)
    done = init("--target", "desk:other")
    assert (done.code, files(project)) == (2, before)
    assert "no attribute 'other'" in done.err


@pytest.mark.parametrize(
    ("prepare", "argv", "code"),
    [
        (lambda root: (root / "pyproject.toml").unlink(), (), "BK122"),
        (lambda root: (root / ".beaker").write_text(""), (), "BK125"),
        (lambda root: None, ("--integration-id", "_x"), "BK126"),
        (lambda root: None, ("--target", "../x.py"), "BK124"),
        (lambda root: None, ("--dir", "nowhere"), "BK122"),
        (lambda root: (root / "pyproject.toml").write_text('[project]\nrequires-python = "<3"\n'), (), "BK141"),
        (lambda root: None, ("--git-rev", "x"), "BK901"),
    ],
    ids=["no project", "file", "id", "outside", "folder", "python", "git-rev"],
)
def test_init__what_cannot_be__is_refused_unwritten(
    init: Init, project: Path, prepare: Callable[[Path], object], argv: tuple[str, ...], code: str
) -> None:
    """Everything is decided before anything is written."""
    prepare(project)
    before = files(project)
    done = init(*argv)
    assert (done.code, files(project)) == (2, before)
    assert f"error: {code} " in done.err


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("x-one: &one {}\nintegrations: *one\n", "BK123"),
        ("integrations:\n\t- x\n", "BK101"),
        ("integrations:\n  a: {entrypoint: 'a:b'}\n  b: {entrypoint: 'a:b'}\n", "BK112"),
        ("agent_key: x\n", "BK105"),
    ],
)
def test_init__configuration_that_is_no_good__is_refused(init: Init, project: Path, config: str, code: str) -> None:
    """A file that cannot be read, chosen from, or edited stays as it is."""
    (project / ".beaker").mkdir()
    (project / ".beaker/beaker.yaml").write_text(config)
    before = files(project)
    done = init()
    assert (done.code, files(project)) == (2, before)
    assert f"error: {code} " in done.err


@pytest.mark.parametrize("name", [".beaker/beaker.yaml", ".beaker/.gitignore", ".beaker/beaker_integration.py"])
def test_init__pipe_where_a_file_belongs__is_refused(init: Init, project: Path, name: str) -> None:
    """It is not opened: that would wait for ever for somebody who writes."""
    (project / ".beaker").mkdir()
    os.mkfifo(project / name)
    done = init("--no-verify")
    assert (done.code, "a pipe" in done.err) == (2, True)
    assert files(project).keys() == {"pyproject.toml"}


def test_init__pipes_that_say_nothing_about_the_project__are_passed_over(init: Init, project: Path) -> None:
    """`setup.cfg`, lock files and variables."""
    (project / ".beaker").mkdir()
    for name in ("setup.cfg", "uv.lock", ".beaker/.env"):
        os.mkfifo(project / name)
    assert init("--no-verify").code == 0


def test_init__terminated_while_a_module_is_imported__ends_with_143(project: Path, tmp_path: Path) -> None:
    """Nothing is left behind, and nothing goes on."""
    (project / "mine.py").write_text(f"open({str(tmp_path / 'begun')!r}, 'w').close()\nwhile True: pass\n")
    before = files(project)
    command = [sys.executable, "-m", "beaker.cli", "init", "--target", "mine.py"]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.terminate()
        assert process.wait(30) == 143
    assert files(project) == before


def test_init__options_without_effect__are_said(init: Init, project: Path) -> None:
    """A coding assistant changes nothing."""
    first = init("--agent", "codex", "--no-verify")
    assert first.code == 0
    assert "--agent has no effect" in first.err


def test_init__agent_key_of_a_configured_integration__is_recorded(init: Init, project: Path) -> None:
    """In the file as it stands; another key is replaced, and that is said; the same one changes nothing."""
    init("--no-verify")
    config = project / ".beaker/beaker.yaml"
    config.write_text(config.read_text().replace("required_env", "# mine\n    required_env"))
    done = init("--agent-key", " k1 ", "--no-verify")
    assert (done.code, f"  update  {config}\n" in done.out, "warning" in done.err) == (0, True, False)
    assert (entry(project).agent_key, "    # mine\n" in config.read_text()) == ("k1", True)
    assert f"  skip  {config}\n" in init("--agent-key", "k1", "--no-verify").out
    again = init("--agent-key", "k2", "--no-verify", "--json")
    assert json.loads(again.out)["warnings"][0]["code"] == "BK129"
    assert entry(project).agent_key == "k2"
    assert "agent_key: k3" in init("--agent-key", "k3", "--print").out
    assert entry(project).agent_key == "k2"


def test_init__agent_key_that_cannot_be_recorded__leaves_the_file(init: Init, project: Path) -> None:
    """The line to write by hand is said; an integration that fails to be imported keeps its old key."""
    (project / ".beaker").mkdir()
    config = project / ".beaker/beaker.yaml"
    config.write_text("x-e: &e {entrypoint: 'desk:mine'}\nintegrations: {a: *e}\n")
    before = files(project)
    done = init("--agent-key", "k", "--no-verify")
    assert (done.code, files(project)) == (2, before)
    assert "error: BK123" in done.err
    assert "agent_key: k" in done.err
    config.write_text("integrations:\n  a:\n    entrypoint: desk:mine\n")
    before = files(project)
    assert (init("--agent-key", "k").code, files(project)) == (2, before)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("integrations:\n  old:\n    entrypoint: a:b\n", "from now on commands need --integration-id"),
        ("integrations:\n  old:\n    entrypoint: a:b\ndefault_integration: old\n", "the integration 'old', not 'new'"),
        ("integrations:\n  old:\n    entrypoint: a:b\ndefault_integration: gone\n", "which names no integration"),
        ("spec:\n  target: a:b\n", "mean the Spec 'spec', not 'new'"),
        ("integrations:\n  old:\n    entrypoint: a:b\ndefault_integration: new\n", ""),
        ("x-note: 1\n", ""),
    ],
)  # fmt: skip
def test_init__second_entry__says_which_one_commands_mean(
    init: Init, project: Path, conforms: Callable[..., None], config: str, said: str
) -> None:
    """A configuration that worked is never made ambiguous in silence, and the next command names the new entry."""
    (project / ".beaker").mkdir()
    (project / ".beaker/beaker.yaml").write_text(config)
    done = init("--no-verify", "--integration-id", "new")
    assert done.code == 0
    assert ("warning: BK158" in done.err) == bool(said)
    assert said in done.err
    assert ("run smoke --integration-id new" in done.err) == bool(said)
    (project / ".beaker/beaker.yaml").write_text(config)
    answer = json.loads(init("--no-verify", "--json", "--integration-id", "new").out)
    conforms(answer, "cli-init.json")
    assert [warning["code"] for warning in answer["warnings"]] == (["BK158"] if said else [])
