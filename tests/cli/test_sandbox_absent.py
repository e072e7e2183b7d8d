"""`isolation: sandbox` on a kernel that lacks what it takes: the kernel is made to, for one command, by a filter."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from returns.pipeline import is_successful

from beaker.runtime.sandbox import find_sandbox

pytestmark = [
    pytest.mark.once,
    pytest.mark.processes,
    pytest.mark.skipif(not is_successful(find_sandbox()), reason="it is absent here as it is"),
]

LANDLOCK = 444
UNSHARE = {"x86_64": 272, "aarch64": 97}.get(os.uname().machine, 0)

LACKING = """
import ctypes, struct, sys
call, error = int(sys.argv.pop(1)), int(sys.argv.pop(1))
made = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x50000 | error), (0x06, 0, 0, 0x7FFF0000)]
text = b"".join(struct.pack("<HBBI", *one) for one in made)

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("text", ctypes.c_char_p)]

libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 == libc.prctl(22, 2, ctypes.byref(Program(len(made), text)), 0, 0)
"""
COMMAND = "from beaker.cli.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
FINDING = "from beaker.runtime.sandbox import find_sandbox\nprint(find_sandbox())\n"

INTEGRATION = """
from beaker import *

class Setup(RunSetup[dict]):
    row_model = dict
    async def load_cases(self, row, *, runtime):
        yield Case(id=row["id"], input=1)

async def run_case(*, case_input, runtime):
    return CaseResult(case_input)

async def score_case(*, case, result, case_files_dir):
    return CaseScore(1.0, {})

integration = Integration(targets=repository(), run_setup=Setup, run_case=run_case, score_case=score_case)
"""


@pytest.fixture
def lacking(tmp_path: Path) -> Callable[..., Any]:
    """Runs code in a project that wants a sandbox, where one call of the kernel is answered with an error."""
    project = tmp_path / "project"
    (project / ".beaker").mkdir(parents=True)
    (project / "dataset").mkdir()
    (project / "app.py").write_text(INTEGRATION)
    config = "integrations:\n  a: {entrypoint: 'app:integration', isolation: sandbox}\n"
    settings = "config_defaults: {local_dataset_path: dataset, harness_optimization: {command: [cat]}}\n"
    (project / ".beaker" / "beaker.yaml").write_text(config + settings)
    for split in ("train", "test"):
        (project / "dataset" / f"{split}.jsonl").write_text(json.dumps({"id": split}) + "\n")

    def run(code: str, *arguments: str, call: int = LANDLOCK, error: int = 38) -> Any:
        command = [sys.executable, "-c", LACKING + code, str(call), str(error), *arguments]
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)

    return run


def test_smoke__without_a_sandbox__fails_where_the_run_would_be_here(lacking: Any) -> None:
    """A launch on this machine would be refused."""
    done = lacking(COMMAND, "--local", "run", "smoke", "--json")
    assert done.returncode == 2, done.stderr
    (stage,) = json.loads(done.stdout)["stages"]
    assert (stage["stage"], stage["passed"]) == ("config", False)
    problem = json.loads(done.stderr)["error"]["problems"][0]
    assert problem["code"] == "BK557"
    assert "the kernel has no Landlock" in problem["message"]


def test_smoke__without_a_sandbox__warns_where_the_run_is_elsewhere(lacking: Any) -> None:
    """There may be one there; that nothing was confined here is said."""
    done = lacking(COMMAND, "run", "smoke", "--run-one", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning: BK557 `isolation: sandbox` cannot be had here: the kernel has no Landlock" in done.stderr


def test_trigger_and_eval__without_a_sandbox__are_refused(lacking: Any, git: Any, tmp_path: Path) -> None:
    """Neither a run nor an evaluation starts that would confine nothing."""
    git("init", "-qb", "main", cwd=tmp_path / "project")
    git("add", "-A", cwd=tmp_path / "project")
    git("commit", "-qm", "x", cwd=tmp_path / "project")
    assert lacking(COMMAND, "--local", "dataset", "upload", "dataset", "--name", "d").returncode == 0
    for command in (["trigger", "--dataset", "d", "--no-check"], ["eval"]):
        done = lacking(COMMAND, "--local", "run", *command)
        assert (done.returncode, done.stdout) == (2, "")
        assert "BK557" in done.stderr, done.stderr
        assert "the kernel has no Landlock" in done.stderr


def test_doctor__of_a_project_that_wants_what_is_absent__calls_it_a_fault(lacking: Any) -> None:
    """And says what would help."""
    done = lacking(COMMAND, "--local", "doctor", "--json")
    found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}["isolation"]
    assert (found["state"], done.returncode) == ("fault", 1)
    assert "Linux 6.12" in found["hint"]


def test_find_sandbox__without_namespaces__does_without(lacking: Any) -> None:
    """As in most containers: everything else still confines."""
    done = lacking(FINDING, call=UNSHARE, error=1)
    assert "namespaces=False" in done.stdout, done
    assert done.stdout.startswith("<Success")
