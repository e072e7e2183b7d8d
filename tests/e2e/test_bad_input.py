"""Bad input and bad disks: file, line and next step, exit 2, nothing half-written."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beaker.cli.demo.project import create_project

pytestmark = pytest.mark.e2e

ENVIRON = {key: text for key, text in os.environ.items() if not key.startswith("BEAKER_")}


def beaker(*argv: str, cwd: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run `beaker` as a process."""
    command = [sys.executable, "-m", "beaker.cli", *argv]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=ENVIRON | environ, timeout=120
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The demo's project, not yet optimized."""
    folder = tmp_path / "project"
    create_project(folder).unwrap()
    return folder


def assert_refused(done: "subprocess.CompletedProcess[str]", *said: str) -> None:
    """Exit 2, an error line with all of `said`, a next step, no traceback."""
    assert done.returncode == 2, done.stdout + done.stderr
    for text in ("error: BK", "hint:", *said):
        assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [["run", "smoke"], ["--local", "run", "trigger", "--dataset", "invoices"]])
def test_broken_yaml__is_told_with_its_line(project: Path, argv: list[str]) -> None:
    """A configuration that is no YAML is refused with file and line, before anything is made."""
    config = project / ".beaker" / "beaker.yaml"
    lines = config.read_text().splitlines()
    config.write_text("\n".join([*lines[:3], "    entrypoint: [unclosed", *lines[4:]]))
    done = beaker(*argv, cwd=project)
    assert done.returncode == 2
    assert ".beaker/beaker.yaml:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / ".beaker" / "local").exists()


def test_missing_split__is_refused_before_anything_is_stored(project: Path) -> None:
    """A dataset without TEST does not get in; a file named val.jsonl gets a hint."""
    (project / "dataset" / "test.jsonl").rename(project / "dataset" / "val.jsonl")
    done = beaker("--local", "dataset", "upload", "dataset", "--name", "d", cwd=project)
    assert_refused(done, "test.jsonl")
    assert json.loads(beaker("--local", "dataset", "list", "--json", cwd=project).stdout)["datasets"] == []
    smoke = beaker("run", "smoke", cwd=project)
    assert smoke.returncode == 2
    assert "test.jsonl" in smoke.stderr


@pytest.mark.parametrize("argv", [["--local", "dataset", "upload", "dataset", "--name", "d"], ["run", "smoke"]])
def test_bad_rows__are_all_told_with_file_and_line(project: Path, argv: list[str]) -> None:
    """Three bad rows of two files are three faults, each with its line; a blank line counts as a line."""
    train, test = (project / "dataset" / f"{split}.jsonl" for split in ("train", "test"))
    lines = train.read_text(encoding="utf-8").splitlines()
    lines[4] = '{"id": "x", "id": "y"}'
    lines[9:9] = ["", "{broken"]
    train.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with test.open("a", encoding="utf-8") as file:
        file.write('{"id": NaN}\n')
    done = beaker(*argv, cwd=project)
    assert done.returncode == 2, done.stdout
    for where in ("train.jsonl:5", "train.jsonl:11", "test.jsonl:41"):
        assert where in done.stderr
    assert "Traceback" not in done.stderr


def test_row_of_another_shape__is_told_with_line_and_field(project: Path) -> None:
    """A row that does not match the row model names its line and its field, before setup."""
    train = project / "dataset" / "train.jsonl"
    lines = train.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[6])
    del row["expected"]["total"]
    lines[6] = json.dumps(row)
    train.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = beaker("run", "smoke", cwd=project)
    assert done.returncode == 2
    assert "train.jsonl:7" in done.stderr
    assert "total" in done.stderr


def test_duplicate_case_id__is_told_with_the_id(project: Path) -> None:
    """Two cases with one id are refused, across splits too."""
    train, test = (project / "dataset" / f"{split}.jsonl" for split in ("train", "test"))
    with test.open("a", encoding="utf-8") as file:
        file.write(train.read_text(encoding="utf-8").splitlines()[0] + "\n")
    done = beaker("run", "smoke", cwd=project)
    assert done.returncode == 2
    assert "inv-0001" in done.stderr
    assert "Traceback (most recent" not in done.stderr


def test_dirty_checkout__is_refused_with_its_files(project: Path) -> None:
    """Uncommitted changes would not be part of the run, so they are named instead."""
    assert beaker("--local", "dataset", "upload", "dataset", "--name", "d", cwd=project).returncode == 0
    (project / "playbooks" / "general.txt").write_text("number: No\n")
    done = beaker("--local", "run", "trigger", "--dataset", "d", cwd=project)
    assert_refused(done, "playbooks/general.txt")
    assert json.loads(beaker("--local", "run", "list", "--json", cwd=project).stdout)["runs"] == []


def mounted(script: str, *argv: str, cwd: Path, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run `beaker` in a mount namespace of its own, after the shell script `script`."""
    command = shlex.join([sys.executable, "-m", "beaker.cli", *argv])
    return subprocess.run(
        ["unshare", "-Urm", "sh", "-ec", f"{script}\n{command}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRON | environ,
        timeout=120,
    )


def can_mount() -> bool:
    """Whether this machine lets us mount in a namespace of our own."""
    if shutil.which("unshare") is None:
        return False
    probe = "mount -t tmpfs -o size=64k tmpfs /mnt"
    return subprocess.run(["unshare", "-Urm", "sh", "-ec", probe], capture_output=True, check=False).returncode == 0


mounts = pytest.mark.skipif(not can_mount(), reason="needs user namespaces")


@mounts
def test_read_only_project__says_where_state_may_go(project: Path, tmp_path: Path) -> None:
    """On a read-only mount nothing is written; with BEAKER_LOCAL_DIR the same command works."""
    read_only = f"mount --bind {shlex.quote(str(project))} {shlex.quote(str(project))}\n"
    read_only += f"mount -o remount,ro,bind {shlex.quote(str(project))}"
    # The new mount is seen only by who enters the folder again.
    script = f"{read_only}\ncd {shlex.quote(str(project))}"
    argv = ("--local", "dataset", "upload", "dataset", "--name", "d")
    done = mounted(script, *argv, cwd=project)
    assert done.returncode == 2
    assert "ead-only file system" in done.stderr
    assert "BEAKER_LOCAL_DIR" in done.stderr
    assert not (project / ".beaker" / "local").exists()
    moved = mounted(script, *argv, cwd=project, BEAKER_LOCAL_DIR=str(tmp_path / "state"))
    assert moved.returncode == 0, moved.stderr


@mounts
def test_full_disk__upload__leaves_no_dataset(project: Path) -> None:
    """When the state's disk is full, that is said, and no half dataset is listed afterwards."""
    (project / ".beaker" / "local").mkdir()
    full = f"mount -t tmpfs -o size=24k tmpfs {shlex.quote(str(project / '.beaker' / 'local'))}"
    done = mounted(full, "--local", "dataset", "upload", "dataset", "--name", "d", cwd=project)
    assert done.returncode == 2, done.stdout
    assert "o space left" in done.stderr or "full" in done.stderr
    assert "Traceback" not in done.stderr


@mounts
@pytest.mark.parametrize("size", ["48k", "96k"])
def test_full_disk__demo__says_so(tmp_path: Path, size: str) -> None:
    """A demo that finds no room says which folder is full, and leaves nothing of itself there."""
    (tmp_path / "small").mkdir()
    small = shlex.quote(str(tmp_path / "small"))
    full = f"mount -t tmpfs -o size={size} tmpfs {small}"
    # What is left is listed inside the namespace: outside, the folder is another one.
    done = mounted(f"{full}\ntrap 'ls -A {small}' EXIT", "demo", "--dir", "small/demo", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "o space left" in done.stderr
    assert done.stdout == ""  # `ls` listed nothing either
    assert "Traceback" not in done.stderr
