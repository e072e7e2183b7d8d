"""Runs on this machine with the interpreter of the project's own environment, through refusals and restarts."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.embedded]


def test_run__environment_of_the_project__runs_all_of_its_code(
    laboratory: Callable[..., Any], make_environment: Callable[..., Path], tmp_path: Path
) -> None:
    """A worker that finds no usable interpreter leaves the run open and says why; once there is one the run goes on,
    and an attempt that is resumed where another environment is active stays with it."""
    lab = laboratory(train=4, test=2)
    lab.write(".gitignore", ".venv/\n")
    lab.write("words.py", (lab.project / "words.py").read_text() + '\nnote(f"python {sys.executable}")\n')
    make_environment(lab.project / ".venv", bare=True)
    run_id = lab.launch(max_proposals=1)
    assert lab.workers[-1].returncode == 2
    folder = lab.project / ".beaker" / "local" / "runs" / run_id
    assert "it has no Beaker, which the project's code imports" in (folder / "worker.log").read_text()
    assert lab.run(run_id)["status"] in ("QUEUED", "RUNNING")
    assert lab.notes("python") == []

    shutil.rmtree(lab.project / ".venv")
    python = make_environment(lab.project / ".venv")
    lab.shut("setup")
    lab.resume(wait=False)
    lab.reach("setup")
    lab.kill()
    lab.free("setup")
    make_environment(tmp_path / "other", bare=True)
    lab.environ["VIRTUAL_ENV"] = str(tmp_path / "other")
    lab.resume()
    assert lab.run(run_id)["status"] == "COMPLETED", lab.run(run_id)["error_message"]
    assert {tuple(words) for words in lab.notes("python")} == {("python", str(python))}
    assert (folder / "python").read_text() == str(python)
